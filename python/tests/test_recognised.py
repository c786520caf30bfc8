"""Keras's layers, losses and optimizers arrive as small ops: the step that comes out must have the engine's whole ops in it."""
import re

import keras
import numpy as np
import pytest
from keras import layers


def step_text(model, x, y, optimizer="adam", loss="mse"):
    """The text of the Program of one training step."""
    model.compile(optimizer=optimizer, loss=loss)
    model.train_on_batch(x, y)
    (made,) = model.train_function.steps.programs.values()
    return made.program.text()


def ops_in(text):
    return re.findall(r"^\d+: (?:\S+/)?(\w+) \[", text, re.MULTILINE)


def images(*shape):
    return np.random.default_rng(0).random((2, *shape), "float32")


@pytest.mark.parametrize("activation", ["relu", "sigmoid", "tanh"])
def test_dense_takes_bias_and_activation(activation):
    model = keras.Sequential([layers.Input((8,)), layers.Dense(16, activation=activation), layers.Dense(1)])
    text = step_text(model, images(8), np.zeros((2, 1), "float32"))
    assert ops_in(text)[:2] == ["dense", "dense"] and activation not in text, text


def test_dense_on_sequences():
    model = keras.Sequential([layers.Input((5, 8)), layers.Dense(16, activation="relu"), layers.Dense(1)])
    assert ops_in(step_text(model, images(5, 8), np.zeros((2, 5, 1), "float32"))).count("dense") == 2


def test_convolution_takes_bias_and_activation():
    model = keras.Sequential([layers.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(),
                              layers.Flatten(), layers.Dense(1)])
    text = step_text(model, images(8, 8, 3), np.zeros((2, 1), "float32"))
    assert ops_in(text)[:2] == ["conv_bias", "max_pool"] and "max_pool_grad" in ops_in(text), text


def test_batch_normalization_is_one_op_each_way():
    model = keras.Sequential([layers.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(),
                              layers.GlobalAveragePooling2D()])
    text = step_text(model, images(8, 8, 3), np.zeros((2, 4), "float32"))
    ops = ops_in(text)
    assert ops.count("batch_norm") == 1 and ops.count("batch_norm_grad") == 1, text
    assert ops[:2] == ["conv_bias", "batch_norm"], text


def test_layer_normalization():
    model = keras.Sequential([layers.Input((5, 8)), layers.LayerNormalization(), layers.Dense(3)])
    ops = ops_in(step_text(model, images(5, 8), np.zeros((2, 5, 3), "float32")))
    assert "layer_norm" in ops and "layer_norm_grad" in ops


def test_attention():
    x = layers.Input((6, 16))
    model = keras.Model(x, layers.MultiHeadAttention(2, 8)(x, x))
    ops = ops_in(step_text(model, images(6, 16), images(6, 16)))
    assert "attention" in ops and "attention_grad" in ops


@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
@pytest.mark.parametrize("both", [False, True])
def test_recurrent_layers(cell, both):
    layer = getattr(layers, cell)(4, return_sequences=True, recurrent_initializer="glorot_uniform")
    model = keras.Sequential([layers.Input((6, 3)), layers.Bidirectional(layer) if both else layer])
    ops = ops_in(step_text(model, images(6, 3), images(6, 8 if both else 4)))
    assert ops.count(cell.lower()) == 1 + both and ops.count(cell.lower() + "_grad") == 1 + both


def test_embedding_updates_rows_alone():
    model = keras.Sequential([layers.Input((6,)), layers.Embedding(50, 4), layers.GlobalAveragePooling1D(), layers.Dense(1)])
    ops = ops_in(step_text(model, np.ones((2, 6), "int32"), np.zeros((2, 1), "float32")))
    assert "embedding" in ops and "adam_update_rows" in ops


@pytest.mark.parametrize("loss, labels, op", [
    ("sparse_categorical_crossentropy", np.array([1, 2]), "sparse_softmax_cross_entropy"),
    ("categorical_crossentropy", np.eye(3, dtype="float32")[:2], "softmax_cross_entropy"),
])
def test_softmax_and_cross_entropy(loss, labels, op):
    model = keras.Sequential([layers.Input((8,)), layers.Dense(3, activation="softmax")])
    ops = ops_in(step_text(model, images(8), labels, loss=loss))
    assert op in ops and op + "_grad" in ops
    assert "log" not in ops


@pytest.mark.parametrize("optimizer, op", [("adam", "adam_update"), ("adamw", "adam_update"), ("sgd", "sgd_update"),
                                           (keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True), "sgd_update"),
                                           ("rmsprop", "rmsprop_update"), (keras.optimizers.RMSprop(0.1, momentum=0.9), "rmsprop_update")])
def test_optimizers(optimizer, op):
    model = keras.Sequential([layers.Input((8,)), layers.Dense(3)])
    text = step_text(model, images(8), np.zeros((2, 3), "float32"), optimizer=optimizer)
    assert ops_in(text).count(op) == 2


def test_gelu_keeps_what_its_gradient_needs():
    model = keras.Sequential([layers.Input((8,)), layers.Dense(16, activation="gelu"), layers.Dense(1)])
    text = step_text(model, images(8), np.zeros((2, 1), "float32"))
    assert "erf" not in text and "gelu" in text
