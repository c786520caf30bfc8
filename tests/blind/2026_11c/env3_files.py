"""Files that cannot be read here: models, data, caches. Written by the real libraries, then damaged as the reports say."""
from lib import broken

KERAS = ("keras==3.15.1", "jax==0.10.2", "jaxlib==0.10.2")
JAX = {"KERAS_BACKEND": "jax"}
MODEL = """
import keras
m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation='relu'), keras.layers.Dense(1)])
m.compile(optimizer='adam', loss=%s)
m.save(%r)
"""


def in_env(c, code):
    failed, said = c.prove(c.fill(code))
    assert not failed, said


@broken("https://github.com/tensorflow/tensorflow/issues/70263", proof="import keras; keras.models.load_model('{work}/model.h5')", error="Could not (locate|deserialize)",
        cause=r"\bmse\b|loss|compile", fix="load_model(..., compile=False)", fix_text=r"compile=False|mse|keras", target="{work}/model.h5", env=JAX, level="warning")
def h5_compiled_with_mse(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, MODEL % ("'mse'", "{work}/model.h5"))


@broken("https://github.com/Trusted-AI/adversarial-robustness-toolbox/issues/24", proof="import keras; keras.models.load_model('{work}/model.h5')", error="file signature not found",
        cause=r"html|web page|download|not an? (hdf5|keras)", fix="download the raw file", fix_text=r"download|raw|curl|wget", target="{work}/model.h5", env=JAX)
def h5_is_the_web_page_of_github(c):
    c.venv()
    c.install(*KERAS)
    c.write("{work}/model.h5", "\n\n<!DOCTYPE html>\n<html lang=\"en\" data-color-mode=\"auto\">\n<head><meta charset=\"utf-8\"><title>nets/model.h5 at master</title></head>\n" + "<p>View raw</p>\n" * 400 + "</html>\n")


@broken("https://github.com/luannd/MinutiaeNet/issues/21", proof="import keras; keras.models.load_model('{work}/weights.keras')", error="not|zip|File",
        cause=r"html|web page|google|not a zip|not an? keras", fix="download with gdown, or confirm in the browser", fix_text=r"download|gdown", target="{work}/weights.keras", env=JAX)
def keras_file_is_the_virus_warning_of_google_drive(c):
    c.venv()
    c.install(*KERAS)
    c.write("{work}/weights.keras", "<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title><meta http-equiv=\"content-type\" content=\"text/html; charset=utf-8\"/></head><body>" + "<div>Google Drive can't scan this file for viruses.</div>" * 30 + "</body></html>")


@broken("", proof="import keras; keras.models.load_model('{work}/model.h5')", error="already open for write|consistency flags|unable to (lock|open)",
        cause=r"open for writ|consistency|flag|closed|h5clear", fix="h5clear -s model.h5", fix_text=r"h5clear|copy|save|clear", target="{work}/model.h5", env=JAX)
def h5_left_open_for_writing_when_the_kernel_died(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, MODEL % ("'mean_squared_error'", "{work}/a.h5") + """
import h5py, os
with h5py.File('{work}/a.h5') as a, h5py.File('{work}/model.h5', 'w', libver='latest') as b:
    for k in a: a.copy(k, b)
    for k, v in a.attrs.items(): b.attrs[k] = v
f = h5py.File('{work}/model.h5', 'r+', libver='latest')
f.flush()
os.remove('{work}/a.h5')
import shutil; shutil.copy('{work}/model.h5', '{work}/dead.h5')
f.close(); os.replace('{work}/dead.h5', '{work}/model.h5')
""")


@broken("https://github.com/keras-team/keras/issues/20750", proof="import keras; keras.models.load_model('{work}/lstm.h5')", error="time_major|Unrecognized keyword|[Cc]ould not be deserialized|Error when deserializing",
        cause=r"time_major|Keras 2|older|legacy", fix="load with tf-keras (TF_USE_LEGACY_KERAS=1), or convert", fix_text=r"tf.keras|legacy|keras|convert|save", target="{work}/lstm.h5", env=JAX)
