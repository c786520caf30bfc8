"""Every argument of every listed layer, against real Keras: a model per layer class, with a branch per argument changed from its
default, is saved by Keras (argument_models.py) and run here. What we do not have must be refused by the name of the argument."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    if importlib.util.find_spec("keras") is None:
        pytest.skip("there is no Keras")
    folder = tmp_path_factory.mktemp("models")
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("argument_models.py"), folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder, json.loads((folder / "names.json").read_text())


def test_every_argument_works_as_in_keras(tool, made):
    """Masks through layers, and layers of several inputs, too."""
    folder, names = made
    wrong = {}
    for name, labels in names["models"].items():
        with np.load(folder / f"{name}.npz") as arrays:
            xs = [arrays[key] for key in sorted(arrays) if key.startswith("x")]
            want = [arrays[f"y{i}"] for i in range(len(labels))]
        got = tool.predict(folder / f"{name}.keras", xs)
        assert len(got) == len(want), name
        for label, g, w in zip(labels, got, want):
            tolerance = 0.03 if label.startswith("dtype") else 1e-5
            if g.shape != w.shape or not np.allclose(g, w, rtol=tolerance, atol=tolerance * max(1, np.nanmax(np.abs(w))), equal_nan=True):
                wrong[f"{name} {label}"] = f"{g.shape} for {w.shape}" if g.shape != w.shape else float(np.abs(g - w).max())
    assert not wrong


def test_keras_reads_what_we_write_of_layers_inside_layers(tool, made):
    folder, names = made
    inner = [name for name in names["models"] if name.startswith("inner_")]
    assert inner
    for name in inner:
        tool.run("convert", folder / f"{name}.keras", folder / f"{name}_back.keras")
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("argument_models.py"), folder, *inner], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


def test_what_is_not_there_is_refused_by_name(tool, made):
    folder, names = made
    assert names["refused"]
    for file, argument, shape in names["refused"]:
        with pytest.raises(Exception, match=argument):
            tool.predict(folder / file, [np.zeros((3, *shape), "float32")])
