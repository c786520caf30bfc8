# Learning-rate finder, cyclic rates, warm restarts; what people do with callbacks and K.set_value
import math

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.callbacks import Callback, LambdaCallback, LearningRateScheduler, ReduceLROnPlateau

rng = np.random.default_rng(0)
x = rng.normal(size=(96, 5)).astype("float32")
y = (x @ np.array([1, -2, 0.5, 0, 3], "float32"))[:, None]


def build(optimizer):
    model = tf.keras.Sequential([tf.keras.layers.Input((5,)), tf.keras.layers.Dense(8, activation="elu"), tf.keras.layers.Dense(1)])
    init = np.random.default_rng(5)
    model.set_weights([init.normal(size=w.shape) * 0.3 for w in model.get_weights()])
    model.compile(optimizer, "mse")
    return model


class LRFinder(Callback):
    def __init__(self, min_lr, max_lr, steps):
        super().__init__()
        self.min_lr, self.factor = min_lr, (max_lr / min_lr) ** (1 / steps)
        self.rates, self.losses = [], []

    def on_train_begin(self, logs=None):
        self.weights = self.model.get_weights()
        self.model.optimizer.learning_rate.assign(self.min_lr)

    def on_train_batch_end(self, batch, logs=None):
        lr = float(self.model.optimizer.learning_rate.numpy())
        self.rates.append(lr)
        self.losses.append(logs["loss"])
        self.model.optimizer.learning_rate = lr * self.factor

    def on_train_end(self, logs=None):
        self.model.set_weights(self.weights)


model = build(tf.keras.optimizers.SGD(1e-4))
finder = LRFinder(1e-4, 1e-1, 12)
model.fit(x, y, batch_size=16, epochs=2, callbacks=[finder], verbose=0, shuffle=False)
print(len(finder.rates), ["%.5f" % r for r in finder.rates[::4]], ["%.3f" % l for l in finder.losses[::4]])

schedule = lambda epoch, lr: lr * math.exp(-0.1) if epoch >= 1 else lr
model = build("adam")
h = model.fit(x, y, epochs=4, verbose=0, callbacks=[LearningRateScheduler(schedule), LambdaCallback(on_epoch_end=lambda e, l: print("epoch", e, "lr %.6f" % K.get_value(model.optimizer.learning_rate)))])
print(sorted(h.history), ["%.6f" % v for v in h.history["learning_rate"]])

model = build(tf.keras.optimizers.Adam(0.0))
h = model.fit(x, y, epochs=5, verbose=0, callbacks=[ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_lr=1e-5)])
print(len(h.history["loss"]))


class Cyclic(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, base, top, half):
        self.base, self.top, self.half = base, top, half

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        cycle = tf.floor(1 + step / (2 * self.half))
        pos = tf.abs(step / self.half - 2 * cycle + 1)
        return self.base + (self.top - self.base) * tf.maximum(0.0, 1 - pos)

    def get_config(self):
        return {"base": self.base, "top": self.top, "half": self.half}


cyclic = Cyclic(1e-3, 1e-2, 4)
print(["%.4f" % cyclic(s) for s in range(0, 10, 2)])
model = build(tf.keras.optimizers.SGD(cyclic, momentum=0.9, nesterov=True))
h = model.fit(x, y, batch_size=32, epochs=3, shuffle=False, verbose=0)
print(["%.4f" % v for v in h.history["loss"]])
for s in (tf.keras.optimizers.schedules.CosineDecayRestarts(0.1, 10), tf.keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.9, staircase=True),
          tf.keras.optimizers.schedules.PolynomialDecay(0.1, 20, 0.01, power=2.0), tf.keras.optimizers.schedules.CosineDecay(0.0, 20, warmup_target=0.1, warmup_steps=5)):
    print(type(s).__name__, ["%.5f" % float(s(i)) for i in (0, 3, 7, 12)])

model = build(tf.keras.optimizers.Adam(0.01))
model.optimizer.learning_rate.assign(0.002)
print("%.4f" % K.get_value(model.optimizer.learning_rate))
config = model.optimizer.get_config()
print(config["name"], round(config["learning_rate"], 4))


class StopAt(Callback):
    def on_epoch_end(self, epoch, logs={}):
        if logs.get('loss') < 1e9:
            print("Reached it, cancelling training!")
            self.model.stop_training = True


print(len(model.fit(x, y, epochs=5, callbacks=[StopAt()], verbose=0).epoch))
