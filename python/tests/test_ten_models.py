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
LOOSE = {
    ("mixed", "jax"): 0.02, ("mixed", "tensorflow"): 0.02,  # bfloat16 has 8 bits: a sum in another order shows in the second digit
    # TensorFlow's gradient of an embedding has only the rows that were looked up, and its optimizers leave the others alone.
    ("lstm", "tensorflow"): 5e-3, ("bidirectional_gru", "tensorflow"): 5e-3, ("multi_input", "tensorflow"): 5e-3,
    ("transformer", "tensorflow"): 5e-3,
}
# TensorFlow's iterator over arrays draws from its own generator of random numbers.
CASES = [(name, backend) for name in NAMES for backend in THEIRS if (name, backend) != ("shuffled", "tensorflow")]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return json.loads(run(HERE / "ten_models.py", *NAMES, home=tmp_path_factory.mktemp("keras"), backend="plimsoll"))


@pytest.mark.parametrize("name, backend", CASES)
def test_equal_losses(ours, name, backend):
    theirs, tolerance = THEIRS[backend][name], LOOSE.get((name, backend), 1e-3)
    assert ours[name]["losses"] == pytest.approx(theirs["losses"], rel=tolerance)
    assert ours[name]["history"] == pytest.approx(theirs["history"], rel=tolerance)
    assert ours[name]["evaluate"] == pytest.approx(theirs["evaluate"], rel=tolerance)
    assert ours[name]["spread"] == pytest.approx(theirs["spread"], rel=10 * tolerance)
