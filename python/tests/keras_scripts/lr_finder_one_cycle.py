"""Learning-rate finder, one-cycle policy, custom early stopping, weight averaging and logs as callbacks."""
import copy

import keras
import numpy as np
from keras import ops

rng = np.random.default_rng(14)
x = rng.normal(size=(96, 5)).astype("float32")
y = (x @ rng.normal(size=(5, 1)) + 0.1 * rng.normal(size=(96, 1))).astype("float32")


def make(lr=0.01):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    w = np.random.default_rng(5)
    model.set_weights([w.normal(0, 0.4, p.shape) for p in model.get_weights()])
    model.compile(keras.optimizers.SGD(learning_rate=lr, momentum=0.9), "mse")
    return model


class LRFinder(keras.callbacks.Callback):
    def __init__(self, low, high, steps):
        super().__init__()
        self.factor, self.low, self.rates, self.losses = (high / low) ** (1 / steps), low, [], []

    def on_train_begin(self, logs=None):
        self.weights = self.model.get_weights()
        self.model.optimizer.learning_rate.assign(self.low)

    def on_train_batch_end(self, batch, logs=None):
        lr = float(self.model.optimizer.learning_rate)
        self.rates.append(lr)
        self.losses.append(logs["loss"])
        if len(self.losses) > 3 and logs["loss"] > 4 * min(self.losses):
            self.model.stop_training = True
            return
        self.model.optimizer.learning_rate = lr * self.factor

    def on_train_end(self, logs=None):
        self.model.set_weights(self.weights)


model = make()
before = model.get_weights()
finder = LRFinder(1e-4, 10.0, 30)
model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0, callbacks=[finder])
print(len(finder.rates), f"{finder.rates[0]:.5f} {finder.rates[-1]:.4f}", np.round(finder.losses[:4], 3))
print(all(np.allclose(a, b) for a, b in zip(before, model.get_weights())))


class OneCycle(keras.callbacks.Callback):
    def __init__(self, peak, total):
        super().__init__()
        self.peak, self.total, self.step, self.history = peak, total, 0, {}

    def on_train_batch_begin(self, batch, logs=None):
        half = self.total / 2
        f = self.step / half if self.step < half else max(0.0, 2 - self.step / half)
        self.model.optimizer.learning_rate.assign(1e-3 + (self.peak - 1e-3) * f)
        self.model.optimizer.momentum = 0.95 - 0.1 * f
        self.history.setdefault("lr", []).append(float(ops.convert_to_numpy(self.model.optimizer.learning_rate)))
        self.step += 1


class Averaged(keras.callbacks.Callback):
    def __init__(self, start):
        super().__init__()
        self.start, self.n, self.mean = start, 0, None

    def on_epoch_end(self, epoch, logs=None):
        if epoch >= self.start:
            w = self.model.get_weights()
            self.mean = w if self.mean is None else [(m * self.n + a) / (self.n + 1) for m, a in zip(self.mean, w)]
            self.n += 1
        logs["lr"] = float(self.model.optimizer.learning_rate)

    def on_train_end(self, logs=None):
        self.model.set_weights(self.mean)


model = make()
cycle, swa = OneCycle(0.05, 36), Averaged(1)
h = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0, callbacks=[cycle, swa])
print(np.round(h.history["loss"], 3), np.round(cycle.history["lr"][::12], 4), [round(v, 4) for v in h.history.get("lr", [])])
print(round(model.evaluate(x, y, verbose=0), 3))


class EarlyStoppingAtMinLoss(keras.callbacks.Callback):
    def __init__(self, patience=0):
        super().__init__()
        self.patience, self.best_weights = patience, None

    def on_train_begin(self, logs=None):
        self.wait, self.stopped_epoch, self.best = 0, 0, np.inf

    def on_epoch_end(self, epoch, logs=None):
        current = logs.get("loss")
        if np.less(current, self.best):
            self.best, self.wait, self.best_weights = current, 0, self.model.get_weights()
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = epoch
                self.model.stop_training = True
                self.model.set_weights(self.best_weights)


model = make(0.5)
h = model.fit(x, y, batch_size=32, epochs=12, shuffle=False, verbose=0, callbacks=[EarlyStoppingAtMinLoss(), keras.callbacks.TerminateOnNaN()])
print(len(h.history["loss"]) <= 12)
losses = []
model = make()
cb = keras.callbacks.LambdaCallback(on_epoch_begin=lambda e, logs: losses.append(e), on_train_batch_end=lambda b, logs: losses.append(round(float(logs["loss"]), 3)) if b == 0 else None)
schedule = keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr if epoch < 1 else float(lr * np.exp(-0.1)), verbose=0)
h = model.fit(x, y, batch_size=48, epochs=3, shuffle=False, verbose=0, callbacks=[cb, schedule, keras.callbacks.CSVLogger("log.csv"), keras.callbacks.RemoteMonitor() if False else keras.callbacks.History()])
print(losses, np.round(h.history["learning_rate"], 4))
print(open("log.csv").read().splitlines()[0])
twin = copy.deepcopy(model.get_weights())
keras.backend.clear_session()
print(len(twin), keras.config.floatx())
h = make().fit(x, y, epochs=2, verbose=2, shuffle=False)
