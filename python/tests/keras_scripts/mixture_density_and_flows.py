# A mixture density network, a RealNVP flow with log-determinants, evidential regression: losses written with ops
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(13)
x = rng.uniform(-1, 1, (64, 1)).astype("float32")
y = (x + 0.3 * np.sin(2 * np.pi * x) + rng.normal(size=x.shape) * 0.05).astype("float32")
K = 3


def fix(model, scale=0.5, seed=0):
    r = np.random.default_rng(seed)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * scale)
    return model


def mdn_loss(y_true, params):
    logits, mu, log_sigma = ops.split(params, 3, axis=-1)
    log_sigma = ops.clip(log_sigma, -4, 4)
    log_prob = -0.5 * ops.square((y_true - mu) / ops.exp(log_sigma)) - log_sigma - 0.5 * float(np.log(2 * np.pi))
    return -ops.logsumexp(ops.log_softmax(logits, axis=-1) + log_prob, axis=-1)


mdn = fix(keras.Sequential([keras.Input((1,)), layers.Dense(16, "tanh"), layers.Dense(3 * K)]))
mdn.compile(keras.optimizers.Adam(0.02), mdn_loss)
print([f"{v:.4f}" for v in mdn.fit(y, x, epochs=5, batch_size=16, shuffle=False, verbose=0).history["loss"]])
logits, mu, _ = np.split(mdn.predict(y[:3], verbose=0), 3, axis=-1)
print(np.round(mu[np.arange(3), logits.argmax(-1)], 4))


class Coupling(layers.Layer):
    def __init__(self, flip, **kwargs):
        super().__init__(**kwargs)
        self.flip = flip
        self.s = keras.Sequential([layers.Dense(8, "relu"), layers.Dense(1, "tanh")])
        self.t = keras.Sequential([layers.Dense(8, "relu"), layers.Dense(1)])

    def build(self, shape):
        self.s.build((None, 1))
        self.t.build((None, 1))

    def call(self, z, inverse=False):
        a, b = (z[:, 1:], z[:, :1]) if self.flip else (z[:, :1], z[:, 1:])
        s, t = self.s(a), self.t(a)
        b = (b - t) * ops.exp(-s) if inverse else b * ops.exp(s) + t
        return (ops.concatenate([b, a] if self.flip else [a, b], axis=1), (-1 if inverse else 1) * ops.sum(s, axis=1))


class RealNVP(keras.Model):
    def __init__(self, depth):
        super().__init__()
        self.blocks = [Coupling(i % 2 == 1) for i in range(depth)]

    def call(self, x):
        logdet = ops.zeros(ops.shape(x)[0])
        for block in reversed(self.blocks):
            x, ld = block(x, inverse=True)
            logdet = logdet + ld
        return ops.concatenate([x, logdet[:, None]], axis=1)

    def sample(self, z):
        for block in self.blocks:
            z, _ = block(z)
        return z

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        z, logdet = y_pred[:, :2], y_pred[:, 2]
        return -ops.mean(-0.5 * ops.sum(ops.square(z), axis=1) - float(np.log(2 * np.pi)) + logdet)


moons = np.concatenate([x[:, :1], np.abs(x[:, :1]) + y[:, :1] * 0.2], axis=1).astype("float32")
flow = RealNVP(4)
flow(moons[:2])
fix(flow, 0.3)
flow.compile(keras.optimizers.Adam(0.01))
print([f"{v:.4f}" for v in flow.fit(moons, epochs=5, batch_size=16, shuffle=False, verbose=0).history["loss"]])
z = flow.predict(moons, verbose=0)[:, :2]
print(np.abs(np.asarray(flow.sample(z)) - moons).max() < 1e-4)


def evidential(y_true, out):
    gamma, v, alpha, beta = [out[..., i:i + 1] for i in range(4)]
    v, alpha, beta = ops.softplus(v) + 1e-3, ops.softplus(alpha) + 1.0 + 1e-3, ops.softplus(beta) + 1e-3
    two = 2 * beta * (1 + v)
    nll = 0.5 * ops.log(np.pi / v) - alpha * ops.log(two) + (alpha + 0.5) * ops.log(v * ops.square(y_true - gamma) + two)
    return ops.mean(nll + 0.01 * ops.abs(y_true - gamma) * (2 * v + alpha))


net = fix(keras.Sequential([keras.Input((1,)), layers.Dense(12, "silu"), layers.Dense(4)]))
net.compile(keras.optimizers.Adam(0.01), evidential)
print([f"{v:.4f}" for v in net.fit(x, y, epochs=4, batch_size=16, shuffle=False, verbose=0).history["loss"]])


class Gaussian(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.mean, self.std = layers.Dense(8, "relu"), layers.Dense(1), layers.Dense(1, "softplus")
        self.nll = keras.metrics.Mean("nll")

    def call(self, x):
        h = self.hidden(x)
        return self.mean(h), self.std(h) + 1e-3

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        mean, std = y_pred
        nll = ops.mean(ops.log(std) + 0.5 * ops.square((y - mean) / std))
        self.nll.update_state(nll)
        return nll


g = Gaussian()
g(x[:2])
fix(g)
g.compile("adam")
h = g.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
print({k: [f"{v:.4f}" for v in h.history[k]] for k in sorted(h.history)})
