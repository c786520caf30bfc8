"""Scripts for Keras 3 as people post them: what they print here is what they print on JAX (keras_scripts/golden, made by
`tensorflow/forked.py jax FOLDER`), and six of them on TensorFlow, since they do what JAX cannot (a metric that is updated in call(), masks behind a step and of metrics while it trains, states that
predict() keeps, the power iterations of SpectralNormalization in fit())."""
import pathlib
import sys

import pytest
from conftest import run

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "keras_scripts"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))
TOGETHER = 8  # in a process that has imported Keras once; of two workers neither runs all
sys.path.insert(0, str(HERE / "tensorflow"))
from compare import differences  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("printed")


def run_those_beside(name, folder):
    first = NAMES.index(name) // TOGETHER * TOGETHER
    some = NAMES[first:first + TOGETHER]
    run(HERE / "tensorflow" / "forked.py", "plimsoll", folder, *some, home=folder, backend="plimsoll", check=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_script(name, folder):
    out, err = folder / f"{name}.txt", folder / f"{name}.err"
    if not err.exists():
        run_those_beside(name, folder)
    complaints = err.read_text()
    assert "Traceback" not in complaints, complaints[-3000:]
    found = differences(out.read_text(), (SCRIPTS / "golden" / f"{name}.txt").read_text())
    assert not found, "\n".join(f"ours:   {a}\nJAX's:  {b}" for a, b in found[:8])
