"""Models and data asked about by name."""
import gzip, json, shutil, struct, zipfile
from common import KERAS, broken, cut, elsewhere, pip_env
from lib import run, rewrite


@broken("", proof="import scipy.io; scipy.io.loadmat('{work}/eeg.mat')", error="HDF reader|v7.3", target="{work}/eeg.mat", cause=r"7\.3|HDF5|h5py", fix="h5py.File / mat73", fix_text=r"h5py|mat73|v7")
def mat_file_of_version_73(c):
    pip_env(c, "scipy==1.14.1", "numpy==1.26.4")
    elsewhere(c, "import h5py, numpy as np\nwith h5py.File('eeg.mat', 'w', userblock_size=512) as f: f['x'] = np.ones((3, 4))\n"
              "b = bytearray(open('eeg.mat', 'rb').read()); h = b'MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Nov  2 10:00:00 2026 HDF5 schema 1.00 .'; b[:116] = h.ljust(116); b[124:128] = b'\\x00\\x02IM'\n"
              "open('eeg.mat', 'wb').write(b)", "h5py==3.12.1", "numpy==1.26.4")


@broken("", proof="from PIL import Image; Image.open('{work}/cat.jpg').load()", error="truncated", target="{work}/cat.jpg", cause=r"cut|trunc|end|whole|incomplete", fix="download it again", fix_text=r"again|download|copy", asked_for="undocumented")
def photo_cut_off(c):
    pip_env(c, "pillow==10.4.0", "numpy==1.26.4")
    run([c.python, "-c", "from PIL import Image; import numpy as np; Image.fromarray(np.random.default_rng(1).integers(0, 255, (200, 200, 3), dtype='uint8')).save('cat.jpg')"], cwd=c.work)
    cut(c.work / "cat.jpg", 0.6)


