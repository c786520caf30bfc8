# scan, while_loop, fori_loop, cond, switch, associative_scan and vectorized_map inside of layers that are trained
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(15)


class LinearRecurrence(layers.Layer):
    """h = a * h + x, by scan; and the same by associative_scan."""

    def __init__(self, parallel, **kwargs):
        super().__init__(**kwargs)
        self.parallel = parallel

    def build(self, shape):
        self.decay = self.add_weight(shape=(shape[-1],), initializer="zeros", name="decay")

    def call(self, x):
        a = ops.sigmoid(self.decay)
        if self.parallel:
            pairs = (ops.broadcast_to(a, ops.shape(x)), x)
            return ops.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), pairs, axis=1)[1]

        def step(h, now):
            h = a * h + now
            return h, h

        _, out = ops.scan(step, ops.zeros_like(x[:, 0]), ops.transpose(x, (1, 0, 2)))
        return ops.transpose(out, (1, 0, 2))


class Newton(layers.Layer):
    """Square roots by a loop; JAX has no gradient of it."""

    def build(self, shape):
        self.shift = self.add_weight(shape=(), initializer="ones", name="shift")

    def call(self, x):
        wanted = ops.stop_gradient(ops.square(x) + 1.0)
        root = lambda i, y: (i + 1, 0.5 * (y + wanted / y))
        found = ops.while_loop(lambda i, y: i < 4, root, (0, ops.ones_like(wanted)), maximum_iterations=6)[1]
        return ops.stop_gradient(found) * self.shift + x


class Routed(layers.Layer):
    """One of three matrices, by a counter; twice as strong where training."""

    def build(self, shape):
        self.kernels = self.add_weight(shape=(3, shape[-1], shape[-1]), initializer="zeros", name="kernels")
        self.calls = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="calls")

    def call(self, x, training=False):
        chosen = ops.switch(self.calls % 3, [lambda v, i=i: ops.matmul(v, self.kernels[i]) for i in range(3)], x)
        if training:
            self.calls.assign(self.calls + 1)
        return ops.cond(ops.mean(chosen) > 0.0, lambda: x + chosen, lambda: x - 0.5 * chosen)


class Powers(layers.Layer):
    def build(self, shape):
        self.factor = self.add_weight(shape=(shape[-1],), initializer="ones", name="factor")

    def call(self, x):
        summed = ops.fori_loop(0, 3, lambda i, total: total * 0.5 + ops.cast(i + 1, x.dtype) * x * self.factor, ops.zeros_like(x))
        return ops.vectorized_map(lambda row: row / (1.0 + ops.sum(ops.square(row))), summed)


def train(name, *middle):
    model = keras.Sequential([keras.Input((5, 4)), layers.Dense(4), *middle, layers.GlobalAveragePooling1D(), layers.Dense(1)])
    numbers = np.random.default_rng(3)
    for v in model.trainable_variables:
        v.assign(numbers.normal(size=v.shape) * 0.4)
    model.compile(keras.optimizers.Adam(0.03), "mse")
    x = rng.normal(size=(14, 5, 4)).astype("float32")
    h = model.fit(x, x.sum((1, 2))[:, None], batch_size=6, epochs=3, shuffle=False, verbose=0)
    print(name, [f"{v:.4f}" for v in h.history["loss"]], [f"{np.abs(ops.convert_to_numpy(v)).sum():.4f}" for v in model.weights])
    return model


train("scan", LinearRecurrence(False))
rng = np.random.default_rng(15)
train("associative", LinearRecurrence(True))
train("newton", Newton())
model = train("routed", Routed())
print("calls", int(model.layers[1].calls))
train("powers", Powers())
print(ops.convert_to_numpy(ops.map(lambda v: v * v + 1.0, ops.arange(5, dtype="float32"))).tolist())
collatz = ops.while_loop(lambda n, c: n > 1, lambda n, c: (ops.where(n % 2 == 0, n // 2, 3 * n + 1), c + 1), (27, 0))
print("collatz", int(collatz[1]))
