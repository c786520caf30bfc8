"""Files lost, cut off, mixed, of another system; names that hide others."""

import os
import shutil
import struct
import subprocess

from kit import Env, broken, interpreter


@broken([r"libtensorflow|tensorflow", "cut|damage|incomplete|truncat"], "reinstall tensorflow-cpu", "")
def tensorflow_library_cut_off(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.cut("tensorflow/libtensorflow_cc.so.2", 0.6)
    return env.probe("import tensorflow")


@broken([r"pyc|__pycache__|cache", "keras"], "delete the __pycache__ folders of keras", "EOFError|marshal")
def byte_code_cut_off(place):
    env = Env(place)
    env.install("keras==3.8.0", "jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.variables["KERAS_BACKEND"] = "jax"
    subprocess.run([env.bin / "python", "-m", "compileall", "-q", env.site / "keras/__init__.py", env.site / "keras/src/__init__.py"], check=True)
    for cache in (env.site / "keras").rglob("__init__.cpython-311.pyc"):
        os.truncate(cache, 20)
    return env.probe("import keras")


@broken(["keras", "cut|size|damage|RECORD|differ"], "reinstall keras", "SyntaxError|IndentationError|Error")
def python_file_cut_off(place):
    env = Env(place)
    env.install("keras==3.8.0", "jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.variables["KERAS_BACKEND"] = "jax"
    path = env.own("keras/src/layers/layer.py")
    path.write_text(path.read_text()[: path.read_text().index("def __init__(") + 30])
    return env.probe("import keras")


@broken(["saving_lib|keras", "changed|edited|syntax|indent|RECORD|differ|damage"], "reinstall keras", "IndentationError")
def file_edited_as_a_forum_said(place):
    env = Env(place)
    env.install("keras==3.8.0", "jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.variables["KERAS_BACKEND"] = "jax"
    path = env.own("keras/src/saving/saving_lib.py")
    path.write_text(path.read_text().replace("def save_model(", "# patched, see forum\n  safe_mode = False\ndef save_model(", 1))
    return env.probe("import keras")


@broken(["zmq", "lib"], "reinstall pyzmq", "libzmq|cannot open shared object")
def bundled_libraries_of_pyzmq_lost(place):
    env = Env(place)
    env.install("ipykernel==6.29.5", "pyzmq==26.2.0", deps=True)
    shutil.rmtree(env.site / "pyzmq.libs")
    return env.probe("import ipykernel.kernelapp")


@broken(["random.py"], "rename random.py", "Error", made="hand")
def random_py_beside_the_notebook(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    env.write("random.py", "# draws for the lottery\nimport numpy\nprint(numpy.arange(6))\n", base=env.cwd)
    return env.probe("import numpy.random")


@broken(["google"], "rename the folder google", "protobuf|google", made="hand")
def folder_google_beside_the_notebook(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.write("google/__init__.py", "", base=env.cwd)
    env.write("google/sheets.py", "ID = 1\n", base=env.cwd)
    return env.probe("import tensorflow")


@broken(["enum", "PYTHONPATH|enum34"], "unset PYTHONPATH, or uninstall enum34", "enum|IntFlag")
def enum34_first_on_the_path(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    env.distribution("enum34", "1.1.10", {"enum/__init__.py": "import sys as _sys\nversion = 1, 1, 6\nclass EnumMeta(type): pass\nclass Enum: pass\n"
                     "class IntEnum(int, Enum): pass\ndef unique(e): return e\n__all__ = ['Enum', 'EnumMeta', 'IntEnum', 'unique']\n"})
    env.variables["PYTHONPATH"] = str(env.site)
    return env.probe("import re, numpy")


@broken(["distutils-precedence.pth|_distutils_hack|setuptools"], "reinstall setuptools or delete distutils-precedence.pth", "_distutils_hack")
def distutils_pth_without_setuptools(place):
    env = Env(place)
    env.install("setuptools==75.0.0", "numpy==1.26.4")
    for each in ("setuptools", "_distutils_hack", "pkg_resources", "setuptools-75.0.0.dist-info"):
        shutil.rmtree(env.site / each)
    return env.probe("import numpy")


@broken(["sitecustomize"], "delete or mend sitecustomize.py", "sitecustomize", made="hand")
def sitecustomize_of_a_tool_that_is_gone(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    env.write("sitecustomize.py", "import ddtrace_bootstrap_preload\n")
    return env.probe("import numpy")


@broken(["pandas", "numpy"], "install pandas into the environment (or PYTHONNOUSERSITE=1)", "size changed|ABI|numpy")
def old_pandas_from_the_user_site(place):
    """A venv that sees the system: pandas comes from ~/.local, numpy from the venv."""
    env = Env(place, system_site=True)
    env.install("numpy==2.1.3", "python-dateutil", "pytz", "tzdata", "six")
    env.install("pandas==1.5.3", target=env.home / ".local/lib/python3.11/site-packages")
    return env.probe("import pandas")


@broken(["numpy", "interrupt|remain|left|~umpy"], "install numpy again", "No module named 'numpy'")
def numpy_left_half_removed(place):
    env = Env(place)
    env.install("numpy==1.26.4", "h5py==3.11.0")
    (env.site / "numpy").rename(env.site / "~umpy")
    (env.site / "numpy-1.26.4.dist-info").rename(env.site / "~umpy-1.26.4.dist-info")
    shutil.rmtree(env.site / "numpy.libs")
    return env.probe("import h5py")


@broken(["numpy|scipy|pandas", "macos|darwin|Mach-O"], "install the packages on this system anew", "Error")
def packages_copied_from_a_mac(place):
    env = Env(place)
    env.foreign("aarch64-apple-darwin", "numpy==1.26.4", "pandas==2.2.3")
    env.install("python-dateutil", "pytz", "tzdata", "six")
    return env.probe("import pandas")


@broken(["scipy", "aarch64|arm64"], "reinstall scipy (for x86-64)", "Error")
def one_wheel_for_arm(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    env.foreign("aarch64-manylinux_2_28", "scipy==1.13.1")
    return env.probe("import scipy.linalg")


@broken(["numpy|scipy", "musl"], "reinstall for glibc", "musl|Error")
def packages_copied_from_alpine(place):
    env = Env(place)
    env.foreign("x86_64-unknown-linux-musl", "numpy==1.26.4", "scipy==1.13.1")
    return env.probe("import scipy.linalg")


@broken(["3.10|cp310|cpython-310", "pandas|numpy|h5py|environment"], "reinstall for Python 3.11", "Error")
def packages_copied_from_python_310(place):
    env = Env(place)
    env.foreign("linux", "numpy==1.26.4", "pandas==2.2.3", "h5py==3.11.0", version="3.10")
    env.install("python-dateutil", "pytz", "tzdata", "six")
    return env.probe("import pandas")


@broken(["keras"], "install keras again", "keras|Error")
def keras_nightly_removed_took_keras_along(place):
    env = Env(place)
    env.install("keras==3.8.0", "jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.install("keras-nightly==3.16.0.dev2026102704")
    env.remove("keras-nightly")
    env.variables["KERAS_BACKEND"] = "jax"
    return env.probe("import keras; keras.layers.Dense(2)")


@broken(["cv2|opencv"], "reinstall one of the two opencv packages", "cv2")
def opencv_headless_removed_took_opencv_along(place):
    env = Env(place)
    env.install("numpy==1.26.4", "opencv-python==4.10.0.84")
    env.install("opencv-python-headless==4.10.0.84")
    env.remove("opencv-python-headless")
    return env.probe("import cv2; cv2.imread")


@broken(["tensorflow", "namespace|empty|remain|left|no __init__|not installed"], "install tensorflow, or delete the remaining folder", "no attribute", made="hand")
def tensorflow_is_an_empty_folder(place):
    env = Env(place)
    env.install("numpy==1.26.4", "keras==3.8.0", deps=True)
    env.write("tensorflow/core/kernels/my_ops/zero_out.cc", "// an op of mine\n")
    env.write("tensorflow/python/data/__pycache__/x.txt", "")
    return env.probe("import tensorflow as tf; tf.constant(1)")


@broken(["numpy", "1\\.26", "2\\."], "remove numpy wholly, then install one version", "numpy|Error")
def numpy_1_unpacked_over_numpy_2(place):
    env = Env(place)
    env.install("numpy==2.1.3", "h5py==3.11.0")
    env.install("numpy==1.26.4", target=place / "other")
    shutil.copytree(place / "other/numpy", env.site / "numpy", dirs_exist_ok=True, copy_function=_replace)
    shutil.copytree(place / "other/numpy-1.26.4.dist-info", env.site / "numpy-1.26.4.dist-info")
    return env.probe("import h5py, numpy; numpy.linalg.inv(numpy.eye(2)); import numpy._core._multiarray_umath")


def _replace(source, target):
    if os.path.lexists(target):
        os.unlink(target)
    return shutil.copy2(source, target)


@broken(["link|cache", "numpy|packages|environment"], "reinstall the packages (with --link-mode copy)", "No module named|Error")
def uv_cache_cleaned_under_symlinks(place):
    env = Env(place, uv_made=True)
    env.uv("install", "-q", "--python", env.bin / "python", "--link-mode", "symlink", "--cache-dir", place / "cache", "numpy==1.26.4", "h5py==3.11.0")
    shutil.rmtree(place / "cache")
    return env.probe("import numpy; numpy.ones(3)")


@broken(["cffi"], "reinstall cffi", "Version mismatch|cffi")
def cffi_of_two_versions(place):
    env = Env(place)
    env.install("cffi==1.16.0", "pycparser", "argon2-cffi-bindings==21.2.0", "argon2-cffi")
    env.install("cffi==1.15.1", target=place / "old")
    for each in (env.site / "cffi").glob("*.py"):
        each.unlink()
        shutil.copy2(place / "old/cffi" / each.name, each) if (place / "old/cffi" / each.name).exists() else None
    return env.probe("import cffi; cffi.FFI()")


@broken(["numpy", "METADATA|metadata|dist-info"], "reinstall numpy", "found=None|PackageNotFound|metadata|numpy")
def metadata_of_numpy_empty(place):
    env = Env(place, "3.12")
    env.install("transformers==4.44.2", deps=True)
    info = next(env.site.glob("numpy-*.dist-info"))
    (info / "METADATA").unlink()
    (info / "METADATA").write_text("")
    return env.probe("import transformers")


@broken(["GLIBC_2.99|glibc", "h5py|numpy|_multiarray"], "an older numpy, or a newer system", "GLIBC_2.99")
def built_for_a_newer_glibc(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    path = env.own("numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so")
    data, old, new = path.read_bytes(), b"GLIBC_2.14\0", b"GLIBC_2.99\0"
    assert old in data
    path.write_bytes(data.replace(old, new).replace(struct.pack("<I", _elf_hash(old)), struct.pack("<I", _elf_hash(new))))
    return env.probe("import numpy")


def _elf_hash(name):
    value = 0
    for byte in name.rstrip(b"\0"):
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


@broken(["3.12|3.11|version", "python|interpreter"], "make the environment anew", "No module named 'numpy'", made="hand")
def python_behind_the_environment_upgraded(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    newer = interpreter("3.12")
    (env.bin / "python3").unlink()
    (env.bin / "python3").symlink_to(newer)
    config = env.path / "pyvenv.cfg"
    config.write_text(config.read_text().replace(str(interpreter("3.11").parent), str(newer.parent)))
    return env.probe("import numpy")


@broken(["nvjitlink|nvJitLink", "cusparse|torch"], "the nvjitlink of cusparse's CUDA version", "nvJitLink")
def nvjitlink_older_than_cusparse(place):
    env = Env(place)
    env.install("nvidia-cusparse-cu12==12.3.1.170", "nvidia-nvjitlink-cu12==12.1.105")
    source = env.write("torch/_C.c", "int cusparseCreate(void**); void *PyInit__C(void) { void *h; cusparseCreate(&h); return 0; }")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,--allow-shlib-undefined", "-Wl,--no-as-needed", "-o", env.site / "torch/_C.cpython-311-x86_64-linux-gnu.so", source,
                    f"-L{env.site}/nvidia/cusparse/lib", "-l:libcusparse.so.12",
                    "-Wl,-rpath,$ORIGIN/../nvidia/cusparse/lib:$ORIGIN/../nvidia/nvjitlink/lib"], check=True)
    source.unlink()
    module = (env.site / "torch/_C.cpython-311-x86_64-linux-gnu.so").read_bytes()
    env.distribution("torch", "2.5.1", {"torch/__init__.py": "from torch._C import *\n__version__ = '2.5.1'\n",
                     "torch/_C.cpython-311-x86_64-linux-gnu.so": module}, ["nvidia-cusparse-cu12==12.3.1.170", "nvidia-nvjitlink-cu12==12.4.127"])
    return env.probe("import torch")


@broken(["torch", "libcudart|nvidia|CUDA|cuda"], "install the nvidia packages that torch requires", "libcu|cannot open")
def torch_without_the_nvidia_packages(place):
    env = Env(place)
    env.install("nvidia-cuda-runtime-cu12==12.4.127")
    source = env.write("torch/_C.c", "int cudaGetDeviceCount(int*); void *PyInit__C(void) { int n; cudaGetDeviceCount(&n); return 0; }")
    lib = env.site / "torch/_C.cpython-311-x86_64-linux-gnu.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", lib, source, f"-L{env.site}/nvidia/cuda_runtime/lib", "-l:libcudart.so.12",
                    "-Wl,-rpath,$ORIGIN/../nvidia/cuda_runtime/lib"], check=True)
    source.unlink()
    env.distribution("torch", "2.5.1", {"torch/__init__.py": "from torch._C import *\n", "torch/" + lib.name: lib.read_bytes()},
                     ["nvidia-cuda-runtime-cu12==12.4.127; platform_system == 'Linux'"])
    env.remove("nvidia-cuda-runtime-cu12")
    return env.probe("import torch")