@broken("", proof="import tensorflow as tf; tf.io.decode_image(open('{work}/dog.jpg', 'rb').read())", error="Unknown image file format", target="{work}/dog.jpg", cause=r"webp", fix="convert it to JPEG", fix_text=r"convert|save|PIL|Pillow|webp|remove", asked_for="undocumented")
def webp_that_is_called_jpg(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0", "pillow==10.4.0")
    run([c.python, "-c", "from PIL import Image; Image.new('RGB', (64, 64), 'red').save('dog.webp')"], cwd=c.work)
    (c.work / "dog.webp").rename(c.work / "dog.jpg")


@broken("", proof="import tensorflow as tf; [r for r in tf.data.TFRecordDataset('{work}/train.tfrecord')]", error="truncated|DataLoss", target="{work}/train.tfrecord", cause=r"cut|trunc|end|whole|incomplete", fix="write it anew / download again", fix_text=r"again|anew|write|download|copy")
def tfrecord_cut_off(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")
    run([c.python, "-c", "import tensorflow as tf\nwith tf.io.TFRecordWriter('train.tfrecord') as w: [w.write(b'x' * 1000) for _ in range(100)]"], cwd=c.work)
    cut(c.work / "train.tfrecord", 0.695)


@broken("", proof="import zipfile; zipfile.ZipFile('{work}/archive.zip')", error="BadZipFile|not a zip", target="{work}/archive.zip", cause=r"cut|trunc|end|whole|incomplete|central", fix="download again", fix_text=r"again|download|copy")
def kaggle_archive_cut_off(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    import os
    with zipfile.ZipFile(c.work / "archive.zip", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("train.csv", "a,b\n" + "1,2\n" * 50000), z.writestr("noise.bin", os.urandom(300000)), z.writestr("test.csv", "a\n")
    cut(c.work / "archive.zip", 0.8)


@broken("", proof="from huggingface_hub import snapshot_download as s; import os; p = s('acme/tiny', local_files_only=True); open(os.path.join(p, 'model.safetensors'), 'rb')", error="No such file", cause=r"model\.safetensors|acme|blob", fix="remove the model's folder in the cache, download it again",
        fix_text=r"rm |download|remove", env={"HF_HOME": "{home}/.cache/huggingface"})
def hugging_face_link_to_a_blob_that_is_gone(c):
    pip_env(c, "huggingface_hub==0.26.5", "safetensors==0.4.5")
    base = "{home}/.cache/huggingface/hub/models--acme--tiny/"
    h = "0123456789abcdef0123456789abcdef01234567"
    c.write(base + "refs/main", h)
    c.write(base + "blobs/aaaa", "{}")
    snap = c.home / f".cache/huggingface/hub/models--acme--tiny/snapshots/{h}"
    snap.mkdir(parents=True)
    (snap / "config.json").symlink_to("../../blobs/aaaa")
    (snap / "model.safetensors").symlink_to("../../blobs/bbbb")


@broken("", proof="import tensorflow as tf; tf.train.load_checkpoint('{work}/ckpt/model.ckpt')", error="ckpt|not find|Unsuccessful|DataLoss", target="{work}/ckpt", cause=r"\.index|index", fix="copy model.ckpt.index too", fix_text=r"index|copy", asked_for="undocumented")
def checkpoint_without_its_index(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")
    run([c.python, "-c", "import tensorflow as tf; tf.train.Checkpoint(v=tf.Variable([1., 2.])).write('ckpt/model.ckpt')"], cwd=c.work)
    (c.work / "ckpt/model.ckpt.index").unlink()


@broken("", proof="import pandas; pandas.read_excel('{work}/sales.xlsx')", error="Excel file format|not a zip|BadZip|determined", target="{work}/sales.xlsx", cause=r"HTML|web page|html", fix="pandas.read_html", fix_text=r"read_html|again|download|html", asked_for="undocumented")
def excel_file_that_is_a_table_of_a_web_page(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4", "openpyxl==3.1.5")
    c.write("{work}/sales.xlsx", "<html><head><meta charset='utf-8'></head><body><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></body></html>\n")


@broken("", proof="import json; json.load(open('{work}/annotations.json'))", error="JSONDecodeError|Expecting|Unterminated", target="{work}/annotations.json", cause=r"cut|trunc|end|whole|incomplete|JSON", fix="download again", fix_text=r"again|download|copy", asked_for="undocumented")
def coco_annotations_cut_off(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/annotations.json", json.dumps({"images": [{"id": i, "file_name": f"{i}.jpg"} for i in range(3000)], "annotations": []})[:80000])


@broken("", proof="import joblib; joblib.load('{work}/forest.joblib')", error="EOFError|Error", target="{work}/forest.joblib", cause=r"cut|trunc|end|whole|incomplete", fix="copy it again, or write it anew", fix_text=r"again|anew|copy|write|download|dump")
def joblib_file_cut_off(c):
    pip_env(c, "scikit-learn==1.5.2", "numpy==1.26.4")
    run([c.python, "-c", "import joblib, numpy as np; from sklearn.ensemble import RandomForestClassifier as R; joblib.dump(R(20).fit(np.random.rand(200, 4), np.arange(200) % 2), 'forest.joblib')"], cwd=c.work)
    cut(c.work / "forest.joblib", 0.75)


@broken("", proof="import pickle; pickle.load(open('{work}/vectors.pkl', 'rb'))", error="gzip|invalid load key", target="{work}/vectors.pkl", cause=r"gzip|compress", fix="gzip.open", fix_text=r"gzip|gunzip")
def pickle_that_is_gzipped(c):
    import pickle
    pip_env(c, "numpy==1.26.4")
    rewrite(c.work / "vectors.pkl", gzip.compress(pickle.dumps({"a": [1.0] * 1000})))


@broken("", proof="import keras; keras.models.load_model('{work}/model.keras')", error="Could not locate|TypeError|Error", env={"KERAS_BACKEND": "jax"}, target="{work}/model.keras", cause=r"MyDense|my_layers|custom", fix="import the class before, custom_objects", fix_text=r"custom_objects|import|my_layers|register")
def keras_file_with_a_class_of_a_module_that_is_gone(c):
    pip_env(c, *KERAS)
    c.write("{work}/my_layers.py", "import keras\n\n\nclass MyDense(keras.layers.Dense):\n    pass\n")
    run([c.python, "-c", "import keras, my_layers; keras.Sequential([keras.Input((3,)), my_layers.MyDense(2)]).save('model.keras')"], cwd=c.work, env=c.environ() | {"KERAS_BACKEND": "jax", "PYTHONPATH": str(c.work)})
    (c.work / "my_layers.py").unlink()


@broken("", proof="import keras; keras.models.load_model('{work}/model.h5')", error="Error", env={"KERAS_BACKEND": "jax"}, target="{work}/model.h5", cause=r"JSON|not.*model|weights|config|JavaScript|TFLite|tflite", fix="it is a TFLite file", fix_text=r"tflite|Interpreter|lite|TensorFlow", asked_for="undocumented")
def tflite_file_that_is_called_h5(c):
    pip_env(c, *KERAS)
    c.write("{work}/model.h5", struct.pack("<I", 28) + b"TFL3" + b"\0" * 4000)


@broken("", proof=["{env}/bin/python", "-m", "nbconvert", "--to", "html", "{work}/a.ipynb"], error="Error", target="{work}/a.ipynb", cause=r"HTML|web page|JSON", fix="download the raw file", fix_text=r"raw|download|again")
def notebook_that_is_the_web_page_of_github(c):
    pip_env(c, "nbconvert==7.16.4")
    c.write("{work}/a.ipynb", "\n\n\n<!DOCTYPE html>\n<html lang=\"en\" data-color-mode=\"auto\">\n<head><title>course/a.ipynb at main · ada/course · GitHub</title></head><body></body></html>\n")
