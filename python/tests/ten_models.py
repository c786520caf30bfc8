"""Trains ten small models, and some ways of training, from fixed weights on the backend of KERAS_BACKEND, and prints the losses of 20
steps each as JSON.

    ten_models.py [NAME...]       KERAS_BACKEND=jax ten_models.py > ten_models_jax.json writes what test_ten_models.py compares with
"""
import json
import os
import sys

if os.environ["KERAS_BACKEND"] == "plimsoll":
    import keras_plimsoll_bootstrap  # noqa: F401
import keras
import numpy as np
from keras import layers as L
from keras import ops

STEPS, BATCH, CLASSES = 20, 16, 5


def mlp():
    return keras.Sequential([L.Input((20,)), L.Dense(32, "relu"), L.Dense(16, "tanh"), L.Dense(CLASSES, "softmax")])


def cnn():
    return keras.Sequential([L.Input((14, 14, 3)), L.Conv2D(8, 3, activation="relu"), L.MaxPooling2D(), L.BatchNormalization(),
                             L.Conv2D(16, 3, activation="relu"), L.Flatten(), L.Dense(CLASSES, "softmax")])


def resnet50():
    return keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=CLASSES)


def mobilenet_v2():
    return keras.applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), alpha=0.35, classes=CLASSES)


def unet():
    def twice(x, filters):
        for _ in range(2):
            x = L.Activation("relu")(L.BatchNormalization()(L.Conv2D(filters, 3, padding="same")(x)))
        return x

    image = L.Input((16, 16, 3))
    skips, x = [], image
    for filters in (8, 16):
        x = twice(x, filters)
        skips.append(x)
        x = L.MaxPooling2D()(x)
    x = twice(x, 32)
    for filters, skip in zip((16, 8), skips[::-1]):
        x = L.Concatenate()([skip, L.Conv2DTranspose(filters, 2, strides=2)(x)])
        x = twice(x, filters)
    return keras.Model(image, L.Conv2D(1, 1, activation="sigmoid")(x))


def lstm():
    return keras.Sequential([L.Input((12,), dtype="int32"), L.Embedding(50, 16, mask_zero=True), L.LSTM(24), L.Dense(CLASSES, "softmax")])


def bidirectional_gru():
    return keras.Sequential([L.Input((12,), dtype="int32"), L.Embedding(50, 16), L.Bidirectional(L.GRU(12, return_sequences=True)),
                             L.GlobalMaxPooling1D(), L.Dense(CLASSES, "softmax")])


class Positions(L.Layer):
    def build(self, shape):
        self.rows = self.add_weight(shape=shape[1:], name="rows")

    def call(self, x):
        return x + self.rows


def transformer():
    ids = L.Input((12,), dtype="int32")
    x = Positions()(L.Embedding(50, 32)(ids))
    for _ in range(2):
        x = L.LayerNormalization()(x + L.MultiHeadAttention(4, 8)(x, x))
        x = L.LayerNormalization()(x + L.Dense(32)(L.Dense(64, "gelu")(x)))
    return keras.Model(ids, L.Dense(CLASSES, "softmax")(L.GlobalAveragePooling1D()(x)))


def autoencoder():
    return keras.Sequential([L.Input((14, 14, 1)), L.Conv2D(8, 3, strides=2, padding="same", activation="relu"), L.Flatten(),
                             L.Dense(10), L.Dense(7 * 7 * 8, "relu"), L.Reshape((7, 7, 8)), L.UpSampling2D(),
                             L.Conv2D(1, 3, padding="same", activation="sigmoid")])


def multi_input():
    image, text, number = L.Input((10, 10, 3), name="image"), L.Input((6,), dtype="int32", name="text"), L.Input((4,), name="number")
    parts = [L.GlobalAveragePooling2D()(L.Conv2D(8, 3, activation="relu")(image)), L.LSTM(8)(L.Embedding(50, 8)(text)), L.Dense(8)(number)]
    x = L.Dense(16, "relu")(L.Concatenate()(parts))
    return keras.Model([image, text, number], [L.Dense(CLASSES, "softmax", name="kind")(x), L.Dense(1, name="price")(x)])


