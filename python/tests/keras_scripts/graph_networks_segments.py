# Graph networks: dense adjacency, edge lists with segment sums, message passing over padded graphs
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(14)
N, F = 12, 5
adj = (rng.random((N, N)) < 0.25).astype("float32")
adj = np.maximum(adj, adj.T) + np.eye(N, dtype="float32")
feats = rng.normal(size=(N, F)).astype("float32")
labels = (feats[:, 0] > 0).astype("int32")
src, dst = np.nonzero(adj)


class GCN(layers.Layer):
    def __init__(self, units, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.activation = units, keras.activations.get(activation)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[0][-1], self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, inputs):
        x, a = inputs
        d = ops.rsqrt(ops.sum(a, axis=-1))
        a = a * d[:, :, None] * d[:, None, :]
        return self.activation(ops.matmul(a, ops.matmul(x, self.kernel)) + self.bias)


class EdgeConv(layers.Layer):
    """Edges are the same for every graph: gathered and summed by segments."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.message, self.update = layers.Dense(units, "relu"), layers.Dense(units)

    def build(self, shape):
        self.message.build((None, None, 2 * shape[-1]))
        self.update.build((None, None, shape[-1] + self.message.units))

    def call(self, x):
        pair = ops.concatenate([ops.take(x, src, axis=1), ops.take(x, dst, axis=1)], axis=-1)
        m = self.message(pair)
        m = ops.transpose(m, (1, 0, 2))
        summed = ops.segment_sum(ops.reshape(m, (len(src), -1)), dst, num_segments=N) if m.shape[1] else m
        summed = ops.transpose(ops.reshape(summed, (N, -1, self.message.units)), (1, 0, 2))
        return self.update(ops.concatenate([x, summed], axis=-1))


def fix(model):
    r = np.random.default_rng(2)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.3)
    return model


x_in, a_in = keras.Input((N, F)), keras.Input((N, N))
h = GCN(8, "relu")([x_in, a_in])
h = GCN(2)([h, a_in])
model = fix(keras.Model([x_in, a_in], h))
model.compile(keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True), weighted_metrics=["accuracy"])
train = np.zeros((1, N), "float32")
train[0, :7] = 1
for _ in range(3):
    print([f"{float(v):.4f}" for v in model.train_on_batch([feats[None], adj[None]], labels[None], sample_weight=train)])
print(np.round(model.predict([feats[None], adj[None]], verbose=0)[0, -2:], 4).tolist())

many = rng.normal(size=(16, N, F)).astype("float32")
i = keras.Input((N, F))
h = EdgeConv(6)(i)
h = layers.LayerNormalization()(h)
h = EdgeConv(4)(h)
model = keras.Model(i, layers.Dense(1)(layers.GlobalAveragePooling1D()(h)))
r = np.random.default_rng(3)
for v in model.trainable_variables:
    v.assign(r.normal(size=v.shape) * 0.3 + ("gamma" in v.path))
model.compile("adam", "mse")
print([f"{v:.5f}" for v in model.fit(many, many.mean((1, 2))[:, None], epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"]])


# GAT: attention over neighbours, softmax with a mask
class GAT(layers.Layer):
    def __init__(self, units, heads, **kwargs):
        super().__init__(**kwargs)
        self.units, self.heads = units, heads

    def build(self, shape):
        f = shape[0][-1]
        self.w = self.add_weight(shape=(f, self.heads, self.units), name="w")
        self.a = self.add_weight(shape=(2, self.heads, self.units), name="a")

    def call(self, inputs):
        x, adj = inputs
        h = ops.einsum("bnf,fhu->bhnu", x, self.w)
        left, right = ops.einsum("bhnu,hu->bhn", h, self.a[0]), ops.einsum("bhnu,hu->bhn", h, self.a[1])
        e = ops.leaky_relu(left[..., :, None] + right[..., None, :], 0.2)
        e = ops.where(adj[:, None] > 0, e, -1e9)
        out = ops.einsum("bhnm,bhmu->bnhu", ops.softmax(e, axis=-1), h)
        return ops.reshape(out, (-1, N, self.heads * self.units))


x_in, a_in = keras.Input((N, F)), keras.Input((N, N))
h = layers.Activation("elu")(GAT(3, 2)([x_in, a_in]))
model = fix(keras.Model([x_in, a_in], layers.Dense(2)(h)))
model.compile(keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
big = np.repeat(adj[None], 16, 0)
print([f"{v:.5f}" for v in model.fit([many, big], (many[..., 0] > 0).astype("int32"), epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"]])
print(ops.segment_max(np.array([1.0, 5.0, 2.0, 7.0]), np.array([0, 0, 1, 1]), num_segments=2), ops.segment_sum(np.ones((4, 2)), np.array([2, 0, 2, 5]), num_segments=4))
