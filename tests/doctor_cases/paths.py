"""What Python really imports, and from where: paths, folders, moved environments, kernels."""

import json
import os
import shutil

from cases import broken
from damage import JAX


@broken("notebook folder with a random.py", r"random\.py", "import numpy.random", fix=True)
def _(env):
    env.venv().install(*JAX)
    env.write(env.cwd / "random.py", "print('my experiment')\nvalues = [1, 2, 3]\n")


@broken("notebook folder with a keras.py", r"keras\.py", "from keras.models import Sequential")
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.write(env.cwd / "keras.py", "from keras.models import Sequential\nmodel = Sequential()\n")


@broken("PYTHONPATH with packages of another Python", ["PYTHONPATH", "numpy"], "import jax")
def _(env):
    env.venv().install(*JAX).install("numpy==1.26.4", to=env.root / "libs", version="3.10")
    env.environ["PYTHONPATH"] = str(env.root / "libs")


@broken(".pth file that puts another folder first", [r"\.pth|other", "numpy"], "import jax")
def _(env):
    env.venv().install(*JAX).install("numpy==1.26.4", to=env.root / "other", version="3.10")
    env.write(env.site / "cluster.pth", f"import sys; sys.path.insert(0, {str(env.root / 'other')!r})\n")


@broken("user site with an older jaxlib", ["jaxlib", r"\.local|user"], "import jax")
def _(env):
    env.prefix_copy().install(*JAX)
    env.install("jaxlib==0.4.20", to=env.home / ".local/lib/python3.11/site-packages")


@broken("PYTHONHOME of another Python", "PYTHONHOME", "import json")
def _(env):
    env.venv().install("numpy==1.26.4")
    env.environ["PYTHONHOME"] = "/opt/python3.6"


@broken("interpreter upgraded under the environment", [r"3\.12", r"3\.11"], "import jax", fix=False)
def _(env):
    env.venv().install(*JAX)
    newer = env.tools.python("3.12")
    for name in ("python", "python3", "python3.12"):
        (env.prefix / "bin" / name).unlink(missing_ok=True)
        (env.prefix / "bin" / name).symlink_to(newer)


@broken("Python built without _ctypes", "ctypes", "import torch", fix=False)
def _(env):
    env.prefix_copy().install("torch==2.2.2", "numpy<2")
    env.remove(f"lib/python{env.version}/lib-dynload/_ctypes.*", env.prefix)


@broken("editable install whose source moved", ["mylayers", "editable|source|gone|moved|missing|exist"], "import mylayers", fix=False)
def _(env):
    env.venv().install(*JAX)
    project = env.root / "projects/mylayers"
    env.write(
        project / "pyproject.toml",
        '[project]\nname = "mylayers"\nversion = "0.3"\n[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
    )
    env.write(project / "mylayers/__init__.py", "x = 1\n")
    env.tools.run_uv("pip", "install", "-q", "-p", env.python, "-e", project)
    project.rename(env.root / "projects/mylayers-old")


def run_script(name):
    return lambda env: env.run([env.prefix / "bin" / name, "--version"])


@broken("environment moved to another folder", "moved|copied|shebang|script|made for|created (in|at|for)", run_script("jupyter"), fix=False)
def _(env):
    env.venv(name="old-place").install("ipykernel==6.29.5", "jupyter_core")
    (env.root / "old-place").rename(env.root / "env")
    env.prefix = env.root / "env"


@broken(
    "interpreter of the environment deleted",
    "interpreter|python3?(\\.\\d+)?.*(gone|not exist|missing|dangling|deleted|there is no)",
    "import json",
    fix=False,
    real=False,
)
def _(env):
    env.venv().install("numpy==1.26.4")
    for name in ("python", "python3", "python3.11"):
        (env.prefix / "bin" / name).unlink(missing_ok=True)
        (env.prefix / "bin" / name).symlink_to("/opt/hostedtoolcache/Python/3.11.4/x64/bin/python3.11")
    env.write(
        env.prefix / "pyvenv.cfg",
        "home = /opt/hostedtoolcache/Python/3.11.4/x64/bin\ninclude-system-site-packages = false\nversion = 3.11.4\n",
    )


@broken("pyvenv.cfg lost", r"pyvenv\.cfg", "import jax", fix=False)
def _(env):
    env.venv().install(*JAX)
    (env.prefix / "pyvenv.cfg").unlink()


def start_kernel(env):
    spec = json.loads(next(env.prefix.glob("share/jupyter/kernels/*/kernel.json")).read_text())
    return env.run([spec["argv"][0] if "/" in spec["argv"][0] else env.python, "-c", "import ipykernel.kernelapp"])


@broken("kernelspec of a deleted interpreter", ["kernel", "gone|not exist|missing|deleted|no such|not there|there is no"], start_kernel)
def _(env):
    env.venv().install("ipykernel==6.29.5")
    env.kernelspec(env.root / "deleted-env/bin/python")


@broken("kernelspec without ipykernel", "ipykernel", start_kernel)
def _(env):
    env.venv().install(*JAX)
    env.kernelspec(env.python)


@broken(
    "kernelspec that is not JSON",
    [r"kernel\.json", "JSON|json"],
    lambda env: env.run(["python3", "-m", "json.tool", env.prefix / "share/jupyter/kernels/python3/kernel.json"]),
    fix=False,
)
def _(env):
    env.venv().install("ipykernel==6.29.5")
    path = env.kernelspec(env.python)
    env.damage(path, lambda b: b.replace(b'"-f",', b'"-f"'))


def start_with_kernel_variables(env):
    spec = json.loads((env.prefix / "share/jupyter/kernels/python3/kernel.json").read_text())
    env.environ = spec["env"]
    done = env.run([env.python, "-c", "import keras"])
    env.environ = {}
    return done


@broken("kernelspec with a backend that does not exist", ["KERAS_BACKEND|plaidml", "kernel"], start_with_kernel_variables, fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1", "ipykernel==6.29.5")
    env.kernelspec(env.python, env={"KERAS_BACKEND": "plaidml"})


@broken("path with spaces, file damaged", "numpy", "import numpy")
def _(env):
    env.venv(name="my deep learning env").install("numpy==1.26.4")
    env.damage(env.find("numpy/core/_multiarray_umath*.so"), lambda b: b[:100_000])


@broken("environment without pip, package missing", "opt.einsum", "import jax")
def _(env):
    env.venv(pip=False).install(*JAX).uninstall("opt_einsum")


@broken("conda's NumPy overwritten by pip", ["numpy", "conda|two|both|twice|mix"], fix=False, real=False)
def _(env):
    env.prefix_copy().install("numpy==2.1.0")
    for name, version in (("numpy", "1.26.4"), ("python", "3.11.7"), ("pip", "24.0")):
        meta = {
            "name": name,
            "version": version,
            "build": "py311_0",
            "files": [f"lib/python3.11/site-packages/{name}/__init__.py"],
            "channel": "conda-forge",
        }
        env.write(env.prefix / f"conda-meta/{name}-{version}-py311_0.json", json.dumps(meta))
    env.write(env.prefix / "conda-meta/history", "")
    shutil.copytree(env.find("numpy-2.1.0.dist-info"), env.site / "numpy-1.26.4.dist-info")
    env.damage(env.site / "numpy-1.26.4.dist-info/METADATA", lambda b: b.replace(b"Version: 2.1.0", b"Version: 1.26.4"))
    env.write(env.site / "numpy-1.26.4.dist-info/INSTALLER", "conda\n")
