"""What comes first on the path."""
import lib
from lib import broken


@broken("", proof="import ipykernel.kernelapp", error="module 'token'|token|cannot import name",
        cause=r"token(\.py)?", fix="rename token.py", fix_text=r"mv|rename|token")
def own_token_py_beside_the_notebook(c):
    c.venv()
    c.install("ipykernel==7.4.0")
    c.write("{work}/token.py", "TELEGRAM = '123:abc'\n")


@broken("", proof="from keras.models import Sequential", error="No module named 'keras.models'|not a package|cannot import name",
        cause=r"keras(\.py)?", env={"KERAS_BACKEND": "jax"}, fix="rename keras.py", fix_text=r"mv|rename|keras\.py")
def lesson_saved_as_keras_py(c):
    c.venv()
    c.install("keras==3.15.1", "jax==0.10.2")
    c.write("{work}/keras.py", "# lesson 3\nfrom keras.models import Sequential\nmodel = Sequential()\n")


@broken("", proof="import requests", error="cannot import name|module 'http'|No module named 'http",
        cause=r"http", fix="rename the folder http", fix_text=r"mv|rename|http")
def folder_http_with_an_init_beside_the_notebook(c):
    c.venv()
    c.install("requests==2.32.3")
    c.write("{work}/http/__init__.py", "")
    c.write("{work}/http/handlers.py", "x = 1\n")


@broken("", proof="import pydantic", error="cannot import name", apply=False,
        cause=r"typing.extensions|PYTHONPATH", fix="take the folder from PYTHONPATH", fix_text=r"PYTHONPATH", env={"PYTHONPATH": "{home}/libs"})
def pythonpath_of_gdal_brings_an_old_typing_extensions(c):
    c.venv()
    c.install("pydantic==2.14.3")
    c.install("typing-extensions==3.10.0.2", deps=False, to=c.home / "libs")


@broken("", proof="import torch", error="torch\\._C|No module named 'torch|cannot import name|Failed to load PyTorch C", py="3.10",
        cause=r"torch", fix="leave the source folder, or rename it", fix_text=r"cd |mv|rename|torch")
def notebook_in_a_folder_that_has_a_part_of_torch(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4")
    c.write("{work}/torch/__init__.py", "from torch._C import *\nfrom . import nn\n")
    c.write("{work}/torch/nn/__init__.py", "")
