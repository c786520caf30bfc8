"""RealNVP coupling flow and an energy model by compute_loss and add_metric-like trackers."""
import keras
import numpy as np
from keras import layers, ops, regularizers

rng = np.random.default_rng(6)
data = np.stack([rng.normal(0, 1, 64), rng.normal(0, 0.3, 64)], 1).astype("float32")
data[:, 1] += data[:, 0] ** 2


def Coupling(input_shape):
    inp = layers.Input(shape=(input_shape,))
    t = layers.Dense(8, activation="relu", kernel_regularizer=regularizers.l2(0.01))(inp)
    t = layers.Dense(input_shape, activation="linear", kernel_regularizer=regularizers.l2(0.01))(t)
    s = layers.Dense(8, activation="relu", kernel_regularizer=regularizers.l2(0.01))(inp)
    s = layers.Dense(input_shape, activation="tanh", kernel_regularizer=regularizers.l2(0.01))(s)
    return keras.Model(inputs=inp, outputs=[s, t])


class RealNVP(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.masks = np.array([[0, 1], [1, 0]] * (n // 2), dtype="float32")
        self.loss_tracker2 = keras.metrics.Mean(name="nll")
        self.list = [Coupling(2) for _ in range(n)]

    def call(self, x, training=True):
        log_det = 0
        direction = -1 if training else 1
        for i in range(self.n)[::direction]:
            m = self.masks[i]
            xm = x * m
            rev = 1 - m
            s, t = self.list[i](xm)
            s, t = s * rev, t * rev
            gate = (direction - 1) / 2
            x = rev * (x * ops.exp(direction * s) + direction * t * ops.exp(gate * s)) + xm
            log_det += gate * ops.sum(s, axis=1)
        return x, log_det

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        z, logdet = self(x, training=True)
        ll = -0.5 * ops.sum(z**2, -1) - np.log(2 * np.pi) + logdet
        nll = -ops.mean(ll)
        self.loss_tracker2.update_state(nll)
        return nll + sum(self.losses[: 0])


model = RealNVP(4)
model(data[:2])
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.2, v.shape))
model.compile(optimizer=keras.optimizers.Adam(0.01))
h = model.fit(data, epochs=3, batch_size=16, shuffle=False, verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
z, _ = model(data)
x, _ = model(z, training=False)
print(np.allclose(x, data, atol=1e-4), z.shape)
