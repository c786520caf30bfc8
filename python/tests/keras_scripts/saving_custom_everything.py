import os
import tempfile
import zipfile

import keras
import numpy as np
from keras import layers, ops

folder = tempfile.mkdtemp()
path = lambda name: os.path.join(folder, name)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(16, 3)).astype("float32"), rng.normal(size=(16, 1)).astype("float32")


@keras.saving.register_keras_serializable(package="my", name="swishy")
def swishy(t):
    return t * ops.sigmoid(1.5 * t)


@keras.saving.register_keras_serializable(package="my")
class ScaledDense(layers.Layer):
    def __init__(self, units, scale=1.0, activation=None, kernel_initializer="glorot_uniform", inner=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.scale = units, scale
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.inner = inner

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer=self.kernel_initializer, name="kernel")
        self.counter = self.add_weight(shape=(), initializer="zeros", dtype="int32", trainable=False, name="counter")
        if self.inner is not None and not self.inner.built:
            self.inner.build((*shape[:-1], self.units))
        self.built = True

    def call(self, x):
        self.counter.assign_add(1)
        x = self.activation(ops.matmul(x, self.kernel) * self.scale)
        return self.inner(x) if self.inner is not None else x

    def get_config(self):
        config = super().get_config()
        config.update(units=self.units, scale=self.scale, activation=keras.activations.serialize(self.activation), kernel_initializer=keras.initializers.serialize(self.kernel_initializer), inner=keras.saving.serialize_keras_object(self.inner))
        return config

    @classmethod
    def from_config(cls, config):
        config["inner"] = keras.saving.deserialize_keras_object(config["inner"])
        return cls(**config)


@keras.saving.register_keras_serializable(package="my")
class Asymmetric(keras.losses.Loss):
    def __init__(self, weight=2.0, **kwargs):
        super().__init__(**kwargs)
        self.weight = weight

    def call(self, y_true, y_pred):
        e = y_pred - y_true
        return ops.mean(ops.where(e > 0, self.weight * ops.square(e), ops.square(e)), axis=-1)

    def get_config(self):
        return {**super().get_config(), "weight": self.weight}


@keras.saving.register_keras_serializable(package="my")
class Within(keras.metrics.Metric):
    def __init__(self, tolerance=0.5, name="within", **kwargs):
        super().__init__(name=name, **kwargs)
        self.tolerance = tolerance
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.hits.assign_add(ops.sum(ops.cast(ops.abs(y_true - y_pred) < self.tolerance, "float32")))
        self.count.assign_add(ops.cast(ops.size(y_true), "float32"))

    def result(self):
        return self.hits / self.count

    def get_config(self):
        return {**super().get_config(), "tolerance": self.tolerance}


@keras.saving.register_keras_serializable(package="my")
class Noisy(keras.regularizers.Regularizer):
    def __init__(self, k):
        self.k = k

    def __call__(self, w):
        return self.k * ops.sum(ops.abs(w))

    def get_config(self):
        return {"k": self.k}


@keras.saving.register_keras_serializable(package="my")
class Unit(keras.constraints.Constraint):
    def __call__(self, w):
        return ops.clip(w, -0.5, 0.5)


@keras.saving.register_keras_serializable(package="my")
class Wrapper(keras.Model):
    def __init__(self, backbone, width=2, **kwargs):
        super().__init__(**kwargs)
        self.backbone, self.width = backbone, width
        self.top = layers.Dense(1, kernel_regularizer=Noisy(0.01), kernel_constraint=Unit())

    def call(self, x):
        return self.top(self.backbone(x))

    def get_config(self):
        return {**super().get_config(), "backbone": keras.saving.serialize_keras_object(self.backbone), "width": self.width}

    @classmethod
    def from_config(cls, config):
        return cls(backbone=keras.saving.deserialize_keras_object(config.pop("backbone")), **config)

    def get_compile_config(self):
        return super().get_compile_config()


backbone = keras.Sequential([keras.Input((3,)), ScaledDense(4, 0.5, swishy, keras.initializers.RandomUniform(-1, 1, seed=3), inner=layers.Dense(4, activation=swishy))])
model = Wrapper(backbone, width=3)
model(x[:1])
r = np.random.default_rng(5)
model.set_weights([(r.normal(size=w.shape) * 0.5).astype(w.dtype) for w in model.get_weights()])
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.9)), loss=Asymmetric(3.0), metrics=[Within(0.8)])
h = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
print({k: np.round(v, 4).tolist() for k, v in sorted(h.history.items())})
model.save(path("whole.keras"))
with zipfile.ZipFile(path("whole.keras")) as z:
    print(sorted(z.namelist()))
