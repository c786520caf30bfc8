"""What Python finds first."""
from lib import PYTHONS, broken


@broken("https://github.com/mcgill-robotics/compsys/issues/112", proof="import numpy", error="Error importing numpy|C-extensions|_multiarray_umath|cannot import",
        cause=r"PYTHONPATH|ros", fix="unset PYTHONPATH for this kernel", fix_text="PYTHONPATH", env={"PYTHONPATH": "{root}/opt/ros/foxy/lib/python3.8/site-packages"})
def ros_setup_bash_sourced(e):
    e.venv(); e.install("numpy==1.26.4")
    e.unpack(e.wheel("numpy==1.24.4", "manylinux2014_x86_64", python="3.8"), e.root / "opt/ros/foxy/lib/python3.8/site-packages")


@broken("", proof="import json", error="encodings|SRE|Fatal|init_fs|Error", cause=r"PYTHONHOME",
        fix="unset PYTHONHOME", fix_text="PYTHONHOME", env={"PYTHONHOME": str(next(PYTHONS.glob("3.9.*")))})
def pythonhome_of_another_python(e):
    e.venv(); e.install("numpy==1.26.4")


@broken("https://github.com/jupyter/jupyter/issues/723", proof="import numpy", error="randbits", cause=r"secrets",
        fix="rename secrets.py", fix_text=r"(mv|rename).*secrets")
def api_keys_in_secrets_py(e):
    e.venv(); e.install("numpy==1.26.4")
    e.write("{work}/secrets.py", "OPENAI_API_KEY = 'sk-0000'\n"); e.write("{work}/analysis.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')


@broken("https://github.com/astral-sh/uv/issues/10166", proof="import numpy", error="source directory|numpy", cause=r"numpy.*(folder|hide|shadow|beside|work|source|first)",
        fix="leave the source folder (cd elsewhere) or rename it", fix_text=r"(mv|rename|cd|leave|another folder)")
def notebook_inside_a_numpy_clone(e):
    e.venv(); e.install("numpy==1.26.4")
    e.unpack(e.wheel("numpy==1.26.4", "manylinux2014_x86_64"), e.work, skip=r"\.so$|\.libs/|dist-info|__config__|/tests/")
    e.write("{work}/setup.py", "from setuptools import setup\nsetup(name='numpy')\n")


@broken("https://github.com/RoboStack/ros-humble/issues/215", proof="import numpy", error="C-extensions|_multiarray_umath|Error importing",
        cause=r"\.pth|shared\.pth|python3\.9|company", fix="remove the .pth file", fix_text=r"rm .*\.pth|remove.*\.pth|mv .*\.pth")
def pth_puts_another_python_first(e):
    e.venv(); e.install("numpy==1.26.4")
    e.unpack(e.wheel("numpy==1.24.4", "manylinux2014_x86_64", python="3.9"), e.root / "company/lib/python3.9/site-packages")
    e.write("{site}/shared.pth", "import sys; sys.path.insert(0, '{root}/company/lib/python3.9/site-packages')\n")


@broken("https://github.com/snicolast/ComfyUI-IndexTTS2/issues/3", proof="import google.protobuf", error="No module named 'google.protobuf'",
        cause=r"google", fix="rename the folder google/ beside the notebook", fix_text=r"(mv|rename).*google")
def folder_google_beside_the_notebook(e):
    e.venv(); e.install("protobuf==5.28.3")
    e.write("{work}/google/__init__.py", ""); e.write("{work}/google/sheets.py", "def read(): pass\n")


@broken("", proof="from datasets import load_dataset", error="load_dataset",
        cause=r"datasets", fix="rename datasets.py", fix_text=r"(mv|rename).*datasets")
def own_datasets_module(e):
    e.venv(); e.install("datasets==3.1.0", "numpy==1.26.4")
    e.write("{work}/datasets/__init__.py", "from .mnist import *\n"); e.write("{work}/datasets/mnist.py", "def read(path): pass\n")


@broken("https://github.com/pydantic/pydantic/issues/11970", proof="import pydantic", error="pydantic-core version", cause=r"pydantic.core",
        fix="the pydantic-core that pydantic asks for, in the venv", apply=True)
def old_pydantic_core_in_the_user_site(e):
    """A venv with system site packages, where pip found the requirement "already satisfied" in ~/.local."""
    e.venv("--system-site-packages"); e.install("pydantic==2.12.5", "typing-extensions", "annotated-types", "typing-inspection", deps=False)
    e.unpack(e.wheel("pydantic-core==2.33.2", "manylinux2014_x86_64"), e.home / ".local/lib/python3.11/site-packages")
