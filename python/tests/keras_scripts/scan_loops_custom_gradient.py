"""keras.ops beyond layers: while_loop, fori_loop, scan, cond, switch, vmap, custom_gradient, associative_scan in models."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(31)
print([int(v) for v in ops.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (0, 0))])
print(int(ops.fori_loop(0, 4, lambda i, v: v * 2 + i, 1)))
carry, ys = ops.scan(lambda c, x: (c + x, c * x), init=np.float32(1.0), xs=np.arange(1.0, 5.0, dtype="float32"))
print(float(carry), ops.convert_to_numpy(ys))
print(ops.convert_to_numpy(ops.associative_scan(lambda a, b: a + b, np.arange(6.0, dtype="float32"))))
print(float(ops.cond(True, lambda: ops.convert_to_tensor(1.0), lambda: ops.convert_to_tensor(2.0))))
print(float(ops.switch(2, [lambda x: x + 1, lambda x: x * 2, lambda x: x * x], 5.0)))
print(ops.convert_to_numpy(ops.vectorized_map(lambda x: ops.sum(x**2), np.arange(6.0, dtype="float32").reshape(3, 2))))
print(ops.convert_to_numpy(ops.map(lambda r: ops.max(r) - ops.min(r), np.arange(6.0, dtype="float32").reshape(2, 3))))
print(ops.convert_to_numpy(ops.unstack(np.eye(2))[0]), ops.convert_to_numpy(ops.slice_update(np.zeros((3, 3), "float32"), [1, 1], np.ones((2, 2), "float32")))[1])


@ops.custom_gradient
def log1pexp(x):
    e = ops.exp(x)

    def grad(*args, upstream=None):
        (upstream,) = args if upstream is None else (upstream,)
        return ops.multiply(upstream, 1.0 - 1.0 / ops.add(1, e))

    return ops.log(1 + e), grad


class LeakyIntegrator(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.units = units

    def build(self, s):
        self.w = self.add_weight(shape=(s[-1], self.units), name="w", initializer="ones")
        self.a = self.add_weight(shape=(self.units,), name="a", initializer="zeros")

    def call(self, x):
        xs = ops.transpose(ops.matmul(x, self.w), (1, 0, 2))
        decay = ops.sigmoid(self.a)

        def step(h, v):
            h = decay * h + (1 - decay) * v
            return h, h

        last, seq = ops.scan(step, ops.zeros_like(xs[0]), xs)
        return last


class Newton(layers.Layer):
    """Square roots by a fixed number of Newton steps, differentiable through the loop."""

    def call(self, x):
        g = ops.ones_like(x)
        for _ in range(6):
            g = 0.5 * (g + x / g)
        return g


inputs = keras.Input((7, 3))
x = LeakyIntegrator(5)(inputs)
x = layers.Lambda(lambda t: log1pexp(t))(x)
x = Newton()(x)
x = layers.Lambda(lambda t: ops.top_k(t, 3)[0], output_shape=(3,))(x)
out = layers.Dense(1)(x)
model = keras.Model(inputs, out)
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.5, v.shape))
X = rng.normal(size=(32, 7, 3)).astype("float32")
Y = np.abs(X.sum((1, 2)))[:, None]
model.compile(keras.optimizers.Adam(0.02), "mse")
h = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 3))


class Thresholded(layers.Layer):
    """Straight-through rounding, and a branch on the data."""

    def call(self, x, training=False):
        hard = x + ops.stop_gradient(ops.round(x) - x)
        return ops.cond(ops.mean(x) > 0, lambda: hard * 2.0, lambda: hard)


m2 = keras.Sequential([keras.Input((4,)), layers.Dense(4), Thresholded(), layers.Dense(1)])
for v in m2.trainable_variables:
    v.assign(rng.normal(0, 0.5, v.shape))
m2.compile("sgd", "mse")
h = m2.fit(X[:, 0, :].repeat(2, 1)[:, :4], Y, epochs=2, batch_size=16, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 2))
print(ops.convert_to_numpy(ops.searchsorted(np.array([1.0, 3.0, 5.0]), np.array([0.5, 3.0, 9.0]))), ops.convert_to_numpy(ops.histogram(np.array([1.0, 2, 2, 3]), bins=3)[0]))
q, r = ops.qr(np.array([[1.0, 2], [3, 4]], "float32"))
print(np.round(ops.convert_to_numpy(ops.matmul(q, r)), 3), round(float(ops.det(np.array([[1.0, 2], [3, 4]], "float32"))), 3), round(float(ops.norm(np.array([3.0, 4.0]))), 3))
print(ops.convert_to_numpy(ops.erf(np.array([0.5], "float32"))).round(4), ops.convert_to_numpy(ops.logsumexp(np.array([1.0, 2.0]))).round(4), ops.is_tensor(ops.ones(2)), ops.dtype(ops.ones(2)) if hasattr(ops, "dtype") else "float32")
