# keras.Variable, optimizers and metrics by hand, with gradients worked out on paper
import keras
import numpy as np
from keras import ops

rng = np.random.default_rng(21)
x = rng.normal(size=(40, 3)).astype("float32")
y = (x @ np.array([[1.0], [-2.0], [0.5]]) + 0.3).astype("float32")


def gradients(w, b, x, y):
    error = ops.matmul(x, w) + b - y
    return ops.mean(ops.square(error)), [2.0 * ops.matmul(ops.transpose(x), error) / x.shape[0], 2.0 * ops.mean(error, axis=0)]


schedule = keras.optimizers.schedules
for name, optimizer in {
    "sgd": keras.optimizers.SGD(schedule.PiecewiseConstantDecay([5, 10], [0.1, 0.05, 0.01]), momentum=0.8),
    "adam": keras.optimizers.Adam(schedule.ExponentialDecay(0.1, 4, 0.7, staircase=True), amsgrad=True, clipnorm=0.5),
    "adamw": keras.optimizers.AdamW(schedule.CosineDecay(0.1, 20, warmup_target=0.2, warmup_steps=3), global_clipnorm=1.0),
    "rmsprop": keras.optimizers.RMSprop(schedule.InverseTimeDecay(0.05, 3, 0.5), centered=True, clipvalue=0.3),
    "adagrad": keras.optimizers.Adagrad(schedule.PolynomialDecay(0.5, 15, 0.01, power=2.0)),
    "adadelta": keras.optimizers.Adadelta(1.0, rho=0.8), "adamax": keras.optimizers.Adamax(0.1), "nadam": keras.optimizers.Nadam(0.1),
    "ftrl": keras.optimizers.Ftrl(0.3, l1_regularization_strength=0.01), "lion": keras.optimizers.Lion(0.02), "lamb": keras.optimizers.Lamb(0.05),
    "adafactor": keras.optimizers.Adafactor(0.1), "ema": keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=6),
    "accumulated": keras.optimizers.Adam(0.1, gradient_accumulation_steps=4),
}.items():
    w, b = keras.Variable(np.zeros((3, 1), "float32"), name="w"), keras.Variable(np.zeros(1, "float32"), name="b")
    loss = keras.metrics.Mean()
    for step in range(16):
        rows = slice(step % 4 * 10, step % 4 * 10 + 10)
        value, grads = gradients(w, b, x[rows], y[rows])
        optimizer.apply(grads, [w, b])
        loss.update_state(value, sample_weight=1.0 + step)
    rate = float(ops.convert_to_numpy(optimizer.learning_rate))
    print(name, f"{float(loss.result()):.4f}", [f"{v:.4f}" for v in ops.convert_to_numpy(w)[:, 0]], f"{rate:.5f}", int(optimizer.iterations))

v = keras.Variable(np.arange(6.0).reshape(2, 3), dtype="float32", trainable=False, name="table")
v.assign_add(np.ones((2, 3)))
v.assign_sub(v * 0.5)
print(v.shape, v.dtype, v.name, v.trainable, ops.convert_to_numpy(v[1] + v[0, 1]).tolist(), ops.convert_to_numpy(v).sum())
try:
    v.assign(np.zeros((3, 2)))
except ValueError:
    print("shapes differ: refused")
kept = v.value
v.assign(ops.zeros((2, 3)))
print("kept", float(ops.sum(kept)), float(ops.sum(v.value)))

w = keras.Variable(np.ones((3, 1), "float32"))
with keras.StatelessScope(state_mapping=[(w, ops.full((3, 1), 2.0))]) as scope:
    inside = float(ops.sum(w.value))
    w.assign(w.value * 3.0)
print("scope", inside, float(ops.sum(scope.get_current_value(w))), float(ops.sum(w.value)))
optimizer = keras.optimizers.Adam(0.1)
optimizer.build([w])
values, state = optimizer.stateless_apply(optimizer.variables, [ops.ones((3, 1))], [w])
print("stateless", [f"{float(u):.4f}" for u in ops.convert_to_numpy(values[0])[:, 0]], float(ops.sum(w.value)), len(state))

class Counter(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.total = keras.Variable(0.0, trainable=False)
        self.parts = [keras.Variable(float(i)) for i in range(3)]

    def call(self, x):
        self.total.assign_add(ops.sum(x))
        return x * self.parts[1] + self.parts[2]


counter = Counter()
print(ops.convert_to_numpy(counter(np.ones((2, 2), "float32"))).tolist(), float(counter.total), len(counter.weights), len(counter.trainable_weights))
