"""Half installed, cleaned too well."""
import shutil
from lib import broken, run
from more import drop


@broken("", proof="import requests; requests.get('https://127.0.0.1:9/')", error="CA certificate bundle|requests.*FileNotFoundError", cause=r"certifi", fix="install certifi again", apply=False, fix_text=r"certifi")
def certifi_without_its_certificates(c):
    c.venv()
    c.install("requests==2.32.3")
    (c.site / "certifi/cacert.pem").unlink()


@broken("", proof="import matplotlib.pyplot", error="matplotlibrc|mpl-data|No such file", cause=r"matplotlib", fix="install matplotlib again", apply=True)
def data_folders_deleted_to_slim_the_image(c):
    c.venv()
    c.install("matplotlib==3.8.4", "numpy==1.26.4")
    shutil.rmtree(c.site / "matplotlib/mpl-data")


@broken("", proof="import xgboost", error="VERSION", cause=r"xgboost", fix="install xgboost again", apply=True)
def files_without_a_suffix_deleted(c):
    """find -type f ! -name '*.*' -delete"""
    c.venv()
    c.install("numpy==1.26.4", "scipy==1.13.1")
    c.install("xgboost-cpu==2.1.4", deps=False)
    for p in (c.site / "xgboost").rglob("*"):
        if p.is_file() and not p.suffix:
            p.unlink()


@broken("", proof="import pandas", error="six", cause=r"\bsix\b", fix="install six", apply=True)
def six_uninstalled_as_of_python_2(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4", "python-dateutil==2.9.0.post0")
    run([c.python, "-m", "pip", "uninstall", "-q", "-y", "six"])


@broken("", proof="import scipy.linalg", error="numpy|scipy|undefined|cannot import|No module", cause=r"numpy|scipy", fix="install numpy again", apply=True)
def numpy_folder_merged_by_a_sync_client(c):
    """Two machines, one folder in the cloud: Python files of NumPy 1.26 in a NumPy 2."""
    c.venv()
    c.install("numpy==2.0.2", "scipy==1.13.1")
    c.unpack(c.wheel("numpy==1.26.4", "manylinux2014_x86_64", python="3.11"), skip=r"dist-info|\.so|tests/|numpy/(core|version)")
