"""Paths, links and settings that look odd and are right."""

import json

from broken import kernelspec
from healthy import healthy
from maker import PYTHON, library


@healthy
def own_files_beside_the_notebook(env):
    env.package("numpy", "2.1.0")
    env.package("fastlib", files={"fastlib/__init__.py": "", "utils.py": ""})
    for name in ("train.py", "utils.py", "test.py", "numpy_tools.py", "model.ipynb", "os.py"):
        (env.folder / name).write_text("")
    (env.folder / "numpy").mkdir()  # without __init__.py: the installed package comes first
    (env.folder / "numpy/notes.txt").write_text("")


@healthy
def pythonpath_with_own_code(env):
    code = env.root / "code"
    (code / "my_tools").mkdir(parents=True)
    (code / "my_tools/__init__.py").write_text("")
    env.package("numpy", "2.1.0")
    env.setenv(PYTHONPATH=f"{code}:/nowhere")


@healthy
def checkout_of_the_package_itself(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")
    (env.folder / "keras").mkdir()
    (env.folder / "keras/__init__.py").write_text("")
    (env.folder / "pyproject.toml").write_text("[project]\nname = 'keras'\n")


@healthy
def pth_files_in_order(env):
    (env.root / "linked").mkdir()
    env.package("setuptools", "75.0", {"setuptools/__init__.py": "", "_distutils_hack/__init__.py": "", "distutils-precedence.pth":
                "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = True; enabled and __import__('_distutils_hack');\n"})
    env.write("more.pth", f"# a comment\n\n{env.root / 'linked'}\nimport sys, types, os\nimport time\n")


@healthy
def editable_with_finder(env):
    source = env.root / "my source/my_model"
    source.mkdir(parents=True)
    env.write("__editable__.my_model-0.1.pth", "import __editable___my_model_finder\n")
    env.write("__editable___my_model_finder.py", f"MAPPING: dict[str, str] = {{'my_model': '{source}', 'one': '{source}'}}\n")
    info = env.package("my-model", "0.1", files={})
    (info / "RECORD").write_text("__editable__.my_model-0.1.pth,,\n__editable___my_model_finder.py,,\n")
    (info / "direct_url.json").write_text(json.dumps({"url": f"file://{str(source.parent).replace(' ', '%20')}",
                                                      "dir_info": {"editable": True}}))


@healthy
def imports_that_may_fail(env):
    env.package("fastlib", files={"fastlib/__init__.py": '''"""
import not_code
"""
import sys, os.path
import _thread
try:
    import optional_thing
except ImportError:
    optional_thing = None
if sys.platform == "win32":
    import winreg_more
def later():
    import never_now
text = "\\
import in_a_string"
from . import a  # import in_a_comment
from google.protobuf import message
''', "fastlib/a.py": "", "fastlib/unused.py": "import nobody_imports_this_file\n"})
    env.package("protobuf", "6.31.1", {"google/protobuf/__init__.py": "", "google/protobuf/message.py": "",
                                       "google/_upb/_message.abi3.so": library("void* PyInit__message(void) { return 0; }")})


@healthy
def settings_that_are_right(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.package("torch", "2.5.0")
    env.package("matplotlib", "3.9")
    env.package("matplotlib-inline", "0.1")
    (env.home / ".keras").mkdir()
    (env.home / ".keras/keras.json").write_text(json.dumps({"backend": "jax", "floatx": "float16", "epsilon": 1e-7,
                                                            "image_data_format": "channels_first"}))
    env.setenv(PYTHONHASHSEED="0", JAX_ENABLE_X64="True", JAX_PLATFORMS="cpu", MPLBACKEND="module://matplotlib_inline.backend_inline",
               PYTORCH_CUDA_ALLOC_CONF="roundup_power2_divisions:[256:1,512:2,>:8],expandable_segments:True")


@healthy
def kernelspec_with_variables(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    env.package("tf-keras", "2.17.0")
    env.package("ipykernel", "7.0")
    kernelspec(env.prefix / "share/jupyter/kernels", env.prefix / "bin/python3")
    path = env.prefix / "share/jupyter/kernels/python3/kernel.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"env": {"TF_USE_LEGACY_KERAS": "1", "PATH": "/opt/bin:${PATH}"}}))


@healthy
def same_version_of_a_cuda_library_twice(env):
    binary = library("int cudnnCreate(void) { return 9; }", "libcudnn.so.9")
    env.package("nvidia-cudnn-cu12", "9.1.0.70", {"nvidia/cudnn/lib/libcudnn.so.9": binary})
    env.package("torch", "2.5.0", {"torch/__init__.py": "", "torch/lib/libcudnn.so.9": binary})


@healthy
def user_packages_behind_the_environment(env):
    local = env.home / ".local/lib" / PYTHON / "site-packages/numpy"
    local.mkdir(parents=True)
    (local / "__init__.py").write_text("")
    env.package("numpy", "2.1.0")


@healthy
def distutils_from_setuptools(env):
    env.package("fastlib", files={"fastlib/__init__.py": "import distutils.version\n"})
    env.package("setuptools", "80.9", {"setuptools/__init__.py": "", "setuptools/_distutils/__init__.py": "",
                                       "_distutils_hack/__init__.py": ""})


@healthy
def imports_in_an_environment_of_another_machine(env):
    """The standard library of its Python is not here to look into."""
    env.become_macos("arm64")
    env.package("fastlib", files={"fastlib/__init__.py": "import enum, warnings\n"})
    env.write("hook.pth", "import os; import _virtualenv\n")
