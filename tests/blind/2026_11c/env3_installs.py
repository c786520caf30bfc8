"""Installations that went wrong or were treated badly afterwards."""
import shutil, subprocess
import lib
from lib import broken
from more import base_python, drop

OTHER = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]


@broken("", proof=["{env}/bin/python", "-m", "pip", "--version"], error="No module named 'pip\\.|cannot import name .* from 'pip",
        cause=r"\bpip\b", fix="python -m ensurepip --upgrade (pip itself cannot)", fix_text=r"ensurepip|get-pip|uv pip|venv")
def pip_upgrade_stopped_halfway(c):
    c.venv()
    c.install("numpy==2.4.6")
    shutil.rmtree(c.site / "pip/_internal/cli")
    (c.site / "pip-24.2.dist-info").rename(c.site / "~ip-24.2.dist-info")


@broken("", proof=["{env}/bin/jupyter-kernelspec", "list"], error="No such file or directory|bad interpreter|Errno 2",
        cause=r"moved|renamed|copied|another place|interpreter|shebang|scripts?", fix="make the environment anew", fix_text=r"venv|anew|reinstall|install")
def project_folder_renamed(c):
    real, c.dir = c.dir, c.root / "oldproject/venv"
    try:
        c.python, c.site = c.dir / "bin/python", c.dir / "lib/python3.11/site-packages"
        c.venv()
        c.install("jupyter_client==8.6.3")
    finally:
        made, c.dir = c.dir, real
        c.python, c.site = c.dir / "bin/python", c.dir / "lib/python3.11/site-packages"
    made.rename(c.dir)
    made.parent.rmdir()


@broken("", proof="print(1)", error="No such file|Errno 2",
        cause=r"interpreter|python.*(gone|missing|not there|does not exist|no longer)|base", fix="make the environment anew with a Python that is there", fix_text=r"venv|anew|install")
def pyenv_version_uninstalled(c):
    base = base_python(c, to=c.root / "versions/3.11.7")
    c.venv(base=base)
    c.install("numpy==2.4.6")
    shutil.rmtree(c.root / "versions")


@broken("", proof="import tensorflow as tf; tf.keras", error="module 'tensorflow' has no attribute 'keras'",
        cause=r"tensorflow", fix="remove the folder, install TensorFlow", fix_text=r"install|rm ", level="warning")
def tensorflow_uninstalled_but_its_folder_stayed(c):
    c.venv()
    c.install("numpy==2.4.6")
    c.write("{site}/tensorflow/include/external/README.local", "kept\n")
    c.write("{site}/tensorflow/python/ops/my_patch.py", "X = 1\n")


@broken("", proof="import pandas; pandas.DataFrame", error="Permission denied|has no attribute 'DataFrame'|No module named 'pandas'", wrap=OTHER,
        cause=r"permission|read|readable|access|mode|owner", fix="chmod -R a+rX, or reinstall with umask 022", fix_text=r"chmod|umask|install")
def installed_by_root_with_umask_077(c):
    c.venv(base="/usr/bin/python3.11")     # other users cannot reach pyenv's in /root
    c.install("pandas==2.2.3", "numpy==2.2.6")
    for d in ("pandas", "pandas-2.2.3.dist-info"):
        # copies, since modes of hard links are shared with the cache
        shutil.copytree(c.site / d, c.root / "tmp")
        shutil.rmtree(c.site / d)
        shutil.move(c.root / "tmp", c.site / d)
        subprocess.run(["chmod", "-R", "go-rwx", str(c.site / d)], check=True)
    for p in (lib.ROOT, lib.ROOT / "envs", c.root, c.home, c.work):
        p.chmod(0o755)


@broken("", proof="import fastmath; fastmath.twice(2)", error="No module named 'fastmath._native'|_native",
        cause=r"fastmath|cp310|3\.10|cpython-310", fix="install the project again for this Python", fix_text=r"install|build")
def editable_project_built_for_the_last_python(c):
    c.venv()
    c.write("{root}/fastmath/pyproject.toml", '[project]\nname = "fastmath"\nversion = "0.3"\n')
    c.write("{root}/fastmath/src/fastmath/__init__.py", "from ._native import twice\n")
    c.write("{root}/fastmath/src/fastmath/_native.c", "#include <Python.h>\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, \"_native\", 0, -1, 0};\nPyObject* PyInit__native(void) { return PyModule_Create(&m); }\n")
    inc = next(lib.PYTHONS.glob("3.10.*")) / "include/python3.10"
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{inc}", "-o", str(c.root / "fastmath/src/fastmath/_native.cpython-310-x86_64-linux-gnu.so"),
                    str(c.root / "fastmath/src/fastmath/_native.c")], check=True)
    c.write("{site}/__editable__.fastmath-0.3.pth", "{root}/fastmath/src\n")
    c.dist("fastmath", "0.3", files=["__editable__.fastmath-0.3.pth"])


@broken("", proof="import ipykernel.kernelapp", error="No module named 'tornado|cannot import name|tornado", apply=True,
        cause=r"tornado", fix="reinstall tornado")
def half_of_tornado_removed_by_a_cleaner(c):
    c.venv()
    c.install("ipykernel==7.4.0")
    drop(c, "tornado/platform", "tornado/util.py", "tornado/log.py")
