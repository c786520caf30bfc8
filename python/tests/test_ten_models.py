"""Ten models, and ways of training, beside what Keras on JAX (and TensorFlow) made of them: equal losses over 20 steps from equal weights.

Theirs were written by ten_models.py (see there) with Keras 3.15.1, JAX 0.10.2 and TensorFlow 2.21.0: to compile ResNet-50 takes XLA longer
than all of this takes us.
"""
import json
import pathlib

import pytest
from conftest import run

HERE = pathlib.Path(__file__).parent
THEIRS = {backend: json.loads((HERE / f"ten_models_{backend}.json").read_text()) for backend in ("jax", "tensorflow")}
NAMES = list(THEIRS["jax"])
LOOSE = {"mixed": 0.02}  # bfloat16 has 8 bits: a sum in another order shows in the second digit


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return json.loads(run(HERE / "ten_models.py", home=tmp_path_factory.mktemp("keras"), backend="plimsoll"))


def test_nothing_is_left_out(ours):
    assert list(ours) == NAMES


@pytest.mark.parametrize("backend", THEIRS)
@pytest.mark.parametrize("name", NAMES)
def test_equal_losses(ours, name, backend):
    if name not in THEIRS[backend]:
        pytest.fail(f"ten_models_{backend}.json has no {name}: write it again")
    theirs, tolerance = THEIRS[backend][name], LOOSE.get(name, 1e-3)
    assert ours[name]["losses"] == pytest.approx(theirs["losses"], rel=tolerance)
    assert ours[name]["history"] == pytest.approx(theirs["history"], rel=tolerance)
    assert ours[name]["evaluate"] == pytest.approx(theirs["evaluate"], rel=10 * tolerance)
    assert ours[name]["spread"] == pytest.approx(theirs["spread"], rel=10 * tolerance)
