"""Every op and every kernel against NumPy on fresh random inputs, and models against Keras on fresh batches. The C++ tests do the
same with the committed goldens; here these are made anew and handed to the same programs."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
GOLDEN = ROOT / "tests" / "golden"
sys.path.insert(0, str(GOLDEN))

from make_op_goldens import make
from op_oracles import ORACLES


def program(name):
    path = BIN / name
    assert path.exists(), f"{path} is not built: make build"
    return str(path)


def run(command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("kind, filter_, variable", [
    ((), "*ValuesMatchGoldens*", "PLIMSOLL_OP_GOLDENS"),
    (("kernels",), "*EveryKernelMeetsTheOracle*", "PLIMSOLL_KERNEL_GOLDENS"),
])
def test_ops_match_numpy_on_fresh_inputs(tmp_path, kind, filter_, variable):
    seed = random.SystemRandom().randrange(1, 1 << 32)
    print("seed", seed)
    dump = subprocess.run([program("op_cases"), str(seed), *kind], capture_output=True, text=True, check=True).stdout
    arrays, errors = make(json.loads(dump))
    assert not errors
    np.savez_compressed(tmp_path / "goldens.npz", **arrays)
    run([program("op_sweep_test"), f"--gtest_filter={filter_}"], **{variable: str(tmp_path / "goldens.npz")})


def test_every_op_has_an_oracle():
    dump = subprocess.run([program("op_cases")], capture_output=True, text=True, check=True).stdout
    assert {case["op"] for case in json.loads(dump)["cases"]} <= ORACLES.keys()


def python_with_torch():
    """This interpreter, that of the benchmark's peers or the system's: PyPI's torch would be 7 GB in .venv, Debian's is 48 MB."""
    peers = pathlib.Path(os.environ.get("PLIMSOLL_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
    for python in (sys.executable, str(peers), "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode == 0:
            return python
    pytest.skip("no Python here has torch: apt-get install python3-torch")


def test_loss_curves_match_pytorch_on_fresh_batches(tmp_path):
    seed = random.SystemRandom().randrange(2000, 1 << 32)
    print("seed", seed)
    curves = subprocess.run([python_with_torch(), str(ROOT / "tests/golden/make_parity_goldens.py"), str(seed)],
                            capture_output=True, text=True)
    assert curves.returncode == 0, curves.stderr[-2000:]
    (tmp_path / "parity.json").write_text(curves.stdout)
    run([program("parity_test"), "--gtest_filter=*LossCurve*"], PLIMSOLL_PARITY_GOLDENS=str(tmp_path / "parity.json"))


def test_models_match_keras_on_fresh_batches(tmp_path):
    names = ["mlp10_b32", "mnist_b128"]
    seed = random.SystemRandom().randrange(1000, 1 << 32)
    print("seed", seed)
    code = f"import json, make_model_goldens as m; print(json.dumps(m.goldens({seed}, {names})))"
    made = subprocess.run([sys.executable, "-c", code], cwd=GOLDEN, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-4000:]
    (tmp_path / "models.json").write_text(made.stdout)
    filter_ = ":".join(f"*BenchModel*/{name}" for name in names)
    run([program("parity_test"), f"--gtest_filter={filter_}"], PLIMSOLL_MODEL_GOLDENS=str(tmp_path / "models.json"))
