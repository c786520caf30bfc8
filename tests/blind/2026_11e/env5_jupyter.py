"""Kernels, notebooks and what they ask for."""
import json, pathlib, lib
from lib import broken

START = str(pathlib.Path(lib.__file__).parent / "start_kernel.py")
KERNEL = ["{env}/bin/python", START, "python3"]


def notebook(c, name, cells, kernel="python3"):
    c.write("{work}/" + name, json.dumps({"cells": [{"cell_type": "code", "id": f"c{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": s} for i, s in enumerate(cells)],
                                          "metadata": {"kernelspec": {"display_name": kernel, "language": "python", "name": kernel}, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}))


@broken("https://github.com/jupyter/nbconvert/issues/515", proof=["{env}/bin/python", "-m", "nbconvert", "--to", "html", "--execute", "{work}/report.ipynb"], error="NoSuchKernel|No such kernel", target="{work}/report.ipynb",
        cause=r"conda-env-ml-py|kernel", level="warning", fix="ipykernel install --name, or another kernel", fix_text=r"ipykernel install|kernel")
def notebook_of_a_kernel_that_is_not_here(c):
    c.venv()
    c.install("nbconvert==7.16.4", "ipykernel==6.29.5")
    notebook(c, "report.ipynb", ["1 + 1"], kernel="conda-env-ml-py")


@broken("https://stackoverflow.com/q/53004311", proof=KERNEL, error="No such file|not found|FileNotFound", cause=r"python\.exe|C:", fix="ipykernel install anew", fix_text=r"ipykernel install|remove|rm ")
def kernelspec_that_came_from_windows(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.kernel(argv=["C:\\Users\\ada\\anaconda3\\python.exe", "-m", "ipykernel_launcher", "-f", "{connection_file}"])


@broken("https://stackoverflow.com/q/43204167", proof=KERNEL, error="Expecting value|JSON|NoSuchKernel|No such kernel", cause=r"kernel\.json|python3", fix="ipykernel install anew", fix_text=r"ipykernel install|remove|rm ")
def kernel_json_empty_after_a_full_disk(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.write("{env}/share/jupyter/kernels/python3/kernel.json", b"")


@broken("https://stackoverflow.com/q/53247985", proof="from tqdm.notebook import tqdm; [i for i in tqdm(range(3))]", error="IProgress not found", target="{work}/a.ipynb", cause=r"ipywidgets", level="warning", apply=True, fix="install ipywidgets")
def notebook_with_tqdm_and_no_ipywidgets(c):
    c.venv()
    c.install("ipykernel==6.29.5", "tqdm==4.67.0")
    notebook(c, "a.ipynb", ["from tqdm.notebook import tqdm", "for i in tqdm(range(3)):\n    pass"])


@broken("https://stackoverflow.com/q/51922480", proof=["{env}/bin/python", "-m", "nbconvert", "--to", "html", "--execute", "{work}/a.ipynb"], error="ipympl|widget", target="{work}/a.ipynb", cause=r"ipympl", level="warning", apply=True, fix="install ipympl")
def notebook_with_matplotlib_widget_and_no_ipympl(c):
    c.venv()
    c.install("ipykernel==6.29.5", "matplotlib==3.9.2", "numpy==1.26.4", "nbconvert==7.16.4")
    notebook(c, "a.ipynb", ["%matplotlib widget\nimport matplotlib.pyplot as plt", "plt.plot([1, 2])"])
