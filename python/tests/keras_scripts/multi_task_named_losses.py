"""Multi-input, multi-output: losses and metrics by name, loss weights, sample weights by output, None losses."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(21)
n, vocab, tags, depts = 32, 30, 5, 4
title = rng.integers(1, vocab, (n, 6))
body = rng.integers(1, vocab, (n, 9))
body[:, 7:] = 0
tag = rng.integers(0, 2, (n, tags)).astype("float32")
priority = rng.random((n, 1)).astype("float32")
dept = keras.utils.to_categorical(rng.integers(0, depts, n), depts)

title_input = keras.Input(shape=(None,), name="title", dtype="int32")
body_input = keras.Input(shape=(None,), name="body", dtype="int32")
tags_input = keras.Input(shape=(tags,), name="tags")
t = layers.LSTM(8)(layers.Embedding(vocab, 6)(title_input))
b = layers.GRU(8, reset_after=True)(layers.Embedding(vocab, 6, mask_zero=True)(body_input))
x = layers.concatenate([t, b, tags_input])
pri = layers.Dense(1, name="priority")(x)
dep = layers.Dense(depts, name="department", activation="softmax")(x)
model = keras.Model([title_input, body_input, tags_input], {"priority": pri, "department": dep})
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.2, v.shape))


class CategoricalTruePositives(keras.metrics.Metric):
    def __init__(self, name="ctp", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tp = self.add_variable(shape=(), initializer="zeros", name="tp")

    def update_state(self, y_true, y_pred, sample_weight=None):
        values = ops.cast(ops.equal(ops.argmax(y_true, 1), ops.argmax(y_pred, 1)), "float32")
        if sample_weight is not None:
            values = ops.multiply(values, ops.cast(ops.reshape(sample_weight, (-1,)), "float32"))
        self.tp.assign_add(ops.sum(values))

    def result(self):
        return self.tp.value

    def reset_state(self):
        self.tp.assign(0)


model.compile(
    optimizer=keras.optimizers.RMSprop(1e-2),
    loss={"priority": keras.losses.BinaryCrossentropy(from_logits=True), "department": "categorical_crossentropy"},
    loss_weights={"priority": 1.0, "department": 0.2},
    metrics={"priority": ["mae", keras.metrics.BinaryAccuracy(threshold=0.0)], "department": ["accuracy", keras.metrics.TopKCategoricalAccuracy(2)]},
    weighted_metrics={"department": CategoricalTruePositives()},
)
inputs = {"title": title, "body": body, "tags": tag}
targets = {"priority": (priority > 0.5).astype("float32"), "department": dept}
sw = {"priority": np.ones(n), "department": np.linspace(0.1, 2, n)}
h = model.fit(inputs, targets, sample_weight=sw, epochs=2, batch_size=8, shuffle=False, verbose=0, validation_data=(inputs, targets))
for k in sorted(h.history):
    print(k, np.round(h.history[k], 3))
e = model.evaluate(inputs, targets, verbose=0, return_dict=True, batch_size=16)
print(sorted(e))
out = model.predict(inputs, verbose=0)
print({k: v.shape for k, v in sorted(out.items())})
logs = model.train_on_batch([title[:8], body[:8], tag[:8]], {k: v[:8] for k, v in targets.items()}, return_dict=True)
print({k: round(float(v), 3) for k, v in sorted(logs.items()) if "loss" in k})
print(model.metrics_names, len(model.metrics))

lists = keras.Model([title_input, body_input, tags_input], [pri, dep])
lists.compile("adam", ["mse", "categorical_crossentropy"], loss_weights=[0.5, 1.0], metrics=[["mse"], ["accuracy"]])
h = lists.fit([title, body, tag], [priority, dept], epochs=1, batch_size=16, shuffle=False, verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})


def gen():
    for i in range(0, n, 8):
        s = slice(i, i + 8)
        yield [title[s], body[s], tag[s]], [priority[s], dept[s]], [np.ones(8), np.full(8, 0.5)]


h = lists.fit(gen(), verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
