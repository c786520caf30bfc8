# Optimizers with everything that can be switched on: clipping, EMA, accumulation, weight decay with exclusions, schedules
import keras
import numpy as np
from keras import layers, ops, optimizers
from keras.optimizers import schedules

rng = np.random.default_rng(4)
x = rng.normal(size=(40, 5)).astype("float32")
y = np.sin(x @ rng.normal(size=(5, 2))).astype("float32")


def build():
    r = np.random.default_rng(0)
    model = keras.Sequential([keras.Input((5,)), layers.Dense(6, "tanh", name="first"), layers.BatchNormalization(name="bn"), layers.Dense(2, name="last")])
    model.set_weights([r.normal(size=w.shape) * 0.5 if "moving_variance" not in v.path else np.ones(w.shape) for w, v in zip(model.get_weights(), model.weights)])
    return model


def run(name, optimizer, epochs=3):
    model = build()
    model.compile(optimizer, "mse")
    h = model.fit(x, y, batch_size=10, epochs=epochs, shuffle=False, verbose=0)
    print(name, [f"{v:.5f}" for v in h.history["loss"]], f"{np.abs(model.get_weights()[0]).sum():.4f}", int(optimizer.iterations))
    return model


decayed = optimizers.AdamW(0.02, weight_decay=0.1)
decayed.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
run("adamw excluded", decayed)
run("clipnorm", optimizers.SGD(0.5, momentum=0.9, clipnorm=0.1))
run("clipvalue", optimizers.RMSprop(0.01, clipvalue=0.01, centered=True, momentum=0.5))
run("global", optimizers.Adam(0.05, global_clipnorm=0.2, amsgrad=True))
run("accumulate", optimizers.Adam(0.05, gradient_accumulation_steps=3), epochs=4)
m = run("ema", optimizers.SGD(0.3, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3), epochs=4)
ema = optimizers.Adam(0.05, use_ema=True, ema_momentum=0.9)
m = run("ema at end", ema)
ema.finalize_variable_values(m.trainable_variables)
print(f"{m.evaluate(x, y, verbose=0):.5f}")
for name in ("Adadelta", "Adagrad", "Adamax", "Nadam", "Ftrl", "Lion", "Lamb", "Adafactor", "Muon"):
    if hasattr(optimizers, name):
        try:
            run(name, getattr(optimizers, name)(learning_rate=0.02))
        except Exception as e:
            print(name, type(e).__name__)
scale = optimizers.LossScaleOptimizer(optimizers.SGD(0.1), initial_scale=64.0, dynamic_growth_steps=3)
run("scaled", scale)
print(float(scale.dynamic_scale))
for name, schedule in {
    "exponential": schedules.ExponentialDecay(0.1, 4, 0.5, staircase=True), "cosine": schedules.CosineDecay(0.1, 10, alpha=0.1), "restarts": schedules.CosineDecayRestarts(0.1, 4, t_mul=1.5, m_mul=0.9),
    "pieces": schedules.PiecewiseConstantDecay([3, 7], [0.2, 0.1, 0.01]), "polynomial": schedules.PolynomialDecay(0.1, 8, 0.01, power=2.0, cycle=True), "inverse": schedules.InverseTimeDecay(0.1, 2, 0.5)}.items():
    print(name, [f"{float(schedule(s)):.5f}" for s in (0, 3, 4, 9)])
    run(name, optimizers.SGD(schedule))


class NoamSchedule(schedules.LearningRateSchedule):
    def __init__(self, dim, warmup):
        self.dim, self.warmup = dim, warmup

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1.0
        return ops.rsqrt(ops.cast(self.dim, "float32")) * ops.minimum(ops.rsqrt(step), step * self.warmup ** -1.5)

    def get_config(self):
        return {"dim": self.dim, "warmup": self.warmup}


opt = optimizers.Adam(NoamSchedule(64, 4), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
model = run("noam", opt)
print(f"{float(opt.learning_rate):.6f}")
opt = optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.3, "momentum": 0.1}})
print(type(opt).__name__, f"{float(opt.learning_rate):.3f}", opt.momentum)
opt.learning_rate = 0.25
model = run("set", opt)
opt.learning_rate.assign(0.001)
print(f"{float(model.optimizer.learning_rate):.4f}", [v.name for v in model.optimizer.variables][:3])
config = optimizers.serialize(optimizers.Adam(schedules.ExponentialDecay(0.1, 5, 0.9)))
back = optimizers.deserialize(config)
print(config["class_name"], type(back).__name__, f"{float(back._learning_rate(5)):.4f}")


class SignSGD(optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, name="sign", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.memory = [self.add_variable_from_reference(v, "memory") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        lr = ops.cast(learning_rate, variable.dtype)
        memory = self.memory[self._get_variable_index(variable)]
        self.assign(memory, memory * 0.9 + gradient)
        self.assign_sub(variable, lr * ops.sign(memory))


run("own", SignSGD(0.01, weight_decay=0.01))
v = keras.Variable([1.0, -2.0])
o = optimizers.Adam(0.1)
for _ in range(3):
    o.apply([ops.array([0.5, -0.5])], [v])
print(np.round(v.numpy(), 4))
o.apply_gradients([(ops.array([0.1, 0.2]), v)])
print(np.round(v.numpy(), 4), int(o.iterations))
