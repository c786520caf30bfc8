"""Packages that do not fit each other or their Python though pip was content."""
from lib import broken

SK = ("scikit-learn==1.9.1", "scipy==1.17.1", "numpy==2.4.6")


@broken("https://github.com/reiinakano/scikit-plot/issues/119", proof="import scikitplot", error="cannot import name 'interp' from 'scipy'",
        cause=r"interp.*scipy|scipy.*interp|scikit.?plot.*scipy", fix="SciPy below 1.12, or do without scikit-plot", py="3.11",
        fix_text=r"scipy\W*(<|==|~=)|uninstall.*scikit.plot")
def scikit_plot_scipy_interp(c):
    c.venv()
    c.install("scikit-plot==0.3.7", "matplotlib==3.11.2", *SK)


@broken("https://github.com/pyca/pyopenssl/issues/1179", proof="import OpenSSL", error="module 'lib' has no attribute", apply=True,
        cause=r"py.?openssl.*cryptography|cryptography.*py.?openssl|OpenSSL", fix="pip install -U pyOpenSSL")
def pyopenssl_21_with_a_new_cryptography(c):
    c.venv()
    c.install("pyopenssl==21.0.0", "cryptography==50.0.2", "six")


@broken("https://github.com/codelucas/newspaper/issues/1007", proof="import newspaper", error="lxml_html_clean", apply=True,
        cause=r"html.?clean", fix="pip install lxml_html_clean")
def newspaper_without_lxml_html_clean(c):
    c.venv()
    c.install("newspaper3k==0.2.8", "lxml==6.1.3")


@broken("https://github.com/jiaaro/pydub/issues/815", proof="from pydub import AudioSegment", error="No module named 'pyaudioop'", py="3.13", apply=True,
        cause=r"audioop", fix="pip install audioop-lts")
def pydub_on_python_313(c):
    c.venv()
    c.install("pydub==0.25.1")


@broken("https://github.com/tensorflow/tensorboard/issues/6964", proof=["{env}/bin/tensorboard", "--version"], error="No module named 'imghdr'", py="3.13", apply=True,
        cause=r"imghdr", fix="a newer tensorboard, or standard-imghdr")
def tensorboard_217_on_python_313(c):
    c.venv()
    c.install("tensorboard==2.17.1", "setuptools==79.0.1")


@broken("", proof=["{env}/bin/tensorboard", "--version"], error="No module named 'pkg_resources'", apply=True,
        cause=r"pkg_resources", fix="setuptools<81, or a newer tensorboard")
def tensorboard_and_setuptools_84(c):
    c.venv()
    c.install("tensorboard==2.17.1", "setuptools==84.2.1")


@broken("https://github.com/epsilon-machine/missingpy/issues/27", proof="from missingpy import MissForest", error="No module named 'sklearn.neighbors.base'",
        cause=r"sklearn\.neighbors\.base|missingpy.*(scikit.learn|sklearn)", fix="do without missingpy (scikit-learn below 0.22 does not exist for this Python)",
        fix_text=r"uninstall.*missingpy|scikit.learn\W*<")
def missingpy_sklearn_neighbors_base(c):
    c.venv()
    c.install("missingpy==0.2.0", *SK)


@broken("https://github.com/CamDavidsonPilon/lifelines/issues/1618", proof="import lifelines", error="cannot import name 'trapz' from 'scipy.integrate'", apply=True,
        cause=r"trapz|lifelines.*scipy", fix="a newer lifelines, or scipy<1.14")
def lifelines_scipy_trapz(c):
    c.venv()
    c.install("lifelines==0.27.8", "scipy==1.17.1", "numpy==1.26.4")


@broken("", proof="import aiofiles", error="module 'asyncio' has no attribute 'coroutine'", apply=True,
        cause=r"asyncio.*coroutine|aiofiles.*Python", fix="a newer aiofiles")
def aiofiles_asyncio_coroutine(c):
    c.venv()
    c.install("aiofiles==0.4.0")


@broken("", proof="from jose import jwt", error="Missing parentheses in call to 'print'",
        cause=r"(jose.*(python 2|syntax|print))|((python 2|syntax|print).*jose)", fix="pip uninstall jose; pip install python-jose", fix_text=r"uninstall.*\bjose|python-jose")
def jose_of_python_2(c):
    c.venv()
    c.install("jose==1.0.0")


@broken("https://github.com/python-openxml/python-docx/issues/405", proof="import docx", error="No module named 'exceptions'",
        cause=r"exceptions|docx.*(python 2|python-docx)", fix="pip uninstall docx; pip install python-docx", fix_text=r"uninstall.*\bdocx|python-docx")
def docx_in_place_of_python_docx(c):
    c.venv()
    c.install("docx==0.2.4")


@broken("https://github.com/rcmalli/keras-vggface/issues/73", proof="import keras_vggface", error="cannot import name 'layer_utils' from 'keras.utils'",
        cause=r"keras\.engine|layer_utils|keras.vggface.*keras", fix="do without keras-vggface, or Keras 2.2", fix_text=r"uninstall.*keras.vggface|keras\W*(<|==)\W*2")
def keras_vggface_keras_engine_topology(c):
    c.venv()
    c.install("keras-vggface==0.6", "keras-applications==1.0.8", "keras==3.15.1", "tensorflow-cpu==2.21.0", "pillow", "pyyaml", "six", "scipy")


@broken("https://github.com/qubvel/segmentation_models/issues/577", proof="import segmentation_models", error="module 'keras.utils' has no attribute 'generic_utils'",
        cause=r"generic_utils|(efficientnet|segmentation.models).*keras", fix="SM_FRAMEWORK=tf.keras, or an older Keras, or a newer efficientnet",
        fix_text=r"SM_FRAMEWORK|keras\W*(<|==)\W*2|efficientnet|uninstall.*segmentation")
