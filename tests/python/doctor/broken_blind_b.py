"""Small copies of what tests/blind/2026_11b showed to be missed, and neighbours of these."""

import io
import json
import struct
import zipfile

from broken import broken
from healthy import healthy
from maker import SUFFIX, library, module


def user(env, source, **files):
    env.package("user-lib", "1.0", {"user_lib/__init__.py": source, **{f"user_lib/{n}.py": t for n, t in files.items()}}, requires=["tools"])


@broken("needed_modules", "it uses tools.web.asynchronous, which that does not have")
def attribute_in_a_file_whose_import_is_tried(env):
    env.package("tools", "6.0", {"tools/__init__.py": "", "tools/web.py": "def coroutine(f): return f\n"})
    user(env, "try:\n    from .serve import Server\nexcept ImportError:\n    pass\n", serve="from tools import web\nclass Server:\n    @web.asynchronous\n    def get(self): pass\n")


@broken("needed_modules", "it uses tools.bool8, which that does not have")
def attribute_in_a_try_block_that_catches_import_errors(env):
    env.package("tools", "2.0", {"tools/__init__.py": "bool_ = 1\n"})
    user(env, "types = (bool,)\ntry:\n    import tools as t\n    types += (t.bool8,)\nexcept ImportError:\n    pass\n")


@broken("needed_modules", "it uses tools.cm.register_cmap, which that does not have")
def attribute_in_a_loop_of_a_module_that_makes_names(env):
    env.package("tools", "3.9", {"tools/__init__.py": "", "tools/cm.py": "maps = {}\nglobals().update(maps)\n"})
    user(env, "from tools import cm as mpl_cm\nfor name in ('a', 'b'):\n    mpl_cm.register_cmap(name)\n")


@broken("needed_modules", "it uses tools.cached_download, which that does not have")
def name_of_a_lazy_package_that_is_nowhere_in_it(env):
    env.package("tools", "0.36", {"tools/__init__.py": "import importlib\nNAMES = {'hub': ['hf_download']}\ndef __getattr__(name):\n    return getattr(importlib.import_module('tools.hub'), name)\n",
                                  "tools/hub.py": "def hf_download(): pass\n"})
    user(env, "from tools import cached_download\n")


@broken("needed_modules", "it uses tools.contrib.appengine, which that does not have")
def import_that_fails_and_its_fallback_too(env):
    env.package("tools", "2.6", {"tools/__init__.py": "", "tools/contrib/__init__.py": ""})
    user(env, "try:\n    from gone_tools.contrib import appengine\nexcept ImportError:\n    from tools.contrib import appengine\n")


@broken("needed_modules", "it uses tools.parse_version, which that does not have")
def import_under_conditions_that_are_decided(env):
    env.package("tools", "1.6", {"tools/__init__.py": ""})
    user(env, "import sys\ntry:\n    __USER_SETUP__\nexcept NameError:\n    __USER_SETUP__ = False\nif __USER_SETUP__:\n    pass\nelse:\n    if sys.version_info >= (3, 6) and sys.platform != 'win32':\n        from tools import parse_version\n")


@broken("needed_modules", "it uses tools.getargspec, which that does not have")
def function_that_a_file_calls_when_it_is_imported(env):
    env.package("tools", "1.6", {"tools/__init__.py": ""})
    user(env, "import tools\ndef wraps(f):\n    names = tools.getargspec(f)\n    return f\n\n@wraps\ndef g(): pass\n")


@broken("needed_modules", "written for Python 2")
def package_of_python_2(env):
    env.package("old-tools", files={"old_tools/__init__.py": "def f(x):\n    print 'x is', x\n"})


@healthy
def imports_and_names_that_may_fail(env):
    env.package("tools", "1.0", {"tools/__init__.py": "import enum\n@enum.global_enum\nclass Flag(enum.IntFlag):\n    BIG = 1\n", "tools/extra.py": "from tools import BIG\n"})
    env.package("user-lib", "1.0", {"user_lib/__init__.py": "\n".join([
        "import tools", "import re", "from typing import TYPE_CHECKING", "flags = re.VERBOSE | tools.BIG",
        "if TYPE_CHECKING:", "    from tools import Nothing",
        "try:", "    from tools import gone", "except ImportError:", "    gone = None",
        "try:", "    x = tools.gone", "except AttributeError:", "    x = None",
        "try:", "    import nowhere", "    nowhere.f()", "except Exception:", "    pass",
        "with suppress(ImportError):", "    import nowhere_too",
        "def later():", "    if x: return", "    return tools.gone", "later()",
        "def loop(t=tools):", "    for a in []:", "        continue", "    tools = t", "    return tools.gone", "loop()",
        "print(x)", "", "def f():", "    '''<<<<<<< no mark", "    '''", ""])}, requires=["tools"])


