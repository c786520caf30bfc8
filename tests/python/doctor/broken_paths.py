"""What Python would really import: the notebook's folder, PYTHONPATH, .pth files, editable installs, modules that nobody
asked for and everybody needs."""

import json

from broken import OTHER_MINOR, broken, kernelspec
from maker import PYTHON


def framework_files(name, text="x = 1\n"):
    return {f"{name}/__init__.py": text, f"{name}/core.py": "y = 2\n"}


@broken("hidden_packages", "`import tensorflow` finds")
def file_beside_the_notebook(env):
    env.package("tensorflow", "2.17.0", framework_files("tensorflow"))
    env.package("keras", "3.5.0")
    (env.folder / "tensorflow.py").write_text("import tensorflow as tf\n")


@broken("hidden_packages", "`import random` finds")
def file_named_like_the_standard_library(env):
    (env.folder / "random.py").write_text("print('dice')\n")


@broken("hidden_packages", "`import keras` finds")
def folder_beside_the_notebook(env):
    env.package("keras", "3.5.0", framework_files("keras"))
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")
    (env.folder / "keras").mkdir()
    (env.folder / "keras/__init__.py").write_text("")


@broken("hidden_packages", "`import numpy` finds")
def package_on_pythonpath_without_metadata(env):
    env.package("numpy", "2.1.0", framework_files("numpy"))
    other = env.root / "my libs/numpy"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    env.setenv(PYTHONPATH=f"{env.root}/elsewhere:{other.parent}")


@broken("leftovers", "hides")
def older_version_on_pythonpath(env):
    env.package("numpy", "2.1.0", framework_files("numpy"))
    other = env.root / f"old/lib/{PYTHON}/site-packages"
    (other / "numpy").mkdir(parents=True)
    (other / "numpy/__init__.py").write_text("")
    (other / "numpy-1.20.0.dist-info").mkdir()
    (other / "numpy-1.20.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.20.0\n")
    env.setenv(PYTHONPATH=str(other))


@broken("requirements", "requires numpy >=2, but 1.20.0 is installed", also=["leftovers"])
def requirement_judged_by_what_is_imported(env):
    older_version_on_pythonpath(env)
    env.package("model-tools", requires=["numpy>=2"])


@broken("python_path", "packages of another Python")
def standard_library_of_another_python_on_pythonpath(env):
    other = env.root / f"other/lib/python3.{OTHER_MINOR}"
    (other / "encodings").mkdir(parents=True)
    (other / "encodings/__init__.py").write_text("")
    for name in ("os", "re", "random", "json", "typing", "enum", "types", "copy"):
        (other / f"{name}.py").write_text("")
    env.setenv(PYTHONPATH=str(other))


@broken("path_files", "packages of another Python")
def pth_into_another_python(env):
    other = env.root / f"other/lib/python3.{OTHER_MINOR}/site-packages"
    other.mkdir(parents=True)
    env.write("shared.pth", f"{other}\n")


@broken("path_files", "leads to a folder that is gone")
def pth_to_a_folder_that_is_gone(env):
    env.write("project.pth", "/home/ada/project-that-was/src\n")


@broken("path_files", "imports helper_hook when Python starts")
def pth_of_a_package_that_is_gone(env):
    env.write("helper.pth", "import sys, helper_hook; helper_hook.install()\n")


def editable(env, record, files):
    info = env.package("my-model", "0.1", files={})
    for path, text in files.items():
        env.write(path, text)
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in record))
    (info / "direct_url.json").write_text(json.dumps({"url": "file:///home/ada/my%20model", "dir_info": {"editable": True}}))


@broken("path_files", "source folder that is gone")
def editable_source_gone(env):
    editable(env, ["__editable__.my_model-0.1.pth"], {"__editable__.my_model-0.1.pth": "/home/ada/my model/src\n"})


@broken("path_files", "source folder that is gone")
def editable_finder_leads_nowhere(env):
    editable(env, ["__editable___my_model_0_1_finder.py"],
             {"__editable___my_model_0_1_finder.py": "MAPPING: dict = {'my_model': '/home/ada/my model/my_model'}\n",
              "__editable__.my_model-0.1.pth": "import __editable___my_model_0_1_finder\n"})


@broken("needed_modules", "imports pkg_resources")
def package_needs_pkg_resources(env):
    env.package("tensorflow-hub", "0.12.0", {"tensorflow_hub/__init__.py": '"""import nothing_at_all\n"""\nfrom tensorflow_hub.version import v\n',
                                             "tensorflow_hub/version.py": "import os, pkg_resources\nv = 1\n"})
    env.package("setuptools", "82.0", {"setuptools/__init__.py": ""})


@broken("needed_modules", "imports gone_for_good")
def relative_import_leads_to_missing_module(env):
    env.package("fastlib", files={"fastlib/__init__.py": "from . import a\n", "fastlib/a.py": "from .b import (\n    x,\n    y)\n",
                                  "fastlib/b.py": "from gone_for_good.deep import x, y\n"})


@broken("hidden_packages", "`import numpy` finds")
def kernelspec_sets_pythonpath(env):
    env.package("numpy", "2.1.0", framework_files("numpy"))
    env.package("ipykernel", "7.0")
    (env.root / "libs/numpy").mkdir(parents=True)
    (env.root / "libs/numpy/__init__.py").write_text("")
    kernelspec(env.prefix / "share/jupyter/kernels", env.prefix / "bin/python3")
    path = env.prefix / "share/jupyter/kernels/python3/kernel.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"env": {"PYTHONPATH": str(env.root / "libs")}}))
