"""Versions that do not fit. Real wheels; `apply`: the printed command is run and the import must work afterwards."""
from lib import broken


def pair(url, what, proof, error, cause, fix, py="3.11", apply=True, fix_text="", **kw):
    """An environment of these requirements; those after a "!" are installed over it without looking at requirements."""
    def made(f):
        def build(c):
            c.venv()
            c.install(*[w for w in what if w[0] != "!"])
            late = [w[1:] for w in what if w[0] == "!"]
            if late:
                c.install(*late, deps=False)
        build.__name__, build.__module__ = f.__name__, f.__module__
        return broken(url, proof=proof, error=error, cause=cause, fix=fix, py=py, apply=apply, fix_text=fix_text, **kw)(build)
    return made


@pair("https://github.com/Neurotech-HQ/heyoo/issues/106", ["flask==2.2.2", "werkzeug==3.0.6"], "import flask", "cannot import name 'url_quote'",
      r"(?=.*werkzeug)(?=.*flask)", "werkzeug<3, or flask>=2.3")
def flask_22_werkzeug_3(): pass


@pair("https://github.com/statsmodels/statsmodels/issues/9584", ["statsmodels==0.14.4", "scipy==1.17.1", "numpy==2.1.3", "pandas==2.2.2"], "import statsmodels.api",
      "cannot import name '_lazywhere'", r"(?=.*statsmodels)(?=.*scipy)", "statsmodels>=0.14.5, or scipy<1.16")
def statsmodels_scipy_lazywhere(): pass


@pair("https://github.com/easydiffusion/easydiffusion/issues/1851", ["diffusers==0.25.0", "huggingface_hub==0.36.2"], "import diffusers",
      "cannot import name 'cached_download'", r"(?=.*diffusers)(?=.*huggingface.hub)", "diffusers>=0.29, or huggingface_hub<0.26")
def diffusers_cached_download(): pass


@pair("https://github.com/movingpandas/movingpandas-examples/issues/31", ["bokeh==2.4.3", "numpy==2.1.3"], "import bokeh.models",
      "has no attribute 'bool8'", r"(?=.*bokeh)(?=.*numpy)", "bokeh>=3.4 (or >=3), or numpy<2")
def bokeh_numpy_bool8(): pass


@pair("https://github.com/mwaskom/seaborn/issues/3711", ["seaborn==0.11.2", "matplotlib==3.11.2", "numpy==2.1.3", "pandas==2.2.2", "scipy==1.15.3"], "import seaborn",
      "has no attribute 'register_cmap'", r"(?=.*seaborn)(?=.*matplotlib)", "seaborn>=0.13, or matplotlib<3.9")
def seaborn_register_cmap(): pass


@pair("https://github.com/scikit-learn-contrib/imbalanced-learn/issues/1070", ["imbalanced-learn==0.11.0", "scikit-learn==1.6.1", "numpy==1.26.4", "scipy==1.15.3"], "import imblearn.over_sampling",
      r"(ImportError|AttributeError).*", r"(?=.*(imbalanced|imblearn))(?=.*(scikit|sklearn))", "imbalanced-learn>=0.13, or scikit-learn<1.5")
def imblearn_scikit_learn_16(): pass


@pair("", ["requests-toolbelt==0.9.1", "urllib3==2.6.3", "requests==2.32.5"], "import requests_toolbelt", "cannot import name 'appengine'|No module named",
      r"(?=.*toolbelt)(?=.*(urllib3|requests))", "requests-toolbelt>=1, or urllib3<2")
def requests_toolbelt_urllib3_2(): pass


@pair("", ["networkx==2.2"], "import networkx", "cannot import name '(gcd|Mapping)' from '(fractions|collections)'", r"(?=.*networkx)(?=.*(gcd|fractions|mapping|collections|python))",
      "networkx>=2.5")
def networkx_22_names_gone_from_python(): pass


@pair("", ["attrdict==2.0.1"], "import attrdict", "cannot import name 'Mapping' from 'collections'", r"(?=.*attrdict)(?=.*(collections|mapping|python))",
      "no newer version works: uninstall it, another package (attrdict3), or a Python below 3.10", apply=False, fix_text=r"uninstall|attrdict3|3\.9|older python|instead")
def attrdict_on_python_311(): pass


@pair("https://github.com/BigBodyCobain/Shadowbroker/issues/437", ["feedparser==6.0.10"], "import feedparser", "No module named 'cgi'", r"(?=.*feedparser)(?=.*cgi)", "feedparser>=6.0.11, or legacy-cgi", py="3.13")
def feedparser_cgi_on_python_313(): pass


@pair("https://github.com/dpkp/kafka-python/issues/2401", ["kafka-python==2.0.2"], "import kafka", "No module named 'kafka.vendor.six.moves'",
      r"(?=.*kafka)(?=.*(six|3\.12|python))", "kafka-python>=2.0.3", py="3.12")
def kafka_vendored_six_on_python_312(): pass


@pair("https://github.com/python/cpython/issues/108541", ["fs==2.4.16", "setuptools==65.5.1"], "import fs", "has no attribute 'ImpImporter'", r"(?=.*(setuptools|pkg_resources))(?=.*(impimporter|3\.12|python|pkgutil))",
      "setuptools>=66.1 and below 82, where pkg_resources is gone", py="3.12")
def setuptools_impimporter_on_python_312(): pass


@pair("", ["tensorboardX==2.4.1", "protobuf==4.25.9", "numpy==1.26.4", "six"], "import tensorboardX", "Descriptors cannot", r"(?=.*protobuf)(?=.*tensorboardx)",
      "tensorboardX>=2.6, or protobuf<3.21")
def tensorboardx_descriptors(): pass


@pair("https://github.com/albumentations-team/albumentations/issues/1947", ["albumentations==1.4.10", "albucore==0.0.24", "opencv-python-headless==4.10.0.84", "numpy==1.26.4"], "import albumentations",
      r"(ImportError|cannot import name)", r"(?=.*albumentations)(?=.*albucore)", "albumentations>=1.4.11 that fits, or an older albucore")
def albumentations_albucore(): pass


@pair("", ["faiss-cpu==1.8.0", "numpy==2.1.3", "packaging"], "import faiss", r"_ARRAY_API not found|numpy.core.multiarray failed|compiled using NumPy 1", r"(?=.*faiss)(?=.*numpy)",
      "faiss-cpu>=1.8.0.post1, or numpy<2")
def faiss_numpy_2(): pass
