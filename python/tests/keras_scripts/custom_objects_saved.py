# Every kind of custom object in one model, saved and loaded in each way
import json
import os
import tempfile

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(19)
register = keras.saving.register_keras_serializable("own")


@register
class Sparse(keras.regularizers.Regularizer):
    def __init__(self, amount=0.01):
        self.amount = amount

    def __call__(self, x):
        return self.amount * ops.sum(ops.sqrt(ops.square(x) + 1e-4))

    def get_config(self):
        return {"amount": self.amount}


@register
class Bounded(keras.constraints.Constraint):
    def __init__(self, most):
        self.most = most

    def __call__(self, w):
        return ops.clip(w, -self.most, self.most)

    def get_config(self):
        return {"most": self.most}


@register
class Ramp(keras.initializers.Initializer):
    def __init__(self, top=1.0):
        self.top = top

    def __call__(self, shape, dtype=None):
        return ops.cast(ops.reshape(ops.linspace(-self.top, self.top, int(np.prod(shape))), shape), dtype)

    def get_config(self):
        return {"top": self.top}


@register
def swoosh(x):
    return x * ops.sigmoid(1.5 * x)


@register
class Residual(layers.Layer):
    """Has another layer as an argument."""

    def __init__(self, inner, scale=1.0, **kwargs):
        super().__init__(**kwargs)
        self.inner, self.scale = inner, scale

    def call(self, x):
        return x + self.scale * self.inner(x)

    def get_config(self):
        return {**super().get_config(), "inner": keras.saving.serialize_keras_object(self.inner), "scale": self.scale}

    @classmethod
    def from_config(cls, config):
        config["inner"] = keras.saving.deserialize_keras_object(config["inner"])
        return cls(**config)

    def build(self, shape):
        self.inner.build(shape)


@register
class Wing(keras.losses.Loss):
    def __init__(self, width=0.5, name="wing", reduction="sum_over_batch_size", **kwargs):
        super().__init__(name=name, reduction=reduction, **kwargs)
        self.width = width

    def call(self, y_true, y_pred):
        return ops.mean(self.width * ops.log(1.0 + ops.abs(y_true - y_pred) / self.width), axis=-1)

    def get_config(self):
        return {**super().get_config(), "width": self.width}


@register
class Inside(keras.metrics.MeanMetricWrapper):
    def __init__(self, radius=0.5, name="inside", **kwargs):
        super().__init__(lambda y, p: ops.cast(ops.abs(y - p) < radius, "float32"), name=name, **kwargs)
        self.radius = radius

    def get_config(self):
        return {"name": self.name, "radius": self.radius}


@register
class Warm(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, top, steps):
        self.top, self.steps = top, steps

    def __call__(self, step):
        return self.top * ops.minimum(1.0, (ops.cast(step, "float32") + 1.0) / self.steps)

    def get_config(self):
        return {"top": self.top, "steps": self.steps}


@register
class Net(keras.Model):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        kernel = {"kernel_initializer": Ramp(0.4), "kernel_regularizer": Sparse(0.02), "kernel_constraint": Bounded(0.35)}
        self.blocks = [Residual(layers.Dense(width, activation=swoosh, **kernel), scale=0.5 + i) for i in range(2)]
        self.heads = {"mean": layers.Dense(1, kernel_initializer=Ramp(0.2))}

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.heads["mean"](x)

    def get_config(self):
        return {"width": self.width}


x = rng.normal(size=(20, 4)).astype("float32")
y = np.sin(x.sum(1, keepdims=True)).astype("float32")
FIT = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0}
model = Net(4)
model.compile(keras.optimizers.AdamW(Warm(0.02, 5), weight_decay=0.01), Wing(0.3), metrics=[Inside(0.4)])
print("fit", [f"{v:.4f}" for v in model.fit(x, y, **FIT).history["loss"]], f"{np.abs(ops.convert_to_numpy(model.blocks[0].inner.kernel)).max():.4f}")
folder = tempfile.mkdtemp()
path = os.path.join(folder, "net.keras")
model.save(path)
loaded = keras.models.load_model(path)
print("loaded", type(loaded).__name__, type(loaded.loss).__name__, loaded.loss.width, f"{float(ops.convert_to_numpy(loaded.optimizer.learning_rate)):.4f}", int(loaded.optimizer.iterations))
print("same", np.allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6))
for m in (model, loaded):
    h = m.fit(x, y, **FIT).history
    print("on", [f"{v:.4f}" for v in h["loss"]], [f"{v:.4f}" for v in h["inside"]])
weights = os.path.join(folder, "net.weights.h5")
model.save_weights(weights)
other = Net(4)
other.build((None, 4))
other.load_weights(weights)
print("weights", np.allclose(other(x), model(x), atol=1e-6), len(other.weights))
print(sorted(json.loads(json.dumps(keras.saving.serialize_keras_object(Residual(layers.Dense(2)))))))
fresh = Net.from_config(model.get_config())
print("fresh", fresh.built, fresh.width)
try:
    keras.models.load_model(path, custom_objects={"own>Net": keras.Model}, compile=False)
    print("other class taken")
except Exception as error:
    print("refused", isinstance(error, (TypeError, ValueError)))
