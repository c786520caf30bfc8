# keras.ops on symbolic tensors: a graph network with segment sums, einsum attention, sorting and gathering
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(18)
nodes, edges = 12, 30
source, target = rng.integers(0, nodes, edges), rng.integers(0, nodes, edges)


class Messages(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.make, self.score = layers.Dense(units, "relu"), layers.Dense(1)

    def call(self, x):
        sent = self.make(ops.take(x, source, axis=0))
        score = self.score(sent)[:, 0]
        top = ops.take(ops.segment_max(score, target, num_segments=nodes), target)
        weight = ops.exp(score - top)
        total = ops.take(ops.segment_sum(weight, target, num_segments=nodes), target)
        return ops.segment_sum(sent * ops.expand_dims(weight / total, -1), target, num_segments=nodes)


def fixed(model, scale=0.4):
    numbers = np.random.default_rng(4)
    for v in model.trainable_variables:
        v.assign(numbers.normal(size=v.shape) * scale)
    return model


features = rng.normal(size=(nodes, 5)).astype("float32")
inputs = keras.Input(batch_shape=(nodes, 5))
h = Messages(6)(inputs)
h = ops.concatenate([inputs, h], axis=-1)
h = Messages(4)(h)
model = fixed(keras.Model(inputs, layers.Dense(3, "softmax")(h)))
model.compile(keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(features, rng.integers(0, 3, nodes), batch_size=nodes, epochs=4, shuffle=False, verbose=0)
print("graph", [f"{v:.4f}" for v in history.history["loss"]])

x = keras.Input((7, 8))
q, k, v = ops.split(layers.Dense(24)(x), 3, axis=-1)
heads = lambda t: ops.reshape(t, (-1, 7, 2, 4))
scores = ops.einsum("bqhd,bkhd->bhqk", heads(q), heads(k)) / 2.0
causal = ops.tril(ops.ones((7, 7), dtype="bool"))
scores = ops.where(causal, scores, -1e9)
mixed = ops.einsum("bhqk,bkhd->bqhd", ops.softmax(scores), heads(v))
mixed = ops.reshape(mixed, (-1, 7, 8)) + x
best, where = ops.top_k(ops.sum(ops.square(mixed), axis=-1), 3)
chosen = ops.take_along_axis(mixed, ops.expand_dims(where, -1), axis=1)
spread = ops.logsumexp(mixed, axis=1) - ops.max(mixed, axis=1)
ordered = ops.sort(ops.mean(mixed, -1), axis=-1)[:, ::2]
joined = ops.concatenate([ops.reshape(chosen, (-1, 24)), spread, ordered, ops.cumsum(best, axis=-1), ops.roll(ordered, 1, axis=1)], axis=-1)
net = fixed(keras.Model(x, layers.Dense(2)(ops.tanh(joined) * 1.5 - 0.25 / (1.0 + ops.abs(joined)) ** 2)), 0.2)
net.compile(keras.optimizers.Lion(0.002), "mse")
a = rng.normal(size=(15, 7, 8)).astype("float32")
history = net.fit(a, a[:, 0, :2], batch_size=6, epochs=3, shuffle=False, verbose=0)
print("attention", joined.shape, [f"{v:.4f}" for v in history.history["loss"]])

t = keras.Input((6,))
u = -t[:, 1:] @ ops.ones((5, 3)) + ops.one_hot(ops.argmax(t, -1) % 3, 3) * 2 - (t[..., None, :2] * t[..., 2:4, None]).shape[1]
u = ops.stack([u, ops.flip(u, -1)], axis=1)
u = ops.moveaxis(ops.pad(u, [[0, 0], [0, 0], [1, 1]], mode="constant", constant_values=1.0), 1, 2)
u = ops.clip(ops.repeat(u, 2, axis=2), -2.0, 2.0) % 1.5
u = ops.tile(ops.squeeze(ops.mean(u, axis=1, keepdims=True), 1), (1, 2)) // 0.25
graph = keras.Model(t, [u, ops.sqrt(ops.sum(t * t, axis=-1)), ops.prod(t + 2.0, axis=-1), ops.tensordot(t, ops.eye(6, 2), axes=1), ops.isfinite(ops.log(t))])
for out in graph.predict(rng.normal(size=(4, 6)).astype("float32"), verbose=0):
    print(out.shape, out.dtype, f"{out.astype('float64').sum():.3f}")
again = keras.Model.from_config(graph.get_config())
print(len(again.layers) == len(graph.layers), [tuple(o.shape) for o in again.outputs])