def lstm_of_tensorflow_210_with_time_major(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, """
import keras, h5py, json
m = keras.Sequential([keras.Input((5, 2)), keras.layers.LSTM(3), keras.layers.Dense(1)])
m.save('{work}/lstm.h5')
with h5py.File('{work}/lstm.h5', 'r+') as f:          # as Keras 2.10 wrote it
    c = json.loads(f.attrs['model_config'])
    for l in c['config']['layers']:
        k = l['config']
        for n in ('module', 'registered_name', 'build_config'):
            l.pop(n, None)
        if isinstance(k.get('dtype'), dict): k['dtype'] = 'float32'
        if l['class_name'] == 'LSTM':
            k['time_major'] = False
            k['implementation'] = 2
        if l['class_name'] == 'InputLayer':
            k['batch_input_shape'] = k.pop('batch_shape')
        for n, v in list(k.items()):
            if isinstance(v, dict) and 'class_name' in v: k[n] = {'class_name': v['class_name'], 'config': v['config']}
    f.attrs['model_config'] = json.dumps(c)
    f.attrs['keras_version'] = '2.10.0'
    f.attrs['backend'] = 'tensorflow'
""")


@broken("https://github.com/DuncanZauss/Keypoint_Communities/issues/11", proof="import torch; torch.load('{home}/.cache/torch/hub/checkpoints/resnet18-5c106cde.pth')", error="failed finding central directory|PytorchStreamReader|unexpected EOF", py="3.10",
        cause=r"resnet18|checkpoints|\.pth", fix="remove the file; it is downloaded again", fix_text=r"rm|remove|delete|download")
