import keras
import numpy as np
from keras import layers, ops, optimizers
from keras.optimizers import schedules

rng = np.random.default_rng(0)
x = rng.normal(size=(48, 6)).astype("float32")
y = np.argmax(x[:, :3] + 0.1 * rng.normal(size=(48, 3)), axis=1)


def build():
    model = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="gelu"), layers.LayerNormalization(), layers.Dense(3)])
    r = np.random.default_rng(1)
    model.set_weights([r.normal(size=w.shape) * 0.5 for w in model.get_weights()])
    return model


for make in (lambda: optimizers.SGD(0.1), lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True), lambda: optimizers.RMSprop(0.02, momentum=0.3, centered=True), lambda: optimizers.Adam(0.02, amsgrad=True), lambda: optimizers.AdamW(0.02, weight_decay=0.1), lambda: optimizers.Adagrad(0.1), lambda: optimizers.Adadelta(1.0), lambda: optimizers.Adamax(0.02), lambda: optimizers.Nadam(0.02), lambda: optimizers.Ftrl(0.2, l2_regularization_strength=0.01), lambda: optimizers.Lion(0.01), lambda: optimizers.Adafactor(0.1), lambda: optimizers.Lamb(0.05), lambda: optimizers.Muon(0.02), lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1), initial_scale=64.0), lambda: optimizers.SGD(0.1, clipnorm=0.1), lambda: optimizers.Adam(0.05, clipvalue=0.05), lambda: optimizers.SGD(0.2, global_clipnorm=0.5), lambda: optimizers.Adam(0.02, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=2), lambda: optimizers.SGD(0.1, gradient_accumulation_steps=3), lambda: optimizers.Adam(0.02, weight_decay=0.05), lambda: optimizers.ScheduleFreeAdamW(0.02)):
    try:
        optimizer = make()
    except AttributeError as error:
        print(str(error)[:60])
        continue
    model = build()
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    h = model.fit(x, y, batch_size=12, epochs=3, shuffle=False, verbose=0)
    print(optimizer.name, np.round(h.history["loss"], 4).tolist(), len(optimizer.variables), int(optimizer.iterations), np.round(model.get_weights()[0][0, :2], 4).tolist())

for schedule in (schedules.ExponentialDecay(0.1, 4, 0.5, staircase=True), schedules.PiecewiseConstantDecay([3, 6], [0.1, 0.05, 0.01]), schedules.PolynomialDecay(0.1, 6, 0.01, power=2.0, cycle=True), schedules.InverseTimeDecay(0.1, 2, 0.5), schedules.CosineDecay(0.0, 8, warmup_target=0.1, warmup_steps=3), schedules.CosineDecayRestarts(0.1, 3)):
    model = build()
    model.compile(optimizers.SGD(schedule), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    h = model.fit(x, y, batch_size=12, epochs=2, shuffle=False, verbose=0)
    print(type(schedule).__name__, [round(float(schedule(i)), 4) for i in range(0, 10, 3)], np.round(h.history["loss"], 4).tolist(), round(float(model.optimizer.learning_rate), 4))


class Triangle(schedules.LearningRateSchedule):
    def __init__(self, low, high, half):
        self.low, self.high, self.half = low, high, half

    def __call__(self, step):
        step = ops.cast(step, "float32")
        cycle = ops.floor(1 + step / (2 * self.half))
        where = ops.abs(step / self.half - 2 * cycle + 1)
        return self.low + (self.high - self.low) * ops.maximum(0.0, 1 - where)

    def get_config(self):
        return {"low": self.low, "high": self.high, "half": self.half}


class SignMomentum(optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, beta=0.9, **kwargs):
        super().__init__(learning_rate=learning_rate, name="sign_momentum", **kwargs)
        self.beta = beta

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.m = [self.add_variable_from_reference(v, "m") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        m = self.m[self._get_variable_index(variable)]
        self.assign(m, self.beta * m + (1 - self.beta) * ops.cast(gradient, variable.dtype))
        self.assign_sub(variable, ops.cast(learning_rate, variable.dtype) * ops.sign(m))

    def get_config(self):
        return {**super().get_config(), "beta": self.beta}


model = build()
model.compile(SignMomentum(Triangle(0.001, 0.02, 4)), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h = model.fit(x, y, batch_size=12, epochs=4, shuffle=False, verbose=0)
print({k: np.round(v, 4).tolist() for k, v in sorted(h.history.items())})
model = build()
model.compile(optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True), steps_per_execution=2)
rates = []
h = model.fit(x, y, batch_size=12, epochs=3, shuffle=False, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(lambda e, lr: lr * 0.5), keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: rates.append(round(float(model.optimizer.learning_rate), 4)))])
print(rates, np.round(h.history["loss"], 4).tolist())
model.optimizer.learning_rate = 0.3
model.optimizer.learning_rate.assign(0.4) if hasattr(model.optimizer.learning_rate, "assign") else None
print(round(float(model.optimizer.learning_rate), 4), [v.path for v in model.optimizer.variables][:2])
excluded = optimizers.AdamW(0.1, weight_decay=0.5)
excluded.exclude_from_weight_decay(var_names=["bias"])
model.compile(excluded, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(np.round(model.fit(x, y, batch_size=24, epochs=2, shuffle=False, verbose=0).history["loss"], 4).tolist())
variable = keras.Variable([1.0, -2.0])
o = optimizers.Adam(0.1)
for _ in range(3):
    o.apply([2 * variable.value], [variable])
print(variable.numpy().round(4), int(o.iterations), optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.5}}).get_config()["learning_rate"])
constrained = keras.Sequential([keras.Input((6,)), layers.Dense(3, kernel_constraint=keras.constraints.MaxNorm(0.5), bias_regularizer="l2", kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.01), activity_regularizer=keras.regularizers.L1(0.01), kernel_initializer="ones")])
constrained.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(np.round(constrained.fit(x, y, epochs=2, shuffle=False, verbose=0).history["loss"], 4).tolist(), np.linalg.norm(constrained.get_weights()[0], axis=0).round(3))
