"""Variables and places."""
from common import KERAS, KERNEL, broken, pip_env
from more import drop


@broken("", proof="import jax.numpy as j; j.ones(2)", error="JAX_|Error", env={"JAX_DISABLE_JIT": "sometimes", "JAX_PLATFORMS": "cpu"}, cause=r"JAX_DISABLE_JIT", fix="unset it", fix_text=r"JAX_DISABLE_JIT")
def jax_disable_jit_sometimes(c):
    pip_env(c, *KERAS)


@broken("", proof="import requests; requests.get('https://pypi.org')", error="certificate|SSL|CA|Error", env={"REQUESTS_CA_BUNDLE": "{home}/corp.pem", "CURL_CA_BUNDLE": None, "SSL_CERT_FILE": None}, cause=r"REQUESTS_CA_BUNDLE|corp\.pem", fix="a PEM file with certificates, or unset", fix_text=r"REQUESTS_CA_BUNDLE|corp\.pem")
def ca_bundle_is_empty(c):
    pip_env(c, "requests==2.32.3")
    c.write("{home}/corp.pem", b"")


@broken("", proof="import matplotlib.font_manager, matplotlib.pyplot as p; p.figure()", error="tkinter|Error", env={"MPLBACKEND": "TkAgg"}, py="3.11", cause=r"MPLBACKEND|tkinter", fix="unset MPLBACKEND, or python3-tk", fix_text=r"MPLBACKEND|tk")
def mplbackend_tk_in_a_python_without_tk(c):
    from more import base_python
    base_python(c)
    drop(c, "lib/python3.11/lib-dynload/_tkinter*", site=c.root / "base")
    pip_env(c, "matplotlib==3.9.2", "numpy==1.26.4", base=c.root / "base/bin/python3.11")
