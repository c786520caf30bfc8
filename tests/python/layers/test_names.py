"""Every public class of Keras's layers, losses, metrics, optimizers, schedules, callbacks, initializers, regularizers and
constraints is there, or is refused by name with a reason (src/layers/base/refused.cpp)."""

import importlib.util
import inspect
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]
FAMILIES = {"layer": "layers", "loss": "losses", "metric": "metrics", "optimizer": "optimizers", "schedule": "optimizers.schedules",
            "callback": "callbacks", "initializer": "initializers", "regularizer": "regularizers", "constraint": "constraints"}


@pytest.fixture(scope="module")
def keras():
    if importlib.util.find_spec("keras") is None:
        pytest.skip("there is no Keras")
    os.environ.setdefault("KERAS_BACKEND", "numpy")
    import keras

    return keras


@pytest.fixture
def names(tool):
    return tool.names()


def classes(keras, module):
    place = keras
    for part in module.split("."):
        place = getattr(place, part)
    return [name for name in dir(place) if inspect.isclass(getattr(place, name))]


def ours(family, names):
    """What can be made by name, or is declared where users look: networks, Input and callbacks have no configs of their own."""
    there = set(names[family]["there"])
    if family == "layer":
        there |= {"InputLayer"}
    if family == "callback":
        header = (ROOT / "include/plimsoll/callbacks.h").read_text() + (ROOT / "include/plimsoll/model.h").read_text()
        there |= set(re.findall(r"^CallbackPtr (\w+)\(", header, re.M)) | set(re.findall(r"^(?:class|struct) (\w+) {", header, re.M))
    return there


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_keras_is_there_or_refused_with_a_reason(keras, names, family):
    there, refused = ours(family, names), names[family]["refused"]
    missing = [name for name in classes(keras, FAMILIES[family]) if name not in there and len(refused.get(name, "")) < 10]
    assert not missing


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_that_is_there_is_refused(keras, names, family):
    both = ours(family, names) & set(names[family]["refused"])
    assert both <= {"MeanMetricWrapper"}  # made of a function in C++, never read from a file


def test_refused_layers_are_names_of_keras(keras, names):
    """A name that Keras has not (any more) has no place in the list."""
    for family, module in FAMILIES.items():
        assert not set(names[family]["refused"]) - set(classes(keras, module))


def test_a_file_with_a_refused_layer_says_why(keras, names, tool, tmp_path):
    keras.config.enable_unsafe_deserialization()
    model = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda x: x + 1, name="plus")])
    model.save(tmp_path / "lambda.keras")
    with pytest.raises(Exception) as said:
        tool.run("convert", tmp_path / "lambda.keras", tmp_path / "out.keras")
    assert "plus" in str(said.value) and names["layer"]["refused"]["Lambda"] in str(said.value)
