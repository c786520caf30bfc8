"""Libraries of the system."""
from common import broken, pip_env
from more import without


@broken("", proof="import pyzbar.pyzbar", error="zbar", wrap=without("libzbar"), cause=r"zbar", fix="apt install libzbar0", fix_text=r"libzbar")
def pyzbar_without_zbar(c):
    pip_env(c, "pyzbar==0.1.9")


@broken("", proof="import enchant", error="enchant", wrap=without("libenchant"), cause=r"enchant", fix="apt install libenchant-2-2", fix_text=r"enchant")
def pyenchant_without_enchant(c):
    pip_env(c, "pyenchant==3.2.2")


@broken("", proof="import soundfile", error="sndfile", wrap=without("libsndfile"), cause=r"sndfile", fix="apt install libsndfile1, or a newer soundfile", fix_text=r"sndfile|soundfile")
def old_soundfile_without_libsndfile(c):
    pip_env(c, "soundfile==0.10.3.post1", "numpy==1.26.4", "cffi==1.17.1")


@broken("", proof="from PyQt5 import QtWidgets", error="libGL|libglib|cannot open", wrap=without("libGL.so", "libgthread-2.0"), cause=r"libGL|libgthread", fix="apt install libgl1 libglib2.0-0", fix_text=r"libgl|mesa|glib")
def pyqt5_in_a_slim_image(c):
    pip_env(c, "PyQt5==5.15.11")
