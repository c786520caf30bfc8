"""Magnitude pruning by masks in a callback, gradual schedule, quantile thresholds, weights checked after."""
import keras
import numpy as np
from keras import ops

rng = np.random.default_rng(5)
X = rng.normal(size=(64, 10)).astype("float32")
Y = X @ rng.normal(size=(10, 2)).astype("float32")


class Prune(keras.callbacks.Callback):
    def __init__(self, final):
        super().__init__()
        self.final = final

    def on_train_batch_end(self, batch, logs=None):
        for layer in self.model.layers:
            if isinstance(layer, keras.layers.Dense):
                w = layer.get_weights()
                limit = np.quantile(np.abs(w[0]), self.level)
                w[0] = np.where(np.abs(w[0]) < limit, 0, w[0])
                layer.set_weights(w)

    def on_epoch_begin(self, epoch, logs=None):
        self.level = self.final * min(1.0, (epoch + 1) / 2)


model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(2)])
model.set_weights([rng.normal(0, 0.3, w.shape) for w in model.get_weights()])
model.compile(keras.optimizers.Adam(0.01), "mse")
h = model.fit(X, Y, epochs=3, batch_size=16, shuffle=False, verbose=0, callbacks=[Prune(0.6)])
print(np.round(h.history["loss"], 3), [round(float(np.mean(w == 0)), 2) for w in model.get_weights()])


class Masked(keras.layers.Dense):
    def build(self, s):
        super().build(s)
        self.mask = self.add_weight(shape=self.kernel.shape, trainable=False, initializer="ones", name="mask")

    def call(self, x):
        return self.activation(ops.matmul(x, self.kernel * self.mask) + self.bias)


m = keras.Sequential([keras.Input((10,)), Masked(8, "relu"), Masked(2)])
m.set_weights([rng.normal(0, 0.3, w.shape) if i % 3 < 2 else (rng.random(w.shape) > 0.5).astype("float32") for i, w in enumerate(m.get_weights())])
m.compile(keras.optimizers.SGD(0.05), keras.losses.LogCosh(), metrics=[keras.metrics.R2Score(), keras.metrics.CosineSimilarity()])
h = m.fit(X, Y, epochs=2, batch_size=16, shuffle=False, verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
m.layers[0].mask.assign(np.zeros((10, 8)))
print(np.ptp(m.predict(X, verbose=0), axis=0))
m.summary(show_trainable=True)
