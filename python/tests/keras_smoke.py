"""A little of everything that touches Keras's insides: what must work on each version of Keras. Prints the version."""
import os
import pathlib
import sys
import tempfile

import keras
import numpy as np
from keras import layers

assert keras.backend.backend() == keras.config.backend() == "plimsoll", keras.backend.backend()
assert type(keras.ops.ones(2)).__module__ == "plimsoll"
if len(sys.argv) > 1:  # the folder Keras is expected in
    assert pathlib.Path(keras.__file__).is_relative_to(sys.argv[1]), keras.__file__
keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)


def check(model, x, y, loss, metrics):
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=metrics)
    losses = model.fit(x, y, epochs=4, batch_size=16, validation_split=0.25, verbose=0).history["loss"]
    assert losses[-1] < losses[0], (model.name, losses)
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "model.keras"))
        loaded = keras.models.load_model(os.path.join(folder, "model.keras"))
    np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5, atol=1e-6)
    assert np.isfinite(loaded.evaluate(x, y, verbose=0, return_dict=True)["loss"])


images, classes = rng.random((64, 8, 8, 3)), rng.integers(0, 3, 64)
check(keras.Sequential([keras.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
                        layers.Flatten(), layers.Dropout(0.1), layers.Dense(3, activation="softmax")], name="images"),
      images, classes, "sparse_categorical_crossentropy", ["accuracy"])

tokens = keras.Input((6,), dtype="int32")
h = layers.Embedding(20, 8)(tokens)
h = layers.LayerNormalization()(h + layers.MultiHeadAttention(2, 4)(h, h))
h = layers.Bidirectional(layers.LSTM(4))(h)
check(keras.Model(tokens, layers.Dense(1, activation="sigmoid")(h), name="text"), rng.integers(0, 20, (64, 6)), rng.integers(0, 2, (64, 1)),
      "binary_crossentropy", [keras.metrics.AUC()])

values = keras.Variable(np.arange(4.0))
values.assign_add(keras.ops.ones(4))
np.testing.assert_allclose(keras.ops.convert_to_numpy(keras.ops.cumsum(values)), [1, 3, 6, 10])
np.testing.assert_allclose(np.asarray(keras.random.uniform((3,), seed=1)), np.asarray(keras.random.uniform((3,), seed=1)))
print("keras", keras.__version__, "ok")
