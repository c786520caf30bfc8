"""Wheels that do not fit each other."""
from common import broken, pip_env


@broken("", proof="import pyarrow.lib; import pandas; pandas.DataFrame({'a': [1]}).to_parquet", error="multiarray|_ARRAY_API|numpy", apply=True, cause=r"pyarrow", fix="a newer pyarrow or numpy<2")
def pyarrow_12_numpy_2(c):
    pip_env(c, "pyarrow==12.0.1", "numpy==2.0.2")


@broken("", proof="import cv2", error="partially initialized|has no attribute|gapi", cause=r"opencv|cv2", fix="uninstall both, install one of them", apply=True)
def opencv_and_its_contrib_of_another_version(c):
    pip_env(c, "opencv-contrib-python==4.8.1.78", "numpy==1.26.4")
    c.install("opencv-python==4.5.5.64", deps=False)


@broken("", proof="import cryptography.fernet; import cffi; cffi.FFI()", error="_cffi_backend|Version mismatch", apply=True, cause=r"cffi", fix="install cffi anew")
def cffi_backend_of_another_version(c):
    pip_env(c, "cffi==1.17.1", "cryptography==43.0.3")
    c.unpack(c.wheel("cffi==1.15.1", platform="manylinux2014_x86_64"), skip=r"^(?!_cffi_backend)")


@broken("", proof="import gym.wrappers.atari_preprocessing; import numpy; import tables", error="dtype size|Error", apply=True, cause=r"tables", fix="a newer tables or numpy<2")
def pytables_39_numpy_2(c):
    pip_env(c, "tables==3.9.2", "numpy==2.0.2", "gym==0.26.2")


@broken("", proof="import nltk; import regex; import textacy", error="Error", cause=r"textacy|spacy|networkx|scipy|scikit", apply=True, fix="a newer textacy or an older library")
def textacy_011_and_the_newest_around_it(c):
    pip_env(c, "textacy==0.11.0", "numpy==1.26.4", "scipy==1.14.1", "scikit-learn==1.5.2", "networkx==3.4.2")


@broken("", proof="import plotly.express", error="xarray|pandas|narwhals|Error", apply=True, cause=r"pandas|plotly", fix="install pandas", target="{work}/plot.py")
def plotly_express_without_pandas(c):
    pip_env(c, "plotly==5.9.0")
    c.write("{work}/plot.py", "import plotly.express as px\n\npx.bar(x=[1], y=[2]).write_html('a.html')\n")


@broken("", proof="import tensorboard.program, tensorboard.default", error="distutils|pkg_resources|imp|Error", py="3.12", apply=True, cause=r"distutils|setuptools|pkg_resources", fix="install setuptools or a newer version")
def old_tensorboard_on_python_312(c):
    pip_env(c, "tensorboard==2.11.2", "numpy==1.26.4")
