"""Versions that do not fit each other, from real wheels; each proved by importing."""
from lib import broken

@broken("https://github.com/tensorflow/tensorflow/issues/98406", proof="import pandas", error="numpy.dtype size changed|_ARRAY_API",
        cause=r"pandas.*numpy|numpy.*pandas", fix="pandas>=2.2.2, or numpy<2", apply=True)
def pandas_15_numpy_2(e):
    e.venv(); e.install("pandas==1.5.3", "numpy<2"); e.install("numpy==2.0.2", deps=False)


@broken("https://github.com/numba/numba/issues/10033", proof="import numba", error="Numba needs NumPy",
        cause=r"numba.*numpy|numpy.*numba", fix="numpy<1.27, or a newer numba", apply=True)
def numba_numpy_too_new(e):
    e.venv(); e.install("numba==0.58.1"); e.install("numpy==2.1.3", deps=False)


@broken("https://github.com/piskvorky/gensim/issues/3530", proof="import gensim", error="cannot import name 'triu'",
        cause=r"gensim.*(scipy|triu)", fix="scipy<1.13, or gensim>=4.3.3", apply=True)
def gensim_scipy_triu(e):
    e.venv(); e.install("gensim==4.3.2", "scipy==1.13.1")


@broken("https://github.com/jax-ml/jax/issues/17693", proof="import jax", error="ml_dtypes",
        cause=r"ml[_-]dtypes", fix="ml_dtypes>=0.4", apply=True)
def jax_old_ml_dtypes(e):
    e.venv(); e.install("jax==0.5.0", "jaxlib==0.5.0", "numpy<2.1"); e.install("ml_dtypes==0.3.2", deps=False)


@broken("", proof="import keras", error="optree|typing_extensions",
        cause=r"typing[_-]extensions", fix="a newer typing_extensions", apply=True, env={"KERAS_BACKEND": "jax"})
