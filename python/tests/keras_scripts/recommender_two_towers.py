"""Collaborative filtering: dot products of embeddings, biases, neural CF, cross layers."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(17)
users, movies, n = 12, 15, 200
u, m = rng.integers(0, users, n), rng.integers(0, movies, n)
r = (1 / (1 + np.exp(-(rng.normal(size=users)[u] + rng.normal(size=movies)[m])))).astype("float32")


class RecommenderNet(keras.Model):
    def __init__(self, num_users, num_movies, embedding_size, **kwargs):
        super().__init__(**kwargs)
        self.user_embedding = layers.Embedding(num_users, embedding_size, embeddings_initializer="he_normal", embeddings_regularizer=keras.regularizers.l2(1e-6))
        self.user_bias = layers.Embedding(num_users, 1)
        self.movie_embedding = layers.Embedding(num_movies, embedding_size, embeddings_initializer="he_normal", embeddings_regularizer=keras.regularizers.l2(1e-6))
        self.movie_bias = layers.Embedding(num_movies, 1)

    def call(self, inputs):
        user_vector = self.user_embedding(inputs[:, 0])
        user_bias = self.user_bias(inputs[:, 0])
        movie_vector = self.movie_embedding(inputs[:, 1])
        movie_bias = self.movie_bias(inputs[:, 1])
        dot = ops.tensordot(user_vector, movie_vector, 2) if False else ops.sum(user_vector * movie_vector, axis=1, keepdims=True)
        return ops.nn.sigmoid(dot + user_bias + movie_bias)


model = RecommenderNet(users, movies, 6)
x = np.stack([u, m], 1)
model(x[:2])
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.3, v.shape))
model.compile(loss=keras.losses.BinaryCrossentropy(), optimizer=keras.optimizers.Adam(0.01))
h = model.fit(x, r, batch_size=25, epochs=3, shuffle=False, validation_split=0.1, verbose=0)
print(np.round(h.history["loss"], 3), np.round(h.history["val_loss"], 3))
unseen = np.setdiff1d(np.arange(movies), m[u == 3])
ratings = model.predict(np.hstack(([[3]] * len(unseen), unseen[:, None])) if len(unseen) else x[:3], verbose=0).flatten()
print(ratings.argsort()[-3:].shape)


class Cross(layers.Layer):
    def build(self, s):
        self.w = self.add_weight(shape=(s[-1], s[-1]), initializer="glorot_uniform", name="w")
        self.b = self.add_weight(shape=(s[-1],), initializer="zeros", name="b")

    def call(self, x0, x=None):
        x = x0 if x is None else x
        return x0 * (ops.matmul(x, self.w) + self.b) + x


ui, mi = keras.Input((1,), dtype="int32"), keras.Input((1,), dtype="int64")
ue, me = layers.Embedding(users, 4, name="ue")(ui), layers.Embedding(movies, 4, name="me")(mi)
dot = layers.Dot(axes=-1, normalize=True)([ue, me])
flat = layers.Flatten()(layers.Concatenate()([ue, me]))
c1 = Cross(name="c1")
crossed = Cross(name="c2")(flat, c1(flat))
deep = layers.Dense(8, activation="selu", kernel_initializer="lecun_normal")(flat)
deep = layers.AlphaDropout(0.0)(deep)
out = layers.Dense(1)(layers.concatenate([crossed, deep, layers.Flatten()(dot), layers.Subtract()([layers.Flatten()(ue), layers.Flatten()(me)]), layers.Maximum()([layers.Flatten()(ue), layers.Flatten()(me)])]))
ncf = keras.Model([ui, mi], out)
for v in ncf.trainable_variables:
    v.assign(rng.normal(0, 0.2, v.shape))
ncf.compile(keras.optimizers.Ftrl(0.05), "mse", metrics=[keras.metrics.RootMeanSquaredError()])
h = ncf.fit([u, m], r, batch_size=50, epochs=2, shuffle=False, verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
for opt in ("adamax", "adagrad", "adadelta", "lion", "adafactor", "muon", "nadam", "ftrl"):
    ncf.compile(opt, "mae")
    print(opt, ncf.optimizer.__class__.__name__, np.isfinite(ncf.train_on_batch([u[:50], m[:50]], r[:50])))
