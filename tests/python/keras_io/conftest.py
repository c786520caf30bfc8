import os
import pathlib
import subprocess

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
np = pytest.importorskip("numpy")


def pick_backend():
    """One that trains, if there is one; else NumPy, which predicts."""
    import importlib.util

    for name in ("tensorflow", "jax", "torch"):
        if importlib.util.find_spec(name):
            return name
    return "numpy"


os.environ.setdefault("KERAS_BACKEND", pick_backend())


class ToolError(Exception):
    pass


class Tool:
    """What tests/keras_io/tool.cpp does; raises ToolError with its message."""

    Error = ToolError

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments, **options):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, **options)
        if done.returncode == 1:
            raise ToolError(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        return done.stdout

    def names(self):
        """{family: {"there": [names], "refused": {name: reason}}}"""
        found = {}
        for line in self.run("names").splitlines():
            family, name, *reason = line.split(" ", 2)
            kind = found.setdefault(family, {"there": [], "refused": {}})
            if reason:
                kind["refused"][name] = reason[0]
            else:
                kind["there"].append(name)
        return found

    def predict(self, model, xs):
        np.savez(self.folder / "in.npz", **{f"x{i}": x for i, x in enumerate(xs)})
        self.run("predict", model, self.folder / "in.npz", self.folder / "out.npz")
        with np.load(self.folder / "out.npz") as out:
            return [out[f"y{i}"] for i in range(len(out.files))]

    def fit(self, model, xs, ys, save, steps):
        arrays = {f"x{i}": x for i, x in enumerate(xs)} | {f"y{i}": y for i, y in enumerate(ys)}
        np.savez(self.folder / "in.npz", **arrays)
        self.run("fit", model, self.folder / "in.npz", save, steps)


@pytest.fixture
def tool(tmp_path):
    program = pathlib.Path(os.environ.get("PLIMSOLL_KERAS_IO_TOOL", pathlib.Path(__file__).parents[3] / "build/bin/keras_io_tool"))
    if not program.exists():
        pytest.skip(f"{program} is not built")
    return Tool(program, tmp_path)
