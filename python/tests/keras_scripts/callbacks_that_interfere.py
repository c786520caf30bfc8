# Callbacks that change the learning rate, what is trainable, the weights and the stopping while fit() runs
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(22)
x = rng.normal(size=(32, 5)).astype("float32")
y = (np.abs(x[:, 0]) + x[:, 1] > 0.5).astype("float32")[:, None]


def build():
    model = keras.Sequential([keras.Input((5,)), layers.Dense(8, "relu", name="first"), layers.BatchNormalization(name="bn"), layers.Dense(1, "sigmoid", name="last")])
    numbers = np.random.default_rng(5)
    for v in model.trainable_variables:
        v.assign(numbers.normal(size=v.shape) * 0.4 + ("gamma" in v.path))
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    return model


def fit(name, *callbacks, epochs=4, **options):
    model = build()
    h = model.fit(x, y, batch_size=8, epochs=epochs, shuffle=False, verbose=0, callbacks=list(callbacks), validation_data=(x[:10], y[:10]), **options)
    print(name, [f"{v:.4f}" for v in h.history["loss"]], [f"{v:.4f}" for v in h.history["val_loss"]], [f"{v:.5f}" for v in h.history.get("learning_rate", [])])
    return model


class HalveEachBatch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.optimizer.learning_rate = self.model.optimizer.learning_rate * 0.9


class Clip(keras.callbacks.Callback):
    """Sets weights between batches and reads what the optimizer keeps."""

    def on_train_batch_begin(self, batch, logs=None):
        kernel = self.model.get_layer("last").kernel
        kernel.assign(ops.clip(kernel, -0.3, 0.3))

    def on_epoch_end(self, epoch, logs=None):
        logs["norm"] = float(np.sqrt(sum(np.square(w).sum() for w in self.model.get_weights())))


class Refit(keras.callbacks.Callback):
    """Evaluates and predicts inside of fit, and stops it in the middle of an epoch."""

    def on_train_batch_end(self, batch, logs=None):
        if batch == 1:
            loss, _ = self.model.evaluate(x[:6], y[:6], verbose=0)
            print("  inside", f"{loss:.4f}", f"{self.model.predict(x[:6], verbose=0).mean():.4f}", f"{logs['loss']:.4f}")

    def on_epoch_begin(self, epoch, logs=None):
        self.stop = epoch == 2

    def on_batch_end(self, batch, logs=None):
        if self.stop and batch == 2:
            self.model.stop_training = True


class Order(keras.callbacks.Callback):
    seen = []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            return lambda at=None, logs=None: Order.seen.append((name[3:], at if isinstance(at, int) else None, sorted(logs or {})))
        return super().__getattribute__(name)


fit("scheduler", keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * (0.5 if epoch else 1.0)))
fit("plateau", keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.3, patience=1, min_delta=0.05))
model = fit("halved", HalveEachBatch())
print(f"{float(ops.convert_to_numpy(model.optimizer.learning_rate)):.6f}")
print(f"{fit('clip', Clip()).history.history['norm'][-1]:.4f}")
fit("refit", Refit(), epochs=6)
model = fit("early", keras.callbacks.EarlyStopping("val_loss", patience=1, mode="max", restore_best_weights=True), epochs=6)
print(f"{np.abs(np.concatenate([w.ravel() for w in model.get_weights()])).sum():.3f}")
fit("swap", keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: None), keras.callbacks.TerminateOnNaN(), epochs=2, class_weight={0: 1.0, 1: 2.5})

# frozen half way: compiled again, as Keras asks
model = build()
for stage in range(2):
    h = model.fit(x, y, batch_size=8, initial_epoch=2 * stage, epochs=2 * stage + 2, shuffle=False, verbose=0)
    print("stage", h.epoch, [f"{v:.4f}" for v in h.history["loss"]], f"{np.abs(model.get_weights()[0]).sum():.4f}")
    model.get_layer("first").trainable = model.get_layer("bn").trainable = False
    model.compile(keras.optimizers.SGD(0.1), "binary_crossentropy")
fit("order", Order(), epochs=1)
for name, at, keys in Order.seen:
    if name not in ("train_batch_begin", "train_batch_end", "test_batch_begin", "test_batch_end") or at == 1:
        print("  ", name, at, keys)
