"""What Python finds first."""
from common import KERNEL, broken, pip_env


@broken("", proof="import numpy, pandas", error="platform", cause=r"platform\.py", fix="rename platform.py", fix_text=r"mv |rename|platform\.py")
def own_platform_py_beside_the_notebook(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/platform.py", "PLATFORM = 'linux'\n")


@broken("", proof="import pandas", error="_abc_registry|AttributeError|Error", env={"PYTHONPATH": "{root}/layer"}, cause=r"typing", fix="remove the backport", fix_text=r"typing|rm |remove|PYTHONPATH|uninstall")
def typing_backport_in_a_lambda_layer(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.unpack(_typing(c), to=c.root / "layer")


def _typing(c):
    import pathlib, zipfile
    to = c.root / "typing-3.6.6-py3-none-any.whl"
    from lib import run, ROOT
    run([ROOT / "tools/bin/pip", "download", "-q", "--no-deps", "-d", c.root, "typing==3.6.6"])
    return next(c.root.glob("typing*.whl"))


@broken("", proof="import tornado.ioloop, asyncio", error="SyntaxError|async", env={"PYTHONPATH": "{root}/deps"}, cause=r"asyncio", fix="remove it", fix_text=r"asyncio|rm |remove|PYTHONPATH|uninstall")
def asyncio_of_pypi_on_pythonpath(c):
    pip_env(c, "tornado==6.4.1")
    c.install("asyncio==3.4.3", to=c.root / "deps", options=["--no-deps"])


@broken("", proof="import numpy", error="Error", cause=r"easy-install\.pth|\.egg|3\.9|cpython-39", fix="remove the line of easy-install.pth", fix_text=r"easy-install|rm |remove|\.egg|pth")
def easy_install_pth_names_an_egg_of_python_39(c):
    pip_env(c, "numpy==1.26.4")
    wheel = c.wheel("numpy==1.26.4", platform="manylinux2014_x86_64", python="3.9")
    egg = c.site / "numpy-1.26.4-py3.9-linux-x86_64.egg"
    c.unpack(wheel, to=egg)
    c.write("{site}/easy-install.pth", "import sys; sys.__plen = len(sys.path)\n./numpy-1.26.4-py3.9-linux-x86_64.egg\nimport sys; new=sys.path[sys.__plen:]; del sys.path[sys.__plen:]; p=getattr(sys,'__egginsert',0); sys.path[p:p]=new; sys.__egginsert = p+len(new)\n")


@broken("", proof="import numpy", error="Error|SystemExit|status", cause=r"sitecustomize", fix="remove or correct sitecustomize.py", fix_text=r"sitecustomize")
def sitecustomize_ends_python(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{site}/sitecustomize.py", "import os, sys\nif sys.version_info[:2] != (3, 8):\n    sys.exit('this environment is for Python 3.8 only')\n")


@broken("", proof="import yaml; yaml.safe_load('a: 1')", error="has no attribute|cannot import", cause=r"yaml", fix="rename the folder yaml", fix_text=r"mv |rename|yaml")
def folder_yaml_with_an_init_beside_the_notebook(c):
    pip_env(c, "pyyaml==6.0.2", "numpy==1.26.4")
    c.write("{work}/yaml/__init__.py", "")
    c.write("{work}/yaml/config.yaml", "a: 1\n")
