"""Wheels that do not fit each other."""
from common import broken, pip_env


@broken("", proof="import pyarrow.lib; import pandas; pandas.DataFrame({'a': [1]}).to_parquet", error="multiarray|_ARRAY_API|numpy", apply=True, cause=r"pyarrow", fix="a newer pyarrow or numpy<2")
def pyarrow_12_numpy_2(c):
    pip_env(c, "pyarrow==12.0.1", "numpy==2.0.2")


@broken("", proof="import cv2", error="partially initialized|has no attribute|gapi", cause=r"opencv|cv2", fix="uninstall both, install one of them", apply=True)
def opencv_and_its_contrib_of_another_version(c):
    pip_env(c, "opencv-contrib-python==4.8.1.78", "numpy==1.26.4")
    c.install("opencv-python==4.5.5.64", deps=False)


