"""Model files: the doctor is asked about the file, except where it should find it by itself."""
import gzip, json, shutil, threading, zipfile
from lib import ROOT, broken, run

KERAS = ["keras==3.8.0", "jax==0.5.0", "numpy==1.26.4", "h5py==3.14.0"]
JAX = {"KERAS_BACKEND": "jax"}
LOAD = "import keras; keras.saving.load_model('{work}/%s')"
LOCK = threading.Lock()
MAKE = """
import keras, sys, numpy as n
to = sys.argv[1]
def dice_loss(a, b): return keras.ops.mean(a * b)
m = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(64, activation='relu'), keras.layers.Dense(3)])
m.compile('adam', 'mse'); m.fit(n.ones((4, 8)), n.ones((4, 3)), verbose=0)
m.save(to + '/model.keras'); m.save(to + '/model.h5')
m.compile('adam', dice_loss); m.save(to + '/unet.keras')
"""


def models(c):
    """Written once, by a real Keras 3.8."""
    c.venv()
    c.install(*KERAS)
    to = ROOT / "made"
    with LOCK:
        if not (to / "unet.keras").exists():
            to.mkdir(exist_ok=True)
            run([c.python, "-c", MAKE, to], env=c.environ())
    return to


@broken("", proof=LOAD % "model.h5", error="(?i)truncated file", cause=r"(?=.*(cut|trunc|short|end|incomplete|damage))", fix="download or copy it again; nothing to install", fix_text=r"again|download|copy|save|$",
        env=JAX, target="{work}/model.h5")
def h5_download_stopped_halfway(c):
    data = (models(c) / "model.h5").read_bytes()
    (c.work / "model.h5").write_bytes(data[:len(data) * 6 // 10])


@broken("", proof=LOAD % "model.h5", error="(?i)file signature not found|not accessible|unable to", cause=r"(?=.*(gzip|compress|archive))", fix="gunzip it", fix_text=r"gunzip|gzip -d|unpack|decompress|zcat",
        env=JAX, target="{work}/model.h5")
def h5_is_gzipped(c):
    (c.work / "model.h5").write_bytes(gzip.compress((models(c) / "model.h5").read_bytes()))


@broken("", proof=LOAD % "model.keras", error="config.json|no item named", cause=r"(?=.*(config\.json|folder|director|inside|archive))", fix="zip the files again without the folder", fix_text=r"zip|again|save",
        env=JAX, target="{work}/model.keras")
def keras_file_zipped_again_with_its_folder(c):
    with zipfile.ZipFile(models(c) / "model.keras") as z, zipfile.ZipFile(c.work / "model.keras", "w") as out:
        for n in z.namelist():
            out.writestr("model/" + n, z.read(n))


@broken("https://github.com/tensorflow/tensorflow/issues/66381", proof="import tensorflow as t; t.keras.models.load_model('{work}/model.h5')", error="batch_shape|DTypePolicy|Unrecognized|Unknown", cause=r"(?=.*keras)(?=.*3)", fix="Keras 3 (tensorflow>=2.16), or convert it",
        fix_text=r"keras|tensorflow|convert", target="{work}/model.h5", level="warning")
def h5_of_keras_3_in_keras_2(c):
    to = models(c)
    shutil.rmtree(c.dir)
    c.venv()
    c.install("tensorflow-cpu==2.15.1", "setuptools==75.1.0")
    shutil.copy(to / "model.h5", c.work / "model.h5")


OLD = {"class_name": "Functional", "keras_version": "2.12.0", "backend": "tensorflow", "config": {"name": "m", "trainable": True, "layers": [
    {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 8], "dtype": "float32", "sparse": False, "ragged": False, "name": "i"}, "name": "i", "inbound_nodes": []},
    {"class_name": "TFOpLambda", "config": {"name": "tf.math.multiply", "trainable": True, "dtype": "float32", "function": "math.multiply"}, "name": "tf.math.multiply",
     "inbound_nodes": [["i", 0, 0, {"y": 2.0, "name": None}]]}], "input_layers": [["i", 0, 0]], "output_layers": [["tf.math.multiply", 0, 0]]}}


@broken("https://github.com/hyunnamlee/RAPUNet/issues/4", proof=LOAD % "model.h5", error="TFOpLambda", cause=r"TFOpLambda", fix="tf-keras (TF_USE_LEGACY_KERAS), TensorFlow<=2.15, or write the model anew", fix_text=r"tf.keras|legacy|tensorflow|keras|convert|save",
        env=JAX, target="{work}/model.h5", real=False)
def h5_of_keras_2_with_tf_operations(c):
    models(c)
    run([c.python, "-c", "import h5py, sys\nf = h5py.File(sys.argv[1], 'w')\nf.attrs['keras_version'] = '2.12.0'; f.attrs['backend'] = 'tensorflow'; f.attrs['model_config'] = sys.argv[2]\n"
         "g = f.create_group('model_weights'); g.attrs['layer_names'] = [b'i', b'tf.math.multiply']; g.attrs['backend'] = 'tensorflow'; g.attrs['keras_version'] = '2.12.0'\n"
         "for n in ('i', 'tf.math.multiply'): g.create_group(n).attrs['weight_names'] = []\n", c.work / "model.h5", json.dumps(OLD)])


@broken("", proof=LOAD % "unet.keras", error="(?i)could not locate function 'dice_loss'|dice_loss", cause=r"(?=.*dice_loss)", fix="compile=False, custom_objects, or register the function", fix_text=r"compile|custom_objects|register|import",
        env=JAX, target="{work}/unet.keras", level="warning")
def model_compiled_with_an_own_loss(c):
    shutil.copy(models(c) / "unet.keras", c.work / "unet.keras")


@broken("https://github.com/lyogavin/airllm/issues/137", proof="import safetensors.numpy, glob, os; safetensors.numpy.load_file(glob.glob(os.path.expanduser('~/.cache/huggingface/hub/models--*/snapshots/*/model.safetensors'))[0])",
        error="(?i)SafetensorError|IncompleteBuffer|deserializing header", cause=r"(?=.*(safetensors|huggingface))(?=.*(cut|trunc|short|incomplete|damage|end))", fix="remove it: it is downloaded again",
        fix_text=r"\brm\b|remove|delete|download", level="warning")
def safetensors_cut_off_in_the_hugging_face_cache(c):
    import hashlib
    c.venv()
    c.install("safetensors==0.8.0", "huggingface_hub==0.36.2", "numpy==1.26.4")
    at = c.home / ".cache/huggingface/hub/models--distilbert--distilbert-base-uncased"
    snap, blobs = at / "snapshots/12040accade4e8a0f71eabdb258fecc2e7e948be", at / "blobs"
    snap.mkdir(parents=True), blobs.mkdir(), (at / "refs").mkdir()
    (at / "refs/main").write_text(snap.name)
    run([c.python, "-c", "import sys, numpy, safetensors.numpy as s; s.save_file({'embeddings.weight': numpy.ones((300, 768), 'float32'), 'norm': numpy.ones(768, 'float32')}, sys.argv[1])", blobs / "x"])
    data = (blobs / "x").read_bytes()
    name = hashlib.sha256(data).hexdigest()
    (blobs / "x").unlink()
    (blobs / name).write_bytes(data[:400000])
    (snap / "model.safetensors").symlink_to(f"../../blobs/{name}")
