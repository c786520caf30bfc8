# Models with several inputs and outputs in dicts and lists, losses and metrics by name, sample weights per output
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(6)
n = 36
title, body, tags = rng.integers(0, 30, (n, 5)), rng.integers(0, 30, (n, 12)), rng.integers(0, 2, (n, 4)).astype("float32")
priority, department = rng.uniform(size=(n, 1)).astype("float32"), rng.integers(0, 3, n)


def fix(model, seed=0):
    r = np.random.default_rng(seed)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.3)
    return model


def build(as_dict):
    t, b, g = keras.Input((None,), name="title", dtype="int32"), keras.Input((None,), name="body", dtype="int32"), keras.Input((4,), name="tags")
    embed = layers.Embedding(30, 6, mask_zero=True)
    x = layers.concatenate([layers.LSTM(5)(embed(t)), layers.GlobalAveragePooling1D()(embed(b)), g])
    p = layers.Dense(1, activation="sigmoid", name="priority")(x)
    d = layers.Dense(3, name="department")(x)
    return fix(keras.Model({"title": t, "body": b, "tags": g} if as_dict else [t, b, g], {"priority": p, "department": d} if as_dict else [p, d]))


x_dict = {"title": title, "body": body, "tags": tags}
y_dict = {"priority": priority, "department": department}
model = build(True)
model.compile("adam", loss={"priority": "mse", "department": keras.losses.SparseCategoricalCrossentropy(from_logits=True)}, loss_weights={"priority": 1.0, "department": 0.2},
              metrics={"priority": ["mae", "mse"], "department": ["acc"]})
w = {"priority": np.linspace(0, 1, n).astype("float32"), "department": np.ones(n, "float32")}
h = model.fit(x_dict, y_dict, sample_weight=w, epochs=3, batch_size=12, shuffle=False, verbose=0, validation_data=(x_dict, y_dict))
for k in sorted(h.history):
    print(k, [f"{v:.5f}" for v in h.history[k]])
print({k: v.shape for k, v in sorted(model.predict(x_dict, verbose=0).items())})
print({k: f"{v:.4f}" for k, v in model.evaluate(x_dict, y_dict, verbose=0, return_dict=True).items()})

model = build(False)
model.compile("sgd", loss=["mae", keras.losses.SparseCategoricalCrossentropy(from_logits=True)], loss_weights=[2.0, 0.5], metrics=[["mse"], ["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(2)]], weighted_metrics=[None, ["acc"]])
h = model.fit([title, body, tags], [priority, department], epochs=2, batch_size=12, shuffle=False, verbose=0)
for k in sorted(h.history):
    print(k, [f"{v:.5f}" for v in h.history[k]])
print([p.shape for p in model.predict_on_batch([title[:4], body[:4], tags[:4]])])
print(model.metrics_names, [f"{v:.4f}" for v in model.evaluate([title, body, tags], [priority, department], verbose=0)])
print([f"{float(v):.4f}" for v in model.train_on_batch([title, body, tags], [priority, department])])
print({k: f"{float(v):.4f}" for k, v in model.test_on_batch([title, body, tags], [priority, department], return_dict=True).items()})


# a subclass that returns nested structures, and one loss only
class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.Dense(2, name="a"), layers.Dense(3, name="b")

    def call(self, inputs):
        left, right = inputs["pair"]
        return {"sum": self.a(left + right), "both": (self.b(left), self.b(right))}


pair = Pair()
data = {"pair": (rng.normal(size=(8, 4)).astype("float32"), rng.normal(size=(8, 4)).astype("float32"))}
pair(data)
fix(pair)
out = pair.predict(data, verbose=0)
print(sorted(keras.tree.map_structure(lambda a: (a.shape, round(float(a.sum()), 4)), out).items()))
target = {"sum": np.zeros((8, 2), "float32"), "both": (np.ones((8, 3), "float32"), np.zeros((8, 3), "float32"))}
pair.compile("sgd", loss={"sum": "mse", "both": ("mse", "mae")})
print([f"{v:.4f}" for v in pair.fit(data, target, epochs=2, batch_size=4, shuffle=False, verbose=0).history["loss"]])
shared = layers.Dense(4, activation="relu", name="shared")
a, b = keras.Input((3,)), keras.Input((3,))
z = layers.Dot(axes=1, normalize=True)([shared(a), shared(b)])
m = fix(keras.Model([a, b], [z, layers.subtract([a, b]), layers.maximum([a, b])]))
m.compile("sgd", loss=["mse", None, None])
print([f"{v:.4f}" for v in m.fit([tags[:, :3], tags[:, 1:]], [np.ones((n, 1)), np.zeros((n, 3)), np.zeros((n, 3))], epochs=2, batch_size=12, shuffle=False, verbose=0).history["loss"]])
print(ops.shape(m([tags[:2, :3], tags[:2, 1:]])[0]))