@broken("broken_packages", "is damaged: 2 of its files are empty or no Python")
def files_that_are_empty_or_cut_off(env):
    env.package("web-tools", files={"web_tools/__init__.py": "from .a import f\nfrom .b import g\n", "web_tools/a.py": "def f(): pass\n", "web_tools/b.py": "def g(x):\n    return (x +\n            1)\n"})
    (env.site / "web_tools/a.py").write_text("")
    (env.site / "web_tools/b.py").write_text("def g(x):\n    return (x +")


@broken("broken_packages", "is damaged: 1 of its files are empty or no Python")
def files_with_marks_of_a_merge(env):
    env.package("web-tools", files={"web_tools/__init__.py": "x = 1\n"})
    (env.site / "web_tools/__init__.py").write_text("<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n")


@healthy
def files_with_other_line_ends(env):
    env.package("web-tools", files={"web_tools/__init__.py": "x = (1,\n  2)\n"}, record=False)
    (env.site / "web_tools/__init__.py").write_text("x = (1,\r\n  2)\r\n")


@broken("overlapping_files", "overwrite each other's files", also=("broken_packages",))
def projects_that_share_a_name(env):
    own = {f"jot/{n}.py": f"{n} = 1\n" for n in "abcdefgh"}
    env.package("PyJot", "2.9", {"jot/__init__.py": "from .a import a\n__version__ = '2.9'  # of PyJot\n", **own})
    env.package("jot", "1.3", {"jot/__init__.py": "from .jwk import key\n__version__ = '1.3'  # of the other one\n", "jot/jwk.py": "key = 1\n", "jot/jws.py": "x = 1\n", "jot/utils.py": ""})


@broken("missing_libraries", "libgone_omp.so.1 is missing")
def library_that_ctypes_loads(env):
    needed = library("int gone(void) { return 1; }", soname="libgone_omp.so.1")
    at = env.root / "libgone_omp.so.1"
    at.write_bytes(needed)
    env.package("boost", "4.5", {"boost/__init__.py": "from .load import lib\n", "boost/load.py": "import ctypes\nlib = ctypes.CDLL('lib/lib_boost.so')\n",
                                 "boost/lib/lib_boost.so": library("int gone(void); int f(void) { return gone(); }", flags=(str(at),))})


@broken("damaged_libraries", "its segments cannot be mapped")
def library_that_strip_broke(env):
    body = bytearray(module("_core"))
    table, size, count = struct.unpack_from("<Q", body, 32)[0], *struct.unpack_from("<HH", body, 54)
    for i in range(count):
        at = table + i * size
        if struct.unpack_from("<I", body, at)[0] == 1:  # PT_LOAD
            struct.pack_into("<Q", body, at + 16, struct.unpack_from("<Q", body, at + 16)[0] + 8)
            break
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/_core{SUFFIX}": bytes(body)})


@broken("path_files", "is not written in UTF-8")
def path_file_in_another_encoding(env):
    env.write("projekt.pth", "/home/jürgen/quellen\n".encode("latin-1"))


