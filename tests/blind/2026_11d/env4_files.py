"""Models, data and programs, asked about by name."""
import json, zipfile
from lib import broken

KERAS = ("keras==3.15.1", "jax==0.10.2", "jaxlib==0.10.2")
JAX = {"KERAS_BACKEND": "jax"}
MODEL = "import keras; m = keras.Sequential([keras.Input((40,)), keras.layers.Dense(300), keras.layers.Dense(3)]); "


def in_env(c, code):
    failed, said = c.prove(code)
    assert not failed, said


@broken("", proof="import keras; keras.models.load_model('{work}/model.keras')", error="CRC|Error", cause=r"damaged|CRC|checksum|corrupt", fix="copy it again", fix_text=r"copy|again|download|save",
        target="{work}/model.keras", env=JAX)
def keras_file_with_flipped_bits(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, MODEL + "m.save('{work}/model.keras')")
    p = c.work / "model.keras"
    with zipfile.ZipFile(p) as z:
        i = z.getinfo("model.weights.h5")
        at = i.header_offset + 30 + len(i.filename) + i.file_size // 2
    b = bytearray(p.read_bytes())
    for k in range(at, at + 64):
        b[k] ^= 0x55
    p.write_bytes(b)


@broken("", proof="import keras; keras.models.load_model('{work}/model.keras')", error="config.json|There is no item", cause=r"config\.json", fix="save it again", fix_text=r"save|again|copy", target="{work}/model.keras", env=JAX)
def keras_file_without_its_config(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, MODEL + "m.save('{work}/whole.keras')")
    with zipfile.ZipFile(c.work / "whole.keras") as a, zipfile.ZipFile(c.work / "model.keras", "w") as b:
        for n in a.namelist():
            if n != "config.json":
                b.writestr(n, a.read(n))
    (c.work / "whole.keras").unlink()


@broken("", proof="import keras; keras.models.load_model('{work}/model.h5')", error="Error|Unable|Can't|can't", cause=r"damaged|zeros|corrupt|not be read|cannot be read|unreadable|hole", fix="copy it again",
        fix_text=r"copy|again|download|save", target="{work}/model.h5", env=JAX)
def h5_with_a_hole_from_a_broken_transfer(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, MODEL + "m.save('{work}/model.h5')")
    p = c.work / "model.h5"
    b = bytearray(p.read_bytes())
    at = b.index(b"TREE", 2048)
    b[at:at + 4096] = bytes(4096)
    p.write_bytes(b)


@broken("https://github.com/numpy/numpy/issues/28340", proof="import pickle; pickle.load(open('{work}/features.pkl', 'rb'))", error="numpy._core", cause=r"numpy", fix="numpy>=2 (or write the file with 1.26)", fix_text=r"numpy",
        target="{work}/features.pkl", asked_for="undocumented")
def pickle_of_numpy_2_read_by_numpy_1(c):
    c.venv()
    c.install("numpy==2.2.6")
    in_env(c, "import numpy, pickle; pickle.dump(numpy.arange(9.0), open('{work}/features.pkl', 'wb'))")
    c.install("numpy==1.24.4")


@broken("", proof="import pandas; pandas.read_csv('{work}/train.csv.gz')", error="EOF|end-of-stream", cause=r"cut|truncat|incomplete|ends", fix="download it again", fix_text=r"again|download|copy", target="{work}/train.csv.gz")
def csv_gz_download_stopped(c):
    import gzip
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    whole = gzip.compress("\n".join(["a,b"] + [f"{i},{i * 7919 % 1000}" for i in range(20000)]).encode())
    c.write("{work}/train.csv.gz", whole[:len(whole) * 2 // 3])


@broken("", proof="from safetensors.numpy import load_file; load_file('{work}/model.safetensors')", error="IncompleteMetadata|MetadataIncomplete|incomplete|InvalidHeader|not fully covered",
        cause=r"cut|truncat|incomplete|short", fix="download it again", fix_text=r"again|download|copy", target="{work}/model.safetensors")
def safetensors_cut_off_in_the_folder(c):
    c.venv()
    c.install("safetensors==0.4.5", "numpy==1.26.4")
    in_env(c, "import numpy; from safetensors.numpy import save_file; save_file({'w': numpy.zeros((300, 300), 'f4')}, '{work}/model.safetensors')")
    p = c.work / "model.safetensors"
    p.write_bytes(p.read_bytes()[:200000])


NOTEBOOK = {"cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": ["import numpy as np\n", "np.zeros(3)"]}] * 8, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@broken("", proof="import json; json.load(open('{work}/analysis.ipynb'))", error="JSONDecodeError", cause=r"notebook|JSON|cut|damaged", fix="the checkpoint, or an older copy",
        fix_text=r"checkpoint|copy|again|restore", target="{work}/analysis.ipynb")
def notebook_cut_off_when_the_disk_was_full(c):
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{work}/analysis.ipynb", json.dumps(NOTEBOOK, indent=1)[:900].encode())


@broken("", proof=["{env}/bin/python", "{work}/train.py"], error="load_boston", cause=r"load_boston", fix="another data set (fetch_california_housing), or scikit-learn<1.2",
        fix_text=r"load_boston|scikit-learn|california", target="{work}/train.py")
def script_with_load_boston(c):
    c.venv()
    c.install("scikit-learn==1.5.2", "numpy==1.26.4")
    c.write("{work}/train.py", "from sklearn.datasets import load_boston\nfrom sklearn.linear_model import LinearRegression\nX, y = load_boston(return_X_y=True)\nprint(LinearRegression().fit(X, y).score(X, y))\n")


@broken("", proof=["{env}/bin/python", "{work}/cut.py"], error="moviepy.editor", cause=r"moviepy", fix="moviepy<2, or import from moviepy", fix_text=r"moviepy", target="{work}/cut.py")
def script_with_moviepy_editor(c):
    c.venv()
    c.install("moviepy==2.1.2", "numpy==1.26.4")
    c.write("{work}/cut.py", "from moviepy.editor import VideoFileClip\nVideoFileClip('holiday.mp4')\n")


@broken("", proof=["{env}/bin/python", "{work}/grid.py"], error="wrappers.scikit_learn", cause=r"keras.wrappers.scikit_learn|scikeras|KerasClassifier", fix="scikeras, or keras.wrappers.SKLearnClassifier",
        fix_text=r"scikeras|keras", target="{work}/grid.py", env=JAX)
def script_with_keras_wrappers_scikit_learn(c):
    c.venv()
    c.install(*KERAS)
    c.write("{work}/grid.py", "from keras.models import Sequential\nfrom keras.wrappers.scikit_learn import KerasClassifier\nKerasClassifier(build_fn=Sequential)\n")
