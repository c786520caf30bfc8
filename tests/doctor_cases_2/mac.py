"""macOS environments of real wheels, read on another system: not proved by running."""

import os
import pathlib
import shutil
import subprocess

from kit import UV, Env, broken, healthy


def _mac(place, version="3.11"):
    """An environment with an interpreter in Apple's format for arm64; any program of that format stands in for Python."""
    env = Env(place, version, pip=False)
    base = place / "python"
    env.foreign("aarch64-apple-darwin", "ruff==0.6.9", target=place / "program")
    for path in (base / "bin", base / f"lib/python{version}"):
        path.mkdir(parents=True)
    shutil.copy(place / "program/bin/ruff", base / f"bin/python{version}")
    os.chmod(base / f"bin/python{version}", 0o755)
    for name in ("python", "python3", f"python{version}"):
        (env.bin / name).unlink(missing_ok=True)
        (env.bin / name).symlink_to(base / f"bin/python{version}")
    (env.path / "pyvenv.cfg").write_text(f"home = {base}/bin\ninclude-system-site-packages = false\nversion = {version}.7\n")
    standard = pathlib.Path(subprocess.run(["/usr/bin/env", "python3", "-c", "import os; print(os.path.dirname(os.__file__))"], capture_output=True,
                                           text=True, check=True).stdout.strip())
    for each in standard.glob("*.py"):
        shutil.copy(each, base / f"lib/python{version}" / each.name)
    for each in ("encodings", "importlib", "json", "collections", "ctypes", "logging", "email", "unittest", "xml", "asyncio", "multiprocessing",
                 "concurrent", "urllib", "http", "re", "tomllib", "sqlite3"):
        if (standard / each).is_dir():
            shutil.copytree(standard / each, base / f"lib/python{version}" / each, dirs_exist_ok=True)
    return env


def _apple(env, *wanted, deps=True):
    env.foreign("aarch64-apple-darwin", *wanted, version="3.11", deps=deps)


@broken(["metal", "_pywrap_tensorflow_internal|tensorflow"], "tensorflow<2.19, or remove tensorflow-metal", proved=False)
def metal_plugin_wants_a_library_that_tensorflow_has_no_longer(place):
    """Reported as: Library not loaded: @rpath/_pywrap_tensorflow_internal.so."""
    env = _mac(place)
    _apple(env, "tensorflow==2.20.0", "tensorflow-metal==1.2.0")
    return env.probe("import tensorflow")


@broken(["x86_64|Intel", "h5py|numpy|ml"], "reinstall for arm64", proved=False)
def intel_wheels_on_apple_silicon(place):
    env = _mac(place)
    _apple(env, "h5py==3.11.0", "ml-dtypes==0.4.1", deps=False)
    env.foreign("x86_64-apple-darwin", "numpy==1.26.4", version="3.11")
    return env.probe("import numpy")


@healthy(proved=False)
def healthy_apple_tensorflow(place):
    env = _mac(place)
    _apple(env, "tensorflow==2.17.1", "setuptools<81")
    return env.probe("import tensorflow")
