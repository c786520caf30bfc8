"""Odd, and working: no error may be told."""
import compileall, gzip, json, pathlib, zipfile
import lib
from lib import healthy, run
from more import base_python, drop

START = str(pathlib.Path(lib.__file__).parent / "start_kernel.py")
KERNEL = ["{env}/bin/python", START, "python3"]


@healthy(proof="import numpy", py="3.12")
def h_path_file_of_an_old_namespace_left_behind(c):
    """Its one line fails at each start; Python says so and goes on."""
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{site}/matplotlib-3.5.1-py3.12-nspkg.pth", "import sys, types, os; m = __import__('mpl_toolkits_gone')\n")


@healthy(proof="import h5py, numpy")
def h_files_that_nfs_keeps(c):
    c.venv()
    c.install("h5py==3.12.1", "numpy==1.26.4")
    c.write("{site}/numpy/core/.nfs000000000012ab3400000001", b"\x7fELF" + bytes(500))
    c.write("{site}/h5py/.nfs000000000012ab3400000002", b"")


@healthy(proof=KERNEL)
def h_ipython_config_names_an_extension_that_is_gone(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.write("{home}/.ipython/profile_default/ipython_config.py", "c = get_config()\nc.InteractiveShellApp.extensions = ['autotime', 'line_profiler']\n")


@healthy(proof="import requests; requests.Session()")
def h_chardet_in_place_of_charset_normalizer(c):
    c.venv()
    c.install("requests==2.32.3", "chardet==5.2.0")
    drop(c, "charset_normalizer*")


@healthy(proof="import rates, numpy; rates.x")
def h_package_of_bytecode_for_this_python(c):
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{site}/rates/__init__.py", "from .table import x\n")
    c.write("{site}/rates/table.py", "import decimal\nx = decimal.Decimal(3)\n")
    run([c.python, "-m", "compileall", "-q", "-b", c.site / "rates"])
    for p in (c.site / "rates").glob("*.py"):
        p.unlink()
    c.dist("rates", "1.0", files=["rates/__init__.pyc", "rates/table.pyc"])


@healthy(proof=["{env}/bin/python", "{work}/train.py"], target="{work}/train.py")
def h_program_whose_imports_are_guarded(c):
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{work}/helpers.py", "def double(x):\n    return 2 * x\n")
    c.write("{work}/train.py", """from __future__ import annotations
import importlib.util
import sys
from typing import TYPE_CHECKING

import numpy as np
from helpers import double

try:
    import cupy as xp
except ImportError:
    xp = np
if sys.version_info < (3, 0):
    import cPickle as pickle
else:
    import pickle
if TYPE_CHECKING:
    from pandas import DataFrame
if importlib.util.find_spec("torch") is not None:
    import torch
try:
    np_float = np.float_
except AttributeError:
    np_float = np.float64


def report(frame: DataFrame):
    import pandas
    return pandas.concat([frame])


print(double(xp.zeros(3)), pickle.dumps(1), np_float)
""")


def cell(*lines, kind="code"):
    return {"cell_type": kind, "metadata": {}, "source": list(lines)} | ({"execution_count": None, "outputs": []} if kind == "code" else {})


@healthy(proof="import json, numpy; json.load(open('{work}/lesson.ipynb'))", target="{work}/lesson.ipynb")
def h_notebook_with_magics(c):
    c.venv()
    c.install("ipykernel==6.29.5", "numpy==1.26.4")
    cells = [cell("%pip install -q numpy\n", "!nvidia-smi || true"), cell("%%bash\n", "import tensorflow\n", "ls"), cell("%%javascript\n", "import React from 'react'"), cell("import numpy as np\n", "np.zeros?\n", "?np.ones"),
             cell("files = !ls\n", "%matplotlib inline\n", "x = np.zeros(3); x"), cell("# import keras", kind="markdown"), cell("from keras import gone", kind="raw"), cell("await something()") ]
    c.write("{work}/lesson.ipynb", json.dumps({"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 4}).encode())


@healthy(proof="import pandas; pandas.read_csv('{work}/train.csv.gz')", target="{work}/train.csv.gz")
def h_csv_gz_in_two_members(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/train.csv.gz", gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n" * 5000))


@healthy(proof="from safetensors.numpy import load_file; load_file('{work}/model.safetensors')", target="{work}/model.safetensors")
def h_safetensors_with_metadata_and_empty_tensors(c):
    c.venv()
    c.install("safetensors==0.4.5", "numpy==1.26.4")
    failed, said = c.prove("import numpy; from safetensors.numpy import save_file; save_file({'w': numpy.zeros((3, 3)), 'e': numpy.zeros((0, 4))}, '{work}/model.safetensors', metadata={'format': 'np'})")
    assert not failed, said


@healthy(proof=KERNEL)
def h_kernelspec_by_usr_bin_env(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.kernel(argv=["/usr/bin/env", "OMP_NUM_THREADS=1", "{env}/bin/python", "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"], env={"MPLBACKEND": "agg", "PYTHONPATH": ""})


@healthy(proof=KERNEL)
def h_kernelspec_by_a_script(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    p = c.write("{home}/bin/start.sh", '#!/bin/bash\nexport A=1\nexec {env}/bin/python -m ipykernel_launcher "$@"\n')
    p.chmod(0o755)
    c.kernel(argv=["{home}/bin/start.sh", "-f", "{connection_file}"])


@healthy(proof="import numpy, jax; jax.numpy.ones(3)", env={"PYTHONHASHSEED": "random", "PYTHONMALLOC": "malloc", "PYTHONTRACEMALLOC": "1", "PYTHONOPTIMIZE": "1", "PYTHONWARNINGS": "ignore::DeprecationWarning:,default::UserWarning",
         "KMP_DUPLICATE_LIB_OK": "TRUE", "JAX_ENABLE_X64": "1", "JAX_DEFAULT_MATMUL_PRECISION": "float32", "NPY_DISABLE_CPU_FEATURES": "AVX512F", "PYTHONINTMAXSTRDIGITS": "0", "PYTHONNOUSERSITE": "1", "TF_ENABLE_ONEDNN_OPTS": "0",
         "NUMBA_CACHE_DIR": "/tmp/nowhere", "SETUPTOOLS_USE_DISTUTILS": "local", "PYTHONFAULTHANDLER": "1", "PYTHONUTF8": "1", "PYTHONPLATLIBDIR": "lib"})
def h_settings_with_right_values(c):
    c.venv()
    c.install("jax==0.10.2", "jaxlib==0.10.2")


@healthy(proof="import numpy; numpy.linalg.inv(numpy.eye(9))", wrap=["bash", "-c", 'ulimit -s unlimited; ulimit -c 0; ulimit -n 1024; exec "$@"', "sh"])
def h_stack_unlimited(c):
    c.venv()
    c.install("numpy==1.26.4")


@healthy(proof="import docker", py="3.12")
def h_distutils_given_by_setuptools(c):
    c.venv()
    c.install("docker==4.4.4", "urllib3<2", "setuptools==75.1.0", "six")


@healthy(proof="import pandas; pandas.DataFrame({'a': [1.0, 2.0]}).a.mean()")
def h_pandas_with_a_bottleneck_too_old_for_it(c):
    """pandas warns, and goes without."""
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4", "bottleneck==1.3.5")


@healthy(proof="import numpy, pandas; import utils, config")
def h_folder_of_a_usual_project(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    for n in ("train.py", "test.py", "utils.py", "config.py", "data/loader.py", "models/__init__.py", "build/lib/x.py", "docs/conf.py", "setup.py", "my_calendar.py", "profile_users.py"):
        c.write("{work}/" + n, "x = 1\n")


@healthy(proof="from pydantic import BaseModel", env={"PYTHONPATH": "{work}/deps.zip"})
def h_zip_of_dependencies_as_new_as_needed(c):
    c.venv()
    c.install("pydantic==2.9.2")
    c.install("typing_extensions==4.12.2", to=c.root / "old")
    with zipfile.ZipFile(c.work / "deps.zip", "w") as z:
        for p in (c.root / "old").rglob("*"):
            if p.is_file():
                z.write(p, p.relative_to(c.root / "old"))


@healthy(proof="import pickle; pickle.load(open('{work}/features.pkl', 'rb'))", target="{work}/features.pkl")
def h_pickle_of_its_own_numpy(c):
    c.venv()
    c.install("numpy==1.26.4")
    failed, said = c.prove("import numpy, pickle; pickle.dump({'x': numpy.arange(9.0), 'f': numpy.float32}, open('{work}/features.pkl', 'wb'))")
    assert not failed, said


@healthy(proof="import chex, optax, flax.linen, jax", py="3.12")
def h_newest_around_jax(c):
    c.venv()
    c.install("chex", "optax", "flax", "jax")
