"""Damage that keeps sizes, files that end too early, copies of environments and of libraries."""

import os
import shutil
import sys
from pathlib import Path

import h5py
from broken import broken, native_package, script
from maker import PYTHON, SUFFIX, library, module


@broken("damaged_files", "is damaged")
def python_file_of_zeros(env):
    env.package("keras", "3.5.0", {"keras/__init__.py": "x = 1\n" * 100, "keras/src.py": "y = 2\n" * 300})
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")
    path = env.site / "keras/src.py"
    path.write_bytes(bytes(path.stat().st_size))


@broken("damaged_files", "is damaged")
def python_file_with_a_hole(env):
    env.package("fastlib", files={"fastlib/__init__.py": "x = 1\n" * 2000})
    path = env.site / "fastlib/__init__.py"
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(4096) + data[8192:])


@broken("damaged_files", "is damaged")
def library_with_a_hole(env):
    body = "static volatile int table[4000] = {1}; int f(int i) { return table[i & 4095]; }"
    native_package(env, binary=module("_core", body))
    path = env.site / f"fastlib/_core{SUFFIX}"
    data = bytearray(path.read_bytes())
    at = data.find(b"\x01\x00\x00\x00" + bytes(64))
    data[at] = 0
    path.write_bytes(data)


@broken("broken_packages", "permission denied", skip=os.geteuid() == 0)  # root may read everything
def package_that_may_not_be_read(env):
    env.package("fastlib")
    (env.site / "fastlib").chmod(0)


def saved_model(env):
    path = env.root / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = "3.5.0"
        file.attrs["backend"] = "jax"
        file.attrs["model_config"] = '{"class_name": "Sequential", "config": {"layers": []}}'
        file["weights"] = list(range(50000))
    env.package("keras", "3.5.0")
    env.package("h5py", "3.12")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")
    env.arguments = [str(path)]
    return path


@broken("model", "is not a Keras model, or it is damaged")
def model_cut_off_in_its_data(env):
    path = saved_model(env)
    os.truncate(path, path.stat().st_size - 100000)


@broken("interpreter", "was made from is gone")
def copied_environment_with_its_own_interpreter(env):
    python = env.prefix / "bin/python3"
    python.unlink()
    shutil.copy(os.path.realpath(sys.executable), python)
    config = env.prefix / "pyvenv.cfg"
    config.write_text("".join("home = /home/ada/python/bin\n" if line.startswith("home") else line
                              for line in config.read_text().splitlines(True)))
    script(env, "pip", "/home/ada/venv/bin/python3")
    env.package("numpy", "2.1.0")


@broken("interpreter", "is gone")
def copied_environment_whose_base_is_gone(env):
    python = env.prefix / "bin/python3"
    python.unlink()
    python.symlink_to("/home/ada/python/bin/python3.11")
    (env.prefix / "pyvenv.cfg").write_text(f"home = /home/ada/python/bin\nversion = {PYTHON[6:]}.1\n")
    script(env, "pip", "/home/ada/venv/bin/python3")
    native_package(env)


@broken("interpreter", "has lost its pyvenv.cfg")
def environment_without_its_config(env):
    (env.prefix / "pyvenv.cfg").unlink()
    (env.prefix / "bin/activate").write_text("")
    env.package("numpy", "2.1.0")


@broken("scripts", "of another environment")
def copied_environment_beside_the_first(env):
    first = env.root / "first"
    (first / "bin").mkdir(parents=True)
    (first / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (first / "bin/python3").symlink_to(os.path.realpath(sys.executable))
    script(env, "pip", first / "bin/python3")


def cudnn(version):
    return library(f"int cudnnGetVersion(void) {{ return {version}; }} char pad[{version}];", f"libcudnn.so.{version // 10000 or 8}")


@broken("cuda_copies", "Two versions of libcudnn")
def cudnn_of_two_frameworks(env):
    env.package("nvidia-cudnn-cu12", "9.3.0.75", {"nvidia/cudnn/lib/libcudnn.so.9": cudnn(90300)})
    env.package("torch", "2.5.0", {"torch/__init__.py": "", "torch/lib/libcudnn.so.9": cudnn(90100)})


@broken("cuda_copies", "Two versions of libcudnn")
def cudnn_of_two_majors(env):
    env.package("nvidia-cudnn-cu12", "9.3.0.75", {"nvidia/cudnn/lib/libcudnn.so.9": cudnn(90300)})
    env.package("torch", "2.1.0", {"torch/__init__.py": "", "torch/lib/libcudnn.so.8": cudnn(8902)})


@broken("cuda_copies", "Two versions of libcudnn")
def cudnn_on_the_library_path(env):
    env.package("nvidia-cudnn-cu12", "9.3.0.75", {"nvidia/cudnn/lib/libcudnn.so.9": cudnn(90300)})
    folder = env.root / "cuda/lib64"
    folder.mkdir(parents=True)
    (folder / "libcudnn.so.9.1.0").write_bytes(cudnn(90100))
    (folder / "libcudnn.so.9").symlink_to("libcudnn.so.9.1.0")
    env.setenv(LD_LIBRARY_PATH=str(folder))


@broken("architecture", "make this environment anew")
def every_package_of_another_machine(env):
    from maker import patch_machine
    for i in range(8):
        native_package(env, name=f"lib{i}", binary=patch_machine(module("_core")))
