# Gradients through attention whose masks hide every key from some queries: padding in MultiHeadAttention and its kin, and masks written by hand
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(3)
x = rng.normal(size=(6, 5, 8)).astype("float32")
m = np.array([[1, 1, 1, 0, 0], [1] * 5, [1, 0, 0, 0, 0], [0] * 5, [1, 1, 1, 1, 0], [0, 1, 0, 1, 0]], bool)
y = rng.normal(size=(6, 5, 8)).astype("float32")


def pairs(mask):
    return ops.logical_and(mask[:, None, :], mask[:, :, None])


def split(t):
    return ops.transpose(ops.reshape(t, (-1, 5, 2, 4)), (0, 2, 1, 3))


class WithScores(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = layers.MultiHeadAttention(2, 4)

    def build(self, shape):
        self.attention.build(shape[0], shape[0])

    def call(self, inputs):
        x, mask = inputs
        return self.attention(x, x, query_mask=mask, value_mask=mask, return_attention_scores=True)[0]


class Fused(WithScores):
    def call(self, inputs):
        x, mask = inputs
        return self.attention(x, x, attention_mask=pairs(mask))


class Causal(WithScores):
    def call(self, inputs):
        x, mask = inputs
        return self.attention(x, x, query_mask=mask, value_mask=mask, use_causal_mask=True)


class ByHand(layers.Layer):
    """(1 - mask) * -1e9 added to the scores."""

    def build(self, shape):
        self.q, self.k, self.v = [self.add_weight(shape=(8, 8), name=n) for n in "qkv"]

    def masked(self, scores, mask):
        return scores + (1.0 - ops.cast(mask, "float32")) * -1e9

    def call(self, inputs):
        x, mask = inputs
        q, k, v = [split(ops.matmul(x, w)) for w in (self.q, self.k, self.v)]
        scores = self.masked(ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / 2.0, pairs(mask)[:, None])
        return ops.reshape(ops.transpose(ops.matmul(ops.softmax(scores, axis=-1), v), (0, 2, 1, 3)), (-1, 5, 8))


class ByWhere(ByHand):
    def masked(self, scores, mask):
        return ops.where(mask, scores, -1e9)


class BySoftmaxLayer(ByHand):
    def masked(self, scores, mask):
        return layers.Softmax()(scores, mask=ops.broadcast_to(mask, ops.shape(scores)))


class Dot(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = layers.Attention(use_scale=True)

    def build(self, shape):
        self.attention.build([shape[0], shape[0]])
        self.w = self.add_weight(shape=(8, 8), name="w")

    def call(self, inputs):
        x, mask = inputs
        return self.attention([ops.matmul(x, self.w), x, x * 0.5 + ops.matmul(x, self.w)], mask=[mask, mask])


for kind in (WithScores, Fused, Causal, ByHand, ByWhere, BySoftmaxLayer, Dot):
    inputs = keras.Input((5, 8)), keras.Input((5,), dtype="bool")
    model = keras.Model(inputs, kind()(inputs))
    r = np.random.default_rng(0)
    for w in model.trainable_variables:
        w.assign(r.normal(size=w.shape) * 0.4)
    before = [np.array(w) for w in model.trainable_variables]
    model.compile(keras.optimizers.SGD(1.0), "mse")
    print(kind.__name__, f"{float(model.train_on_batch([x, m], y)):.5f}")
    for b, w in zip(before, model.trainable_variables):
        d = np.array(w) - b
        print(w.path.split("/")[-2:], f"{float(np.abs(d).sum()):.4f} {float((d * d).sum()):.5f}")
