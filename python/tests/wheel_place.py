"""An environment that has the wheel of `make wheel` and has never seen this source tree. What the wheel depends on is lent by the
environment of the tests; with PLIMSOLL_TEST_PYPI=1 it is really empty, and jupyterlab and Keras come from PyPI (some minutes)."""
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FROM_PYPI = os.environ.get("PLIMSOLL_TEST_PYPI") == "1"
SPEC = {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3", "language": "python"}


def find_wheel():
    found = sorted((ROOT / "build" / "wheel").glob("plimsoll-*.whl"))
    if not found:
        pytest.skip("there is no wheel: make wheel")
    return found[-1]


class Place:
    """A virtual environment, and processes in it that see nothing else: no compiler on PATH, a home of their own."""

    def __init__(self, folder):
        self.folder, self.home = folder, folder.parent / "home"
        venv.create(folder)
        self.packages = pathlib.Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        if FROM_PYPI:
            self.pip("install", "jupyterlab", "jupyter-resource-usage")
        else:
            (self.packages / "lent.pth").write_text(sysconfig.get_path("purelib"))  # a folder, whose own .pth files are not read
            spec = folder / "share" / "jupyter" / "kernels" / "python3" / "kernel.json"
            spec.parent.mkdir(parents=True)
            spec.write_text(json.dumps(SPEC))
        self.before = self.files()
        self.env = {"PATH": str(folder / "bin"), "HOME": str(self.home), "KERAS_BACKEND": "plimsoll"}
        self.pip("install", *([] if FROM_PYPI else ["--no-deps", "--no-index"]), str(find_wheel()))

    def pip(self, *words):
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--python", str(self.folder / "bin" / "python")]
        subprocess.run([*pip, *words], check=True)

    def run(self, *words, allowed=(0,), env=None):
        done = subprocess.run([str(self.folder / "bin" / words[0]), *words[1:]], env=env or self.env, capture_output=True, text=True, timeout=300)
        assert done.returncode in allowed, f"{words}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def files(self):
        return {path for path in self.folder.rglob("*") if "__pycache__" not in path.parts}
