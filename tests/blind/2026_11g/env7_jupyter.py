"""Jupyter's own configuration."""
import json
from common import KERNEL, broken, notebook, pip_env


@broken("", proof="import Cython", error="Cython", target="{work}/a.ipynb", cause=r"cython", apply=True, fix="install cython")
def notebook_with_cython_cells_and_no_cython(c):
    pip_env(c, "ipykernel==6.29.5", "numpy==1.26.4")
    notebook(c, "a.ipynb", ["%load_ext Cython", "%%cython\ndef f(int n):\n    cdef int i, s = 0\n    for i in range(n):\n        s += i\n    return s", "f(10)"])


@broken("", proof=KERNEL, error="died|Kernel|Error|No module", cause=r"debugpy|ipykernel|psutil|kernel", fix="install what is missing", apply=True)
def kernel_after_comm_and_psutil_were_pruned(c):
    """pip-autoremove took what "nobody uses"."""
    from more import drop
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.kernel()
    drop(c, "psutil", "psutil-*", "comm", "comm-*", "matplotlib_inline", "matplotlib_inline-*")
