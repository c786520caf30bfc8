"""Versions that do not fit each other though their metadata allows it; real wheels, each proved by importing."""
from lib import broken


def pair(url, what, proof, error, cause, fix, py="3.11", apply=True, **kw):
    def made(f):
        def build(c):
            c.venv()
            c.install(*what)
        build.__name__, build.__module__ = f.__name__, f.__module__
        return broken(url, proof=proof, error=error, cause=cause, fix=fix, py=py, apply=apply, **kw)(build)
    return made


@pair("https://github.com/maxcountryman/flask-login/issues/787", ("flask-login==0.6.2", "werkzeug==3.0.1", "flask==2.3.3"), "import flask_login", "url_decode",
      r"(flask.login).*(werkzeug|url_decode)|werkzeug.*flask.login", "flask-login>=0.6.3, or werkzeug<3")
def flask_login_werkzeug_3(): pass


@pair("", ("xarray==2023.6.0", "numpy==2.0.2", "pandas==2.2.3"), "import xarray", "np.unicode_",
      r"xarray.*(numpy|unicode_)|numpy.*xarray", "xarray>=2024, or numpy<2")
def xarray_numpy_2_unicode(): pass


@pair("", ("dask[dataframe]==2023.5.0", "pandas>=3"), "import dask.dataframe", "Dask dataframe|cannot import|has no attribute|was removed",
      r"dask.*(pandas|numpy)|(pandas|numpy).*dask", "a newer dask, or pandas<3")
def dask_dataframe_pandas_3(): pass


@pair("https://github.com/whitphx/stlite/issues/560", ("streamlit==1.12.0", "altair>=5", "protobuf<3.21", "numpy<2"), "import streamlit", r"altair.vegalite.v4",
      r"streamlit.*altair|altair.*streamlit", "altair<5, or a newer streamlit", py="3.10")
def streamlit_altair_vegalite_v4(): pass


@pair("", ("onnx==1.11.0", "protobuf>=4", "numpy<2"), "import onnx", "Descriptors cannot",
      r"onnx.*protobuf|protobuf.*onnx|Descriptors", "onnx>=1.13, or protobuf<3.21", py="3.9")
def onnx_protobuf_4_descriptors(): pass


@pair("", ("flask==1.1.2", "jinja2==3.1.6", "itsdangerous==2.0.1", "werkzeug==2.0.3"), "import flask", "cannot import name 'escape'",
      r"flask.*(jinja2|escape)|jinja2.*flask", "flask>=2, or jinja2<3.1", py="3.9")
def flask_112_jinja2_escape(): pass


@pair("https://github.com/sloria/environs/issues/416", ("environs==9.5.0", "marshmallow>=4"), "import environs", "__version_info__",
      r"environs.*marshmallow|marshmallow.*environs|__version_info__", "marshmallow<4, or environs>=14")
def environs_marshmallow_4(): pass


@pair("", ("arviz==0.17.0", "scipy==1.14.1", "numpy==1.26.4", "pandas==2.2.3", "matplotlib==3.8.4"), "import arviz", "gaussian",
      r"arviz.*(scipy|gaussian)|scipy.*arviz", "arviz>=0.17.1, or scipy<1.13")
def arviz_scipy_signal_gaussian(): pass


@pair("", ("numpyro==0.12.1", "jax", "jaxlib"), "import numpyro", "host_callback",
      r"numpyro.*(jax|host_callback)|jax.*numpyro", "a newer numpyro, or an older jax")
def numpyro_jax_host_callback(): pass


@pair("", ("chex==0.1.7", "jax", "jaxlib"), "import chex", r"jax.core.*Shape",
      r"chex.*(jax|Shape)|jax.*chex", "a newer chex, or an older jax")
def chex_jax_core_shape(): pass


@pair("", ("pycocotools==2.0.7", "numpy==2.0.2"), "import pycocotools.mask", "numpy.dtype size changed",
      r"pycocotools.*numpy|numpy.*pycocotools", "pycocotools>=2.0.8, or numpy<2")
def pycocotools_numpy_2(): pass


@pair("https://github.com/hydra-ecosystem/hydra/pull/2418", ("hydra-core==1.0.7",), "import hydra", "mutable default",
      r"hydra.*(3\.11|mutable|dataclass)|(3\.11|mutable).*hydra", "hydra-core>=1.2, or Python 3.10")
def hydra_core_10_on_python_311(): pass


@pair("", ("pydantic==1.10.13", "fastapi==0.100.1"), "import fastapi", "recursive_guard",
      r"pydantic.*(3\.13|3\.12|recursive_guard|ForwardRef|Python)", "pydantic>=1.10.19 (or 2), or Python 3.12.3", py="3.13")
def pydantic_11013_on_python_313(): pass


@pair("", ("sqlalchemy==2.0.25",), "import sqlalchemy.orm", "TypingOnly",
      r"sqlalchemy.*(3\.13|TypingOnly|Python)", "sqlalchemy>=2.0.31, or Python 3.12", py="3.13")
def sqlalchemy_2025_on_python_313(): pass


@pair("", ("opencv-python-headless==4.9.0.80", "numpy==2.0.2"), "import cv2", "_ARRAY_API|multiarray failed",
      r"opencv.*numpy|numpy.*opencv|cv2", "opencv>=4.10, or numpy<2")
def opencv_49_numpy_2(): pass


@pair("", ("librosa==0.8.1", "numpy==1.24.4", "numba==0.57.1", "scipy==1.10.1"), "import librosa.core", "has no attribute 'complex'",
      r"librosa.*(numpy|complex)|numpy.*librosa", "librosa>=0.10, or numpy<1.24", py="3.9")
def librosa_08_numpy_complex(): pass


@pair("", ("parsimonious==0.8.1",), "import parsimonious", "getargspec",
      r"parsimonious.*(getargspec|3\.11|inspect)|getargspec", "parsimonious>=0.9")
def parsimonious_getargspec(): pass


@pair("", ("keras==2.13.1",), "import keras", "No module named 'tensorflow'",
      r"keras.*tensorflow|tensorflow.*keras", "install tensorflow 2.13 (or keras>=3 and a backend)", fix_text=r"tensorflow|keras", apply=False)
def keras_2_without_tensorflow(): pass
