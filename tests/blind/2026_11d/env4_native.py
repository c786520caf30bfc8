"""Native libraries and the interpreter's own parts."""
import shutil
from lib import broken, rewrite
from more import base_python, drop


@broken("https://github.com/pytorch/pytorch/issues/131312", proof="import ctypes; ctypes.CDLL('{site}/nvidia/cusparse/lib/libcusparse.so.12')", error="nvJitLink",
        cause=r"nvjitlink|nvJitLink", fix="a newer nvidia-nvjitlink-cu12", apply=True)
def cusparse_newer_than_its_nvjitlink(c):
    c.venv()
    c.install("nvidia-cusparse-cu12==12.3.1.170", "nvidia-nvjitlink-cu12==12.1.105")


@broken("", proof="import json", error="No module named 'json'", cause=r"json", fix="install Python again, make the environment anew", fix_text=r"venv|python|Python")
def folder_json_lost_when_python_was_copied(c):
    base = base_python(c)
    c.venv(base=base)
    c.install("numpy==1.26.4")
    shutil.rmtree(c.root / "base/lib/python3.11/json")


@broken("", proof="import docker", error="No module named 'distutils", cause=r"distutils", fix="install setuptools, or the system's python3-distutils, or a newer docker", py="3.10",
        fix_text=r"distutils|setuptools|docker")
def debian_python_without_distutils(c):
    base = base_python(c)
    c.venv(base=base)
    c.install("docker==4.4.4", "urllib3<2")
    drop(c, "setuptools*", "_distutils_hack", "pkg_resources", "distutils-precedence.pth")
    shutil.rmtree(c.root / "base/lib/python3.10/distutils")


@broken("", proof="import h5py", error="ELF|cannot|undefined|truncated|failed to map|too short|invalid|Bus|signal", cause=r"h5py|damaged|library", fix="install h5py again", apply=True)
def copied_by_ftp_in_text_mode(c):
    """Each CR LF became LF: libraries shrink here and there."""
    c.venv()
    c.install("h5py==3.12.1", "numpy==1.26.4")
    for so in (c.site / "h5py").glob("*.so"):
        rewrite(so, so.read_bytes().replace(b"\r\n", b"\n"))
    for so in c.site.glob("h5py.libs/*"):
        rewrite(so, so.read_bytes().replace(b"\r\n", b"\n"))


@broken("", proof="import cryptography.hazmat.bindings._rust", error="undefined symbol|ImportError|abi", cause=r"cryptography|abi3|python", fix="the wheel for this Python", py="3.8", apply=True)
def abi3_wheel_chosen_for_a_newer_python(c):
    c.venv()
    c.install("cffi")
    c.unpack(c.wheel("cryptography==44.0.2", "manylinux_2_28_x86_64", python="3.11"))