@broken("kernelspecs", "byte order mark")
def kernelspec_with_a_byte_order_mark(env):
    folder = env.prefix / "share/jupyter/kernels/python3"
    folder.mkdir(parents=True)
    env.package("ipykernel", "6.29.5")
    (folder / "kernel.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({"argv": [str(env.prefix / "bin/python3"), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                                      "display_name": "x", "language": "python"}).encode())


def limit(kind, value, word, hard=None):
    def breaks(env):
        env.system["limits"][kind] = value
        if hard:
            env.system["hard_limits"] = {kind: hard}
    breaks.__name__ = f"limit_of_{kind}{'_that_cannot_be_raised' if hard else ''}"
    broken("resource_limits", word)(breaks)


limit("cpu", 300, "Processor time is limited to 300 seconds")
limit("pids", 5, "no more processes and threads than 5")
limit("commit", 100 << 20, "vm.overcommit_memory=2")
limit("as", 1 << 30, "The address space is limited to 1 GiB", hard=1 << 30)


@broken("disk_space", "its inodes are used up")
def disk_without_inodes(env):
    env.system["disks"][1].update(files=1000, files_free=3)


@broken("mounts", "No folder for temporary files may be written")
def no_temporary_folder(env):
    env.system["no_temporary_folder"] = True


def setting(name, value, check, word, *packages):
    def breaks(env):
        env.setenv(**{name: value})
        for package in packages:
            env.package(package, "0.36")
    breaks.__name__ = f"setting_{name}_{value}".replace(":", "_").replace("/", "_")
    broken(check, word)(breaks)


setting("PYTHONIOENCODING", "utf8-bom", "settings", "an encoding that it does not know")
setting("PYTHONIOENCODING", "utf-8:careful", "settings", "a treatment of errors")
setting("PYTHONWARNINGS", "error", "settings", "turns every warning into an error")
setting("PYTHONWARNINGS", "ignore,error::DeprecationWarning", "settings", "turns every DeprecationWarning into an error")
setting("PYTHONTRACEMALLOC", "yes", "settings", "does not start with this value of PYTHONTRACEMALLOC")
setting("MPLBACKEND", "Qt5Agg", "settings", "Qt 5 (PyQt5 or PySide2) is not installed", "matplotlib")
setting("MPLBACKEND", "TkAgg", "settings", "MPLBACKEND asks for windows of tkagg", "matplotlib")
setting("ALL_PROXY", "socks5h", "settings", "needs PySocks", "requests")
setting("HF_HUB_ENABLE_HF_TRANSFER", "1", "settings", "hf_transfer, which is not installed", "huggingface-hub")


@healthy
def settings_that_are_fine(env):
    env.setenv(PYTHONIOENCODING="UTF-8:replace", PYTHONWARNINGS="ignore::DeprecationWarning,error:::mytests", PYTHONTRACEMALLOC="5", MPLBACKEND="Agg", HTTPS_PROXY="http",
               HF_HUB_ENABLE_HF_TRANSFER="0")
    env.package("matplotlib", "3.9")


def safetensors(size):
    head = json.dumps({"w": {"dtype": "F32", "shape": [100], "data_offsets": [0, 400]}}).encode()
    return struct.pack("<Q", len(head)) + head + bytes(size)


def in_hub(env, body):
    at = env.home / ".cache/huggingface/hub/models--a--b"
    (at / "blobs").mkdir(parents=True)
    (at / "snapshots/1").mkdir(parents=True)
    (at / "blobs/abc").write_bytes(body)
    (at / "snapshots/1/model.safetensors").symlink_to("../../blobs/abc")


@broken("damaged_caches", "model.safetensors, downloaded before, is damaged")
def safetensors_cut_off(env):
    in_hub(env, safetensors(300))


@healthy
def safetensors_that_are_whole(env):
    in_hub(env, safetensors(400))


def given(name, body, word, check="model", python=None):
    def breaks(env):
        (env.folder / name).write_bytes(body)
        env.arguments = [str(env.folder / name)]
        for package, files in (python or {}).items():
            env.package(package, "1.26", files)
    breaks.__name__ = "given_" + "".join(c if c.isalnum() else "_" for c in f"{name}_{len(body)}")
    (broken(check, word) if word else healthy)(breaks)


def npy(rows):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10, 4), }".ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(32 * rows)


def npz():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("x.npy", npy(10))
    return out.getvalue()


