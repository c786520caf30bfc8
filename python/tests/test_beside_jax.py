"""The same models from the same weights on our backend and on Keras's own for JAX: equal losses, step by step."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
MODELS = ("mlp", "cnn", "transformer", "recurrent", "masked")


def train(backend):
    environment = os.environ | {"KERAS_BACKEND": backend, "PYTHONPATH": str(HERE.parent), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, HERE / "train_beside.py"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def runs():
    return train("plimsoll"), train("jax")


@pytest.mark.parametrize("model", MODELS)
def test_losses(runs, model):
    ours, theirs = (run[model] for run in runs)
    assert ours["losses"] == pytest.approx(theirs["losses"], rel=1e-4)
    assert ours["losses"][-1] < ours["losses"][0]


@pytest.mark.parametrize("model", MODELS)
def test_evaluate_and_predict(runs, model):
    ours, theirs = (run[model] for run in runs)
    assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
    assert ours["accuracy"] == pytest.approx(theirs["accuracy"])
    assert ours["spread"] == pytest.approx(theirs["spread"], rel=1e-3)