def keras_old_typing_extensions(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4"); e.install("typing_extensions==4.5.0", deps=False)


@broken("https://github.com/OpenMined/courses/issues/428", proof="import jinja2", error="soft_unicode",
        cause=r"jinja2.*markupsafe|markupsafe.*jinja2|soft_unicode", fix="jinja2>=3, or markupsafe<2.1", apply=True)
def jinja2_markupsafe(e):
    e.venv(); e.install("jinja2==2.11.3", "markupsafe==2.1.5")


@broken("https://github.com/jupyter/nbconvert/issues/1742", proof="import nbconvert.exporters", error="ipython_genutils",
        cause=r"nbconvert.*ipython_genutils", fix="ipython_genutils, or a newer nbconvert", apply=True, py="3.10")
def nbconvert_jinja2_contextfilter(e):
    """Written for jinja2's contextfilter; as frozen it "proved" only by its own name in a path. What really fails is ipython_genutils, and the
    cause was corrected after the first run."""
    e.venv(); e.install("nbconvert==6.3.0", "jinja2==3.1.6", "mistune==0.8.4", "packaging")


@broken("https://github.com/jupyter/nbconvert/issues/1864", proof="import nbconvert.exporters", error="mistune",
        cause=r"mistune", fix="mistune<2, or nbconvert>=7", apply=True, py="3.10")
def nbconvert_mistune_2(e):
    e.venv(); e.install("nbconvert==6.4.5", "packaging"); e.install("mistune==2.0.5", deps=False)


@broken("https://github.com/alvarobartt/investiny/issues/86", proof="import pydantic", error="pydantic.core",
        cause=r"pydantic.core", fix="the pydantic-core that pydantic asks for", apply=True)
def pydantic_core_other(e):
    e.venv(); e.install("pydantic==2.12.5"); e.install("pydantic-core==2.33.2", deps=False)


@broken("https://github.com/aleju/imgaug/issues/859", proof="import imgaug", error="np.sctypes|sctypes",
        cause=r"imgaug.*(numpy|np\.|sctypes)", fix="numpy<2 (imgaug has no newer release)", apply=True)
def imgaug_numpy_sctypes(e):
    e.venv(); e.install("imgaug==0.4.0", "numpy==2.0.2", "opencv-python-headless==4.10.0.84")


@broken("https://github.com/huggingface/transformers/issues/27580", proof="import transformers", error="tokenizers.*is required",
        cause=r"transformers.*tokenizers|tokenizers.*transformers", fix="tokenizers<0.14, or a newer transformers", apply=True)
def transformers_tokenizers(e):
    e.venv(); e.install("transformers==4.30.2", "numpy<2"); e.install("tokenizers==0.19.1", deps=False)


@broken("https://github.com/huggingface/datasets/issues/7742", proof="import datasets", error="PyExtensionType",
        cause=r"datasets.*(pyarrow|PyExtensionType)", fix="pyarrow<21, or a newer datasets", apply=True)
def datasets_pyarrow_21(e):
    e.venv(); e.install("datasets==2.14.5", "numpy<2", "fsspec==2023.6.0"); e.install("pyarrow==21.0.0", deps=False)


@broken("", proof="import keras", error="optree|namex|rich|absl|ModuleNotFound",
        cause=r"optree|namex", fix="install what Keras requires", apply=True, env={"KERAS_BACKEND": "jax"})
def keras_without_its_requirements(e):
    e.venv(); e.install("numpy==1.26.4", "absl-py", "h5py", "ml_dtypes", "jax==0.4.35", "jaxlib==0.4.35"); e.install("keras==3.8.0", "packaging", "rich", deps=False)


@broken("https://github.com/nicknochnack/ImageClassification/issues/3", proof="import tensorflow as tf; tf.constant(1)", error="builder|protobuf",
        cause=r"protobuf", fix="protobuf>=3.20.3,<5", apply=True)
def tensorflow_protobuf_too_old(e):
    e.venv(); e.install("tensorflow-cpu==2.15.1"); e.install("protobuf==3.19.6", deps=False)


@broken("https://github.com/tensorflow/probability/issues/1795", proof="import tensorflow_probability as tfp; tfp.distributions.Normal", error="requires TensorFlow version >= 2.18",
        cause=r"probability.*2\.18", fix="TensorFlow>=2.18 with its tf-keras, or an older TFP with tf-keras 2.17", apply=True)
def probability_without_tf_keras(e):
    """Written for the missing tf-keras; as frozen it "proved" only by its own name in a path. TFP 0.25 first refuses TensorFlow below 2.18 (a
    check in its code, not in its metadata); tf-keras would fail next. The cause was corrected after the first run."""
    e.venv(); e.install("tensorflow-cpu==2.17.1", "tensorflow-probability==0.25.0")


@broken("https://github.com/tensorflow/addons/issues/2865", proof="import tensorflow_addons", error="keras.src.engine|keras",
        cause=r"tensorflow[_-]addons.*(keras|tensorflow)", fix="TensorFlow<2.16 with its Keras 2 (addons ended), or do without addons", apply=True)
def addons_keras_3(e):
    e.venv(); e.install("tensorflow-cpu==2.17.1", "tensorflow-addons==0.23.0")


@broken("https://github.com/tensorflow/text/issues/961", proof="import tensorflow_text", error="undefined symbol|NotFoundError",
        cause=r"tensorflow[_-]text", fix="the tensorflow-text of TensorFlow's version", apply=True)
def text_of_another_tensorflow(e):
    e.venv(); e.install("tensorflow-cpu==2.17.1"); e.install("tensorflow-text==2.15.0", deps=False)


@broken("", proof="import keras", error="Error", real=True,
        cause=r"keras", fix="a Keras that fits TensorFlow 2 (2.15 or 3)", apply=True)
def keras_224_tensorflow_2(e):
    e.venv(); e.install("tensorflow-cpu==2.15.1", "pyyaml", "six", "scipy==1.11.4", "Keras-Applications", "Keras-Preprocessing")
    e.install("keras==2.2.4", deps=False)


@broken("https://github.com/huggingface/transformers/issues/36410", proof="from transformers import TFBertModel", error="tf-keras|tf_keras|Keras 3",
        cause=r"tf[_-]keras|keras 3", fix="install tf-keras", apply=True)
def transformers_keras_3(e):
    e.venv(); e.install("tensorflow-cpu==2.17.1", "transformers==4.44.2")


@broken("https://github.com/feast-dev/feast/issues/4437", proof="from grpc_health.v1 import health_pb2", error="runtime_version",
        cause=r"protobuf", fix="protobuf>=5.26, or an older grpcio-health-checking", apply=True)
def protobuf_without_runtime_version(e):
    e.venv(); e.install("grpcio-health-checking==1.71.0"); e.install("protobuf==4.25.8", deps=False)


@broken("", proof="import gym", error="distutils|imp|pkg_resources|Error", py="3.12",
        cause=r"gym.*(distutils|imp\b|pkg_resources|setuptools|python 3\.12)|distutils", fix="setuptools (brings distutils back), or gymnasium", apply=True)
def distutils_gone_in_312(e):
    e.venv(); e.install("numpy<2", "cloudpickle", "gym-notices"); e.install("gym==0.23.1", deps=False)