given("train.npz", npz()[:250], "train.npz is a NumPy archive (.npz), and damaged: it is cut off")
given("train.npz", npz(), "")
given("x.npy", npy(9), "x.npy is a NumPy array (.npy), and damaged: it is cut off")
given("x.npy", npy(10), "")
given("w.safetensors", safetensors(10), "w.safetensors is a safetensors file, and damaged: it is cut off")
given("t.parquet", b"PAR1" + bytes(50), "t.parquet is a Parquet table, and damaged")
given("t.parquet", b"PAR1" + bytes(50) + b"PAR1", "")
given("m.onnx", b"\x08\x07\x3a\x50" + bytes(20), "m.onnx is an ONNX model, and damaged: it is cut off")
given("d.pkl", b"\x80\x04\x95" + bytes(20), "d.pkl is a pickle, and damaged")
given("big.bin", b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS")
OLD_NUMPY = {"numpy": {"numpy/__init__.py": "def __getattr__(name): raise AttributeError(name)\n"}}
given("train.py", b"import numpy as np\nmask = np.zeros(10, dtype=np.bool)\n", "train.py uses numpy.bool", "program", OLD_NUMPY)
given("train.py", b"import numpy as np\nimport helper_nobody_has\n", "train.py imports helper_nobody_has, which is neither installed nor beside it", "program", OLD_NUMPY)
given("train.py", b"import numpy as np, json\nx = np.float64(1)\n", "", "program", {"numpy": {"numpy/__init__.py": "float64 = float\n"}})
given("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": ["%matplotlib inline\n", "!pip list\n", "from keras.utils import np_utils\n"]}], "nbformat": 4}).encode(),
      "a.ipynb uses keras.utils.np_utils", "program", {"keras": {"keras/__init__.py": "", "keras/utils/__init__.py": "def to_categorical(x): pass\n"}})
given("b.ipynb", b'{"cells": [', "b.ipynb is no notebook", "program")


def keras_archive(config, folder=""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(folder + "metadata.json", json.dumps({"keras_version": "3.8.0"}))
        z.writestr(folder + "config.json", json.dumps(config))
    return out.getvalue()


KERAS = {"keras": {"keras/__init__.py": "", "keras/layers/__init__.py": "from keras.src.layers import Dense\nfrom keras.src.layers import InputLayer\n"}, "h5py": {"h5py/__init__.py": ""}}


def model(env, name, body):
    (env.folder / name).write_bytes(body)
    env.arguments = [str(env.folder / name)]
    env.package("keras", "3.8.0", KERAS["keras"])
    env.package("h5py", "3.1", KERAS["h5py"])
    env.package("jax", "0.5.0")
    env.setenv(KERAS_BACKEND="jax")


@broken("model", "an archive that holds the model in a folder (model)")
def keras_archive_with_a_folder(env):
    model(env, "m.keras", keras_archive({}, "model/"))


@broken("model", "was compiled with functions of its author: dice_loss")
def keras_archive_with_an_own_loss(env):
    model(env, "m.keras", keras_archive({"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "module": "keras.layers", "config": {"name": "d"}}]},
                                         "compile_config": {"loss": {"module": "builtins", "class_name": "function", "config": "dice_loss", "registered_name": "function"}}}))


@broken("model", "does not know layers of")
def keras_archive_with_a_layer_of_keras_2(env):
    model(env, "m.keras", keras_archive({"class_name": "Functional", "config": {"layers": [{"class_name": "TFOpLambda", "module": "keras.layers", "config": {"name": "d"}}]}}))


@broken("needed_modules", "an installation of half_lib was interrupted")
def package_without_metadata_that_lost_parts(env):
    env.write("half_lib/__init__.py", "from .utils import check\nfrom .base import Base\n")
    env.write("half_lib/base.py", "class Base: pass\n")


@healthy
def package_without_metadata_that_is_whole(env):
    env.write("whole_lib/__init__.py", "from .base import Base\ntry:\n    from ._fast import f\nexcept ImportError:\n    f = None\n")
    env.write("whole_lib/base.py", "class Base: pass\n")


@broken("stale_caches", "is compiled for Python 3.8 and comes without sources")
def package_of_bytecode_for_another_python(env):
    env.package("vendorlib", "3.2", {"vendorlib/__init__.pyc": struct.pack("<H", 3413) + b"\r\n" + bytes(40)})


@healthy
def fallback_that_is_not_needed(env):
    env.package("user-lib", "1.0", {"user_lib/__init__.py": "try:\n    import collections.abc as c\nexcept ImportError:\n    import collections as c\nclass A(c.MutableMapping): pass\n"})


@broken("program", "a.py uses keras.utils.np_utils")
def module_that_keras_3_has_elsewhere(env):
    env.package("keras", "3.8.0", {"keras/__init__.py": "import os\n__path__.append(os.path.join(os.path.dirname(__file__), 'api'))\n", "keras/api/__init__.py": "",
                                   "keras/api/utils/__init__.py": "from keras.src.utils import to_categorical\n"})
    env.package("jax", "0.5.0")
    env.setenv(KERAS_BACKEND="jax")
    (env.folder / "a.py").write_text("from keras.utils import np_utils\n")
    env.arguments = [str(env.folder / "a.py")]
