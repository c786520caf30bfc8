"""Forecasting transformer: Time2Vec, convolutional distilling, positional sines, warm-up schedule class, checkpoints, last-k averaging."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(9)


@keras.saving.register_keras_serializable()
class Time2Vec(layers.Layer):
    def __init__(self, k, **kw):
        super().__init__(**kw)
        self.k = k

    def build(self, s):
        self.w = self.add_weight(shape=(s[-1], self.k), initializer="uniform", name="w")
        self.b = self.add_weight(shape=(s[1], self.k), initializer="uniform", name="b")

    def call(self, x):
        p = ops.matmul(x, self.w) + self.b
        return ops.concatenate([p[..., :1], ops.sin(p[..., 1:])], -1)

    def get_config(self):
        return {**super().get_config(), "k": self.k}


@keras.saving.register_keras_serializable()
class Noam(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d, warm=10):
        self.d, self.warm = d, warm

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1
        return ops.rsqrt(ops.cast(self.d, "float32")) * ops.minimum(ops.rsqrt(step), step * self.warm**-1.5)

    def get_config(self):
        return {"d": self.d, "warm": self.warm}


X = rng.normal(size=(48, 12, 2)).astype("float32")
y = X[:, -3:, 0].mean(1, keepdims=True)
i = keras.Input((12, 2))
h = layers.Concatenate()([i, Time2Vec(4)(i)])
pos = np.array([[p / 10000 ** (2 * (j // 2) / 6) for j in range(6)] for p in range(12)], "float32")
h = h + ops.convert_to_tensor(np.where(np.arange(6) % 2, np.cos(pos), np.sin(pos)).astype("float32"))
a = layers.MultiHeadAttention(2, 3, dropout=0.0)(h, h, use_causal_mask=True)
h = layers.LayerNormalization()(h + a)
h = layers.MaxPooling1D(3, 2, "same")(layers.Conv1D(6, 3, padding="causal", activation="elu")(h))
out = layers.Dense(1)(layers.Flatten()(h))
model = keras.Model(i, out)
for v in model.trainable_variables:
    if v.name not in ("gamma", "beta"):
        v.assign(rng.normal(0, 0.3, v.shape))
model.compile(keras.optimizers.Adam(Noam(64), beta_2=0.98, epsilon=1e-9), keras.losses.Huber(0.5), metrics=["mape" if False else "mae"])
h = model.fit(X, y, epochs=3, batch_size=12, shuffle=False, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint("m{epoch}.keras")])
print(np.round(h.history["loss"], 4), round(float(model.optimizer.learning_rate), 5))
many = [keras.models.load_model(f"m{e}.keras") for e in (1, 2, 3)]
mean = [np.mean(w, 0) for w in zip(*[m.get_weights() for m in many])]
model.set_weights(mean)
print(round(model.evaluate(X, y, verbose=0)[0], 4), type(many[0].optimizer._learning_rate).__name__, int(many[2].optimizer.iterations))
h2 = many[2].fit(X, y, epochs=4, initial_epoch=3, batch_size=12, shuffle=False, verbose=0)
print(np.round(h2.history["loss"], 4), h2.epoch)
