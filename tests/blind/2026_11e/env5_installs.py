"""What an installation left."""
import shutil, subprocess
from lib import broken
from more import base_python, drop


@broken("https://github.com/pallets/flask/issues/5259", proof="import flask", error="url_quote", apply=True, cause=r"werkzeug|flask", fix="a newer Flask; the Python is managed by others, so pip wants to be told")
def flask_22_in_a_python_managed_by_others(c):
    """As Homebrew's and uv's Pythons are: pip refuses without --break-system-packages."""
    c.dir.parent.mkdir(parents=True, exist_ok=True)
    base_python(c, to=c.dir)
    subprocess.run([str(c.python), "-m", "ensurepip"], check=True, capture_output=True)
    subprocess.run([str(c.python), "-m", "pip", "install", "-q", "flask==2.2.2", "werkzeug==3.0.1"], check=True, capture_output=True)
    c.write("{env}/lib/python3.11/EXTERNALLY-MANAGED", "[externally-managed]\nError=This Python is managed by the distribution.\n")


@broken("https://stackoverflow.com/q/54665842", proof="import numpy", error="_multiarray_umath|numpy", apply=True, cause=r"windows|\.pyd|win.amd64", fix="install numpy for this system")
def packages_copied_from_windows(c):
    c.venv()
    c.unpack(c.wheel("numpy==1.26.4", platform="win_amd64"))


@broken("https://github.com/jupyter/nbconvert/issues/1394", proof=["{env}/bin/python", "-m", "nbconvert", "--to", "html", "{work}/a.ipynb"], error="template|No such file", apply=True,
        cause=r"nbconvert", fix="install nbconvert anew")
def nbconvert_without_its_share_folder(c):
    """The environment was copied into an image by its lib and bin alone."""
    c.venv()
    c.install("nbconvert==7.16.4")
    shutil.rmtree(c.dir / "share")
    c.write("{work}/a.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')


@broken("https://stackoverflow.com/q/56085015", proof="import fitz; fitz.open", error="frontend|no attribute 'open'|No module", apply=True, cause=r"\bfitz\b|pymupdf", fix="PyMuPDF in place of what hides it")
def pymupdf_whose_fitz_was_uninstalled(c):
    """pip uninstall fitz, as the answers say, takes PyMuPDF's folder of that name along."""
    c.venv()
    c.install("PyMuPDF==2.0")
    drop(c, "fitz")


@broken("https://github.com/pypa/pip/issues/5240", proof=["{env}/bin/pip", "--version"], error="cannot import name 'main'", cause=r"\bpip\b", level="warning", fix="write the program anew: python -m pip install --force-reinstall pip", apply=True)
def program_pip_of_an_older_pip(c):
    c.venv()
    c.write("{env}/bin/pip", "#!{env}/bin/python\nimport sys\nfrom pip import main\nif __name__ == '__main__':\n    sys.exit(main())\n").chmod(0o755)
    c.write("{site}/pip/__init__.py", '__version__ = "24.2"\n')
    info = c.site / "pip-24.2.dist-info/RECORD"
    import lib, re
    lib.rewrite(info, re.sub(r"(?m)^pip/__init__.py,.*$", lambda _: lib.record_line(c.site, c.site / "pip/__init__.py").rstrip(), info.read_text()).encode())
