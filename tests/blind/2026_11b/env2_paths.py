"""What Python finds first."""
import shutil
from lib import broken, rewrite
from more import base_python


@broken("https://github.com/ericvsmith/dataclasses/issues/168", proof="from pydantic import BaseModel", error="has no attribute '_ClassVar'|unexpected keyword argument 'slots'", cause=r"(?=.*dataclasses)", fix="take dataclasses out of that folder, or the folder off PYTHONPATH",
        fix_text=r"PYTHONPATH|dataclasses", env={"PYTHONPATH": "{work}/libs"})
def dataclasses_backport_on_pythonpath(c):
    c.venv()
    c.install("pydantic==2.8.2")
    c.install("dataclasses==0.6", to=c.work / "libs", deps=False)


@broken("", proof="import requests", error="(cannot import name|has no attribute).*queue|queue", cause=r"queue\.py", fix="rename the file", fix_text=r"\b(mv|rename|move|rm)\b.*queue")
def own_queue_py_beside_the_notebook(c):
    c.venv()
    c.install("requests==2.32.5")
    c.write("{work}/queue.py", "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, x):\n        self.items.append(x)\n")


@broken("", proof="import ipykernel.kernelapp", error="(module 'copy' has no attribute|cannot import name).*", cause=r"copy\.py", fix="rename the file", fix_text=r"\b(mv|rename|move|rm)\b.*copy\.py")
def own_copy_py_beside_the_notebook(c):
    c.venv()
    c.install("ipykernel==6.29.5", "ipython<9.9")
    c.write("{work}/copy.py", "import sys\n\nif len(sys.argv) > 2:\n    open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())\n")


@broken("", proof="import numpy", error="UnicodeDecodeError", cause=r"(?=.*\.pth)", fix="write the file anew as UTF-8, or remove it", fix_text=r"\.pth", env={"LC_ALL": "C.UTF-8"})
def path_file_in_latin_1(c):
    c.venv()
    c.install("numpy==1.26.4")
    (c.site / "projekt.pth").write_bytes("/home/jürgen/projekt/quellen\n".encode("latin-1"))


@broken("", proof="import solver", error="No module named 'solver'", cause=r"(?=.*(easy-install\.pth|egg-link|solver))(?=.*(gone|not there|exist|missing|moved|nowhere))",
        fix="install it again from where it is now, or uninstall it", fix_text=r"install|easy-install|egg-link", level="warning")
def developed_package_whose_folder_was_renamed(c):
    c.venv()
    src = c.root / "solver-old"
    (src / "solver").mkdir(parents=True)
    (src / "solver/__init__.py").write_text("answer = 42\n")
    (src / "solver.egg-info").mkdir()
    (src / "solver.egg-info/PKG-INFO").write_text("Metadata-Version: 2.1\nName: solver\nVersion: 0.3\n")
    (c.site / "easy-install.pth").write_text(f"{src}\n")
    (c.site / "solver.egg-link").write_text(f"{src}\n.")
    src.rename(c.root / "solver")


@broken("", proof="import jsonschema", error="No module named 'attrs'", cause=r"(?=.*attrs)(?=.*(20\.3|jsonschema|referencing|old))", fix="attrs>=22.2 into the environment", apply=True)
def system_packages_bring_an_old_attrs(c):
    base = base_python(c)
    c.venv("--system-site-packages", base=base)
    c.install("attrs==20.3.0", to=c.root / "base/lib/python3.11/site-packages")
    c.install("jsonschema==4.26.0", "referencing==0.37.0", "rpds-py==0.30.0", "jsonschema-specifications==2025.9.1", "typing-extensions==4.16.0", deps=False)
