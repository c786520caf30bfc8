"""Makes golden .h5 files in the layouts of Keras 1 and of cuDNN layers, with the Keras of tensorflow-cpu 2.12:

    python make_old.py

Keras 1 no longer runs, so its files are written by hand as it wrote them (config, names and order of weights), and what they mean is
said by TensorFlow, which still converts such weights (preprocess_weights_for_loading). So it is with the layers for cuDNN, which run
on NVIDIA's GPUs only: the expected outputs are those of an LSTM or GRU into which TensorFlow loads their weights.
"""

import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import h5py
import numpy as np
import tensorflow as tf
from keras.saving.legacy import hdf5_format
from tensorflow import keras

L = keras.layers
here = pathlib.Path(__file__).parent
rng = np.random.default_rng(3)


def normal(*shape):
    return rng.normal(0, 0.4, shape).astype("float32")


def write(stem, config, layers, version, backend):
    """layers: [(name, [(weight's name, value), ...])]"""
    with h5py.File(here / f"{stem}.h5", "w") as file:
        file.attrs.update(keras_version=version.encode(), model_config=json.dumps(config).encode())
        if backend:
            file.attrs["backend"] = backend.encode()
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [name.encode() for name, _ in layers]
        if version != "1.0.8":  # the first that said what wrote it
            group.attrs.update(keras_version=version.encode(), backend=backend.encode())
        for name, weights in layers:
            layer = group.create_group(name)
            layer.attrs["weight_names"] = [n.encode() for n, _ in weights]
            for n, value in weights:
                layer.create_dataset(n, data=value)


def expect(stem, x, y):
    np.savez_compressed(here / f"{stem}.npz", x0=x, y0=y)


def load_old(model, layers, backend):
    """Gives the model's layers the weights of Keras 1, converted by TensorFlow."""
    for name, weights in layers:
        layer = model.get_layer(name)
        values = hdf5_format.preprocess_weights_for_loading(layer, [value for _, value in weights], "1", backend)
        if backend == "theano" and isinstance(layer, L.Conv2D):
            values[0] = values[0][::-1, ::-1]  # as Keras 2.3 did (conv_utils.convert_kernel); TensorFlow's Keras forgot Theano
        layer.set_weights(values)


def old_conv(name, filters, size, dim_ordering, **more):
    return {"class_name": "Convolution2D", "config": {
        "name": name, "trainable": True, "nb_filter": filters, "nb_row": size[0], "nb_col": size[1], "init": "glorot_uniform",
        "activation": "relu", "border_mode": "valid", "subsample": [1, 1], "dim_ordering": dim_ordering, "W_regularizer": None,
        "b_regularizer": None, "activity_regularizer": None, "W_constraint": None, "b_constraint": None, "bias": True, **more}}


def old_dense(name, units, inputs, activation):
    return {"class_name": "Dense", "config": {
        "name": name, "trainable": True, "output_dim": units, "init": "glorot_uniform", "activation": activation, "W_regularizer": None,
        "b_regularizer": None, "activity_regularizer": None, "W_constraint": None, "b_constraint": None, "bias": True,
        "input_dim": inputs}}


def theano_chain(stem, dim_ordering):
    """Convolutions whose kernels Theano turned by half, in either order of axes; as many channels in as out, so that shapes do
    not tell the orders apart."""
    first = dim_ordering == "th"
    shape = (3, 7, 6) if first else (7, 6, 3)
    kernel = (3, 3, 3, 3)
    layers = [("conv_a", [("conv_a_W", normal(*kernel)), ("conv_a_b", normal(3))]),
              ("conv_b", [("conv_b_W", normal(*((4, 3, 2, 3) if first else (2, 3, 3, 4)))), ("conv_b_b", normal(4))]),
              ("flatten_1", []),
              ("dense_1", [("dense_1_W", normal(4 * 4 * 2, 2)), ("dense_1_b", normal(2))])]
    flatten = {"class_name": "Flatten", "config": {"name": "flatten_1", "trainable": True}}
    config = {"class_name": "Sequential", "config": [
        old_conv("conv_a", 3, (3, 3), dim_ordering, batch_input_shape=[None, *shape], input_dtype="float32"),
        old_conv("conv_b", 4, (2, 3), dim_ordering), flatten, old_dense("dense_1", 2, 32, "softmax")]}
    write(stem, config, layers, "1.2.2", "theano")
    order = "channels_first" if first else "channels_last"
    made = keras.Sequential([keras.Input(shape), L.Conv2D(3, 3, activation="relu", data_format=order, name="conv_a"),
                             L.Conv2D(4, (2, 3), activation="relu", data_format=order, name="conv_b"), L.Flatten(name="flatten_1"),
                             L.Dense(2, activation="softmax", name="dense_1")])
    load_old(made, layers, "theano")
    x = normal(3, *shape)
    # TensorFlow has no channels_first on CPUs: the same weights, the axes moved.
    h = tf.transpose(x, (0, 2, 3, 1)) if first else x
    for name in ("conv_a", "conv_b"):
        w, b = made.get_layer(name).get_weights()
        h = tf.nn.relu(tf.nn.conv2d(h, w, 1, "VALID") + b)
    h = tf.transpose(h, (0, 3, 1, 2)) if first else h
    expect(stem, x, made.get_layer("dense_1")(tf.reshape(h, (3, -1))).numpy())


