"""Every registered layer, asked for in the command line's YAML, against real Keras's signature: the short form `- LSTM: 64` sets
the argument that Keras's class takes first, what Keras requires is required, and the rest has Keras's values."""

import functools
import importlib.util
import inspect
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL", ROOT / "build/bin/plimsoll"))
OF_EVERY_LAYER = {"name", "trainable", "dtype"}

# An argument's value that is no default of any class. One that is not here makes the test fail: add it.
VALUES = {
    "activation": "tanh", "alpha": 0.3, "alpha_initializer": "ones", "axes": 2, "axis": 1, "cropping": 2, "data_format": "channels_first",
    "dims": [2, 1], "drop_path_rate": 0.3, "equation": "abc,cd->abd", "filters": 6, "groups": 4, "height": 5, "init_values": 0.5,
    "input_dim": 9, "kernel_size": 3, "key_dim": 3, "l1": 0.2, "mask_value": 2.0, "max_value": 4.0, "n": 3, "negative_slope": 0.4,
    "num_heads": 2, "output_dim": 4, "output_shape": [None, 4], "padding": 3, "pool_size": 3, "projection_dim": 8, "rate": 0.25, "scale": 0.5,
    "size": 3, "stddev": 0.3, "target_shape": [3, 4], "units": 7, "width": 6,
    "layer": {"class_name": "LSTM", "config": {"units": 3}}, "cell": {"class_name": "LSTMCell", "config": {"units": 3}},
    "cells": [{"class_name": "LSTMCell", "config": {"units": 3}}],
    "addition_factor": [0.1, 0.2], "bin_boundaries": [0.5, 1.5], "factor": 0.25, "head_dim": 3, "height_factor": 0.25, "max_tokens": 9,
    "mode": "vertical", "num_key_value_heads": 2, "num_query_heads": 4, "num_tokens": 6, "output_size": 3, "use_scale": True,
    "value_range": [0, 1], "width_factor": 0.2, "x_factor": [0.1, 0.2], "fft_length": 64, "layers": [{"class_name": "LSTM", "config": {"units": 3}}],
}
# What a class needs beside that, or instead.
ALSO = {"AdditiveAttention": {"use_scale": False}, "CategoryEncoding": {"num_tokens": 6}, "Discretization": {"bin_boundaries": [0.5, 1.5]},
        "RandomCrop": {"seed": 3}, "RandomPosterization": {"factor": 3}, "STFTSpectrogram": {"mode": "real"}}


def table(family):
    """[(class, its arguments as text)], from docs/layers.md, which a C++ test holds against the registry."""
    text = (ROOT / "docs/layers.md").read_text().split(f"| {family} |")[1].split("\n\n")[0]
    return re.findall(r"^\| (\w+) \| (.*) \|$", text, re.M)


def registered():
    """{class: {argument: whether it is required}}"""
    return {name: {key: value == "required" for key, value in re.findall(r"`(\w+)` (required)?", arguments)} for name, arguments in table("layer")}


@pytest.fixture(scope="module")
def keras():
    if importlib.util.find_spec("keras") is None:
        pytest.skip("there is no Keras")
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    os.environ["KERAS_BACKEND"] = "numpy"
    import keras

    return keras


def class_of(keras, name):
    from keras.src.applications import convnext, inception_resnet_v2

    return next(getattr(place, name) for place in (keras.layers, convnext, inception_resnet_v2) if hasattr(place, name))


