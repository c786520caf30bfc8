"""What imports ask of one another, what runs when Python starts, and what programs keep for themselves."""

import io
import json
import os
import py_compile
import zipfile

from broken import broken
from healthy import healthy
from maker import SUFFIX, module


@broken("needed_modules", "it uses markup.soft_text, which that does not have")
def name_that_another_package_has_no_longer(env):
    env.package("markup", "2.1", {"markup/__init__.py": "def hard_text(): '''soft_text'''\n"})
    env.package("templates", "1.0", {"templates/__init__.py": "from .environment import run\n",
                                     "templates/environment.py": "from markup import soft_text\nrun = soft_text\n"}, requires=["markup>=0.9"])


@broken("needed_modules", "it uses tools.linalg.tril, which that does not have")
def attribute_that_another_package_has_no_longer(env):
    env.package("tools", "1.14", {"tools/__init__.py": "", "tools/linalg/__init__.py": "from ._basic import *\n",
                                  "tools/linalg/_basic.py": "from numbers import tril\n__all__ = ['inv']\ndef inv(x): return x\n"})
    env.package("wrapper", "0.4", {"wrapper/__init__.py": "", "wrapper/scipy/__init__.py": "", "wrapper/scipy/linalg.py":
                "import tools.linalg\n@tools.linalg.inv\ndef inv(m): return m\n@tools.linalg.tril\ndef tril(m): return m\n"}, requires=["tools"])


@broken("needed_modules", "does not fit Python")
def name_that_python_has_no_longer(env):
    env.package("old-lib", files={"old_lib/__init__.py": "from collections import Mapping\n"})


def native_star(env, texts):
    """A package whose names come from a native module, of which only `texts` can be read."""
    source = "".join(f'const char text{i}[] = "{t}";\n' for i, t in enumerate(texts))
    env.package("linear", "1.14", {"linear/__init__.py": "from ._update import *\n", f"linear/_update{SUFFIX}": module("_update", source)})
    env.package("topics", "4.3", {"topics/__init__.py": "from linear import triu\n"}, requires=["linear"])


@broken("needed_modules", "it uses linear.triu, which that does not have")
def name_that_no_native_module_of_cython_makes(env):
    native_star(env, ["__main__", "__test__", "inv"])


@healthy
def names_that_a_native_module_makes_unseen(env):
    native_star(env, ["__main____test__inv", "inv"])


@healthy
def names_that_a_module_looks_up_elsewhere(env):
    env.package("stubs", "1.0", {"stubs/__init__.py": "import loader\n__getattr__, __dir__, __all__ = loader.attach_stub(__name__, __file__)\n",
                                 "stubs/__init__.pyi": "def soon(): ...\n", "stubs/table.py": "from .old import names\ndef __getattr__(name):\n    if name in names:\n        return names[name]\n    raise AttributeError(name)\n",
                                 "stubs/old.py": "names = {chr(97): 1}\n", "stubs/filled.py": "import stubs.old\nstubs.old.__dict__.update(names)\n"})
    env.package("loader", "1.0", {"loader/__init__.py": "def attach_stub(*a): pass\n"})
    env.package("user", "1.0", {"user/__init__.py": "from stubs import soon\nfrom stubs.table import a\nfrom stubs.filled import b\n"}, requires=["stubs"])


@broken("needed_modules", "does not fit numpy 2.1.0: it uses numpy.float")
def name_that_numpy_has_no_longer(env):
    env.package("numpy", "2.1.0", {"numpy/__init__.py": "def __getattr__(name): raise AttributeError(name)\n",
                                   "numpy/_expired_attrs_2_0.py": '__expired_attributes__ = {\n    "product": "x",\n}\n'})
    env.package("old-lib", files={"old_lib/__init__.py": "import numpy as np\nclass A:\n    def f(self, dtype=np.float): pass\n"}, requires=["numpy"])


@broken("jax_versions", "jaxlib 0.4.30 is newer than jax 0.4.20")
def jaxlib_newer_than_jax(env):
    env.package("jax", "0.4.20", requires=["jaxlib>=0.4.14"])
    env.package("jaxlib", "0.4.30")


@broken("jax_versions", "does not fit jaxlib 0.4.30")
def plug_in_of_another_jaxlib(env):
    env.package("jaxlib", "0.4.30")
    env.package("jax-cuda12-plugin", "0.4.26")


@broken("requirements", "requires nvidia-cudnn-cu12 ==9.3.0.75, but 8.9.7.29 is installed")
def extra_that_was_asked_for(env):
    env.package("frame", requires=['nvidia-cudnn-cu12==9.3.0.75; extra == "and-cuda"'])
    env.package("nvidia-cudnn-cu12", "8.9.7.29")


@broken("requirements", "requires excel-reader, which is not installed")
def extra_that_a_project_asks_for(env):
    env.package("frames", requires=['excel-reader; extra == "excel"'])
    env.package("reports", requires=["frames[excel]"])


