"""Every kind of fix the doctor prints, applied to the environment it was printed for, with the real pip and small wheels:
afterwards the doctor finds nothing and the import works. All paths have a space and a quote in them."""

import json
import os
import shutil
import sys

import broken
import broken_settings
import maker
import pytest
from fixing import Patient, treat
from maker import MACHINE, PYTHON, SUFFIX, TAG, library, patch_machine, working_module

CASES = []
NATIVE = f"{TAG}-{TAG}-manylinux_2_17_{MACHINE}"


def fixed(imports=None, pip=True):
    def add(function):
        CASES.append((function.__name__, function, imports, pip))
        return function
    return add


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_fix_works(case, tmp_path, program):
    _, breaks, imports, pip = case
    patient = Patient(maker.Environment(tmp_path / "it's my env"), pip)
    breaks(patient)
    assert treat(patient, program, imports) is None


def native(patient, binary, good=None, name="fastlib", version="1.0", **more):
    """An installed package with one native module; the shop has it with another, if given."""
    files = {f"{name}/__init__.py": "from . import _core\n", f"{name}/_core{SUFFIX}": good or binary}
    patient.sells(name, version, files, tag=NATIVE, **more)
    patient.env.package(name, version, {**files, f"{name}/_core{SUFFIX}": binary}, tag=NATIVE, **more)


# --- files --------------------------------------------------------------------------------------------------

@fixed("fastlib")
def zeros(p):
    p.has("fastlib", files={"fastlib/__init__.py": "x = 1\n" * 50})
    (p.env.site / "fastlib/__init__.py").write_bytes(bytes(300))


@fixed("fastlib")
def cut_off(p):
    p.has("fastlib", files={"fastlib/__init__.py": "x = 1\n" * 50 + "y = (1,\n2)\n"})
    os.truncate(p.env.site / "fastlib/__init__.py", 305)


@fixed("fastlib.util")
def file_gone(p):
    p.has("fastlib", files={"fastlib/__init__.py": "", "fastlib/util.py": "x = 1\n"})
    (p.env.site / "fastlib/util.py").unlink()


@fixed("fastlib")
def only_metadata(p):
    p.has("fastlib")
    shutil.rmtree(p.env.site / "fastlib")


@fixed()
def removal_interrupted(p):
    p.has("numpy", "2.1.0")
    p.env.write("~umpy/__init__.py")


@fixed()
def metadata_gone(p):
    p.has("fastlib")
    (p.env.site / "fastlib-1.0.dist-info/METADATA").unlink()


@fixed("numpy")
def installed_twice(p):
    p.has("numpy", "1.26.4", {"numpy/__init__.py": "import numpy.core\n", "numpy/core/__init__.py": ""})
    p.has("numpy", "2.1.0", {"numpy/__init__.py": "import numpy._core\n", "numpy/_core/__init__.py": ""})
    shutil.rmtree(p.env.site / "numpy/_core")


@fixed("keras.layers")
def hollow(p):
    p.sells("keras", "2.15.0", {"keras/__init__.py": "", "keras/layers.py": ""})
    p.env.write("keras/__pycache__/x.pyc", b"x")


@fixed("fastlib")
def native_hole(p):
    good = working_module("_core", "static volatile int table[4000] = {7};")
    native(p, good, good)
    path = p.env.site / f"fastlib/_core{SUFFIX}"
    data = bytearray(path.read_bytes())
    data[data.find(b"PyModule_Create2")] = 0
    path.write_bytes(data)


# --- libraries ----------------------------------------------------------------------------------------------

@fixed("fastlib")
def other_machine(p):
    good = working_module("_core")
    native(p, patch_machine(good), good)


@fixed("fastlib")
def other_python(p):
    good = working_module("_core")
    native(p, good, good)
    (p.env.site / f"fastlib/_core{SUFFIX}").rename(
        p.env.site / f"fastlib/_core.cpython-3{broken.OTHER_MINOR}-{MACHINE}-linux-gnu.so")
    record = p.env.site / "fastlib-1.0.dist-info/RECORD"
    record.write_text(record.read_text().replace(SUFFIX, f".cpython-3{broken.OTHER_MINOR}-{MACHINE}-linux-gnu.so"))


@fixed("fastlib")
def bundled_library_gone(p):
    helper = library("int helper(void) { return 1; }", "libhelper-1a2b3c4d.so")
    path = p.env.write("fastlib.libs/libhelper-1a2b3c4d.so", helper)
    binary = working_module("_core", "int helper(void); int f(void) { return helper(); }",
                            [str(path), "-Wl,-rpath,$ORIGIN/../fastlib.libs"])
    p.has("fastlib", files={"fastlib/__init__.py": "from . import _core\n", f"fastlib/_core{SUFFIX}": binary,
                            "fastlib.libs/libhelper-1a2b3c4d.so": helper}, tag=NATIVE)
    path.unlink()


