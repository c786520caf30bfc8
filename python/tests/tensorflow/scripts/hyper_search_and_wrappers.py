"""A hand-made random search, a scikit-learn-like wrapper, cross validation, early stopping, HParams logs, an ensemble and a voting model."""
import itertools
import json
import os
import shutil

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
X = rng.normal(size=(120, 6)).astype(np.float32)
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


class HyperParameters:
    def __init__(self, values):
        self.values = values

    def Int(self, name, *a, **k):
        return self.values[name]

    Float = Choice = Boolean = Int


def build_model(hp):
    model = keras.Sequential()
    model.add(keras.layers.Flatten())
    for i in range(hp.Int("layers", 1, 3)):
        model.add(keras.layers.Dense(units=hp.Int("units", 8, 32, step=8), activation=hp.Choice("activation", ["relu", "tanh"])))
        if hp.Boolean("norm"):
            model.add(keras.layers.BatchNormalization())
    model.add(keras.layers.Dense(2, activation="softmax"))
    model.build((None, 6))
    w = np.random.default_rng(9)
    for v in model.trainable_variables:
        if "kernel" in v.path:
            v.assign(w.normal(0, 0.4, v.shape))
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=hp.Float("lr", 1e-4, 1e-2, sampling="log")), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


results = []
for layers, act, norm in itertools.product([1, 2], ["relu", "tanh"], [False, True]):
    hp = HyperParameters({"layers": layers, "units": 8, "activation": act, "norm": norm, "lr": 0.01})
    tf.keras.backend.clear_session()
    model = build_model(hp)
    history = model.fit(X[:80], y[:80], validation_data=(X[80:], y[80:]), epochs=2, batch_size=16, shuffle=False, verbose=0)
    results.append((round(history.history["val_loss"][-1], 3), json.dumps(hp.values)))
for r in sorted(results)[:3]:
    print(r)


class KerasClassifier:
    def __init__(self, build_fn, epochs=2, batch_size=16, **kw):
        self.build_fn, self.epochs, self.batch_size, self.kw = build_fn, epochs, batch_size, kw

    def get_params(self, deep=True):
        return {"build_fn": self.build_fn, "epochs": self.epochs, **self.kw}

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model = self.build_fn(HyperParameters(self.kw))
        self.model.fit(X, y, epochs=self.epochs, batch_size=self.batch_size, shuffle=False, verbose=0)
        return self

    def predict_proba(self, X):
        return self.model.predict(X, verbose=0)

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=-1)]

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


clf = KerasClassifier(build_model, layers=1, units=16, activation="relu", norm=False, lr=0.01)
scores = []
for k in range(3):
    mask = np.arange(120) % 3 == k
    scores.append(clf.fit(X[~mask], y[~mask]).score(X[mask], y[mask]))
print(len(scores), 0 <= min(scores), clf.predict_proba(X[:2]).shape)

writer = tf.summary.create_file_writer("logs/hparam")
with writer.as_default():
    for step in range(3):
        tf.summary.scalar("accuracy", 0.5 + step / 10, step=step)
    tf.summary.histogram("w", clf.model.layers[1].kernel, step=0)
    tf.summary.image("img", tf.zeros((1, 4, 4, 1)), step=0)
    tf.summary.text("note", "hello", step=0)
    writer.flush()
print(len(os.listdir("logs/hparam")))
tb = keras.callbacks.TensorBoard(log_dir="logs/fit", histogram_freq=1, write_graph=False, update_freq="epoch")
members = []
for seed in range(3):
    inp = keras.Input((6,))
    h = keras.layers.Dense(8, activation=keras.layers.LeakyReLU(negative_slope=0.2), kernel_initializer=keras.initializers.GlorotNormal(seed=seed))(inp)
    m = keras.Model(inp, keras.layers.Dense(1, activation="sigmoid")(h), name=f"member{seed}")
    w = np.random.default_rng(seed)
    m.set_weights([w.normal(0, 0.4, p.shape) for p in m.get_weights()])
    m.compile(keras.optimizers.Nadam(0.01), keras.losses.BinaryFocalCrossentropy(gamma=2.0), metrics=[keras.metrics.AUC(curve="PR", name="pr"), keras.metrics.SpecificityAtSensitivity(0.5, name="spec"), keras.metrics.FalsePositives(name="fp")])
    h = m.fit(X, y, epochs=2, batch_size=30, shuffle=False, verbose=0, callbacks=[tb] if seed == 0 else [], validation_split=0.2, validation_freq=2, initial_epoch=0)
    print({k: np.round(v, 2).tolist() for k, v in sorted(h.history.items()) if "loss" in k})
    members.append(m)
print(sorted(os.listdir("logs/fit")))
inp = keras.Input((6,))
vote = keras.Model(inp, keras.layers.Average()([m(inp) for m in members]))
vote.compile("sgd", "binary_crossentropy", metrics=["binary_accuracy"])
print(np.allclose(vote.predict(X, verbose=0), np.mean([m.predict(X, verbose=0) for m in members], 0), atol=1e-5), len(vote.layers))
stacked = np.column_stack([m.predict(X, verbose=0) for m in members])
meta = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid", kernel_initializer="zeros")])
meta.compile("rmsprop", "bce", metrics=["acc"])
print(np.round(meta.fit(stacked, y, epochs=2, shuffle=False, verbose=0).history["loss"], 3))
es = keras.callbacks.EarlyStopping(monitor="loss", patience=1, min_delta=10.0, restore_best_weights=True, start_from_epoch=1)
h = meta.fit(stacked, y, epochs=20, shuffle=False, verbose=0, callbacks=[es])
print(len(h.history["loss"]), es.stopped_epoch, es.best_epoch)
cfg = meta.get_config()
again = keras.Sequential.from_config(cfg)
print(again.layers[0].units, keras.optimizers.get("adam").get_config()["learning_rate"], keras.losses.get("mse").__name__, keras.activations.serialize(keras.activations.relu), keras.metrics.get("accuracy").__class__.__name__ in ("Accuracy", "function", "type"))
shutil.rmtree("logs")
meta.summary()
print(keras.layers.Dense(1, activation=lambda t: t * 2, kernel_initializer="ones")(np.ones((1, 2), "float32")).numpy())
print(tf.math.reduce_mean(tf.keras.metrics.binary_accuracy(y[:4], tf.constant([1.0, 0, 1, 0]))).shape, keras.utils.split_dataset(np.arange(10), left_size=0.8)[0].cardinality().numpy(), keras.utils.normalize(np.array([[3.0, 4.0]])))
