"""Fashion-MNIST, ours and Keras at equal epochs over several seeds:

  python bench/fashion_parity.py [EPOCHS [SEEDS]]

Prints the mean validation accuracy of a CNN and an MLP for both, and how far the means are apart.
"""
import os
import pathlib
import statistics
import subprocess
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import keras
import numpy as np
from keras import layers as L

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data" / "fashion_mnist_12k.npz"


def keras_model(name):
    if name == "mlp":
        return keras.Sequential([keras.Input((28, 28)), L.Rescaling(1 / 255), L.Flatten(), L.Dense(128, "relu"), L.Dropout(0.2),
                                 L.Dense(10, "softmax")])
    return keras.Sequential([keras.Input((28, 28, 1)), L.Rescaling(1 / 255), L.Conv2D(16, 3, activation="relu"), L.MaxPooling2D(2),
                             L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(2), L.Flatten(), L.Dropout(0.3),
                             L.Dense(10, "softmax")])


def keras_accuracy(name, seed, epochs, data):
    keras.utils.set_random_seed(seed)
    model = keras_model(name)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(data["x_train"], data["y_train"], batch_size=64, epochs=epochs, verbose=0,
                        validation_data=(data["x_test"], data["y_test"]), validation_batch_size=500)
    return history.history["val_accuracy"][-1]


def our_accuracy(name, seed, epochs):
    command = [ROOT / "build" / "bin" / "fashion_fit", name, str(seed), str(epochs), DATA]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    epochs, seeds = (int(a) for a in (sys.argv[1:] + ["4", "5"][len(sys.argv) - 1:])[:2])
    data = dict(np.load(DATA))
    for name in ("mlp", "cnn"):
        ours = [our_accuracy(name, seed, epochs) for seed in range(seeds)]
        theirs = [keras_accuracy(name, seed, epochs, data) for seed in range(seeds)]
        apart = 100 * (statistics.mean(ours) - statistics.mean(theirs))
        print(f"{name}: ours {statistics.mean(ours):.4f} {ours}, keras {statistics.mean(theirs):.4f} "
              f"{[round(t, 4) for t in theirs]}, apart {apart:+.2f} points", flush=True)


main()
