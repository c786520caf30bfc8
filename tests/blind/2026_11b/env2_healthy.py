"""Odd, and working: the doctor must find no error. Each proof imports and uses what is there."""
import base64, hashlib, json, os, shutil, subprocess, zipfile
import lib
from lib import ROOT, UV, healthy, record_line, rewrite, run
from more import base_python, drop
from env2_jupyter import JUPYTER, start

CACHE = {"UV_CACHE_DIR": str(ROOT / "uvcache"), "UV_LINK_MODE": "hardlink"}


@healthy(proof="import tensorflow as t; assert float(t.reduce_sum(t.ones((3, 3)))) == 9; import keras; keras.layers.Dense(3)")
def h_tensorflow_cpu(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.1")


@healthy(proof="import keras, numpy; m = keras.Sequential([keras.layers.Dense(3)]); assert m(numpy.ones((2, 4))).shape == (2, 3)", py="3.12", env={"KERAS_BACKEND": "jax"})
def h_newest_keras_on_jax_python_312(c):
    c.venv()
    c.install("keras", "jax")


@healthy(proof="import jupyterlab.labapp, notebook.app, nbconvert, jupyter_server.serverapp, ipywidgets\n" + start(), py="3.12")
def h_jupyterlab_and_notebook(c):
    c.venv()
    c.install("jupyterlab", "notebook", "ipywidgets", "jupyter_client")


@healthy(proof="import sklearn.linear_model as l, pandas, numpy as n; l.LinearRegression().fit(n.eye(3), [1, 2, 3]); assert 'base' in n.__file__")
def h_system_packages_and_a_newer_one_in_the_environment(c):
    base = base_python(c)
    c.venv("--system-site-packages", base=base)
    c.install("numpy==1.26.4", "pandas==2.2.2", "scikit-learn==1.5.2", "scipy==1.13.1", to=c.root / "base/lib/python3.11/site-packages")
    c.install("scikit-learn==1.6.1", deps=False)


@healthy(proof="import polars, numpy; assert polars.Series([1, 2]).sum() == 3", py="3.13")
def h_made_by_uv_without_pip(c):
    run([UV, "venv", "-q", "--python", next(lib.PYTHONS.glob("3.13.*")) / "bin/python", c.dir], env=os.environ | CACHE)
    run([UV, "pip", "install", "-q", "--python", c.python, "polars==1.12.0", "numpy==2.1.3"], env=os.environ | CACHE)


@healthy(proof="import numpy, pandas, ssl, sqlite3; pandas.DataFrame({'a': [1]})", env={"VIRTUAL_ENV": None, "CONDA_PREFIX": "{env}", "CONDA_DEFAULT_ENV": "{env}"})
def h_conda_layout(c):
    base_python(c, c.dir)
    (c.dir / "bin/python").unlink(missing_ok=True)
    (c.dir / "bin/python").symlink_to("python3.11")
    c.install("numpy==1.26.4", "pandas==2.2.2", "pip==24.2", "setuptools==75.1.0", options=["--break-system-packages"])
    for f in c.site.glob("*.dist-info/INSTALLER"):
        rewrite(f, b"conda\n")
    for f in c.site.glob("*.dist-info"):
        if f.name.startswith(("numpy", "pandas")):        # conda packages often have these empty or without hashes
            rewrite(f / "RECORD", "\n".join(l.split(",")[0] + ",," for l in (f / "RECORD").read_text().split("\n") if l).encode() + b"\n")
    (c.dir / "conda-meta").mkdir()
    (c.dir / "conda-meta/history").write_text("==> 2026-10-01 10:00:00 <==\n# cmd: conda create -n x python=3.11 numpy pandas\n")
    for n, v in (("python", "3.11.7"), ("numpy", "1.26.4"), ("pandas", "2.2.2")):
        (c.dir / f"conda-meta/{n}-{v}-py311h0_0.json").write_text(json.dumps({"name": n, "version": v, "build": "py311h0_0", "channel": "conda-forge", "files": [], "depends": []}))


@healthy(proof="import shop, shop.cart, numpy; assert shop.cart.total() == 6")
def h_poetry_project(c):
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{root}/my shop/src/shop/__init__.py", "__version__ = '0.1.0'\n")
    c.write("{root}/my shop/src/shop/cart.py", "import numpy\n\ndef total():\n    return int(numpy.array([1, 2, 3]).sum())\n")
    (c.site / "shop.pth").write_text(f"{c.root}/my shop/src\n")
    c.dist("shop", "0.1.0", files=["shop.pth"], requires=["numpy (>=1.26,<3.0)"])
    info = c.site / "shop-0.1.0.dist-info"
    rewrite(info / "INSTALLER", b"poetry 1.8.3")
    (info / "direct_url.json").write_text(json.dumps({"dir_info": {"editable": True}, "url": f"file://{c.root}/my%20shop"}))


@healthy(proof="import bigtool, bigtool.parts; assert bigtool.parts.x == 1")
def h_editable_with_a_finder(c):
    c.venv()
    c.install("setuptools==75.1.0")
    c.write("{root}/bigtool/pyproject.toml", '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "bigtool"\nversion = "2.0"\n'
            '[tool.setuptools]\npackage-dir = {bigtool = "code"}\npackages = ["bigtool"]\n')
    c.write("{root}/bigtool/code/__init__.py", "")
    c.write("{root}/bigtool/code/parts.py", "x = 1\n")
    run([c.python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "-e", c.root / "bigtool"], env=c.environ())


@healthy(proof="import attrs, rich; assert '.local' in rich.__file__", env={"VIRTUAL_ENV": None})
def h_user_site(c):
    base_python(c, c.dir)
    (c.dir / "bin/python").unlink(missing_ok=True)
    (c.dir / "bin/python").symlink_to("python3.11")
    c.install("attrs==26.1.0", "pip==24.2", options=["--break-system-packages"])
    c.install("rich==15.0.0", to=c.home / ".local/lib/python3.11/site-packages")


@healthy(proof="import google.auth, google.protobuf.message, google.api.http_pb2, google.rpc.status_pb2")
def h_namespace_google_of_three_projects(c):
    c.venv()
    c.install("google-auth==2.50.0", "googleapis-common-protos", "protobuf==5.29.6", "requests==2.32.5")


@healthy(proof="import colorama_zip, numpy; assert '.egg' in colorama_zip.__file__ and colorama_zip.RED == 31")
def h_zipped_egg(c):
    c.venv()
    c.install("numpy==1.26.4")
    with zipfile.ZipFile(c.site / "colorama_zip-1.2-py3.11.egg", "w") as z:
        z.writestr("colorama_zip/__init__.py", "RED = 31\n")
        z.writestr("EGG-INFO/PKG-INFO", "Metadata-Version: 1.1\nName: colorama-zip\nVersion: 1.2\n")
        z.writestr("EGG-INFO/zip-safe", "\n")
        z.writestr("EGG-INFO/requires.txt", "numpy\n")
        z.writestr("EGG-INFO/top_level.txt", "colorama_zip\n")
    (c.site / "easy-install.pth").write_text("./colorama_zip-1.2-py3.11.egg\n")


@healthy(proof="import jsonschema, referencing, cryptography.fernet, orjson, tokenizers, rpds; jsonschema.validate(1, {'type': 'integer'}); orjson.dumps({})", py="3.12")
def h_names_out_of_native_star_imports(c):
    c.venv()
    c.install("jsonschema", "cryptography", "orjson", "tokenizers")


@healthy(proof="import skimage, scipy, huggingface_hub; skimage.data.camera; scipy.stats.norm; huggingface_hub.hf_hub_download; from skimage import filters, io; from huggingface_hub import HfApi", py="3.12")
def h_lazy_loaders(c):
    c.venv()
    c.install("scikit-image", "huggingface_hub")


@healthy(proof="import requests, tqdm, yaml; requests.Session()")
def h_kept_in_git_with_windows_line_ends(c):
    c.venv()
    c.install("requests==2.32.5", "tqdm==4.70.1", "pyyaml==6.0.3")
    for d in ("requests", "tqdm", "yaml"):
        for f in (c.site / d).rglob("*.py"):
            rewrite(f, f.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


@healthy(proof="import tqdm, tqdm.auto, packaging.version")
def h_compiled_files_that_python_ignores(c):
    c.venv()
    c.install("tqdm==4.70.1", "packaging==26.3")
    subprocess.run([str(c.python), "-m", "compileall", "-q", str(c.site / "tqdm"), str(c.site / "packaging")], check=True)
    for i, f in enumerate(sorted(c.site.glob("*/__pycache__/*.pyc"))):    # wholly zero, empty, or of another Python under this name: compiled anew each time
        data = f.read_bytes()
        rewrite(f, [bytes(len(data)), b"", b"\xcb\x0d\x0d\x0a" + data[4:]][i % 3])


@healthy(proof="import numpy, tempfile; tempfile.mkdtemp(); numpy.ones(3)", env={"LD_PRELOAD": "/usr/lib/libtcmalloc_gone.so.4", "TMPDIR": "/scratch/nobody/gone", "OMP_NUM_THREADS": "4,2",
                                                                                "PYTHONSTARTUP": "/gone/startup.py", "MPLCONFIGDIR": "/nonexistent/mpl", "PYTHONDEVMODE": "", "KERAS_HOME": "/nonexistent/keras"})
def h_variables_that_name_what_is_gone(c):
    c.venv()
    c.install("numpy==1.26.4")


@healthy(proof="import numpy, pandas; pandas.Series([1])", wrap=["unshare", "-m", "bash", "-c", 'mount --bind {env} {env} && mount -o remount,ro,bind {env}; exec "$@"', "sh"])
def h_read_only_environment(c):
    c.venv()
    c.install("numpy==1.26.4", "pandas==2.2.2")


@healthy(proof="import sklearn.ensemble, matplotlib.pyplot, pandas, seaborn, statsmodels.api; pandas.DataFrame({'a': [1]}).describe()", py="3.13", env={"MPLBACKEND": "Agg"})
def h_newest_data_science_on_python_313(c):
    c.venv()
    c.install("scikit-learn", "matplotlib", "pandas", "seaborn", "statsmodels")


@healthy(proof="import sklearn.svm, pandas, scipy.stats, h5py; pandas.DataFrame({'a': [1]})", py="3.8")
def h_python_38_with_the_last_that_fit(c):
    c.venv()
    c.install("scikit-learn==1.3.2", "pandas==2.0.3", "numpy==1.24.4", "h5py==3.11.0", "scipy==1.10.1")


@healthy(proof="import numpy, requests, yaml; assert 'layer' in numpy.__file__", env={"PYTHONPATH": "{root}/layer/python"})
def h_all_packages_in_a_target_folder(c):
    c.venv()
    c.install("numpy==2.1.3", "requests==2.32.5", "pyyaml==6.0.3", to=c.root / "layer/python")


@healthy(proof="import zope.event, zope.interface, numpy; zope.event.notify(1)")
def h_namespace_by_a_path_file(c):
    c.venv()
    c.install("zope.interface==6.4", "zope.event==5.0", "numpy==1.26.4", "setuptools==75.1.0")


@healthy(proof="import yaml, six, numpy")
def h_installed_by_the_distribution_without_record(c):
    c.venv()
    c.install("pyyaml==6.0.3", "six==1.17.0", "numpy==1.26.4")
    for n in ("pyyaml*", "six*"):
        info = next(c.site.glob(n + ".dist-info"))
        shutil.copy(info / "METADATA", c.site / (info.name.removesuffix(".dist-info") + "-py3.11.egg-info"))
        shutil.rmtree(info)
    info = next(c.site.glob("numpy-*.dist-info"))
    (info / "RECORD").unlink()
    rewrite(info / "INSTALLER", b"debian\n")
