"""What an installation, a copy or a cleaner left."""
import py_compile, shutil, subprocess
import lib
from common import KERNEL, broken, pip_env
from more import base_python, drop


@broken("", proof="import numpy; numpy.array", error="has no attribute", apply=True, cause=r"numpy", fix="install numpy anew")
def init_of_numpy_deleted(c):
    pip_env(c, "numpy==1.26.4")
    drop(c, "numpy/__init__.py", "numpy/__init__.pyi", "numpy/__init__.pxd", "numpy/__init__.cython-30.pxd")


@broken("", proof="import serial; serial.Serial", error="has no attribute 'Serial'", cause=r"\bserial\b|pyserial", apply=True, fix="uninstall serial, install pyserial anew")
def serial_installed_over_pyserial(c):
    pip_env(c, "pyserial==3.5")
    c.install("serial==0.0.97", "setuptools==65.5.1")


@broken("", proof="import ffmpeg; ffmpeg.input", error="has no attribute 'input'", target="{work}/frames.py", cause=r"ffmpeg", fix="uninstall ffmpeg, install ffmpeg-python", fix_text=r"ffmpeg-python", asked_for="undocumented")
def ffmpeg_in_place_of_ffmpeg_python(c):
    pip_env(c, "ffmpeg==1.4", "numpy==1.26.4", "setuptools==65.5.1")
    c.write("{work}/frames.py", "import ffmpeg\n\nout, _ = ffmpeg.input('a.mp4').output('pipe:', format='rawvideo').run(capture_stdout=True)\n")


@broken("", proof="import numpy", error="No such file|not found", cause=r"Windows|Scripts|Lib", fix="make the environment anew here", fix_text=r"venv")
def environment_made_by_windows_opened_in_wsl(c):
    """D:\\proj\\.venv, seen as /mnt/d/proj/.venv"""
    c.write("{env}/pyvenv.cfg", "home = C:\\Python311\r\ninclude-system-site-packages = false\r\nversion = 3.11.7\r\nexecutable = C:\\Python311\\python.exe\r\ncommand = C:\\Python311\\python.exe -m venv D:\\proj\\.venv\r\n")
    for n in ("python.exe", "pythonw.exe", "pip.exe", "activate.bat", "Activate.ps1", "activate"):
        c.write("{env}/Scripts/" + n, b"MZ" + b"\0" * 300 if n.endswith("exe") else b"@echo off\r\n")
    c.unpack(c.wheel("numpy==1.26.4", platform="win_amd64"), to=c.dir / "Lib/site-packages")


@broken("", proof="import numpy", error="Exec format|No such file|Permission|Error", cause=r"bin/python", fix="make the environment anew", fix_text=r"venv|ln ")
def links_became_text_files(c):
    """git on Windows with core.symlinks=false, or a zip: bin/python holds the name it pointed to."""
    pip_env(c, "numpy==1.26.4")
    target = (c.dir / "bin/python").resolve()
    for n in ("python", "python3", "python3.11"):
        (c.dir / "bin" / n).unlink()
        (c.dir / "bin" / n).write_text(str(target) if n == "python" else "python")
        (c.dir / "bin" / n).chmod(0o755)


@broken("", proof="import numpy", error="UnicodeDecodeError|Fatal|decode|No module", cause=r"pyvenv\.cfg", fix="save pyvenv.cfg as UTF-8, or make the environment anew", fix_text=r"pyvenv|iconv|venv")
def pyvenv_cfg_saved_by_powershell(c):
    pip_env(c, "numpy==1.26.4")
    p = c.dir / "pyvenv.cfg"
    lib.rewrite(p, p.read_text().encode("utf-16"))


@broken("", proof="import click; click.version_option; from click import new_in_9", error="new_in_9", cause=r"click|__pycache__|bytecode|stale|\.pyc", fix="remove __pycache__, or install click anew", fix_text=r"pycache|\.pyc|click", asked_for="undocumented")
def unchecked_bytecode_of_the_version_before(c):
    """A build without time stamps: py_compile with unchecked hashes; then the .py files alone were replaced."""
    pip_env(c, "click==8.1.7")
    init = c.site / "click/__init__.py"
    py_compile_in(c, init)
    lib.rewrite(init, init.read_bytes() + b"\nnew_in_9 = True\n")


def py_compile_in(c, path):
    lib.run([c.python, "-c", f"import py_compile; py_compile.compile({str(path)!r}, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"])


@broken("", proof="import numpy", error="Error|pypy", apply=True, cause=r"pypy|numpy", fix="install numpy for this Python")
def numpy_of_pypy(c):
    pip_env(c, "tqdm==4.67.0")
    from lib import ROOT, run
    run([ROOT / "tools/bin/pip", "download", "-q", "--no-deps", "-d", c.root, "--only-binary=:all:", "--platform", "manylinux2014_x86_64", "--python-version", "3.9", "--implementation", "pp", "--abi", "pypy39_pp73", "numpy==1.26.4"])
    c.unpack(next(c.root.glob("numpy*.whl")))


@broken("", proof="import pandas", error="No module named|Error", apply=True, cause=r"pandas", fix="install pandas anew")
def tests_and_everything_named_core_deleted(c):
    """find . -name 'core*' -delete, to get rid of core dumps."""
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    drop(c, "pandas/core")


@broken("", proof="import sqlite3", error="_sqlite3", cause=r"_sqlite3|sqlite", fix="libsqlite3-dev, build Python anew", fix_text=r"sqlite|pyenv|install|build")
def python_built_without_sqlite(c):
    base_python(c)
    drop(c, "lib/python3.11/lib-dynload/_sqlite3*", site=c.root / "base")
    pip_env(c, "nltk==3.9.1", base=c.root / "base/bin/python3.11")


@broken("", proof="import h5py", error="Error|undefined symbol|version", apply=True, cause=r"h5py|libhdf5", fix="install h5py anew")
def libs_of_another_h5py(c):
    """rsync without --delete, interrupted: h5py.libs of 3.8, h5py of 3.12."""
    pip_env(c, "h5py==3.12.1", "numpy==1.26.4")
    shutil.rmtree(c.site / "h5py.libs")
    c.unpack(c.wheel("h5py==3.8.0", platform="manylinux2014_x86_64"), skip=r"^(?!h5py\.libs/)")