@broken("path_files", "sitecustomize.py, which Python runs at each start, imports gone_tracer")
def start_up_file_of_a_tool_that_is_gone(env):
    env.write("sitecustomize.py", "import gone_tracer\ngone_tracer.start()\n")


@broken("hidden_packages", "`import google` finds")
def folder_that_hides_a_name_space(env):
    env.package("protobuf", "5.29.0", {"google/protobuf/__init__.py": "", "google/_upb/_message.abi3.so": b""}, tag="py3-none-any")
    (env.site / "google/_upb/_message.abi3.so").unlink()
    record = env.site / "protobuf-5.29.0.dist-info/RECORD"
    record.write_text("".join(line for line in record.read_text().splitlines(True) if "_upb" not in line))
    (env.folder / "google").mkdir()
    (env.folder / "google/__init__.py").write_text("")


@broken("damaged_caches", "Compiled files of keras_tools are cut off")
def compiled_file_cut_off(env):
    env.package("keras-tools", files={"keras_tools/__init__.py": "x = [1, 2, 3]\ndef f(a):\n    return a + 1\n"})
    compiled = py_compile.compile(str(env.site / "keras_tools/__init__.py"))
    os.truncate(compiled, 40)


@broken("damaged_caches", "resnet18.pth, downloaded before, is damaged")
def download_cut_off(env):
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as z:
        z.writestr("archive/data.pkl", bytes(5000))
    folder = env.home / ".cache/torch/hub/checkpoints"
    folder.mkdir(parents=True)
    (folder / "resnet18.pth").write_bytes(body.getvalue()[:3000])


def spec(env, text):
    folder = env.prefix / "share/jupyter/kernels/python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(text)
    env.package("ipykernel", "6.29.5")


@broken("kernelspecs", "is not JSON, at line 1")
def kernelspec_that_is_not_json(env):
    spec(env, '{"argv": ["python",, "x"]}')


@broken("kernelspecs", "has no {connection_file}")
def kernelspec_without_a_connection_file(env):
    spec(env, json.dumps({"argv": [str(env.prefix / "bin/python3"), "-m", "ipykernel_launcher"], "display_name": "x", "language": "python"}))


@broken("settings", "SSL_CERT_FILE names a file of certificates that is not there")
def certificates_that_are_gone(env):
    env.setenv(SSL_CERT_FILE="/gone/cacert.pem")


@broken("damaged_libraries", "LD_LIBRARY_PATH puts a damaged libm.so.6 before the system's")
def damaged_library_first_on_the_path(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/_core.so": module("_core", "double sqrt(double); double f(double x) { return sqrt(x); }", ["-Wl,--no-as-needed", "-lm"])})
    folder = env.root / "matlab"
    folder.mkdir()
    (folder / "libm.so.6").write_bytes(b"\x7fELF")
    env.setenv(LD_LIBRARY_PATH=str(folder))


@broken("model", "is no model but a pointer of Git LFS")
def pointer_in_the_place_of_a_model(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")
    (env.folder / "model.h5").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 94765736\n")
    env.arguments = [str(env.folder / "model.h5")]


@healthy
def names_that_are_made_in_other_ways(env):
    env.package("lazy", "1.0", {"lazy/__init__.py": "def __getattr__(name):\n    if name == 'soon': return 1\n",
                                "lazy/star.py": "from .inner import *\n", "lazy/inner.py": "there = 1\n", "lazy/made.py": "globals().update(a=1)\n"})
    env.package("user", "1.0", {"user/__init__.py": "from lazy import soon, star\nfrom lazy.star import there\nfrom lazy.made import a\n"
                                "import lazy.inner as i\nx = i.there\ntry:\n    from lazy import gone\nexcept ImportError:\n    gone = None\n"
                                "y = lazy.gone if gone else None\n"}, requires=["lazy"])


@healthy
def compiled_files_that_are_whole_or_not_taken(env):
    env.package("tools", files={"tools/__init__.py": "x = {'a': (1, 2.5, b'c', None), 'd': frozenset('e')}\nclass A:\n    def f(self, *, k=1j): return lambda: 10**40\n",
                                "tools/other.py": "y = 1\n"})
    py_compile.compile(str(env.site / "tools/__init__.py"))
    os.truncate(py_compile.compile(str(env.site / "tools/other.py")), 30)
    os.utime(env.site / "tools/other.py", (1, 1))  # Python compiles it anew


@healthy
def extra_that_nobody_asked_for(env):
    env.package("frame", requires=['nvidia-cudnn-cu12==9.3.0.75; extra == "and-cuda"', 'nvidia-cublas-cu12==12.5; extra == "and-cuda"'])
    env.package("nvidia-cudnn-cu12", "8.9.7.29")
