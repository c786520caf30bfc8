# All callbacks of Keras in one training, their files, and callbacks of one's own that look at everything
import csv
import json
import os
import shutil
import tempfile

import keras
import numpy as np
from keras import callbacks, layers

folder = tempfile.mkdtemp()
rng = np.random.default_rng(18)
x, y = rng.normal(size=(50, 4)).astype("float32"), rng.normal(size=(50, 1)).astype("float32")


def build(lr=0.1):
    r = np.random.default_rng(0)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(5, "relu", name="hidden"), layers.Dense(1, name="out")])
    model.set_weights([r.normal(size=w.shape) * 0.4 for w in model.get_weights()])
    model.compile(keras.optimizers.SGD(lr), "mse", metrics=["mae"])
    return model


class Recorder(callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            calls = object.__getattribute__(self, "calls")

            def note(*args, **kwargs):
                calls.append((name, args[0] if args and not isinstance(args[0], dict) else None, sorted((args[-1] or {}).keys()) if args and isinstance(args[-1], dict) else None))
            return note
        return super().__getattribute__(name)


recorder = Recorder()
model = build()
model.fit(x, y, batch_size=25, epochs=2, shuffle=False, verbose=0, validation_split=0.2, callbacks=[recorder])
for call in recorder.calls:
    print(call)
recorder.calls.clear()
model.evaluate(x, y, batch_size=25, verbose=0, callbacks=[recorder])
model.predict(x, batch_size=25, verbose=0, callbacks=[recorder])
print([c[0] for c in recorder.calls])

model = build()
best = os.path.join(folder, "best.keras")
history = model.fit(
    x, y, batch_size=10, epochs=8, shuffle=False, verbose=0, validation_data=(x[:20], y[:20]),
    callbacks=[
        callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True), callbacks.ModelCheckpoint(os.path.join(folder, "w-{epoch:02d}.weights.h5"), save_weights_only=True, save_freq="epoch"),
        callbacks.EarlyStopping("val_loss", patience=2, min_delta=0.001, start_from_epoch=1, restore_best_weights=True), callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_lr=1e-3, min_delta=0.02),
        callbacks.CSVLogger(os.path.join(folder, "log.csv"), separator=";"), callbacks.TerminateOnNaN(), callbacks.LambdaCallback(on_epoch_end=lambda e, logs: print("epoch", e, f"{logs['loss']:.4f}")),
    ],
)
print({k: [f"{v:.4f}" for v in vs] for k, vs in history.history.items()})
print(sorted(os.listdir(folder)))
with open(os.path.join(folder, "log.csv")) as f:
    rows = list(csv.reader(f, delimiter=";"))
print(rows[0], len(rows))
print(f"{keras.models.load_model(best).evaluate(x[:20], y[:20], verbose=0)[0]:.4f}", f"{min(history.history['val_loss']):.4f}")

model = build()
h = model.fit(x, y, epochs=4, verbose=0, shuffle=False, callbacks=[callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.5 if epoch else lr, verbose=1)])
print([f"{v:.5f}" for v in h.history["learning_rate"]], f"{float(model.optimizer.learning_rate):.5f}")


class StopAndTouch(callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            self.model.optimizer.learning_rate = 0.01
            w = self.model.get_layer("out").get_weights()
            self.model.get_layer("out").set_weights([w[0] * 0, w[1]])

    def on_epoch_end(self, epoch, logs=None):
        logs["extra"] = epoch * 2.0
        inner = self.model.evaluate(x[:10], y[:10], verbose=0)
        print(f"inner {inner[0]:.4f}", self.params["epochs"], self.params["steps"])
        if epoch == 1:
            self.model.stop_training = True


model = build()
h = model.fit(x, y, batch_size=10, epochs=5, shuffle=False, verbose=0, callbacks=[StopAndTouch()])
print(h.epoch, {k: [f"{v:.4f}" for v in vs] for k, vs in h.history.items()}, f"{float(model.optimizer.learning_rate):.3f}")

model = build(1e20)
h = model.fit(x, y, epochs=5, verbose=0, shuffle=False, batch_size=10, callbacks=[callbacks.TerminateOnNaN()])
print(len(h.history["loss"]) <= 2)

# interrupted and resumed
backup = os.path.join(folder, "backup")


class Interrupt(callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 3:
            raise RuntimeError("interrupted")


model = build()
try:
    model.fit(x, y, epochs=6, batch_size=10, shuffle=False, verbose=0, callbacks=[callbacks.BackupAndRestore(backup), Interrupt()])
except RuntimeError as e:
    print(e)
model = build()
h = model.fit(x, y, epochs=6, batch_size=10, shuffle=False, verbose=0, callbacks=[callbacks.BackupAndRestore(backup)])
print(h.epoch, f"{h.history['loss'][-1]:.5f}")
straight = build().fit(x, y, epochs=6, batch_size=10, shuffle=False, verbose=0)
print(f"{straight.history['loss'][-1]:.5f}", straight.params)
model = build()
model.optimizer.use_ema = False
swap = build()
swap.compile(keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5), "mse")
h = swap.fit(x, y, epochs=3, batch_size=10, shuffle=False, verbose=0, validation_data=(x, y), callbacks=[callbacks.SwapEMAWeights(swap_on_epoch=True)])
print([f"{v:.5f}" for v in h.history["val_loss"]])
print(json.dumps(h.params))
shutil.rmtree(folder)
