"""Tests in this process have our backend. Those that need another one, or several, run programs in processes of their own."""
import os
import pathlib
import subprocess
import sys

import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[1]
collect_ignore = ["keras_scripts", "keras_suite", "tensorflow"]  # each in a pytest of its own
os.environ["KERAS_BACKEND"] = "plimsoll"
sys.path.insert(0, str(PYTHON))
import keras_plimsoll_bootstrap  # noqa: E402,F401  where plimsoll.pth is not installed


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    from wheel_place import Place
    return Place(tmp_path_factory.mktemp("empty") / "venv")


@pytest.fixture
def run_python(tmp_path):
    """run(code or path, *arguments, backend=None, **env): what the program printed; fails if it failed."""
    return lambda code, *args, **options: run(code, *args, home=tmp_path, **options)


def run(code, *args, home, backend=None, check=True, **env):
    inherited = {k: v for k, v in os.environ.items() if k not in ("KERAS_BACKEND", "PYTHONPATH")}
    env = inherited | {"PYTHONPATH": str(PYTHON), "KERAS_HOME": str(home), "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"} | env
    if backend is not None:
        env["KERAS_BACKEND"] = backend
    program = [str(code)] if isinstance(code, pathlib.Path) else ["-c", code]
    done = subprocess.run([sys.executable, *program, *map(str, args)], env=env, capture_output=True, text=True, timeout=900)
    if check and done.returncode != 0:
        pytest.fail(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