def old_recurrent(kind, name, units, **more):
    return {"class_name": kind, "config": {
        "name": name, "trainable": True, "output_dim": units, "init": "glorot_uniform", "inner_init": "orthogonal", "activation": "tanh",
        "inner_activation": "hard_sigmoid", "return_sequences": kind == "LSTM", "go_backwards": False, "stateful": False,
        "unroll": False, "consume_less": "cpu", "W_regularizer": None, "U_regularizer": None, "b_regularizer": None, "dropout_W": 0.0,
        "dropout_U": 0.0, **({"forget_bias_init": "one"} if kind == "LSTM" else {}), **more}}


def keras1_text():
    """A model inside a model, with the nested names and the one-by-one gates of Keras 1."""
    stem = "keras1_text"
    embedding = {"class_name": "Embedding", "config": {
        "name": "words", "trainable": True, "input_dim": 11, "output_dim": 4, "init": "uniform", "input_length": 6, "mask_zero": False,
        "activity_regularizer": None, "W_regularizer": None, "W_constraint": None, "dropout": 0.0, "batch_input_shape": [None, 6],
        "input_dtype": "int32"}}
    inner = {"class_name": "Sequential", "config": [
        old_recurrent("LSTM", "lstm_1", 3, batch_input_shape=[None, 6, 4], input_dtype="float32"), old_recurrent("GRU", "gru_1", 3)]}
    config = {"class_name": "Sequential", "config": [embedding, inner, old_dense("dense_1", 2, 3, "linear")]}
    gates = lambda layer, names, inputs: [(f"{layer}_{part}_{g}", normal(*{"W": (inputs, 3), "U": (3, 3), "b": (3,)}[part]))
                                          for g in names for part in "WUb"]
    lstm, gru = gates("lstm_1", "icfo", 4), gates("gru_1", "zrh", 3)
    layers = [("words", [("words_W", normal(11, 4))]), ("sequential_1", lstm + gru),
              ("dense_1", [("dense_1_W", normal(3, 2)), ("dense_1_b", normal(2))])]
    write(stem, config, layers, "1.2.2", "tensorflow")
    made = keras.Sequential([keras.Input((6,), dtype="int32"), L.Embedding(11, 4, name="words"),
                             L.LSTM(3, recurrent_activation="hard_sigmoid", return_sequences=True, name="lstm_1"),
                             L.GRU(3, recurrent_activation="hard_sigmoid", reset_after=False, name="gru_1"), L.Dense(2, name="dense_1")])
    load_old(made, [layers[0], ("lstm_1", lstm), ("gru_1", gru), layers[2]], "tensorflow")
    x = rng.integers(0, 11, (3, 6)).astype("int32")
    expect(stem, x, made.predict(x, verbose=0))


def cudnn(kind):
    """Alone and in both directions."""
    stem, gates = f"cudnn_{kind.lower()}", {"LSTM": 4, "GRU": 3}[kind]

    def config(name, units, **more):
        return {"class_name": f"CuDNN{kind}", "config": {
            "name": name, "trainable": True, "units": units, "return_sequences": False, "return_state": False, "go_backwards": False,
            "stateful": False, "kernel_initializer": "glorot_uniform", "recurrent_initializer": "orthogonal",
            "bias_initializer": "zeros", "kernel_regularizer": None, "recurrent_regularizer": None, "bias_regularizer": None,
            "activity_regularizer": None, "kernel_constraint": None, "recurrent_constraint": None, "bias_constraint": None,
            **({"unit_forget_bias": True} if kind == "LSTM" else {}), **more}}

    def weights(name, inputs, units):
        shapes = {"kernel": (inputs, gates * units), "recurrent_kernel": (units, gates * units), "bias": (2 * gates * units,)}
        return [(f"{name}/{n}:0", normal(*s)) for n, s in shapes.items()]

    model = {"class_name": "Sequential", "config": {"name": "sequential_1", "layers": [
        config("a", 4, return_sequences=True, batch_input_shape=[None, 5, 3], dtype="float32"),
        {"class_name": "Bidirectional", "config": {"name": "b", "trainable": True, "merge_mode": "concat", "layer": config("c", 3)}},
        {"class_name": "Dense", "config": {"name": "d", "trainable": True, "units": 2, "activation": "linear", "use_bias": True}}]}}
    write(stem, model, [("a", weights("a", 3, 4)), ("b", weights("b/forward_c", 4, 3) + weights("b/backward_c", 4, 3)),
                        ("d", [("d/kernel:0", normal(6, 2)), ("d/bias:0", normal(2))])], "2.2.4", "tensorflow")
    make = {"LSTM": L.LSTM, "GRU": lambda *args, **more: L.GRU(*args, reset_after=True, **more)}[kind]
    twin = keras.Sequential([keras.Input((5, 3)), make(4, return_sequences=True, name="a"), L.Bidirectional(make(3), name="b"),
                             L.Dense(2, name="d")])
    twin.load_weights(here / f"{stem}.h5")
    x = normal(3, 5, 3)
    expect(stem, x, twin.predict(x, verbose=0))


theano_chain("keras1_theano_tf", "tf")
theano_chain("keras1_theano_th", "th")
keras1_text()
cudnn("LSTM")
cudnn("GRU")
