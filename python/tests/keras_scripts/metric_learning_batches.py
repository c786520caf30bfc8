"""Metric learning on pairs: Gram matrices, triplet and contrastive losses, cosine neighbours."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(12)
classes, width = 4, 10
centres = rng.normal(size=(classes, width))
x = (np.repeat(centres, 8, 0) + 0.3 * rng.normal(size=(32, width))).astype("float32")
y = np.repeat(np.arange(classes), 8)


def batch(seed):
    r = np.random.default_rng(seed)
    out = np.empty((2, classes, width), "float32")
    for c in range(classes):
        a, b = r.choice(np.where(y == c)[0], 2, replace=False)
        out[0, c], out[1, c] = x[a], x[b]
    return out


class EmbeddingModel(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.t = 0.2

    def call(self, data, training=False):
        anchors, positives = data[:, 0], data[:, 1]
        a, p = self.inner(anchors, training=training), self.inner(positives, training=training)
        return ops.einsum("ae,pe->ap", a, p) / self.t


inner_in = keras.Input((width,))
h = layers.Dense(16, activation="elu", kernel_constraint=keras.constraints.MaxNorm(1.5))(inner_in)
h = layers.Dense(6, kernel_constraint=keras.constraints.UnitNorm(axis=0))(h)
emb = layers.UnitNormalization()(h)
inner = keras.Model(inner_in, emb)
for v in inner.trainable_variables:
    v.assign(rng.normal(0, 0.4, v.shape))
model = EmbeddingModel(inner)
pairs = np.concatenate([batch(i).transpose(1, 0, 2) for i in range(6)])
labels = np.tile(np.arange(classes), 6)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(pairs, labels, batch_size=classes, epochs=4, shuffle=False, verbose=0)
print(np.round(history.history["loss"], 3))
e = inner.predict(x, verbose=0)
print(np.round(np.linalg.norm(e, axis=1)[:3], 4), np.round(np.linalg.norm(ops.convert_to_numpy(inner.layers[2].kernel), axis=0)[:3], 3))
gram = np.einsum("ae,be->ab", e, e)
near = np.argsort(gram.T)[:, -4:]
print("neighbours of the same class", np.mean(y[near] == y[:, None]) > 0.6)


def semi_hard(labels, embeddings, margin=1.0):
    d = ops.sum(ops.square(embeddings[:, None] - embeddings[None]), -1)
    same = ops.equal(labels[:, None], labels[None])
    pos = ops.max(ops.where(same, d, -1e9), axis=1)
    neg = ops.min(ops.where(same, 1e9, d), axis=1)
    return ops.mean(ops.relu(pos - neg + margin))


class Triplet(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return semi_hard(ops.reshape(y_true, [-1]), y_pred)


inner.compile(keras.optimizers.Adam(0.003), loss=Triplet())
h = inner.fit(x, y, epochs=3, batch_size=32, verbose=0)
print(np.round(h.history["loss"], 3))

a_in, b_in = keras.Input((width,)), keras.Input((width,))
dist = layers.Lambda(lambda v: ops.sqrt(ops.maximum(ops.sum(ops.square(v[0] - v[1]), axis=1, keepdims=True), 1e-7)))([inner(a_in), inner(b_in)])
siamese = keras.Model([a_in, b_in], layers.Dense(1, activation="sigmoid", kernel_initializer="ones")(layers.BatchNormalization()(dist)))


def contrastive(y_true, y_pred):
    return ops.mean((1 - y_true) * ops.square(y_pred) + y_true * ops.square(ops.maximum(1.0 - y_pred, 0.0)))


idx = rng.integers(0, 32, (40, 2))
same = (y[idx[:, 0]] != y[idx[:, 1]]).astype("float32")
siamese.compile("rmsprop", contrastive, metrics=["accuracy"])
h = siamese.fit([x[idx[:, 0]], x[idx[:, 1]]], same, epochs=2, batch_size=10, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 3), np.round(keras.losses.cosine_similarity(e[:2], e[2:4]), 3).tolist() != [])