class OwnStep(keras.Model):
    """The loss is made of layers' losses and a penalty of its own."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = L.Dense(16, "relu", kernel_regularizer="l2"), L.Dense(CLASSES, "softmax")

    def call(self, x):
        hidden = self.hidden(x)
        self.add_loss(0.01 * ops.mean(ops.square(hidden)))
        return self.out(hidden)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return super().compute_loss(x, y, y_pred, sample_weight, training) + 0.1 * ops.mean(ops.abs(self.out.kernel))


def own_loss():
    model = OwnStep()
    model(np.zeros((1, 20), "float32"))
    return model


def mixed():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        return mlp()
    finally:
        keras.config.set_dtype_policy("float32")


Adam, SGD, sparse = keras.optimizers.Adam, keras.optimizers.SGD, "sparse_categorical_crossentropy"
SCHEDULE = keras.optimizers.schedules.CosineDecay(1e-2, 20)
# name: (model, optimizer, loss, more for compile())
MODELS = {
    "mlp": (mlp, lambda: Adam(1e-2), sparse, {}),
    "cnn": (cnn, lambda: Adam(1e-3), sparse, {}),
    "resnet50": (resnet50, lambda: SGD(3e-6), sparse, {}),
    "mobilenet_v2": (mobilenet_v2, lambda: SGD(1e-5, momentum=0.9), sparse, {}),
    "unet": (unet, lambda: Adam(1e-3), "binary_crossentropy", {}),
    "lstm": (lstm, lambda: keras.optimizers.RMSprop(3e-3), sparse, {}),
    "bidirectional_gru": (bidirectional_gru, lambda: Adam(3e-3), sparse, {}),
    "transformer": (transformer, lambda: keras.optimizers.AdamW(SCHEDULE, clipnorm=1.0), sparse, {}),
    "autoencoder": (autoencoder, lambda: Adam(1e-3), "mse", {}),
    "multi_input": (multi_input, lambda: Adam(3e-3), [sparse, "mse"], {"loss_weights": [1.0, 0.3]}),
    "own_loss": (own_loss, lambda: Adam(1e-2), sparse, {}),
    "accumulated": (mlp, lambda: Adam(1e-2, gradient_accumulation_steps=3), sparse, {}),
    "averaged": (mlp, lambda: SGD(0.1, use_ema=True, ema_momentum=0.7, ema_overwrite_frequency=4), sparse, {}),
    "many_per_call": (mlp, lambda: Adam(1e-2), sparse, {"steps_per_execution": 3}),
    "mixed": (mixed, lambda: Adam(1e-2), sparse, {}),
    "shuffled": (mlp, lambda: Adam(1e-2), sparse, {"shuffle": True}),
    "eager": (cnn, lambda: Adam(1e-3), sparse, {"run_eagerly": True}),
}


def weight(rng, variable):
    """Of a size that keeps signals as they are through many layers."""
    if variable.path.endswith(("gamma", "moving_variance")):
        return np.ones(variable.shape, "float32")
    if len(variable.shape) < 2:
        return np.zeros(variable.shape, "float32")
    depthwise = "depthwise" in variable.path
    fan_in = np.prod(variable.shape[:2] if depthwise else variable.shape[:-1])
    return rng.normal(scale=np.sqrt(1.5 / fan_in), size=variable.shape).astype("float32")


def inputs(rng, tensor, count):
    if "int" in tensor.dtype:
        return rng.integers(0, 50, (count, *tensor.shape[1:])).astype("int32")
    return rng.random((count, *tensor.shape[1:])).astype("float32")


def labels(rng, x, output, loss):
    """Something that depends on the inputs, so that there is something to learn."""
    x = x.reshape(len(x), -1).astype("float64")
    signal = (x - x.mean(0)) @ rng.normal(size=x.shape[1])
    if loss == sparse:
        return np.digitize(signal, np.quantile(signal, np.linspace(0, 1, CLASSES + 1)[1:-1])).astype("int32")
    values = rng.random((len(x), *output.shape[1:])) * 0.3 + 0.5 * (signal > 0).reshape((-1,) + (1,) * (len(output.shape) - 1))
    return values.astype("float32")


class Losses(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.values = []

    def on_train_batch_end(self, batch, logs=None):
        self.values.append(logs["loss"])


def train(make, optimizer, loss, options):
    rng = np.random.default_rng(0)
    keras.utils.set_random_seed(1)
    model = make()
    model.set_weights([weight(rng, v) for v in model.weights])
    count, shuffle = STEPS * BATCH // 2, options.get("shuffle", False)
    shapes = getattr(model, "inputs", None) or [keras.KerasTensor((None, 20))]
    x = [inputs(rng, tensor, count) for tensor in shapes]
    outputs = getattr(model, "outputs", None) or [keras.KerasTensor((None, CLASSES))]
    y = [labels(rng, x[0], o, l) for o, l in zip(outputs, loss if isinstance(loss, list) else [loss])]
    one = lambda parts: parts[0] if len(parts) == 1 else parts
    model.compile(optimizer=optimizer(), loss=loss, **{k: v for k, v in options.items() if k != "shuffle"})
    losses = Losses()
    history = model.fit(one(x), one(y), batch_size=BATCH, epochs=2, shuffle=shuffle, verbose=0, callbacks=[losses])
    return {"losses": losses.values, "history": history.history["loss"], "evaluate": model.evaluate(one(x), one(y), verbose=0),
            "spread": [float(np.std(p)) for p in (lambda p: p if isinstance(p, list) else [p])(model.predict(one(x), verbose=0))]}


if __name__ == "__main__":
    print(json.dumps({name: train(*MODELS[name]) for name in sys.argv[1:] or MODELS}, indent=1))
