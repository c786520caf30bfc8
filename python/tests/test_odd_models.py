"""Models and loops that are unusual but plausible, beside what Keras 3.15.1 on JAX 0.10.2 made of them (written by odd_models.py)."""
import json
import pathlib

import pytest
from conftest import run

HERE = pathlib.Path(__file__).parent
THEIRS = json.loads((HERE / "odd_models_jax.json").read_text())
LOOSE = {"mixed_precision": 5e-3}  # bfloat16 has 8 bits


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    printed = run(HERE / "odd_models.py", *THEIRS, home=tmp_path_factory.mktemp("keras"), backend="plimsoll")
    return json.loads(printed.splitlines()[-1])


def flat(x, path=""):
    if isinstance(x, (dict, list)):
        return [leaf for key, part in (x.items() if isinstance(x, dict) else enumerate(x)) for leaf in flat(part, f"{path}/{key}")]
    return [(path, x)]


@pytest.mark.parametrize("name", THEIRS)
def test_the_same_comes_of_it(ours, name):
    assert "error" not in ours[name], ours[name]["error"]
    mine, theirs = flat(ours[name]["result"]), flat(THEIRS[name]["result"])
    assert [path for path, _ in mine] == [path for path, _ in theirs]
    tolerance = LOOSE.get(name, 1e-4)
    for (path, a), (_, b) in zip(mine, theirs):
        assert a == (pytest.approx(b, rel=tolerance, abs=tolerance) if isinstance(b, float) else b), path