@fixed("tensorflow")
def plug_in_of_older_framework(p):
    framework = {"tensorflow/__init__.py": "import ctypes, glob, os\nfor f in glob.glob(os.path.join(os.path.dirname(os.path.dirname("
                 "__file__)), 'tensorflow-plugins', '*.so')): ctypes.CDLL(f)\n"}
    flags = ["-Wl,-z,now"]
    old = p.env.root / "libtensorflow_framework.so.2"
    old.write_bytes(library("int tsl_old(void) { return 1; }", "libtensorflow_framework.so.2"))
    plug_in = library("int tsl_old(void); int TF_InitPlugin(void) { return tsl_old(); }",
                      flags=[str(old), "-Wl,-rpath,$ORIGIN/../tensorflow", *flags])
    p.has("tensorflow", "2.17.0", {**framework, "tensorflow/libtensorflow_framework.so.2": library(
        "int tsl_new(void) { return 1; }", "libtensorflow_framework.so.2")})
    p.has("keras", "3.5.0")
    p.has("tensorflow-metallic", "1.2.0", {"tensorflow-plugins/libmetallic.so": plug_in})


@fixed("fastlib")
def module_for_older_partner(p):
    """The newest that fits is another version; the same one again would fail again."""
    wants = working_module("_core", "int gone(void); int (*f)(void) = gone;")
    p.sells("fastlib", "2.0", {"fastlib/__init__.py": "from . import _core\n", f"fastlib/_core{SUFFIX}": working_module("_core")}, tag=NATIVE)
    native(p, wants)


@fixed()
def two_openmp_runtimes(p):
    p.has("mkl-tools", files={"mkl_tools/__init__.py": "", "mkl_tools/libiomp5.so": library("int o(void) { return 1; }")})
    p.has("tree-boost", files={"tree_boost/__init__.py": "", "tree_boost.libs/libomp-8a2b3c4d.so": library("int p(void) { return 1; }")})


# --- versions -----------------------------------------------------------------------------------------------

NEEDS_OLD = "import fastlib\nif fastlib.version >= '2': raise ImportError('too new')\n"


@fixed("model_tools")
def version_conflict(p):
    p.sells("fastlib", "1.5")
    p.has("fastlib", "2.1")
    p.has("model-tools", files={"model_tools/__init__.py": NEEDS_OLD}, requires=["fastlib<2"])


@fixed("model_tools")
def demands_that_exclude_each_other(p):
    """One wants the old, one the new: the one that wants the old moves forward."""
    p.sells("fastlib", "1.5")
    p.has("fastlib", "2.1")
    p.has("model-tools", files={"model_tools/__init__.py": NEEDS_OLD}, requires=["fastlib<2"])
    p.sells("model-tools", "3.0", requires=["fastlib>=2"])
    p.has("other-tools", requires=["fastlib>=2.1"])


@fixed("model_tools")
def dependency_missing(p):
    p.sells("fastlib", "1.5")
    p.has("model-tools", files={"model_tools/__init__.py": "import fastlib\n"}, requires=["fastlib[extra]>=1; python_version>'3'"])


@fixed("fastlib")
def package_for_newer_python(p):
    p.sells("fastlib", "0.9")
    p.has("fastlib", "1.0", {"fastlib/__init__.py": "raise SyntaxError\n"}, requires_python=">=3.99")


TF_WITH_KERAS = "import keras\nif keras.version[0] != '{0}': raise ImportError('keras')\n"


@fixed("tensorflow")
def old_keras_in_new_tensorflow(p):
    p.has("tensorflow", "2.17.0", {"tensorflow/__init__.py": TF_WITH_KERAS.format(3)}, requires=["keras>=3.2.0"])
    p.has("keras", "2.15.0")
    p.sells("keras", "3.5.0")


@fixed("tensorflow")
def new_keras_in_old_tensorflow(p):
    p.has("tensorflow", "2.15.0", {"tensorflow/__init__.py": TF_WITH_KERAS.format(2)}, requires=["keras<2.16,>=2.15.0"])
    p.has("keras", "3.5.0")
    p.sells("keras", "2.15.0")


