"""Models train on our backend as on JAX's: equal weights at the start, equal losses and metrics after each epoch."""
import json
import pathlib

import numpy as np
import pytest
from conftest import run

PROGRAM = pathlib.Path(__file__).with_name("train_models.py")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    for backend in ("jax", "plimsoll"):
        run(PROGRAM, folder, folder / f"{backend}.json", home=folder, backend=backend)
    return [json.loads((folder / f"{backend}.json").read_text()) for backend in ("jax", "plimsoll")]


@pytest.mark.parametrize("model", ["mlp", "cnn", "lstm", "transformer"])
def test_trains_as_on_jax(results, model):
    theirs, ours = (r[model] for r in results)
    assert ours["history"].keys() == theirs["history"].keys()
    for name, values in theirs["history"].items():
        np.testing.assert_allclose(ours["history"][name], values, rtol=2e-3, atol=2e-3 if name.endswith("loss") else 8e-3, err_msg=name)
    np.testing.assert_allclose(ours["evaluate"]["loss"], theirs["evaluate"]["loss"], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(ours["predict"], theirs["predict"], atol=2e-2)
    assert ours["history"]["loss"][-1] < 0.9 * ours["history"]["loss"][0]
