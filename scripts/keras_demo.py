"""An act of the demo: a Keras script like any other, on the engine under a memory line, beside its forecast.

    KERAS_BACKEND=plimsoll python scripts/keras_demo.py      (after make python)
"""
import pathlib
import sys

import keras
import numpy as np
from keras import layers

import plimsoll

LINE, BATCH = "200MiB", 64
DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "fashion_mnist_12k.npz"


def make_model():
    model = keras.Sequential([
        keras.Input((28, 28, 1)), layers.Rescaling(1 / 255), layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dropout(0.25), layers.Dense(10, activation="softmax")])
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    data = np.load(DATA)
    keras.utils.set_random_seed(1)
    plimsoll.set_memory_limit(LINE)
    model = make_model()
    print(f"\nKeras {keras.__version__} on {keras.backend.backend()}, the line at {LINE}. Before anything runs:\n")
    forecast = plimsoll.plan(model, BATCH)
    print(forecast, "\n")
    history = model.fit(data["x_train"], data["y_train"], batch_size=BATCH, epochs=2, validation_split=0.1, verbose=2)
    peak = plimsoll.memory_use().engine_peak
    print(f"\nforecast {plimsoll.memory_text(forecast.forecast.total)}, held at most {plimsoll.memory_text(peak)}, the line at {LINE}")
    try:
        model.fit(data["x_train"], data["y_train"], batch_size=len(data["x_train"]), verbose=0)
    except plimsoll.MemoryLineError as error:
        print(f"\na batch of {len(data['x_train'])}: {error}")
    accuracy = model.evaluate(data["x_test"], data["y_test"], verbose=0, return_dict=True)["accuracy"]
    print(f"\nand the model goes on: accuracy {accuracy:.3f} on images it has not seen")
    return 0 if accuracy > 0.75 and history.history["loss"][-1] < history.history["loss"][0] else 1


if __name__ == "__main__":
    sys.exit(main())
