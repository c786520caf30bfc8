"""Trains small models on whatever backend is chosen: train_models.py <folder with initial weights> <results.json>.

The first program that runs writes the initial weights, the next one takes them: so two backends start alike.
"""
import json
import pathlib
import sys

import keras_plimsoll_bootstrap  # noqa: F401  where plimsoll.pth is not installed
import keras
import numpy as np
from keras import layers


def classes(rng, shape, count):
    """Pictures (or rows) that can be told apart: each class has a pattern of its own under noise."""
    labels = rng.integers(0, count, 256)
    patterns = rng.normal(size=(count, *shape))
    return (patterns[labels] + rng.normal(scale=0.5, size=(256, *shape))).astype("float32"), labels.astype("int32")


def mlp(rng):
    x, y = classes(rng, (20,), 4)
    model = keras.Sequential([keras.Input((20,)), layers.Dense(32, activation="relu"), layers.Dense(4, activation="softmax")])
    model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model, x, y


def cnn(rng):
    x, y = classes(rng, (12, 12, 1), 4)
    model = keras.Sequential([
        keras.Input((12, 12, 1)), layers.Conv2D(8, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
        layers.Conv2D(16, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(4)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss, metrics=["accuracy"])
    return model, x, y


def lstm(rng):
    words = rng.integers(1, 50, (256, 12))
    words[rng.random((256, 12)) < 0.2] = 0
    y = (words.max(axis=1) > 45).astype("float32")
    model = keras.Sequential([
        keras.Input((12,), dtype="int32"), layers.Embedding(50, 16, mask_zero=True), layers.LSTM(16, return_sequences=True),
        layers.Bidirectional(layers.GRU(8)), layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.RMSprop(5e-3), "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC()])
    return model, words.astype("int32"), y[:, None]


def transformer(rng):
    x, y = classes(rng, (10, 16), 4)
    inputs = keras.Input((10, 16))
    attended = layers.MultiHeadAttention(2, 8)(inputs, inputs, use_causal_mask=True)
    hidden = layers.LayerNormalization()(layers.Add()([inputs, attended]))
    wide = layers.Dense(16)(layers.Dense(32, activation="gelu")(hidden))
    hidden = layers.LayerNormalization()(layers.Add()([hidden, wide]))
    outputs = layers.Dense(4)(layers.GlobalAveragePooling1D()(hidden))
    model = keras.Model(inputs, outputs)
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, 100)
    model.compile(keras.optimizers.AdamW(schedule, clipnorm=1.0), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model, x, y


def main(folder, results):
    found = {}
    for make in (mlp, cnn, lstm, transformer):
        keras.utils.set_random_seed(7)
        model, x, y = make(np.random.default_rng(3))
        weights = pathlib.Path(folder) / f"{make.__name__}.npz"
        if weights.exists():
            with np.load(weights) as saved:
                model.set_weights([saved[name] for name in saved.files])
        else:
            np.savez(weights, *model.get_weights())
        history = model.fit(x, y, batch_size=30, epochs=4, shuffle=False, verbose=0, validation_data=(x[:70], y[:70]))
        found[make.__name__] = {"history": history.history, "evaluate": model.evaluate(x, y, verbose=0, return_dict=True),
                                "predict": model.predict(x[:5], verbose=0).tolist()}
    pathlib.Path(results).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
