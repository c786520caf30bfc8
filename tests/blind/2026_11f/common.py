"""What cases of this set share: a warning that names the cause is enough."""
import functools, json, pathlib, shutil
import lib
from lib import run

broken = functools.partial(lib.broken, level="warning")
healthy = lib.healthy
START = str(pathlib.Path(lib.__file__).parent / "start_kernel.py")
KERNEL = ["{env}/bin/python", START, "python3"]
KERAS = ("keras==3.7.0", "jax==0.4.38", "jaxlib==0.4.38", "numpy==1.26.4", "h5py==3.12.1")


JAX = {"KERAS_BACKEND": "jax"}


def script(name):
    return {"proof": ["{env}/bin/python", "{work}/" + name], "target": "{work}/" + name}


def cut(path, keep):
    data = path.read_bytes()
    lib.rewrite(path, data[:int(len(data) * keep)])


def pip_env(c, *packages, **kw):
    c.venv(**kw)
    c.install(*packages)


def notebook(c, name, cells, kernel="python3", **more):
    c.write("{work}/" + name, json.dumps({"cells": [{"cell_type": "code", "id": f"c{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": s} for i, s in enumerate(cells)],
                                          "metadata": {"kernelspec": {"display_name": kernel, "language": "python", "name": kernel}, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5} | more))


def elsewhere(c, code, *packages, py="3.11"):
    """Runs `code` in the case's folder with other packages."""
    to = c.root / "elsewhere"
    run([lib.UV, "venv", "-q", "--python", next(lib.PYTHONS.glob(py + ".*")) / "bin/python", to])
    if packages:
        run([lib.UV, "pip", "install", "-q", "--python", to / "bin/python", *packages], env=lib.os.environ | {"UV_CACHE_DIR": str(lib.ROOT / "uvcache")})
    run([to / "bin/python", "-c", code], cwd=c.work)
    shutil.rmtree(to)
