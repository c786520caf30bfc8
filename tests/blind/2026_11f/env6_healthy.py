"""Odd, and working: no error may be told."""
import json, zipfile
import lib
from common import KERAS, KERNEL, elsewhere, healthy, notebook, pip_env
from lib import run
from more import drop


@healthy(proof=["{env}/bin/python", "{work}/p.py"], target="{work}/p.py")
def h_program_with_guards_and_old_words_in_strings(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4", "scikit-learn==1.5.2")
    c.write("{work}/p.py", '''import sys
try:
    from collections import Mapping
except ImportError:
    from collections.abc import Mapping
try:
    import google.colab
except ModuleNotFoundError:
    COLAB = False
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

HELP = "once: Adam(lr=0.1), df.append(row), np.bool, OneHotEncoder(sparse=True)"


class Log:
    def __init__(self):
        self.rows = []

    def append(self, row):
        self.rows.append(row)

    def predict_classes(self, x):
        return x


def old(frame):
    if int(pd.__version__.split(".")[0]) < 2:
        return frame.append({"a": 1}, ignore_index=True)
    return pd.concat([frame, pd.DataFrame({"a": [1]})])


log = Log()
log.append(HELP)
log.predict_classes(1)
print(old(pd.DataFrame({"a": [3]})), OneHotEncoder(sparse_output=False), Mapping, sys.argv)
''')


@healthy(proof="import google; import numpy, pandas, requests, IPython")
def h_empty_init_files_deleted(c):
    """find -size 0 -delete: folders without __init__ are packages too."""
    pip_env(c, "numpy==1.26.4", "pandas==2.2.3", "requests==2.32.3", "ipython==8.28.0", "protobuf==5.28.3")
    for p in c.site.rglob("__init__.py"):
        if p.stat().st_size == 0:
            p.unlink()


@healthy(proof=KERNEL)
def h_folders_named_like_modules(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3", "numpy==1.26.4")
    c.kernel()
    for n in ("random", "code", "numpy", "yaml", "types"):
        c.write("{work}/" + n + "/notes.txt", "data\n")
    c.write("{work}/old/numbers.py", "ONE = 1\n")
    c.write("{work}/test.py", "print('hello')\n")


@healthy(proof="import typing, enum, pandas; enum.IntFlag")
def h_backports_in_site_packages(c):
    """They come after Python's own library."""
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    run([lib.ROOT / "tools/bin/pip", "download", "-q", "--no-deps", "-d", c.root, "typing==3.6.6", "enum34==1.1.10"])
    for w in c.root.glob("*.whl"):
        c.unpack(w)


@healthy(proof="import numpy, scipy.linalg")
def h_libraries_without_x_bits(c):
    pip_env(c, "numpy==1.26.4", "scipy==1.14.1")
    for p in c.site.rglob("*.so*"):
        data = p.read_bytes()
        p.unlink()
        p.write_bytes(data)
        p.chmod(0o444)


@healthy(proof="import numexpr, numba, keras", env={"NUMEXPR_MAX_THREADS": "8", "NUMBA_NUM_THREADS": "1", "KERAS_BACKEND": "jax", "OMP_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore", "MKL_THREADING_LAYER": "GNU", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"})
def h_numbers_of_threads(c):
    pip_env(c, "numexpr==2.10.1", "numba==0.60.0", *KERAS)


@healthy(proof=["{env}/bin/python", "{work}/names.py"], target="{work}/names.py")
def h_program_in_latin_1_that_says_so(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/names.py", "#!/usr/bin/env python\r\n# -*- coding: latin-1 -*-\r\nimport numpy as np\r\n\r\ncities = ['Malmö', r'C:\\Users\\ada', 'x\u00a0y']\r\nprint(np.array(cities))\r\n".encode("latin-1"))


@healthy(proof="import scipy.io; assert scipy.io.loadmat('{work}/a.mat')['x'].shape == (2, 3)", target="{work}/a.mat")
def h_mat_file_of_version_5(c):
    pip_env(c, "scipy==1.14.1", "numpy==1.26.4")
    run([c.python, "-c", "import scipy.io, numpy as np; scipy.io.savemat('a.mat', {'x': np.ones((2, 3))}, do_compression=True)"], cwd=c.work)


@healthy(proof="import zipfile; assert zipfile.ZipFile('{work}/archive.zip').read('a/ä.csv')", target="{work}/archive.zip")
def h_zip_with_a_comment_and_a_prefix(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    with zipfile.ZipFile(c.work / "x.zip", "w") as z:
        z.writestr("a/ä.csv", "a,b\n1,2\n"), z.writestr("a/", "")
        z.comment = b"from kaggle"
    lib.rewrite(c.work / "archive.zip", b"#!/bin/sh\nexit\n" + (c.work / "x.zip").read_bytes())


@healthy(proof="import joblib; joblib.load('{work}/forest.joblib')", target="{work}/forest.joblib")
def h_compressed_joblib(c):
    pip_env(c, "scikit-learn==1.5.2", "numpy==1.26.4")
    run([c.python, "-c", "import joblib, numpy as np; from sklearn.ensemble import RandomForestClassifier as R; joblib.dump(R(5).fit(np.random.rand(50, 4), np.arange(50) % 2), 'forest.joblib', compress=('zlib', 3))"], cwd=c.work)


@healthy(proof=KERNEL)
def h_kernelspec_with_resource_dir_and_metadata(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.kernel(argv=["{env}/bin/python", "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"], metadata={"debugger": True}, interrupt_mode="signal", env={"PYTHONPATH": "", "X": "${HOME}/x"})


@healthy(proof="import click")
def h_unchecked_bytecode_that_fits(c):
    pip_env(c, "click==8.1.7")
    run([c.python, "-c", f"import compileall, py_compile; compileall.compile_dir({str(c.site / 'click')!r}, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"])


@healthy(proof=["{env}/bin/python", "-m", "nbconvert", "--to", "html", "--execute", "{work}/a.ipynb"], target="{work}/a.ipynb")
def h_notebook_that_asks_where_it_runs(c):
    pip_env(c, "nbconvert==7.16.4", "ipykernel==6.29.5", "numpy==1.26.4")
    notebook(c, "a.ipynb", ["import sys\nif 'google.colab' in sys.modules:\n    from google.colab import drive\n    drive.mount('/content/drive')", "%%bash\necho python2: print 'x'", "%config InlineBackend.figure_format = 'retina'\n!ls *.ipynb\nfiles = !ls\nimport numpy as np\nnp?",
                            "%%writefile out.py\nprint 'this is text'", "for i in range(2):\n    print(i)\n    %time x = 1"])


@healthy(proof="import keras; keras.models.load_model('{work}/model.keras')", target="{work}/model.keras", env={"KERAS_BACKEND": "jax"})
def h_keras_file_with_many_kinds_of_layers(c):
    pip_env(c, *KERAS)
    run([c.python, "-c", "import keras; k = keras.layers; i = keras.Input((8, 8, 3)); x = k.Rescaling(1 / 255)(i); x = k.SeparableConv2D(4, 3)(x); x = k.Reshape((-1, 4))(x); x = k.MultiHeadAttention(2, 2)(x, x); x = k.Bidirectional(k.GRU(3))(x); x = keras.ops.relu(x)\n"
         "m = keras.Model(i, k.Dense(2)(x)); m.compile('adam', keras.losses.CategoricalCrossentropy(from_logits=True), ['accuracy']); m.save('model.keras')"], cwd=c.work, env=c.environ() | {"KERAS_BACKEND": "jax"})


@healthy(proof="import sqlite3, nltk; nltk.word_tokenize('a b', preserve_line=True)", env={"NLTK_DATA": "{root}/nltk"})
def h_sitecustomize_that_does_no_harm(c):
    pip_env(c, "nltk==3.9.1")
    c.write("{site}/sitecustomize.py", "import os, sys\nif os.environ.get('COVERAGE_PROCESS_START'):\n    import coverage\n    coverage.process_startup()\nif sys.version_info < (3, 8):\n    sys.exit('too old')\n")
