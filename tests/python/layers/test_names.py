"""Every public class of Keras's layers, losses, metrics, optimizers, schedules, callbacks, initializers, regularizers and
constraints is there, or is refused by name with a reason (src/layers/base/refused.cpp)."""

import importlib
import importlib.util
import inspect
import json
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


# Families whose classes and functions may be given as a string, in C++, in YAML and in the config of a model.
BY_WORD = ["loss", "metric", "optimizer", "initializer", "regularizer", "constraint"]


def words(keras, family):
    """{word: the class or function it stands for}: what Keras's get() looks up, and the functions of the module."""
    place = getattr(keras, FAMILIES[family])
    found = dict(importlib.import_module(f"keras.src.{FAMILIES[family]}").ALL_OBJECTS_DICT)
    found |= {name: getattr(place, name) for name in dir(place) if inspect.isfunction(getattr(place, name))}
    return {word: means for word, means in found.items() if word not in ("get", "serialize", "deserialize")}


@pytest.mark.parametrize("family", BY_WORD)
def test_every_word_of_keras_is_there_or_means_what_is_refused(keras, names, family):
    there, refused = set(names[family]["there"]), names[family]["refused"]
    assert len(words(keras, family)) > 8
    assert not [word for word, means in words(keras, family).items() if word not in there and means.__name__ not in refused]


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_that_is_there_is_refused(keras, names, family):
    both = ours(family, names) & set(names[family]["refused"])
    assert both <= {"MeanMetricWrapper"}  # made of a function in C++, never read from a file


# Where the numbers of Keras are that each class is held to. A class that is there and in none of these is not compared.
TESTS = {
    "loss": {"tests/golden/train.py": r"losses\.(\w+)", "tests/training/ctc_test.cpp": r"Loss|(CTC)"},
    "metric": {"tests/golden/train.py": r"metrics\.(\w+)"},
    "optimizer": {"tests/golden/train.py": r"optimizers\.(\w+)\(", "tests/golden/loss_scale.py": r"(LossScaleOptimizer)"},
    "schedule": {"tests/golden/train.py": r"\bs\.(\w+)\("},
    "callback": {"tests/golden/callbacks.py": r'"(\w+)", \{|keras\.callbacks\.(\w+)', "tests/golden/train.py": r"\.(history)",
                 "tests/training/checkpoint_test.cpp": r"(ModelCheckpoint)\(", "tests/resume/resume_run.cpp": r"(BackupAndRestore)\(",
                 "tests/python/keras_io/test_tensorboard.py": r"(TensorBoard)", "tests/training/callbacks_test.cpp": r"(LambdaCallback)\("},
    "initializer": {"src/layers/initializers_test.cpp": r"(\w+?)(?:Matrix)?\(", "src/layers/windows_test.cpp": r"(STFT)\w*\("},
    "regularizer": {"tests/golden/layers.json": r'"class_name": "(\w+)"'},
    "constraint": {"src/layers/initializers_test.cpp": r"(\w+)\("},
    "layer": {"tests/golden/layers.json": r'"class_name": "(\w+)"'},
}
# No numbers of its own.
NOT_COMPARED = {"layer": {"InputLayer"}}
# Layers that do something in training only: a case in training too, or a test of what must hold of every draw.
BY_CHANCE = re.compile("Random|Dropout|Noise|AugMix|RandAugment|StochasticDepth|Solarization")
DRAWN = ("draws_test.cpp", "augmentation_test.cpp", "training_layers_test.cpp")


def named_in(file, pattern):
    found = re.findall(pattern, (ROOT / file).read_text())
    return {name for names in found for name in ([names] if isinstance(names, str) else names)}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_class_that_is_there_is_held_to_numbers_of_keras(keras, names, family):
    place = keras
    for part in FAMILIES[family].split("."):
        place = getattr(place, part)
    compared = {name.lower() for file, pattern in TESTS[family].items() for name in named_in(file, pattern)}
    spelled = {}  # a class may have several names
    for name in set(classes(keras, FAMILIES[family])) - set(names[family]["refused"]):
        spelled.setdefault(getattr(place, name), set()).add(name)
    missing = [sorted(known) for known in spelled.values()
               if not {name.lower() for name in known} & compared and not known & NOT_COMPARED.get(family, set())]
    assert not missing


def test_layers_that_act_by_chance_are_held_to_what_they_do_in_training():
    cases = json.loads((ROOT / "tests/golden/layers.json").read_text())
    trained = {case["layer"]["class_name"] for case in cases if case.get("training")}
    drawn = set().union(*(named_in(f"src/layers/{file}", r"(\w+)\(|\"(\w+)\"") for file in DRAWN))
    layers = {case["layer"]["class_name"] for case in cases if BY_CHANCE.search(case["layer"]["class_name"])}
    assert len(layers) > 30 and not layers - trained - drawn


def test_what_is_refused_are_names_of_keras(keras, names):
    """A name that Keras has not (any more) has no place in the list."""
    for family, module in FAMILIES.items():
        known = set(classes(keras, module)) | (set(words(keras, family)) if family in BY_WORD else set())
        assert not set(names[family]["refused"]) - known


def test_a_file_with_a_refused_layer_says_why(keras, names, tool, tmp_path):
    keras.config.enable_unsafe_deserialization()
    model = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda x: x + 1, name="plus")])
    model.save(tmp_path / "lambda.keras")
    with pytest.raises(Exception) as said:
        tool.run("convert", tmp_path / "lambda.keras", tmp_path / "out.keras")
    assert "plus" in str(said.value) and names["layer"]["refused"]["Lambda"] in str(said.value)
