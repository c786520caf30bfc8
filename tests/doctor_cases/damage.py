"""Real wheels, then what disks, downloads, interrupted installs and wrong machines do to them."""

import os
import shutil

from cases import broken

JAX = ("jax==0.4.30", "jaxlib==0.4.30", "numpy==1.26.4")


def zeros(at, length):
    return lambda body: body[: int(len(body) * at)] + bytes(length) + body[int(len(body) * at) + length :]


@broken("NumPy's bundled libraries deleted", "numpy", "import numpy")
def _(env):
    env.venv().install(*JAX).remove("numpy.libs")


@broken("jaxlib cut off by a full disk", "jaxlib", "import jax")
def _(env):
    env.venv().install(*JAX)
    env.damage(env.find("jaxlib/xla_extension.so"), lambda b: b[: len(b) // 3])


@broken("library with a hole, same size", "scipy", "import scipy.linalg; scipy.linalg.inv([[2.0]])")
def _(env):
    env.venv().install(*JAX)
    env.damage(env.find("scipy/linalg/_flapack*.so"), zeros(0.02, 400_000))


@broken("empty __init__.py", "numpy", "import numpy; numpy.zeros(1)")
def _(env):
    env.venv().install(*JAX)
    env.write(env.site / "numpy/__init__.py", "")


@broken("Python file cut off in the middle", "keras", "import keras")
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.damage(env.site / "keras/src/models/model.py", lambda b: b[:8192])


@broken("interrupted uninstall, renamed folder left", "tensorflow", "import tensorflow as tf; tf.constant(1)")
def _(env):
    env.venv().install("tensorflow-cpu==2.15.1")
    os.rename(env.find("tensorflow_cpu-*.dist-info"), env.site / "~ensorflow_cpu-2.15.1.dist-info")
    (env.site / "~ensorflow").mkdir()
    for part in ("__init__.py", "python"):
        os.rename(env.site / "tensorflow" / part, env.site / "~ensorflow" / part)


@broken("wheel for another Python", "h5py", "import h5py")
def _(env):
    env.venv().install(*JAX, "h5py==3.11.0").uninstall("h5py").install("h5py==3.11.0", to=env.site, version="3.12")


@broken("wheel for another processor", "numpy", "import numpy")
def _(env):
    env.venv().install(*JAX).uninstall("numpy").install("numpy==1.26.4", to=env.site, platform="aarch64-manylinux_2_28")


@broken("wheel for musl", "numpy|musl", "import numpy")
def _(env):
    env.venv().install(*JAX).uninstall("numpy").install("numpy==1.26.4", to=env.site, platform="x86_64-unknown-linux-musl")


@broken("upgrade of NumPy broken off half-way", "numpy", "import numpy")
def _(env):
    env.venv().install(*JAX).install("numpy==2.1.0", to=env.root / "new")
    for path in (env.root / "new/numpy").glob("*.py"):
        env.write(env.site / "numpy" / path.name, path.read_bytes())
    shutil.copytree(env.find("numpy-2*.dist-info", env.root / "new"), env.site / "numpy-2.1.0.dist-info")


@broken("folder of a package unreadable", ["jaxlib", "permission|read|access"], "import jax", fix=False)
def _(env):
    env.venv("3.11", base="/usr/bin/python3").install(*JAX)
    (env.site / "jaxlib").chmod(0)
    env.as_nobody = True


@broken("pyzmq's libraries gone from a kernel's environment", "pyzmq|zmq", "import ipykernel.kernelapp")
def _(env):
    env.venv().install("ipykernel==6.29.5", "pyzmq==26.2.0")
    env.remove("pyzmq.libs/libzmq*")


@broken("library that wants a newer glibc", ["GLIBC|glibc", "dm.tree|tree"], "import tree")
def _(env):
    env.venv().install(*JAX, "dm-tree==0.1.8")
    so = env.find("tree/_tree*.so")
    fake = env.compile(
        "int newer_than_you(void) { return 1; }",
        env.root / "c/libc.so.6",
        "-nostdlib",
        "-Wl,-soname,libc.so.6",
        f"-Wl,--version-script={env.write(env.root / 'c/v', 'GLIBC_2.77 { newer_than_you; };')}",
    )
    so.unlink()
    env.compile("int newer_than_you(void); int PyInit__tree(void) { return newer_than_you(); }", so, "-nostdlib", fake)


@broken("metadata of a dependency gone", "numpy|metadata|RECORD", "import importlib.metadata as m; m.version('numpy').split('.')")
def _(env):
    env.venv().install(*JAX)
    env.write(env.find("numpy-*.dist-info/METADATA"), "")