def signature(layer_class):
    """Names of its arguments in order, and those without a default."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = [p for p in list(inspect.signature(layer_class.__init__).parameters.values())[1:] if p.kind in kinds]
    return [p.name for p in parameters], [p.name for p in parameters if p.default is p.empty]


def convert(folder, name, value):
    """The config of the layer `- name: value`, or what the program says of it."""
    (folder / "m.yaml").write_text("layers:\n  - " + (name if value is None else f"{name}: {json.dumps(value)}") + "\n")
    done = subprocess.run([PROGRAM, "convert", folder / "m.yaml", folder / "m.json"], capture_output=True, text=True)
    assert done.returncode in (0, 1), (name, value, done.stderr)
    return json.loads((folder / "m.json").read_text())["config"]["layers"][0]["config"] if done.returncode == 0 else done.stderr


def keras_layer(keras, layer_class, values):
    def inner(value):
        return getattr(keras.layers, value["class_name"])(**value["config"])
    values = values | {key: inner(values[key]) for key in ("layer", "cell") if key in values}
    values = values | {key: [inner(value) for value in values[key]] for key in ("cells", "layers") if key in values}
    return layer_class(**{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()})


def same(ours, keras_value):
    """As JSON, initializers and layers by their class alone."""
    def plain(v):
        return v["class_name"] if isinstance(v, dict) and "class_name" in v else [plain(i) for i in v] if isinstance(v, (list, tuple)) else v
    return plain(ours) == plain(keras_value)


def test_docs_mark_what_keras_requires(keras):
    assert {name: [key for key, required in arguments.items() if required] for name, arguments in registered().items()} == {
        name: sorted(signature(class_of(keras, name))[1], key=list(arguments).index) for name, arguments in registered().items()}


PLACES = {"loss": "losses", "metric": "metrics", "optimizer": "optimizers", "schedule": "optimizers.schedules", "initializer": "initializers",
          "regularizer": "regularizers", "constraint": "constraints"}
# What the head of docs/layers.md says of them.
NOT_LISTED = {"loss Dice": {"axis"}, "loss Tversky": {"axis"}, "loss SparseCategoricalCrossentropy": {"axis"},
              "metric AUC": {"thresholds", "label_weights"}, "metric SparseTopKCategoricalAccuracy": {"from_sorted_ids"},
              "initializer Identity": {"gain"}, "initializer IdentityInitializer": {"gain"}}


@pytest.mark.parametrize("family", PLACES)
def test_docs_list_the_arguments_and_defaults_of_keras(keras, family):
    place = functools.reduce(getattr, PLACES[family].split("."), keras)
    assert len(table(family)) > 3
    for name, arguments in table(family):
        ours = dict(re.findall(r'`(\w+)` (required|"[^"]*"|\[[^\]]*\]|[^,]+)', arguments))
        parameters = list(inspect.signature(getattr(place, name).__init__).parameters.values())[1:]
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        keras_s = {p.name: p.default for p in parameters if p.kind not in variable and p.name not in ("name", "dtype")}
        assert set(ours) == set(keras_s) - NOT_LISTED.get(f"{family} {name}", set()), name
        for key, value in ours.items():
            default = keras_s[key]
            if name == "Muon" and key == "exclude_layers":  # none and an empty list are the same
                default = default or []
            required = value == "required" or (name, key) == ("LossScaleOptimizer", "inner_optimizer")
            assert required == (default is inspect.Parameter.empty), (name, key)
            assert required or json.loads(value) == (list(default) if isinstance(default, tuple) else default), (name, key)


@pytest.mark.parametrize("name", registered())
def test_yaml_takes_what_keras_takes(keras, tmp_path, name):
    layer_class = class_of(keras, name)
    names, required = signature(layer_class)
    needed = {key: VALUES[key] for key in required}
    # Without one of those that Keras requires it is refused by the argument's name.
    for missing in required:
        said = convert(tmp_path, name, {key: value for key, value in needed.items() if key != missing})
        assert isinstance(said, str) and f"'{missing}'" in said
    # Everything else has Keras's values.
    needed |= ALSO.get(name, {})
    config = convert(tmp_path, name, needed)
    want = keras_layer(keras, layer_class, needed).get_config()
    assert {key: config.get(key) for key in want if key not in OF_EVERY_LAYER and not same(config.get(key), want[key])} == {}
    # The short form is the first argument.
    if not names:
        assert "takes no argument" in convert(tmp_path, name, 3)
    elif names[0] not in ("layer", "layers", "cell", "cells"):
        value = ALSO.get(name, {}).get(names[0], VALUES[names[0]])
        short = convert(tmp_path, name, value)
        if len(required) > 1:
            assert f"'{required[1]}'" in short
        else:
            assert same(short[names[0]], keras_layer(keras, layer_class, {names[0]: value}).get_config()[names[0]])


@pytest.mark.parametrize("layer, argument", [("LSTM", "return_sequences"), ("Dense", "use_bias"), ("MultiHeadAttention", "use_bias")])
@pytest.mark.parametrize("value", [0, 1, 64, 1.0, "yes please", [True], {}])
def test_nothing_but_a_truth_value_is_taken_for_one(keras, tmp_path, layer, argument, value):
    needed = {key: VALUES[key] for key in signature(class_of(keras, layer))[1]}
    assert "expected true or false" in convert(tmp_path, layer, needed | {argument: value})