@fixed("tensorflow")
def new_keras_that_others_need_in_old_tensorflow(p):
    """Keras cannot go back, so TensorFlow goes forward."""
    p.has("tensorflow", "2.15.0", {"tensorflow/__init__.py": TF_WITH_KERAS.format(2)}, requires=["keras<2.16,>=2.15.0"])
    p.has("keras", "3.5.0")
    p.has("keras-hub", "0.17", requires=["keras>=3.5"])
    p.sells("keras", "2.15.0")
    p.sells("tensorflow", "2.17.0", {"tensorflow/__init__.py": TF_WITH_KERAS.format(3)}, requires=["keras>=3.2.0"])


@fixed()
def model_from_keras_3_beside_tensorflow_2_15(p):
    import h5py
    path = p.env.root / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = "3.4.0"
        file.attrs["model_config"] = '{"class_name": "Sequential", "config": {"layers": []}}'
    p.env.arguments = [str(path)]
    p.has("tensorflow", "2.15.0", requires=["keras<2.16,>=2.15.0"])
    p.has("keras", "2.15.0")
    p.has("h5py", "3.12")
    p.sells("keras", "3.5.0")
    p.sells("tensorflow", "2.17.0", requires=["keras>=3.2.0"])


@fixed("tensorflow")
def two_tensorflows(p):
    p.has("tensorflow", "2.17.0", {"tensorflow/__init__.py": "import tensorflow.a\n", "tensorflow/a.py": ""})
    p.has("tensorflow-cpu", "2.16.0", {"tensorflow/__init__.py": "import tensorflow.b\n", "tensorflow/b.py": ""})
    p.has("keras", "3.5.0")
    (p.env.site / "tensorflow/b.py").unlink()


@fixed("cv2")
def two_owners_of_one_folder(p):
    p.has("opencv-python", "4.10.0", {"cv2/__init__.py": "from . import gui\n", "cv2/gui.py": ""})
    p.has("opencv-python-headless", "4.9.0", {"cv2/__init__.py": "raise ImportError('mixed up')\n"})
    p.has("vision", requires=["opencv-python"])


@fixed("tensorflow")
def legacy_keras_not_there(p):
    p.has("tensorflow", "2.17.0", {"tensorflow/__init__.py": "import os\nif os.environ.get('TF_USE_LEGACY_KERAS'): import tf_keras\n"})
    p.has("keras", "3.5.0")
    p.sells("tf-keras", "2.16.0")
    p.sells("tf-keras", "2.17.1", requires=["tensorflow<2.18,>=2.17"])
    p.env.setenv(TF_USE_LEGACY_KERAS="1")


@fixed("fastlib")
def module_of_numpy_1(p):
    binary = working_module("_core", 'const char* api = "numpy.core._multiarray_umath"; void* PyCapsule_GetPointer('
                            'void*, void*); void* f(void) { return PyCapsule_GetPointer(0, 0); }')
    p.sells("numpy", "1.26.4")
    p.has("numpy", "2.1.0")
    p.has("fastlib", files={"fastlib/__init__.py": "import numpy\nif numpy.version > '2': raise ImportError\nfrom . import _core\n",
                            f"fastlib/_core{SUFFIX}": binary}, tag=NATIVE, requires=["numpy>=1.20"])


@fixed("model_tools.x_pb2")
def protobuf_too_old(p):
    core = {"google/_upb/_message.abi3.so": working_module("_message")}
    p.has("protobuf", "5.28.3", {"google/protobuf/__init__.py": "version = (5, 28)\n", **core})
    p.sells("protobuf", "6.31.0", {"google/protobuf/__init__.py": "version = (6, 31)\n", **core})
    p.has("tensor-board", requires=["protobuf<6"])
    p.sells("tensor-board", "2.0", requires=["protobuf>=5"])
    p.has("model-tools", files={"model_tools/__init__.py": "", "model_tools/x_pb2.py":
          "import google.protobuf\ndef check(domain, *v):\n  assert google.protobuf.version >= v[:2]\n"
          "class _runtime_version:\n  class Domain: PUBLIC = 0\n  ValidateProtobufRuntimeVersion = staticmethod(check)\n"
          "_runtime_version.ValidateProtobufRuntimeVersion(\n    _runtime_version.Domain.PUBLIC,\n    6,\n    30,\n    0,\n    '',\n    'x')\n"})


@fixed("tensorflow_hub")
def pkg_resources_not_there(p):
    p.has("tensorflow-hub", "0.12.0", {"tensorflow_hub/__init__.py": "import pkg_resources\n"})
    p.has("setuptools", "82.0", {"setuptools/__init__.py": ""})
    p.sells("setuptools", "80.9", {"setuptools/__init__.py": "", "pkg_resources/__init__.py": ""})


# --- paths --------------------------------------------------------------------------------------------------

@fixed("numpy.core")
def file_beside_the_notebook(p):
    p.has("numpy", "2.1.0", {"numpy/__init__.py": "", "numpy/core.py": ""})
    (p.env.folder / "numpy.py").write_text("")


