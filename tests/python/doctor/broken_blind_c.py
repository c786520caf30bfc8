"""Small copies of what the third blind set (tests/blind/2026_11c) showed."""

import json
from pathlib import Path

from broken import broken
from healthy import healthy
from maker import SUFFIX, library, module


@healthy
def names_of_inspect_made_in_a_loop(env):
    """mod_dict = globals(); mod_dict["CO_" + v] = k"""
    env.package("wrapped", files={"wrapped/__init__.py": "import inspect\nFLAG = inspect.CO_VARARGS | inspect.CO_NESTED\n"})


@healthy
def names_taken_from_another_module(env):
    """As autograd.numpy does."""
    env.package("numbers-lib", files={"numbers_lib/__init__.py": "def finite(): pass\n"})
    env.package("grad", files={"grad/__init__.py": "", "grad/numpy/__init__.py": "from .wrapper import *\n",
                               "grad/numpy/wrapper.py": "import numbers_lib as _n\ndef wrap(old, new): new.update(old)\nwrap(_n.__dict__, globals())\n"})
    env.package("user", files={"user/__init__.py": "from grad.numpy import finite\n"}, requires=["grad", "numbers-lib"])


@healthy
def package_that_a_hook_replaces(env):
    """As tlz does."""
    env.package("tlz", files={"tlz/__init__.py": "from . import _build\n", "tlz/_build.py": "import sys\nclass Loader:\n    def find_spec(self, *a): pass\nsys.meta_path.insert(0, Loader())\n"})
    env.package("user", files={"user/__init__.py": "from tlz import groupby\nfrom tlz.functoolz import pipe\n"}, requires=["tlz"])


@healthy
def python_file_of_more_than_a_megabyte(env):
    env.package("words", files={"words/__init__.py": "from .table import TABLE\n", "words/table.py": "TABLE = {\n" + "    'word': 1,\n" * 120000 + "}\n"})


@broken("requirements", "reporting-tool 1.0 requires tables >=0.9, but 0.8 is installed")
def requirement_of_a_project_without_modules(env):
    env.package("tables", "0.8")
    env.package("reporting-tool", files={}, requires=["tables>=0.9"])


@broken("needed_modules", "does not fit pydantic 2.9.0: it uses pydantic.BaseSettings")
def name_that_a_module_refuses_when_it_is_asked(env):
    env.package("pydantic", "2.9.0", {"pydantic/__init__.py": "from .migration import ask\ndef __getattr__(name):\n    return ask(name)\n",
                                      "pydantic/migration.py": "def ask(name):\n    if name == 'BaseSettings':\n        raise ImportError('moved')\n"})
    env.package("profiles", "3.2.0", {"profiles/__init__.py": "from pydantic import BaseSettings\n"}, requires=["pydantic"])


@healthy
def name_that_an_old_version_still_has(env):
    env.package("pydantic", "1.10.0", {"pydantic/__init__.py": "from .migration import ask\ndef __getattr__(name):\n    return ask(name)\n",
                                       "pydantic/migration.py": "def ask(name):\n    if name == 'BaseSettings':\n        return 1\n"})
    env.package("profiles", "3.2.0", {"profiles/__init__.py": "from pydantic import BaseSettings\n"}, requires=["pydantic"])


@broken("needed_modules", "xml-lib 6.1 imports xml_clean, which is not there")
def module_that_raises_without_another_project(env):
    """As lxml.html.clean does."""
    env.package("xml-lib", "6.1", {"xml_lib/__init__.py": "", "xml_lib/clean.py": "try:\n    from xml_clean import *\nexcept ImportError:\n    raise ImportError('a project of its own now') from None\n"})
    env.package("news", files={"news/__init__.py": "import xml_lib.clean\n"}, requires=["xml-lib"])


@broken("kernelspecs", "starts a module that is not there any more: IPython.kernel")
def kernel_of_an_old_ipython(env):
    env.package("ipython", "9.0", {"IPython/__init__.py": ""})
    env.package("ipykernel", "7.0", {"ipykernel/__init__.py": "", "ipykernel_launcher.py": ""})
    folder = env.prefix / "share/jupyter/kernels/python3"
    folder.mkdir(parents=True)
    argv = [str(env.prefix / "bin/python3"), "-m", "IPython.kernel", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))


@broken("mounts", "Jupyter's runtime folder may not be written by this user")
def runtime_folder_of_another_user(env):
    env.package("ipykernel", "7.0")
    env.system["unwritable_runtime"] = "/home/user/.local/share/jupyter/runtime"


@broken("missing_libraries", "opens libenchant-2.so.2 when it is imported")
def library_that_python_code_opens_by_name(env):
    if any(Path("/usr/lib").glob("**/libenchant-2.so.2")):
        raise RuntimeError("this machine has libenchant-2; take another library for this case")
    env.package("pyenchant", "3.2.2", {"enchant/__init__.py": ""})


@healthy
def library_opened_by_name_of_which_a_copy_is_brought(env):
    env.package("psycopg", "3.2", {"psycopg/__init__.py": ""})
    env.package("psycopg-binary", "3.2", {"psycopg_binary/__init__.py": ""})


@broken("damaged_libraries", "libold.so.8")
def kernelspec_with_a_folder_of_damaged_libraries(env):
    good = library("int old_start(void) { return 1; }", "libold.so.8")
    env.write("fastlib.libs/libold.so.8", good)
    flags = (f"-L{env.site}/fastlib.libs", "-l:libold.so.8", "-Wl,-rpath,$ORIGIN/../fastlib.libs", "-Wl,--enable-new-dtags")
    native = module("_native", "int old_start(void); int go(void) { return old_start(); }", flags)
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/_native{SUFFIX}": native, "fastlib.libs/libold.so.8": good})
    env.package("ipykernel", "7.0", {"ipykernel/__init__.py": "", "ipykernel_launcher.py": ""})
    folder, old = env.prefix / "share/jupyter/kernels/python3", env.root / "oldlibs"
    folder.mkdir(parents=True)
    old.mkdir()
    (old / "libold.so.8").write_bytes(good[:2000])
    argv = [str(env.prefix / "bin/python3"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python", "env": {"LD_LIBRARY_PATH": str(old)}}))
