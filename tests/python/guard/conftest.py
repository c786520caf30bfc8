"""A guarded kernelspec in a folder of its own, and kernels started through it."""
import importlib.util
import os
import pathlib
import shutil
import sys

import pytest

NEEDED = ["ipykernel", "jupyter_client", "nbclient", "nbformat", "jupyter_kernel_test"]
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
if missing:
    message = f"the guard's tests are skipped: pip install -r tests/requirements.txt (missing: {', '.join(missing)})"
    if os.environ.get("CI"):
        raise RuntimeError(message)
    print(message, file=sys.stderr)
    collect_ignore_glob = ["test_*.py"]

from guarded import Kernel, write_spec  # noqa: E402  (after the check above)


@pytest.fixture(scope="session", autouse=True)
def folders(tmp_path_factory):
    """Own folders for kernelspecs, reports and configuration; `guarded` and `plain` kernels in them."""
    home = tmp_path_factory.mktemp("home")
    os.environ["JUPYTER_DATA_DIR"] = str(home / "data")
    os.environ["JUPYTER_CONFIG_DIR"] = str(home / "config")
    os.environ["JUPYTER_RUNTIME_DIR"] = str(home / "runtime")
    os.environ["IPYTHONDIR"] = str(home / "ipython")
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    (home / "runtime").mkdir()
    write_spec(home / "data", "guarded")
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def kernel():
    k = Kernel()
    yield k
    k.close()


@pytest.fixture
def start():
    """Starts kernels by name and ends them with the test."""
    kernels = []

    def start_kernel(name="guarded", **kwargs):
        kernels.append(Kernel(name, **kwargs))
        return kernels[-1]

    yield start_kernel
    for k in kernels:
        k.close()
