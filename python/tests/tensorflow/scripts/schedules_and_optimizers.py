import math

import numpy as np
import tensorflow as tf
from tensorflow.keras.optimizers import SGD, Adam, AdamW, Adagrad, Adadelta, Adamax, Ftrl, Nadam, RMSprop, Lion
from tensorflow.keras.optimizers.schedules import CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay

steps = [0, 1, 5, 10, 25, 40]
schedules = {
    'exponential': ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9),
    'staircase': ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9, staircase=True),
    'piecewise': PiecewiseConstantDecay([5, 20], [1.0, 0.5, 0.1]),
    'polynomial': PolynomialDecay(0.1, 30, end_learning_rate=0.01, power=2.0),
    'inverse': InverseTimeDecay(0.1, 1, 0.5),
    'cosine': CosineDecay(0.1, 30, alpha=0.1, warmup_target=0.5, warmup_steps=5),
    'restarts': CosineDecayRestarts(0.1, 8, t_mul=2.0, m_mul=0.9)}
for name, schedule in schedules.items():
    print(name, [round(float(schedule(s)), 5) for s in steps])


class WarmUp(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_schedule_fn, warmup_steps, power=1.0, name=None):
        super().__init__()
        self.initial_learning_rate, self.warmup_steps, self.power = initial_learning_rate, warmup_steps, power
        self.decay_schedule_fn, self.name = decay_schedule_fn, name

    def __call__(self, step):
        with tf.name_scope(self.name or "WarmUp") as name:
            global_step_float = tf.cast(step, tf.float32)
            warmup_steps_float = tf.cast(self.warmup_steps, tf.float32)
            warmup_percent_done = global_step_float / warmup_steps_float
            warmup_learning_rate = self.initial_learning_rate * tf.math.pow(warmup_percent_done, self.power)
            return tf.cond(global_step_float < warmup_steps_float, lambda: warmup_learning_rate, lambda: self.decay_schedule_fn(step - self.warmup_steps), name=name)

    def get_config(self):
        return {"initial_learning_rate": self.initial_learning_rate, "warmup_steps": self.warmup_steps}


rng = np.random.RandomState(0)
x = rng.normal(size=(64, 4)).astype('float32')
y = (x @ np.array([[1.0], [-2.0], [0.5], [0.0]]) + 0.3).astype('float32')


def fresh():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation='tanh', input_shape=(4,)), tf.keras.layers.Dense(1)])
    r = np.random.RandomState(1)
    model.set_weights([r.normal(size=w.shape) * 0.5 for w in model.get_weights()])
    return model


warm = WarmUp(0.1, PolynomialDecay(0.1, 20, 0.0), 8)
print([round(float(warm(tf.constant(s))), 4) for s in (0, 4, 8, 18, 40)])
model = fresh()
model.compile(Adam(warm), loss='mse')
model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
print('iterations', model.optimizer.iterations.numpy(), 'lr %.4f' % float(model.optimizer.learning_rate))
print('weights', np.round(model.get_weights()[0][0], 3))

for optimizer in (SGD(0.05, momentum=0.9, nesterov=True), RMSprop(0.01, centered=True, momentum=0.5), Adam(0.02, amsgrad=True), AdamW(0.02, weight_decay=0.01),
                  Adagrad(0.1), Adadelta(1.0), Adamax(0.02), Nadam(0.02), Ftrl(0.5, l1_regularization_strength=0.01), Lion(0.005),
                  SGD(0.1, clipnorm=0.5), Adam(0.05, clipvalue=0.01), SGD(0.1, global_clipnorm=1.0), Adam(0.02, use_ema=True, ema_momentum=0.5),
                  tf.keras.optimizers.Adafactor(0.1), SGD(ExponentialDecay(0.2, 4, 0.5)), SGD(0.1, gradient_accumulation_steps=2)):
    model = fresh()
    model.compile(optimizer=optimizer, loss='mse', metrics=['mae'])
    h = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
    print(optimizer.name, len(optimizer.variables), ['%.4f' % v for v in h.history['loss']])


class HeavyBall(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, momentum=0.9, name='heavy_ball', **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum

    def build(self, var_list):
        if self.built:
            return
        super().build(var_list)
        self.velocities = [self.add_variable_from_reference(v, name='velocity') for v in var_list]

    def update_step(self, gradient, variable, learning_rate):
        v = self.velocities[self._get_variable_index(variable)]
        lr = tf.cast(learning_rate, variable.dtype)
        v.assign(self.momentum * v - lr * gradient)
        variable.assign_add(v)


model = fresh()
model.compile(HeavyBall(0.02), 'mse')
print('own', ['%.4f' % v for v in model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0).history['loss']])


def step_decay(epoch, lr):
    return 0.1 * math.pow(0.5, math.floor((1 + epoch) / 2))


model = fresh()
model.compile(SGD(0.5), 'mse')
callbacks = [tf.keras.callbacks.LearningRateScheduler(step_decay, verbose=1)]
h = model.fit(x, y, epochs=4, shuffle=False, verbose=0, callbacks=callbacks)
print(sorted(h.history), [round(float(v), 4) for v in h.history['learning_rate']])
model.optimizer.learning_rate.assign(0.007)
print('%.3f' % tf.keras.backend.get_value(model.optimizer.learning_rate))
model.optimizer.learning_rate = 0.25
print(model.optimizer.learning_rate.numpy(), model.optimizer.get_config()['name'], type(model.optimizer).__name__)
config = tf.keras.optimizers.serialize(AdamW(1e-3))
print(sorted(config), sorted(config['config'])[:6])
again = tf.keras.optimizers.deserialize(config)
print(type(again).__name__, tf.keras.optimizers.get('rmsprop').name, schedules['cosine'].get_config()['decay_steps'])
opt = Adam(0.1)
v = tf.Variable([1.0, 2.0])
opt.apply_gradients([(tf.constant([0.1, -0.1]), v)])
print(v.numpy(), len(opt.variables), [w.shape for w in opt.variables])
try:
    opt.minimize(lambda: tf.reduce_sum(v ** 2), [v])
except AttributeError as error:
    print('AttributeError', 'minimize' in str(error))
