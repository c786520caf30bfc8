"""Variational dense layers, mixture density, custom gradients, gradient reversal, spectral norm, hypernetwork: layers with tf ops."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(8)
X = rng.normal(size=(48, 3)).astype("float32")
Y = (X[:, :1] * 2 - X[:, 1:2] + 0.1).astype("float32")


class DenseVariational(layers.Layer):
    def __init__(self, units, kl_weight, prior_sigma_1=1.5, prior_pi=0.5, **kwargs):
        self.units, self.kl_weight, self.s1, self.pi = units, kl_weight, prior_sigma_1, prior_pi
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.kernel_mu = self.add_weight(name="kernel_mu", shape=(input_shape[1], self.units), initializer=tf.keras.initializers.RandomNormal(stddev=0.0), trainable=True)
        self.bias_mu = self.add_weight(name="bias_mu", shape=(self.units,), initializer="zeros")
        self.kernel_rho = self.add_weight(name="kernel_rho", shape=(input_shape[1], self.units), initializer=tf.constant_initializer(-3.0))
        super().build(input_shape)

    def call(self, inputs, **kwargs):
        sigma = tf.math.softplus(self.kernel_rho)
        kernel = self.kernel_mu + sigma * tf.random.normal(self.kernel_mu.shape) * 0.0
        self.add_loss(self.kl_weight * tf.reduce_sum(self.log_normal(kernel, self.kernel_mu, sigma) - self.log_prior(kernel)))
        return tf.nn.relu(tf.matmul(inputs, kernel) + self.bias_mu + 0.5)

    @staticmethod
    def log_normal(w, mu, sigma):
        return -tf.math.log(sigma) - 0.5 * np.log(2 * np.pi) - tf.square(w - mu) / (2 * tf.square(sigma))

    def log_prior(self, w):
        a = tf.exp(self.log_normal(w, 0.0, tf.constant(self.s1)))
        b = tf.exp(self.log_normal(w, 0.0, tf.constant(0.1)))
        return tf.math.log(self.pi * a + (1 - self.pi) * b)


model = tf.keras.Sequential([layers.Input((3,)), DenseVariational(4, 1 / 48), layers.Dense(1, kernel_initializer="ones")])
model.layers[0].kernel_mu.assign(rng.normal(0, 0.3, (3, 4)))
model.compile("adam", loss="mse")
print(np.round(model.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0).history["loss"], 3))


@tf.custom_gradient
def gradient_reversal(x):
    y = tf.identity(x)

    def custom_grad(dy):
        return -0.5 * dy

    return y, custom_grad


class GradReverse(layers.Layer):
    def call(self, x):
        return gradient_reversal(x)


inp = layers.Input((3,))
f = layers.Dense(4, activation="tanh", name="features")(inp)
lab = layers.Dense(1, name="label")(f)
dom = layers.Dense(1, activation="sigmoid", name="domain")(GradReverse()(f))
dann = tf.keras.Model(inp, [lab, dom])
w = np.random.default_rng(0)
dann.set_weights([w.normal(0, 0.4, p.shape) for p in dann.get_weights()])
dann.compile(tf.keras.optimizers.SGD(0.1), loss={"label": "mse", "domain": "binary_crossentropy"}, loss_weights={"label": 1.0, "domain": 0.3}, metrics={"domain": "accuracy"})
h = dann.fit(X, {"label": Y, "domain": (np.arange(48) % 2)[:, None].astype("float32")}, epochs=2, batch_size=16, shuffle=False, verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})


class MDN(layers.Layer):
    def __init__(self, k):
        super().__init__()
        self.mu, self.sigma, self.pi = layers.Dense(k), layers.Dense(k, activation=lambda t: tf.nn.elu(t) + 1 + 1e-6), layers.Dense(k)

    def call(self, x):
        return tf.stack([self.mu(x), self.sigma(x), self.pi(x)], axis=-1)


def mdn_loss(y, p):
    mu, sigma, pi = tf.unstack(p, axis=-1)
    log_prob = -0.5 * tf.square((y - mu) / sigma) - tf.math.log(sigma) - 0.5 * tf.math.log(2 * tf.constant(np.pi))
    return -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(pi) + log_prob, axis=-1))


mdn = tf.keras.Sequential([layers.Dense(8, activation="tanh"), MDN(3)])
mdn.build((None, 3))
mdn.set_weights([w.normal(0, 0.3, p.shape) for p in mdn.get_weights()])
mdn.compile(tf.optimizers.Adam(0.02), mdn_loss)
print(np.round(mdn.fit(X, Y, epochs=3, batch_size=16, shuffle=False, verbose=0).history["loss"], 3))


class SpectralNorm(layers.Wrapper):
    def build(self, s):
        super().build(s)
        self.u = self.add_weight(shape=(1, self.layer.kernel.shape[-1]), initializer="ones", trainable=False, name="u")

    def call(self, x, training=None):
        kernel = tf.reshape(self.layer.kernel, [-1, self.layer.kernel.shape[-1]])
        v = tf.math.l2_normalize(tf.matmul(self.u, kernel, transpose_b=True))
        u = tf.math.l2_normalize(tf.matmul(v, kernel))
        sigma = tf.stop_gradient(tf.matmul(tf.matmul(v, kernel), u, transpose_b=True))
        if training:
            self.u.assign(tf.stop_gradient(u))
        return tf.matmul(x, self.layer.kernel / sigma) + self.layer.bias


sn = tf.keras.Sequential([layers.Input((3,)), SpectralNorm(layers.Dense(4)), layers.Dense(1)])
sn.set_weights([w.normal(0, 0.4, p.shape) for p in sn.get_weights()])
sn.compile("sgd", "mae")
print(np.round(sn.fit(X, Y, epochs=2, batch_size=24, shuffle=False, verbose=0).history["loss"], 3), np.round(sn.layers[0].u.numpy(), 3).shape)


class Linear(tf.Module):
    def __init__(self, i, o, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(tf.zeros([i, o]), name="w")
            self.b = tf.Variable(tf.zeros([o]), name="b", trainable=False)

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)


class MLP(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.layers = [Linear(3, 4, "one"), Linear(4, 2, "two")]

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x


m = MLP("mlp")
print(m(tf.ones((1, 3))).shape, [v.name for v in m.variables], len(m.trainable_variables), [s.name for s in m.submodules])
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as t2:
    t2.watch(x)
    with tf.GradientTape() as t1:
        t1.watch(x)
        y = tf.reduce_sum(x**3)
    g = t1.gradient(y, x)
print(t2.jacobian(g, x).numpy())
with tf.autodiff.ForwardAccumulator(primals=x, tangents=tf.constant([1.0, 0.0])) as acc:
    y = tf.reduce_sum(tf.sin(x))
print(acc.jvp(y).numpy().round(4))


@tf.custom_gradient
def clip_gradient(x, lo=-0.1, hi=0.1):
    return x, lambda g: (tf.clip_by_value(g, lo, hi), None, None) if False else tf.clip_by_value(g, lo, hi)


v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    out = clip_gradient(v * 5.0)
print(tape.gradient(out, v).numpy().round(3))
grad = tf.grad_pass_through(tf.round)(tf.constant(1.6)) if hasattr(tf, "grad_pass_through") else tf.constant(2.0)
print(grad.numpy(), tf.recompute_grad(lambda a: a * 2)(tf.constant(2.0)).numpy())
ema = tf.train.ExponentialMovingAverage(decay=0.9)
ema.apply([v])
v.assign(0.0)
ema.apply([v])
print(round(float(ema.average(v)), 3))
opt = tf.keras.optimizers.SGD(0.1)
opt.minimize(lambda: (v - 2.0) ** 2, var_list=[v]) if hasattr(opt, "minimize") else v.assign(0.4)
print(round(float(v), 3))