def segmentation_models_generic_utils(c):
    c.venv()
    c.install("segmentation-models==1.0.1", "efficientnet==1.0.0", "image-classifiers==1.0.0", "keras==3.15.1", "tensorflow-cpu==2.21.0")


@broken("https://github.com/deshaw/versioned-hdf5/issues/243", proof="import h5py", error="module 'numpy' has no attribute 'typeDict'", py="3.8", apply=True,
        cause=r"typeDict|h5py.*numpy", fix="a newer h5py, or numpy<1.24")
def h5py_210_numpy_typedict(c):
    c.venv()
    c.install("h5py==2.10.0", "numpy==1.24.4")


@broken("", proof="import matplotlib.pyplot", error="numpy.core.multiarray failed to import", apply=True,
        cause=r"matplotlib.*numpy|numpy.*matplotlib", fix="a newer matplotlib, or numpy<2")
def matplotlib_37_numpy_2(c):
    c.venv()
    c.install("matplotlib==3.7.1", "numpy==2.4.6", "contourpy==1.3.3")


@broken("https://github.com/pymc-devs/pymc/issues/5322", proof="import theano", error="has no attribute 'blas_opt_info'", py="3.9", apply=True,
        cause=r"blas_opt_info|theano.*numpy", fix="numpy<1.22")
def theano_numpy_blas_opt_info(c):
    c.venv()
    c.install("theano-pymc==1.1.2", "numpy==1.22.4", "scipy==1.7.3")


@broken("https://github.com/oobabooga/textgen/issues/7284", proof="import gradio", error="cannot import name 'HfFolder' from 'huggingface_hub'", apply=True,
        cause=r"HfFolder|gradio.*hugging", fix="huggingface_hub<1, or a newer gradio")
def gradio_4_hugging_face_hub_1(c):
    c.venv()
    c.install("gradio==4.44.0", "huggingface_hub>=1.0")


@broken("https://github.com/Data-Centric-AI-Community/fg-data-profiling/issues/1647", proof="import pandas_profiling", error="BaseSettings.*has been moved", py="3.10", apply=True,
        cause=r"BaseSettings|pandas.profiling.*pydantic|pydantic.*pandas.profiling", fix="pydantic<2, or ydata-profiling")
def pandas_profiling_pydantic_2(c):
    c.venv()
    c.install("pandas-profiling==3.2.0", "pydantic>=2", "numpy<2")


@broken("https://github.com/openai/openai-python/issues/1902", proof="import openai; openai.OpenAI(api_key='x')", error="unexpected keyword argument 'proxies'", apply=True,
        cause=r"proxies|openai.*httpx|httpx.*openai", fix="httpx<0.28, or a newer openai", level="warning", asked_for="undocumented")
def openai_httpx_proxies(c):
    c.venv()
    c.install("openai==1.40.0", "httpx==0.28.1")


@broken("https://github.com/google/flax/issues/3180", proof="import flax.linen", error="jax", apply=True,
        cause=r"flax.*jax|jax.*flax", fix="a newer flax, or an older jax")
def flax_072_new_jax(c):
    c.venv()
    c.install("flax==0.7.2", "jax==0.10.2", "jaxlib==0.10.2", "optax", "orbax-checkpoint", "tensorstore", "msgpack", "rich", "pyyaml")


@broken("https://github.com/pytorch/text/issues/2186", proof="import torchtext", error="undefined symbol|Could not load this library|libtorchtext", py="3.10", apply=True,
        cause=r"torchtext.*torch\b|undefined symbol", fix="torchtext 0.13.1, which fits torch 1.12.1")
def torchtext_of_another_torch(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4", "requests", "tqdm")
    c.install("torchtext==0.14.1", deps=False)


@broken("", proof="import torchvision; torchvision.ops.nms", error="undefined symbol|nms|Couldn't load|incompatible", py="3.10", apply=True,
        cause=r"torchvision.*torch\b", fix="torchvision 0.13.1, which fits torch 1.12.1")
def torch_downgraded_under_torchvision(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4", "pillow", "requests", "typing-extensions")
    c.install("torchvision==0.16.2", deps=False)


@broken("https://github.com/TorchIO-project/torchio/issues/886", proof="import pytorch_lightning", error="torchmetrics|_compare_version|get_num_classes", py="3.10", apply=True,
        cause=r"torchmetrics|lightning.*metrics", fix="torchmetrics<0.8, or a newer pytorch-lightning")
def lightning_14_torchmetrics_08(c):
    c.venv()
    c.install("pytorch-lightning==1.4.4", "torchmetrics==0.8.2", "torch==1.12.1", "numpy==1.26.4", "setuptools==59.5.0", "six")


@broken("https://github.com/pytorch/pytorch/issues/132179", proof="import torch; torch.from_numpy(__import__('numpy').zeros(3))", error="Numpy is not available", py="3.10", apply=True,
        cause=r"torch.*numpy|numpy.*torch", fix="numpy<2", level="warning")
def torch_112_numpy_2(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==2.2.6")


@broken("https://github.com/catherinedevlin/ipython-sql/issues/252", proof=["{env}/bin/ipython", "-c", "%load_ext sql\n%sql sqlite://\nr = get_ipython().run_line_magic('sql', 'select 1 as a')\nprint('rows', r)\nassert 'a' in str(r)"], error="KeyError: 'DEFAULT'|DEFAULT",
        cause=r"prettytable", fix="prettytable<3.8", fix_text=r"prettytable\W*(<|==)", level="warning", asked_for="undocumented")
def ipython_sql_prettytable_default(c):
    c.venv()
    c.install("ipython-sql==0.5.0", "prettytable==3.18.0", "ipython==8.37.0", "sqlalchemy<2.1")