@fixed("numpy.core")
def other_package_on_pythonpath(p):
    p.has("numpy", "2.1.0", {"numpy/__init__.py": "", "numpy/core.py": ""})
    for name in ("numpy", "mine"):
        (p.env.root / f"libs of {name}/{name}").mkdir(parents=True)
        (p.env.root / f"libs of {name}/{name}/__init__.py").write_text("")
    p.env.setenv(PYTHONPATH=f"{p.env.root}/libs of numpy:{p.env.root}/libs of mine")


@fixed("numpy.core")
def pth_before_the_site(p):
    p.has("numpy", "2.1.0", {"numpy/__init__.py": "", "numpy/core.py": ""})
    (p.env.root / "early/numpy").mkdir(parents=True)
    (p.env.root / "early/numpy/__init__.py").write_text("")
    p.env.write("early.pth", f"import sys; sys.path.insert(0, {str(p.env.root / 'early')!r})\n")


@fixed()
def pth_files_that_lead_nowhere(p):
    other = p.env.root / f"other/lib/python3.{broken.OTHER_MINOR}/site-packages"
    other.mkdir(parents=True)
    p.env.write("shared.pth", f"{other}\n")
    p.env.write("gone.pth", "/home/ada/gone\n")
    p.env.write("hook.pth", "import hook_of_nobody\n")


@fixed()
def editable_source_gone(p):
    url = json.dumps({"url": "file:///home/ada/gone", "dir_info": {"editable": True}})
    p.env.package("my-model", "0.1", {"__editable__.my_model.pth": "/home/ada/gone\n", "my_model-0.1.dist-info/direct_url.json": url})


# --- settings -----------------------------------------------------------------------------------------------

@fixed("os")
def python_does_not_start(p):
    p.env.setenv(PYTHONHASHSEED="fixed")


@fixed()
def keras_settings(p):
    p.has("keras", "3.5.0")
    p.has("jax", "0.4.30")
    p.env.setenv(KERAS_BACKEND="jax")
    (p.env.home / ".keras").mkdir()
    (p.env.home / ".keras/keras.json").write_text('{"floatx": "float31"}')


@fixed()
def kernelspec_asks_for_another_backend(p):
    broken_settings.kernelspec_asks_for_another_backend(p.env)


@fixed("json.decoder")
def old_libstdcxx(p):
    p.env.setenv(LD_LIBRARY_PATH=f"{broken_settings.old_runtime(p.env)}")
    (p.env.folder / "json.py").write_text("")


# --- environments without pip, and such as cannot be saved --------------------------------------------------

@fixed("fastlib")
def config_lost(p):
    p.has("fastlib")
    (p.env.prefix / "bin/activate").write_text("")
    (p.env.prefix / "pyvenv.cfg").unlink()


@fixed("fastlib", pip=False)
def without_pip(p):
    zeros(p)


@fixed("fastlib", pip=False)
def made_by_uv(p):
    """uv itself is not here: a stand-in takes its arguments and lets pip do the work."""
    zeros(p)
    config = p.env.prefix / "pyvenv.cfg"
    config.write_text(config.read_text() + "uv = 0.8.0\n")
    tools = p.env.root / "tools"
    tools.mkdir()
    (tools / "uv").write_text(f"""#!{sys.executable}
import subprocess, sys
pip, verb, flag, python, *rest = sys.argv[1:]
assert (pip, verb, flag) == ("pip", "install", "--python"), sys.argv
names = {{"--reinstall": "--force-reinstall", "--no-cache": "--no-cache-dir"}}
sys.exit(subprocess.call([sys.executable, "-m", "pip", "--python", python, verb, *[names.get(r, r) for r in rest]]))
""")
    (tools / "uv").chmod(0o755)
    p.env.setenv(PATH=f"{tools}:{os.environ['PATH']}")


@fixed("fastlib")
def copied_with_its_base_gone(p):
    p.has("fastlib", "1.2", requires=["helper>=1"])
    p.has("helper", "1.1")
    for name in ("python3", "python"):
        (p.env.prefix / "bin" / name).unlink(missing_ok=True)
    (p.env.prefix / "bin/python3").symlink_to("/home/ada/gone/bin/python3")
    (p.env.prefix / "pyvenv.cfg").write_text(f"home = /home/ada/gone/bin\nversion = {PYTHON[6:]}.0\n")
    broken.script(p.env, "pip", "/home/ada/gone/bin/python3")
    p.env.setenv(PATH=f"{os.path.dirname(os.path.realpath(sys.executable))}:{os.environ['PATH']}")
