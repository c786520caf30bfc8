"""Trains small models from fixed weights with the backend of KERAS_BACKEND and prints their losses as JSON: run by test_beside_jax.py."""
import json
import os

if os.environ["KERAS_BACKEND"] == "plimsoll":
    import keras_plimsoll_bootstrap  # noqa: F401
import keras
import numpy as np
from keras import layers

CLASSES, TOKENS, TIME = 5, 50, 12


def mlp():
    return keras.Sequential([layers.Input((20,)), layers.Dense(32, activation="relu"), layers.Dense(16, activation="gelu"),
                             layers.Dense(CLASSES, activation="softmax")])


def cnn():
    image = layers.Input((12, 12, 3))
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same", use_bias=False)(image)))
    y = layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same", activation="relu")(x))
    x = layers.MaxPooling2D()(layers.Activation("relu")(layers.Add()([x, y])))
    x = layers.AveragePooling2D(2, strides=1, padding="same")(layers.SeparableConv2D(8, 3, activation="relu")(x))
    x = layers.GlobalAveragePooling2D()(layers.Conv2DTranspose(4, 3, strides=2, padding="same")(x))
    return keras.Model(image, layers.Dense(CLASSES, activation="softmax")(x))


def transformer():
    ids = layers.Input((TIME,), dtype="int32")
    x = layers.Embedding(TOKENS, 32)(ids)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 8)(x, x, use_causal_mask=True))
    x = layers.LayerNormalization()(x + layers.Dense(32)(layers.Dense(64, activation="gelu")(x)))
    return keras.Model(ids, layers.Dense(CLASSES, activation="softmax")(layers.GlobalAveragePooling1D()(x)))


def recurrent(mask_zero=False):
    cell = {"recurrent_initializer": "glorot_uniform"}
    return keras.Sequential([layers.Input((TIME,), dtype="int32"), layers.Embedding(TOKENS, 8, mask_zero=mask_zero),
                             layers.Bidirectional(layers.LSTM(12, return_sequences=True, **cell)), layers.GRU(6, **cell),
                             layers.Dense(CLASSES, activation="softmax")])


def masked():
    return recurrent(mask_zero=True)


def weight(rng, variable):
    if "moving_variance" in variable.path:
        return np.ones(variable.shape, "float32")
    return (rng.normal(size=variable.shape) * 0.3 + ("gamma" in variable.path)).astype("float32")


def history(make, optimizer):
    rng = np.random.default_rng(0)
    model = make()
    model.set_weights([weight(rng, v) for v in model.weights])
    shape = model.inputs[0].shape[1:]
    x = rng.integers(0, TOKENS, (24, TIME)).astype("int32") if len(shape) == 1 and make is not mlp else rng.normal(size=(24, *shape))
    y = rng.integers(0, CLASSES, 24)
    model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    fitted = model.fit(x, y, batch_size=8, epochs=4, shuffle=False, verbose=0)
    loss, accuracy = model.evaluate(x, y, batch_size=8, verbose=0)
    return {"losses": fitted.history["loss"], "loss": loss, "accuracy": accuracy,
            "spread": float(model.predict(x, verbose=0).std())}


print(json.dumps({
    "mlp": history(mlp, keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)),
    "cnn": history(cnn, keras.optimizers.Adam(1e-2)),
    "transformer": history(transformer, keras.optimizers.AdamW(1e-2)),
    "recurrent": history(recurrent, keras.optimizers.RMSprop(3e-3, momentum=0.5)),
    "masked": history(masked, keras.optimizers.Adam(1e-2, clipnorm=0.5)),
}))
