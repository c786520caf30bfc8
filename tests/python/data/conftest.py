import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")


class ReadError(Exception):
    pass


@pytest.fixture
def read(tmp_path):
    """read(kind, path, **options) -> {"x0": array, ...} as Plimsoll reads it; raises ReadError with its message."""
    program = pathlib.Path(os.environ.get("PLIMSOLL_DATA_DUMP", pathlib.Path(__file__).parents[3] / "build/bin/data_dump"))
    if not program.exists():
        pytest.skip(f"{program} is not built")

    def read(kind, path, **options):
        spec = json.dumps({"kind": kind, "path": str(path), **options})
        done = subprocess.run([program, spec, tmp_path / "out.npz"], capture_output=True, text=True)
        if done.returncode == 1:
            raise ReadError(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "out.npz") as arrays:
            return dict(arrays)

    read.Error = ReadError
    return read
