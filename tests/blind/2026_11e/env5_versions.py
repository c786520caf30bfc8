"""Real wheels that the metadata allows together, and that do not fit."""
from lib import broken


@broken("https://github.com/scikit-learn-contrib/imbalanced-learn/issues/1099", proof="import imblearn", error="cannot import name 'parse_version'", apply=True,
        cause=r"imbalanced.learn|imblearn", fix="a newer imbalanced-learn or an older scikit-learn")
def imblearn_012_scikit_learn_16(c):
    c.venv()
    c.install("imbalanced-learn==0.12.0", "scikit-learn==1.6.1", "numpy==1.26.4")


@broken("https://github.com/mwaskom/seaborn/issues/3462", proof="import seaborn", error="register_cmap", apply=True, cause=r"seaborn", fix="a newer seaborn or an older matplotlib")
def seaborn_011_matplotlib_39(c):
    c.venv()
    c.install("seaborn==0.11.2", "matplotlib==3.9.2", "pandas==2.2.3", "numpy==1.26.4")


@broken("https://github.com/statsmodels/statsmodels/issues/9584", proof="import statsmodels.api", error="_lazywhere", apply=True, cause=r"statsmodels", fix="a newer statsmodels or an older scipy")
def statsmodels_0144_scipy_116(c):
    c.venv()
    c.install("statsmodels==0.14.4", "scipy==1.16.0", "numpy==1.26.4", "pandas==2.2.3")


@broken("https://github.com/streamlit/streamlit/issues/6644", proof="import streamlit", error=r"No module named 'altair\.vegalite\.v4'", apply=True, cause=r"altair", fix="altair<5 or a newer streamlit")
def streamlit_119_altair_5(c):
    c.venv()
    c.install("streamlit==1.19.0", "altair==5.3.0", "pyarrow==14.0.2", "numpy==1.26.4", "pandas==1.5.3")


@broken("https://github.com/dpkp/kafka-python/issues/2401", py="3.12", proof="import kafka", error=r"kafka\.vendor\.six\.moves", apply=True, cause=r"kafka", fix="a newer kafka-python")
def kafka_python_202_on_python_312(c):
    c.venv()
    c.install("kafka-python==2.0.2")


@broken("https://github.com/python/importlib_metadata/issues/409", py="3.12", proof="import markdown", error="'EntryPoints' object has no attribute 'get'", apply=True, cause=r"markdown", fix="a newer Markdown")
def markdown_33_on_python_312(c):
    c.venv()
    c.install("markdown==3.3.3")


@broken("https://github.com/pypa/setuptools/issues/3935", py="3.12", proof="import pkg_resources", error="ImpImporter", apply=True, cause=r"setuptools|pkg_resources", fix="a newer setuptools")
def setuptools_65_on_python_312(c):
    c.venv()
    c.install("setuptools==65.5.1", "numpy==1.26.4")


@broken("https://github.com/qubvel/segmentation_models/issues/585", proof="import segmentation_models", error="generic_utils", cause=r"segmentation.models|efficientnet", level="warning",
        fix="SM_FRAMEWORK=tf.keras, or an older TensorFlow (<2.16)", fix_text=r"tensorflow|keras|SM_FRAMEWORK")
def segmentation_models_keras_3(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.0", "segmentation-models==1.0.1", "keras==3.5.0")


@broken("https://github.com/taylormcnally/keras-rl2/issues/14", proof="import rl.agents", error="cannot import name '(model_from_config|__version__)'", cause=r"keras.rl2|\brl\b",
        fix="an older TensorFlow; keras-rl2 is not maintained", fix_text=r"tensorflow|uninstall|keras")
def keras_rl2_tensorflow_217(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.0", "keras==3.5.0")
    c.install("keras-rl2==1.0.5", deps=False)


@broken("https://github.com/tensorflow/hub/issues/903", proof="import tensorflow_hub", error="no attribute 'estimator'", apply=True, cause=r"tensorflow.hub", fix="a newer tensorflow-hub")
def tensorflow_hub_012_tensorflow_217(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.0", "keras==3.5.0", "tensorflow-hub==0.12.0", "setuptools==65.5.1")


@broken("https://github.com/google-deepmind/chex/issues/277", proof="import chex", error="ShardedDeviceArray", apply=True, cause=r"chex", fix="a newer chex or an older jax")
def chex_015_new_jax(c):
    c.venv()
    c.install("chex==0.1.5", "jax==0.4.38", "jaxlib==0.4.38")


@broken("https://github.com/ssut/py-googletrans/issues/418", py="3.13", proof="import googletrans", error="No module named 'cgi'", apply=True, cause=r"\bcgi\b", fix="legacy-cgi, or a newer googletrans")
def googletrans_on_python_313(c):
    c.venv()
    c.install("googletrans==4.0.0rc1")


@broken("https://github.com/tensorflow/datasets/issues/5355", proof="import tensorflow_datasets", error="runtime_version", apply=True, cause=r"tensorflow.metadata|runtime_version", fix="an older tensorflow-metadata")
def tensorflow_datasets_as_pip_installs_them(c):
    c.venv()
    c.install("tensorflow-datasets==4.9.3", "tensorflow-cpu==2.17.0")


@broken("", proof="import pandas_datareader", error="No module named '(six|distutils|setuptools)'", apply=True, cause=r"\bsix\b|distutils", fix="install six (or setuptools)")
def pandas_datareader_that_nobody_gave_six(c):
    c.venv()
    c.install("pandas-datareader==0.10.0", "pandas==2.2.3", "numpy==1.26.4")
