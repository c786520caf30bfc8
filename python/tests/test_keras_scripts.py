"""Scripts for Keras 3 as people post them: what they print here is what they print on JAX (keras_scripts/golden, made by
`tensorflow/forked.py jax FOLDER`), and six of them on TensorFlow, since they do what JAX cannot (a metric that is updated in call(), masks behind a step and of metrics while it trains, states that
predict() keeps, the power iterations of SpectralNormalization in fit())."""
import pathlib
import sys

import pytest
from conftest import run

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "keras_scripts"
sys.path.insert(0, str(HERE / "tensorflow"))
from compare import differences  # noqa: E402


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("printed")
    run(HERE / "tensorflow" / "forked.py", "plimsoll", folder, home=folder, backend="plimsoll", check=False)
    return folder


@pytest.mark.parametrize("name", sorted(path.stem for path in SCRIPTS.glob("*.py")))
def test_a_script(name, printed):
    complaints = (printed / f"{name}.err").read_text()
    assert "Traceback" not in complaints, complaints[-3000:]
    found = differences((printed / f"{name}.txt").read_text(), (SCRIPTS / "golden" / f"{name}.txt").read_text())
    assert not found, "\n".join(f"ours:   {a}\nJAX's:  {b}" for a, b in found[:8])