def resnet_in_the_cache_of_torch_cut_off(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4")
    in_env(c, "import torch, os; os.makedirs('{home}/.cache/torch/hub/checkpoints'); torch.save(dict(a=torch.zeros(90000)), '{home}/.cache/torch/hub/checkpoints/resnet18-5c106cde.pth')")
    p = c.home / ".cache/torch/hub/checkpoints/resnet18-5c106cde.pth"
    p.write_bytes(p.read_bytes()[:200000])


@broken("https://github.com/TreB1eN/InsightFace_Pytorch/issues/113", proof="import torch; torch.load('{work}/best.pt')", error="Attempting to deserialize object on a CUDA device", py="3.10",
        cause=r"cuda|gpu", fix="torch.load(..., map_location='cpu')", fix_text=r"map_location", target="{work}/best.pt", level="warning", asked_for="undocumented")
def checkpoint_saved_on_a_gpu(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4")
    in_env(c, "import torch, torch.serialization as s; s.location_tag = lambda storage: 'cuda:0'; torch.save(torch.nn.Linear(3, 2).state_dict(), '{work}/best.pt')")


@broken("https://github.com/microsoft/onnxruntime/issues/20559", proof="import onnxruntime; onnxruntime.InferenceSession('{work}/net.onnx')", error="Unsupported model IR version",
        cause=r"IR.version|onnx", fix="a newer onnxruntime", fix_text=r"onnxruntime|ir_version", target="{work}/net.onnx", asked_for="undocumented")
def onnx_of_a_newer_exporter(c):
    c.venv()
    c.install("onnxruntime==1.16.3", "onnx==1.17.0", "numpy==1.26.4", "protobuf<6")
    in_env(c, """
import onnx
from onnx import helper as h, TensorProto as T
g = h.make_graph([h.make_node('Relu', ['x'], ['y'])], 'g', [h.make_tensor_value_info('x', T.FLOAT, [2])], [h.make_tensor_value_info('y', T.FLOAT, [2])])
onnx.save(h.make_model(g, ir_version=10, opset_imports=[h.make_opsetid('', 19)]), '{work}/net.onnx')
""")


@broken("", proof="import pandas; pandas.read_parquet('{work}/train.parquet')", error="Parquet magic bytes not found|magic",
        cause=r"parquet|cut|truncat|incomplete", fix="copy or download the file again", fix_text=r"download|copy|again|write", target="{work}/train.parquet", asked_for="undocumented")
def parquet_cut_off(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==2.2.6", "pyarrow==17.0.0")
    in_env(c, "import pandas; pandas.DataFrame(dict(a=range(20000))).to_parquet('{work}/train.parquet')")
    p = c.work / "train.parquet"
    p.write_bytes(p.read_bytes()[:30000])


@broken("https://github.com/jupyter/help/issues/67", proof="import nbformat; nbformat.read('{work}/lesson.ipynb', 4)", error="NotJSONError|does not appear to be JSON",
        cause=r"conflict|<<<<<<<|not json|JSON|notebook", fix="take out the conflict markers (git checkout --ours, nbdime)", fix_text=r"git|nbdime|conflict|merge", target="{work}/lesson.ipynb", asked_for="undocumented")
def notebook_with_conflict_markers(c):
    c.venv()
    c.install("nbformat==5.10.4")
    c.write("{work}/lesson.ipynb", '{\n "cells": [\n  {"cell_type": "code",\n<<<<<<< HEAD\n   "execution_count": 3,\n=======\n   "execution_count": 7,\n>>>>>>> origin/main\n   "metadata": {}, "outputs": [], "source": ["1 + 1"]}\n ],\n "metadata": {}, "nbformat": 4, "nbformat_minor": 5\n}\n')


@broken("", proof="import nltk; nltk.data.find('corpora/wordnet')", error="BadZipFile|not a zip",
        cause=r"nltk|wordnet|zip", fix="remove the file and download it again", fix_text=r"rm|nltk|download", asked_for="undocumented")
def nltk_data_cut_off(c):
    c.venv()
    c.install("nltk==3.9.1")
    import io, zipfile
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w") as z:
        z.writestr("wordnet/data.noun", "x " * 40000)
    c.write("{home}/nltk_data/corpora/wordnet.zip", b.getvalue()[:30000])


@broken("", proof="import keras; keras.applications.MobileNet(weights='{home}/.keras/models/mobilenet_1_0_224_tf.h5')", error="truncated file|Unable to",
        cause=r"mobilenet|\.keras/models|cut off|truncated", fix="remove the file; it is downloaded again", fix_text=r"rm|remove|download", env=JAX)
def mobilenet_in_the_cache_of_keras_cut_off(c):
    c.venv()
    c.install(*KERAS)
    in_env(c, "import keras, os; os.makedirs('{home}/.keras/models', exist_ok=True); keras.Sequential([keras.Input((9,)), keras.layers.Dense(900)]).save_weights('{home}/.keras/models/m.weights.h5')")
    p = c.home / ".keras/models/m.weights.h5"
    q = c.home / ".keras/models/mobilenet_1_0_224_tf.h5"
    q.write_bytes(p.read_bytes()[:15000])
    p.unlink()


@broken("", proof="import joblib; joblib.load('{work}/forest.pkl')", error="No module named 'sklearn|incompatible|Can't get attribute|has no attribute|cannot import",
        cause=r"scikit.learn|sklearn|pickle|version", fix="the scikit-learn that wrote it", fix_text=r"scikit.learn", target="{work}/forest.pkl", asked_for="undocumented")
def forest_pickled_by_an_old_scikit_learn(c):
    c.venv()
    c.install("scikit-learn==1.2.2", "numpy==1.26.4", "scipy==1.13.1", "joblib==1.4.2")
    in_env(c, "import joblib, numpy as np; from sklearn.ensemble import RandomForestClassifier as R; joblib.dump(R(3).fit(np.eye(4), [0, 1, 0, 1]), '{work}/forest.pkl')")
    c.install("scikit-learn==1.5.2")


@broken("", proof="import numpy; numpy.load('{work}/embeddings.npy')", error="cannot reshape array|EOF|mmap|Failed",
        cause=r"cut|truncat|short|incomplete|npy", fix="write or copy the file again", fix_text=r"again|copy|download|write", target="{work}/embeddings.npy", asked_for="undocumented")
def npy_of_a_job_that_was_killed(c):
    c.venv()
    c.install("numpy==2.4.6")
    in_env(c, "import numpy; numpy.save('{work}/embeddings.npy', numpy.zeros((1000, 64)))")
    p = c.work / "embeddings.npy"
    p.write_bytes(p.read_bytes()[:200000])
