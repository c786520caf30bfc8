"""Variables and settings that stop an import."""
from lib import broken


@broken("", proof="1", error="unknown encoding", cause="PYTHONIOENCODING", fix="unset it, or utf-8", fix_text="PYTHONIOENCODING", env={"PYTHONIOENCODING": "utf8-bom"})
def pythonioencoding_nobody_knows(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof="1", error="invalid PYTHONUTF8", cause="PYTHONUTF8", fix="1, 0 or unset", fix_text="PYTHONUTF8", env={"PYTHONUTF8": "true"})
def pythonutf8_true(c):
    c.venv()
    c.install("numpy==1.26.4")


@broken("", proof="import jax", error="invalid truth value", cause="JAX_ENABLE_X64", fix="1, 0 or unset", fix_text="JAX_ENABLE_X64", env={"JAX_ENABLE_X64": "float64"})
def jax_enable_x64_float64(c):
    c.venv()
    c.install("jax==0.5.0", "numpy==1.26.4")


@broken("", proof="import keras", error="(?i)float8|floatx|AssertionError", cause=r"(?=.*(keras\.json|floatx))", fix="float32, float16 or float64 (bfloat16) in keras.json, or remove the file",
        fix_text=r"keras\.json|floatx|KERAS_HOME", env={"KERAS_HOME": "{home}/settings/keras", "KERAS_BACKEND": "jax"})
def keras_home_with_floatx_float8(c):
    c.venv()
    c.install("keras==3.8.0", "jax==0.5.0", "numpy==1.26.4")
    c.write("{home}/settings/keras/keras.json", '{"floatx": "float8", "epsilon": 1e-07, "backend": "jax", "image_data_format": "channels_last"}')


@broken("", proof="import requests; requests.get('https://127.0.0.1:9/')", error="invalid path", cause=r"REQUESTS_CA_BUNDLE", fix="unset it, or name a file that is there",
        fix_text="REQUESTS_CA_BUNDLE", env={"REQUESTS_CA_BUNDLE": "/opt/corporate/zscaler-ca.pem"}, level="warning")
def requests_ca_bundle_of_the_old_laptop(c):
    c.venv()
    c.install("requests==2.32.5")


@broken("", proof="import keras", error="No module named 'torch'", cause=r"(?=.*torch)(?=.*(backend|KERAS_BACKEND))", fix="install torch, or another backend", fix_text=r"torch|KERAS_BACKEND",
        env={"KERAS_BACKEND": "torch"})
def keras_backend_torch_without_torch(c):
    c.venv()
    c.install("keras==3.8.0", "jax==0.5.0", "numpy==1.26.4")


@broken("", proof="import fs", error="pkg_resources is deprecated", cause="PYTHONWARNINGS", fix="unset it, or not error", fix_text="PYTHONWARNINGS", env={"PYTHONWARNINGS": "error"}, level="warning")
def pythonwarnings_error_of_a_test_run(c):
    c.venv()
    c.install("fs==2.4.16", "setuptools==75.1.0")


@broken("", proof="import matplotlib.pyplot as p; p.figure()", error="(?i)qt", cause=r"(?=.*MPLBACKEND)(?=.*qt)", fix="unset it (or Agg), or install PyQt5", fix_text=r"MPLBACKEND|PyQt|PySide",
        env={"MPLBACKEND": "Qt5Agg"}, level="warning")
def mplbackend_qt_without_qt(c):
    c.venv()
    c.install("matplotlib==3.9.2", "numpy==1.26.4")