again = keras.models.load_model(path("whole.keras"))
print(type(again).__name__, again.width, np.allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6), int(again.optimizer.iterations), again.loss.weight, again.backbone.layers[0].get_config()["activation"])
a, b = model.fit(x, y, epochs=1, batch_size=8, shuffle=False, verbose=0), again.fit(x, y, epochs=1, batch_size=8, shuffle=False, verbose=0)
print("goes on alike", np.allclose(a.history["loss"], b.history["loss"], rtol=1e-4), float(np.abs(again.top.get_weights()[0]).max()) <= 0.5)
model.save_weights(path("w.weights.h5"))
fresh = Wrapper(keras.Sequential([keras.Input((3,)), ScaledDense(4, 0.5, swishy, inner=layers.Dense(4, activation=swishy))]))
fresh(x[:1])
fresh.load_weights(path("w.weights.h5"))
print(np.allclose(fresh.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6))
functional = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="d1"), layers.Dense(1, name="d2")])
functional.save(path("old.h5"))
print(keras.models.load_model(path("old.h5"), compile=False).layers[0].name)
bigger = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="d1"), layers.Dense(5, name="other")])
functional.save_weights(path("f.weights.h5"))
bigger.load_weights(path("f.weights.h5"), skip_mismatch=True)
print(np.array_equal(bigger.layers[0].get_weights()[0], functional.layers[0].get_weights()[0]))
try:
    bigger.load_weights(path("f.weights.h5"))
except ValueError as e:
    print("ValueError on shapes")
lam = keras.Sequential([keras.Input((3,)), layers.Lambda(lambda t: t * 2)])
lam.save(path("lam.keras"))
try:
    keras.models.load_model(path("lam.keras"))
except ValueError as e:
    print("unsafe", "lambda" in str(e).lower())
print(keras.models.load_model(path("lam.keras"), safe_mode=False).predict(np.ones((1, 3)), verbose=0).tolist())


class Unregistered(layers.Layer):
    def call(self, t):
        return t + 1


u = keras.Sequential([keras.Input((2,)), Unregistered()])
u.save(path("u.keras"))
try:
    keras.models.load_model(path("u.keras"))
except (TypeError, ValueError) as e:
    print(type(e).__name__, "Unregistered" in str(e))
print(keras.models.load_model(path("u.keras"), custom_objects={"Unregistered": Unregistered}).predict(np.zeros((1, 2)), verbose=0).tolist())
with keras.saving.custom_object_scope({"Unregistered": Unregistered}):
    print(len(keras.models.load_model(path("u.keras")).layers), keras.saving.get_registered_name(swishy), keras.saving.get_registered_object("my>swishy") is swishy)


class Store(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.words = ["a"]

    def build(self, shape):
        self.w = self.add_weight(shape=(2,), initializer="ones")

    def call(self, t):
        return t * self.w

    def save_own_variables(self, store):
        store["mine"] = ops.convert_to_numpy(self.w) * 10

    def load_own_variables(self, store):
        self.w.assign(np.array(store["mine"]) / 10 + 1)

    def save_assets(self, inner):
        with open(os.path.join(inner, "words.txt"), "w") as f:
            f.write(" ".join(self.words))

    def load_assets(self, inner):
        with open(os.path.join(inner, "words.txt")) as f:
            self.words = f.read().split()


s = keras.Sequential([keras.Input((2,)), Store()])
s.layers[0].words = ["hello", "there"]
s.save(path("s.keras"))
s2 = keras.models.load_model(path("s.keras"), custom_objects={"Store": Store})
print(s2.layers[0].words, s2.layers[0].get_weights()[0])
for obj in (keras.losses.Huber(0.3), keras.metrics.AUC(num_thresholds=10), keras.optimizers.AdamW(0.1, weight_decay=0.2), keras.initializers.Orthogonal(2.0, seed=1), keras.regularizers.L1L2(0.1, 0.2), layers.Bidirectional(layers.LSTM(2)), keras.optimizers.schedules.CosineDecay(1.0, 5)):
    config = keras.saving.serialize_keras_object(obj)
    back = keras.saving.deserialize_keras_object(config)
    print(config["module"], config["class_name"], type(back) is type(obj))
