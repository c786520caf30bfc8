"""Odd, and fine: no error may be told."""
import pathlib, shutil, subprocess
import lib
from lib import healthy
from more import base_python, drop

START = str(pathlib.Path(lib.__file__).parent / "start_kernel.py")
KERAS = ("keras==3.15.1", "jax==0.10.2", "jaxlib==0.10.2")


@healthy(proof=["{env}/bin/python", START, "shared"], env={"PATH": "/usr/bin:/bin:{env}/bin"})
def h_kernelspec_with_a_bare_python3(c):
    """Jupyter puts its own interpreter in place of a bare python3."""
    c.venv()
    c.install("ipykernel==7.4.0")
    c.write("{home}/.local/share/jupyter/kernels/shared/kernel.json",
            '{"argv": ["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Shared", "language": "python"}')


@healthy(proof="import numpy; numpy.zeros(3)", env={"PYTHONUSERBASE": "{home}/.local"})
def h_usercustomize_that_fails(c):
    """Python says so and goes on."""
    c.venv("--system-site-packages")
    c.install("numpy==2.4.6")
    c.write("{home}/.local/lib/python3.11/site-packages/usercustomize.py", "import company_setup\n")


@healthy(proof="import numpy; numpy.zeros(3)", env={"LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"})
def h_preload_of_a_library_that_is_gone(c):
    """The loader says that it is ignored."""
    c.venv()
    c.install("numpy==2.4.6")


@healthy(proof="import numpy")
def h_distutils_precedence_left_behind(c):
    """setuptools was removed by hand; each start prints a line."""
    c.venv()
    c.install("numpy==2.4.6")
    drop(c, "setuptools*", "_distutils_hack", "pkg_resources")
    assert (c.site / "distutils-precedence.pth").exists()


