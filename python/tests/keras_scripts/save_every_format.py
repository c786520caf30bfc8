"""Saving and loading as the guide shows: .keras, weights, h5, config, JSON, custom objects, build_config, assets."""
import os

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)
x = rng.normal(size=(16, 6)).astype("float32")
y = x[:, :1] * 2 + 1


@keras.saving.register_keras_serializable(package="MyLayers")
class CustomLayer(layers.Layer):
    def __init__(self, factor, inner=None, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.inner = inner or layers.Dense(4, activation="tanh")
        self.table = None

    def build(self, shape):
        if not self.inner.built:
            self.inner.build(shape)
        self.scale = self.add_weight(name="scale", shape=(4,), initializer="ones")
        self.seen = self.add_weight(name="seen", shape=(), dtype="int32", initializer="zeros", trainable=False)
        self.built = True

    def call(self, x):
        return self.inner(x) * self.factor * self.scale

    def compute_output_shape(self, shape):
        return (*shape[:-1], 4)

    def save_own_variables(self, store):
        super().save_own_variables(store)
        store["table"] = np.array([1, 2, 3])

    def load_own_variables(self, store):
        self.table = store["table"][:]
        self.scale.assign(store["0"])
        self.seen.assign(store["1"])

    def get_config(self):
        return {**super().get_config(), "factor": self.factor, "inner": keras.saving.serialize_keras_object(self.inner)}

    @classmethod
    def from_config(cls, config):
        config["inner"] = keras.saving.deserialize_keras_object(config["inner"])
        return cls(**config)


@keras.saving.register_keras_serializable(package="my_package", name="custom_fn")
def custom_fn(x):
    return x**2


class Plain(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.d1, self.d2 = layers.Dense(units, activation=custom_fn), layers.Dense(1)
        self.units = units

    def call(self, x):
        return self.d2(self.d1(x))

    def get_config(self):
        return {"units": self.units}


inputs = keras.Input((6,))
model = keras.Model(inputs, layers.Dense(1)(CustomLayer(0.5)(inputs)))
model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
model.fit(x, y, epochs=2, verbose=0)
model.save("my.keras")
new = keras.models.load_model("my.keras")
print(np.allclose(new.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6), new.layers[1].table, int(new.optimizer.iterations))
h1, h2 = (m.fit(x, y, epochs=1, shuffle=False, verbose=0).history["loss"][0] for m in (model, new))
print("training goes on alike", abs(h1 - h2) < 1e-5)
model.save_weights("w.weights.h5")
clone = keras.models.clone_model(model)
print("clone differs", not np.allclose(clone.predict(x, verbose=0), model.predict(x, verbose=0)))
clone.load_weights("w.weights.h5")
print(np.allclose(clone.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6))
model.save("legacy.h5")
old = keras.models.load_model("legacy.h5", compile=False)
print(old.get_config()["name"] == model.name, [tuple(w.shape) for w in old.weights])
rebuilt = keras.models.model_from_json(model.to_json())
rebuilt.set_weights(model.get_weights())
print(np.allclose(rebuilt.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6))

plain = Plain(5)
plain.compile("sgd", keras.losses.Huber())
plain.fit(x, y, verbose=0)
plain.save("plain.keras")
with keras.saving.custom_object_scope({"Plain": Plain}):
    back = keras.saving.load_model("plain.keras")
print(np.allclose(back.predict(x, verbose=0), plain.predict(x, verbose=0), atol=1e-6))
try:
    keras.saving.load_model("plain.keras")
except Exception as e:
    print(type(e).__name__, "Plain" in str(e))
try:
    keras.models.load_model("missing.keras")
except ValueError as e:
    print("ValueError", "File not found" in str(e))
config = layers.Dense(3, activation="relu", kernel_regularizer="l2").get_config()
print(config["activation"], config["kernel_regularizer"]["class_name"])
print(layers.deserialize(layers.serialize(layers.Dense(3))).units)
ck = keras.callbacks.ModelCheckpoint("ck/{epoch:02d}-{val_loss:.2f}.keras", save_best_only=False)
os.makedirs("ck", exist_ok=True)
model.fit(x, y, epochs=2, validation_split=0.25, callbacks=[ck], verbose=0)
print(len(os.listdir("ck")), sorted(os.listdir("ck"))[0][:3])
backup = keras.callbacks.BackupAndRestore("backup", double_checkpoint=False) if False else keras.callbacks.BackupAndRestore("backup")


class Stop(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2 and not os.path.exists("stopped"):
            open("stopped", "w").close()
            raise RuntimeError("Interrupting!")


try:
    model.fit(x, y, epochs=4, callbacks=[backup, Stop()], verbose=0)
except RuntimeError as e:
    print(e)
h = model.fit(x, y, epochs=4, callbacks=[backup, Stop()], verbose=0)
print(len(h.history["loss"]), h.epoch)
print(keras.ops.convert_to_numpy(model.get_metrics_result()["loss"]) >= 0)
