import os
import tempfile

import keras
import numpy as np
from keras import callbacks, layers, metrics

rng = np.random.default_rng(8)
x = rng.normal(size=(80, 5)).astype("float32")
y = np.eye(3, dtype="float32")[np.argmax(x[:, :3], axis=1)]


class Events(callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.names = []

    def on_train_begin(self, logs=None):
        self.names.append("train_begin")

    def on_epoch_begin(self, epoch, logs=None):
        self.names.append(f"epoch {epoch}")

    def on_train_batch_end(self, batch, logs=None):
        self.names.append(f"batch {batch} {sorted(logs)}")

    def on_test_begin(self, logs=None):
        self.names.append("test_begin")

    def on_test_batch_end(self, batch, logs=None):
        self.names.append(f"test batch {batch}")

    def on_epoch_end(self, epoch, logs=None):
        self.names.append(f"end {sorted(logs)}")

    def on_train_end(self, logs=None):
        self.names.append("train_end")


class BalancedAccuracy(metrics.Metric):
    def __init__(self, classes, name="balanced", **kwargs):
        super().__init__(name=name, **kwargs)
        self.hits = self.add_variable((classes,), "zeros", name="hits")
        self.total = self.add_variable((classes,), "zeros", name="total")

    def update_state(self, y_true, y_pred, sample_weight=None):
        right = keras.ops.cast(keras.ops.equal(keras.ops.argmax(y_true, -1), keras.ops.argmax(y_pred, -1)), "float32")
        self.hits.assign(self.hits + keras.ops.sum(y_true * right[:, None], axis=0))
        self.total.assign(self.total + keras.ops.sum(y_true, axis=0))

    def result(self):
        return keras.ops.mean(self.hits / (self.total + 1e-7))

    def reset_state(self):
        self.hits.assign(keras.ops.zeros(3))
        self.total.assign(keras.ops.zeros(3))


def make():
    model = keras.Sequential([keras.Input((5,)), layers.Dense(9, activation="tanh"), layers.Dense(3, activation="softmax")])
    r = np.random.default_rng(9)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.3)
    model.compile(keras.optimizers.Adam(0.03, use_ema=True, ema_momentum=0.9), keras.losses.CategoricalCrossentropy(label_smoothing=0.1),
                  metrics=[BalancedAccuracy(3), metrics.F1Score(average="macro"), metrics.CategoricalAccuracy(), metrics.AUC(multi_label=True, num_labels=3),
                           metrics.TopKCategoricalAccuracy(2), metrics.CosineSimilarity(), metrics.KLDivergence()], steps_per_execution=1)
    return model


events = Events()
model = make()
with tempfile.TemporaryDirectory() as folder:
    at = lambda name: os.path.join(folder, name)
    h = model.fit(x[:60], y[:60], batch_size=20, epochs=3, shuffle=False, verbose=0, validation_data=(x[60:], y[60:]),
                  callbacks=[events, callbacks.ModelCheckpoint(at("w{epoch:02d}.weights.h5"), save_weights_only=True, monitor="val_loss"),
                             callbacks.CSVLogger(at("log.csv")), callbacks.BackupAndRestore(at("backup")),
                             callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=1), callbacks.SwapEMAWeights(swap_on_epoch=True)])
    print(sorted(os.listdir(folder)))
    print(open(at("log.csv")).readline().strip())
    again = make()
    again.load_weights(at("w03.weights.h5"))
    print([f"{v:.3f}" for v in again.evaluate(x[60:], y[60:], verbose=0)])
for k, v in sorted(h.history.items()):
    print(k, [f"{float(np.mean(a)):.4f}" for a in v])
print("\n".join(events.names[:7]))
print(len(events.names), events.names[-1])
stop = callbacks.EarlyStopping("loss", patience=0, min_delta=10.0, restore_best_weights=True, start_from_epoch=1)
print(len(model.fit(x, y, epochs=10, verbose=0, shuffle=False, callbacks=[stop]).history["loss"]), stop.stopped_epoch)
iou = metrics.MeanIoU(num_classes=2)
iou.update_state([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=[0.3, 0.3, 0.3, 0.1])
print(f"{float(iou.result()):.4f}")
r2 = metrics.R2Score()
r2.update_state(x[:, :1], x[:, :1] * 0.9)
print(f"{float(r2.result()):.4f}")