@healthy(proof="import torch; torch.zeros(3).sum()", py="3.10")
def h_torch_with_cuda_inside_and_no_gpu(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4", "torchvision==0.13.1")


@healthy(proof="import tensorflow as tf; assert float(tf.reduce_sum(tf.ones(3))) == 3", env={"TF_CPP_MIN_LOG_LEVEL": "0", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": "-1", "XLA_FLAGS": ""})
def h_tensorflow_with_settings_people_copy(c):
    c.venv()
    c.install("tensorflow-cpu==2.21.0", "keras==3.15.1", "ipykernel==7.4.0", "matplotlib==3.11.2", "pandas")


@healthy(proof="import tensorflow as tf; tf.keras.Sequential", env={"TF_USE_LEGACY_KERAS": "1"})
def h_legacy_keras_that_is_there(c):
    c.venv()
    c.install("tensorflow-cpu==2.21.0", "keras==3.15.1")
    c.install("tf-keras", deps=False)


@healthy(proof="import cv2, numpy; cv2.resize(numpy.zeros((4, 4), 'uint8'), (2, 2))")
def h_opencv_headless_for_albumentations(c):
    """opencv-python is wanted by name; the headless one gives the same module."""
    c.venv()
    c.install("opencv-python-headless==4.10.0.84", "numpy==1.26.4")


@healthy(proof="import pandas, pyarrow; pandas.Series([1])")
def h_pip_check_complains_and_all_works(c):
    """A requirement of a tool nobody imports is too old."""
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4", "pyarrow==17.0.0", "pytz", "python-dateutil", "tzdata")
    c.install("tabulate==0.8.10", deps=False)
    c.dist("reporting-tool", "1.0", requires=["tabulate>=0.9"])


@healthy(proof=["{env}/bin/python", START, "python3", "import requests"])
def h_history_database_is_damaged(c):
    """IPython moves it away and makes a new one."""
    c.venv()
    c.install("ipykernel==7.4.0", "requests==2.32.3")
    c.write("{home}/.ipython/profile_default/history.sqlite", b"SQLite format 3\0" + b"\x10\0\1\1" + b"\xff" * 3000)


@healthy(proof=["{env}/bin/python", START, "python3"])
def h_startup_script_of_ipython_fails(c):
    c.venv()
    c.install("ipykernel==7.4.0")
    c.write("{home}/.ipython/profile_default/startup/00-imports.py", "import pandas as pd\nimport seaborn as sns\n")


@healthy(proof="import numpy, scipy.linalg; scipy.linalg.eigh(numpy.eye(3))", env={"OMP_NUM_THREADS": "0", "MKL_NUM_THREADS": "", "OPENBLAS_NUM_THREADS": "64", "NUMEXPR_MAX_THREADS": "4"})
def h_odd_numbers_of_threads(c):
    c.venv()
    c.install("numpy==2.4.6", "scipy==1.17.1")


@healthy(proof="import pandas, random, test_helpers", env={"PYTHONPATH": "{work}:{work}/src:"})
def h_notebooks_named_like_packages(c):
    """pandas.ipynb, numpy.csv, a folder tensorflow without Python files."""
    c.venv()
    c.install("pandas==2.2.3", "numpy==2.2.6")
    for n in ("pandas.ipynb", "numpy.csv", "keras.txt", "tensorflow/model/saved_model.pb", "torch.pt"):
        c.write("{work}/" + n, "{}")
    c.write("{work}/src/test_helpers.py", "x = 1\n")


@healthy(proof="import yaml, numpy", py="3.12")
def h_python_312_without_setuptools(c):
    """No distutils, no pkg_resources, and nothing that wants them at import."""
    c.venv()
    c.install("numpy==2.4.6", "pyyaml", "nltk==3.9.1", "joblib")


@healthy(proof="import keras; keras.models.load_model('{work}/model.keras')", target="{work}/model.keras", env={"KERAS_BACKEND": "jax"})
def h_model_with_an_odd_name_and_a_comment(c):
    """A .keras file with a zip comment and a further member."""
    c.venv()
    c.install(*KERAS)
    failed, said = c.prove("import keras; m = keras.Sequential([keras.Input((4,), name='Größe'), keras.layers.Dense(2, name='dense.1')]); m.save('{work}/model.keras')")
    assert not failed, said
    import zipfile
    with zipfile.ZipFile(c.work / "model.keras", "a") as z:
        z.writestr("notes.txt", "trained on Tuesday")
        z.comment = b"v3"


@healthy(proof="import keras; keras.models.load_model('{work}/net.h5', compile=False)", target="{work}/net.h5", env={"KERAS_BACKEND": "jax"})
def h_h5_with_user_block_and_more_groups(c):
    c.venv()
    c.install(*KERAS)
    failed, said = c.prove("""
import keras, h5py, numpy
m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]); m.save('{work}/a.h5')
with h5py.File('{work}/a.h5') as a, h5py.File('{work}/net.h5', 'w', userblock_size=512) as b:
    for k in a: a.copy(k, b)
    for k, v in a.attrs.items(): b.attrs[k] = v
    b['history/loss'] = numpy.arange(9.0)
    b.attrs['author'] = 'someone'
""")
    assert not failed, said


@healthy(proof="import jupyter_server, jupyterlab, notebook, nbconvert")
def h_jupyterlab_with_extensions_that_are_gone(c):
    """Configuration that enables extensions nobody has: Jupyter says so and starts."""
    c.venv()
    c.install("jupyterlab==4.3.4", "notebook==7.3.2")
    c.write("{env}/etc/jupyter/jupyter_server_config.d/jupyterlab_git.json", '{"ServerApp": {"jpserver_extensions": {"jupyterlab_git": true}}}')
    c.write("{home}/.jupyter/jupyter_notebook_config.json", '{"NotebookApp": {"nbserver_extensions": {"jupyter_nbextensions_configurator": true}}}')


@healthy(proof="import numpy, scipy", py="3.11")
def h_environment_reached_by_a_link_and_a_space(c):
    real = c.root / "my envs/science 2026"
    real.parent.mkdir()
    c.venv()
    c.install("numpy==2.4.6", "scipy==1.17.1")
    c.dir.rename(real)
    c.dir.symlink_to(real)


@healthy(proof="import attr, attrs, numpy", py="3.10")
def h_old_metadata_beside_new(c):
    """egg-info of a distribution's package beside dist-info of pip's newer one, elsewhere on the path."""
    c.venv()
    c.install("attrs==26.1.0", "numpy==1.26.4")
    c.write("{work}/attrs-19.1.0.egg-info/PKG-INFO", "Metadata-Version: 1.1\nName: attrs\nVersion: 19.1.0\n")


@healthy(proof="import ssl, sqlite3, numpy")
def h_private_python_of_uv_beside_the_environment(c):
    base = base_python(c, to=c.root / "share/uv/python/cpython-3.11.7-linux-x86_64-gnu")
    c.venv(base=base)
    c.install("numpy==2.4.6")
    c.write("{root}/share/uv/python/cpython-3.11.7-linux-x86_64-gnu/lib/python3.11/EXTERNALLY-MANAGED", "[externally-managed]\nError=This Python is managed by uv\n")
    c.write("{env}/pyvenv.cfg", f"home = {base.parent}\nimplementation = CPython\nuv = 0.13.8\nversion_info = 3.11.7\ninclude-system-site-packages = false\nprompt = science\n")


@healthy(proof="import sklearn.ensemble, xgboost")
def h_three_openmp_that_live_together(c):
    c.venv()
    c.install("scikit-learn==1.9.1", "scipy==1.17.1", "numpy==2.4.6")
    c.install("xgboost-cpu==2.1.4", deps=False)


@healthy(proof="import google.protobuf, google.auth, numpy")
def h_google_without_an_init(c):
    c.venv()
    c.install("protobuf==5.29.3", "google-auth==2.38.0", "googleapis-common-protos==1.66.0", "numpy==2.4.6")


@healthy(proof="import requests, urllib3")
def h_requests_that_warns_of_versions(c):
    """urllib3 or chardet is said not to match a supported version: a warning only."""
    c.venv()
    c.install("requests==2.32.3", "chardet==7.0.0")
