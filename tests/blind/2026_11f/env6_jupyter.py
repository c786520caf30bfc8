"""Kernels, notebooks and what they ask for."""
import json
from common import KERNEL, broken, notebook, pip_env


@broken("", proof=KERNEL, error="No such file|conda|FileNotFound", cause=r"conda", fix="the Python's own path in argv: ipykernel install", fix_text=r"ipykernel install|conda|remove|rm ")
def kernelspec_by_conda_run_without_conda(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.kernel(argv=["conda", "run", "--live-stream", "-n", "ml", "python", "-m", "ipykernel_launcher", "-f", "{connection_file}"])


@broken("", proof=KERNEL, error="JSON|Expecting|No such kernel|NoSuchKernel|Error", cause=r"kernel\.json", fix="write it without comments", fix_text=r"ipykernel install|comment|remove|rm ")
def kernel_json_with_comments(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.write("{env}/share/jupyter/kernels/python3/kernel.json", '{\n // the GPU one\n "argv": ["{env}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],\n "display_name": "ml", "language": "python"\n}\n')


@broken("", proof="import tensorboard", error="tensorboard", target="{work}/a.ipynb", cause=r"tensorboard", apply=True, fix="install tensorboard")
def notebook_loads_tensorboard_that_is_not_here(c):
    pip_env(c, "ipykernel==6.29.5", "numpy==1.26.4")
    notebook(c, "a.ipynb", ["import numpy as np", "%load_ext tensorboard\n%tensorboard --logdir logs"])


@broken("", proof=KERNEL, error="died|Kernel|Error|Timeout|no answer", cause=r"startup|00-setup\.py", fix="remove or correct the startup file", fix_text=r"startup|00-setup|rm |mv ", asked_for="undocumented")
def startup_file_of_ipython_ends_the_process(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.kernel()
    c.write("{home}/.ipython/profile_default/startup/00-setup.py", "import os, sys\ntry:\n    import torch\nexcept ImportError:\n    os._exit(1)\n")


@broken("", proof="import ipywidgets; import ipyleaflet", error="ipyleaflet", target="{work}/map.ipynb", cause=r"ipyleaflet", apply=True, fix="install ipyleaflet")
def notebook_after_pip_into_another_python(c):
    """!pip install went to the system's Python; the cell that imports fails."""
    pip_env(c, "ipykernel==6.29.5", "ipywidgets==8.1.5")
    notebook(c, "map.ipynb", ["!pip install ipyleaflet", "from ipyleaflet import Map\nMap(center=(52, 10), zoom=8)"])
