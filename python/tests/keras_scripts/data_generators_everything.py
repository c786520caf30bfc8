"""Data as people bring it: infinite generators, PyDataset with workers, pandas frames, dicts, class weights, validation data of other kinds."""
import keras
import numpy as np
import pandas as pd

rng = np.random.default_rng(4)
X = rng.normal(size=(40, 3)).astype("float32")
y = (X.sum(1) > 0).astype("float32")


def make():
    m = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5, "tanh"), keras.layers.Dense(1, "sigmoid")])
    w = np.random.default_rng(1)
    m.set_weights([w.normal(0, 0.5, p.shape) for p in m.get_weights()])
    m.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
    return m


def forever():
    i = 0
    while True:
        s = slice(i % 40, i % 40 + 8)
        yield X[s], y[s]
        i += 8


class Seq(keras.utils.PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return X[8 * i : 8 * i + 8], y[8 * i : 8 * i + 8], np.full(8, 0.5)

    def on_epoch_end(self):
        print("epoch over")


def show(h):
    print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items()) if "loss" in k})


show(make().fit(forever(), steps_per_epoch=5, epochs=2, verbose=0, validation_data=(X, y)))
show(make().fit(Seq(workers=2, use_multiprocessing=False, max_queue_size=4), epochs=2, shuffle=False, verbose=0, validation_data=Seq()))
frame = pd.DataFrame(X, columns=list("abc"))
show(make().fit(frame, pd.Series(y), epochs=2, batch_size=8, shuffle=False, verbose=0, validation_split=0.2, class_weight={0: 1, 1: 3}))
show(make().fit(frame.to_numpy(), y.tolist() if False else y[:, None], epochs=1, batch_size=16, shuffle=False, verbose=0, sample_weight=np.linspace(0, 1, 40)))
m = make()
print(np.round(m.evaluate(forever(), steps=5, verbose=0)[0], 3), m.predict(forever(), steps=2, verbose=0).shape, m.predict(Seq(), verbose=0).shape)
print(len(m.predict(frame.iloc[:3], verbose=0)), m.predict(np.zeros((1, 3)), verbose=0).dtype)
a = keras.Input((1,), name="a")
b = keras.Input((1,), name="b")
d = keras.Model({"a": a, "b": b}, keras.layers.Dense(1, kernel_initializer="ones")(keras.layers.Concatenate()([a, b])))
d.compile("sgd", "mse")
show(d.fit(dict(frame[["a", "b"]]), y, epochs=1, shuffle=False, verbose=0))
x1, x2 = keras.utils.split_dataset(np.arange(10), left_size=0.7) if keras.backend.backend() == "tensorflow" else (0, 0)
print(keras.utils.to_categorical([0, 2], 3).tolist(), keras.utils.pad_sequences([[1], [2, 3]], maxlen=3).tolist(), keras.utils.normalize(np.array([[3.0, 4.0]])).tolist())
