"""Models, data and code: files that this environment cannot use."""
import json, os, shutil, threading
from lib import PYTHONS, ROOT, UV, broken, run

LOAD = "import keras; keras.models.load_model('{work}/%s')"
JAX = {"KERAS_BACKEND": "jax"}
MAKING = threading.Lock()


def maker(name, py, *what):
    """A Python that writes the models: a real Keras."""
    at = ROOT / "makers" / name
    with MAKING:
        if not (at / "done").exists():
            shutil.rmtree(at, ignore_errors=True)
            run([UV, "venv", "-q", "--python", next(PYTHONS.glob(py + ".*")) / "bin/python", at])
            run([UV, "pip", "install", "-q", "--python", at / "bin/python", *what], env=os.environ | {"UV_CACHE_DIR": str(ROOT / "uvcache")})
            (at / "done").touch()
    return at / "bin/python"


def keras_new(code):
    run([maker("keras315", "3.11", "keras==3.15.1", "jax==0.10.2"), "-c", "import keras\n" + code], env=os.environ | JAX)


def keras_215(code):
    run([maker("tf215", "3.11", "tensorflow-cpu==2.15.1"), "-c", "import tensorflow as tf\nkeras = tf.keras\n" + code], env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"})


DENSE = "m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(64), keras.layers.Dense(3)])\n"


@broken("", proof=LOAD % "model.keras", error="zip|Zip", cause=r"cut|truncat|zip|damaged|incomplete|whole|end", fix="get the file again",
        fix_text=r"again|download|copy|save|backup|repair|whole", env=JAX, target="{work}/model.keras")
def keras_file_cut_off(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4"); keras_new(DENSE + f"m.save({str(e.work / 'whole.keras')!r})")
    data = (e.work / "whole.keras").read_bytes()
    e.write("{work}/model.keras", data[:len(data) * 2 // 3]); (e.work / "whole.keras").unlink()


@broken("https://github.com/git-lfs/git-lfs/issues/3273", proof=LOAD % "model.h5", error="signature|OSError|Unable", cause=r"lfs|pointer", fix="git lfs pull", fix_text=r"git.*lfs", env=JAX, target="{work}/model.h5")
def model_is_a_git_lfs_pointer(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")
    e.write("{work}/model.h5", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "5f2b" * 16 + "\nsize 98208376\n")


@broken("https://github.com/keras-team/keras/pull/21928", proof=LOAD % "model.keras", error="quantization_config|Could not|deserializ", cause=r"3\.15|newer|quantization_config", fix="a newer Keras", apply=True, env=JAX, target="{work}/model.keras")
def model_of_a_newer_keras(e):
    e.venv(); e.install("keras==3.3.3", "packaging", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4"); keras_new(DENSE + f"m.save({str(e.work / 'model.keras')!r})")


@broken("https://github.com/keras-team/keras/issues/21046", proof=LOAD % "model.keras", error="Attention|custom", cause=r"MyAttention|custom", fix="custom_objects, or register the class", fix_text=r"custom_objects|register|MyAttention",
        env=JAX, target="{work}/model.keras")
def model_with_a_custom_layer(e):
    e.venv(); e.install("keras==3.15.1", "jax==0.10.2")
    keras_new("class MyAttention(keras.layers.Layer):\n  def call(self, x): return x\n"
              f"m = keras.Sequential([keras.Input((4,)), MyAttention(), keras.layers.Dense(3)])\nm.save({str(e.work / 'model.keras')!r})")


@broken("https://github.com/keras-team/keras/issues/20167", proof=LOAD % "model.keras", error="[Ll]ambda|safe_mode", cause=r"lambda", fix="safe_mode=False for a file one trusts", fix_text=r"safe_mode|trust|Lambda", env=JAX, target="{work}/model.keras", level="warning")
def model_with_a_python_lambda(e):
    e.venv(); e.install("keras==3.15.1", "jax==0.10.2")
    keras_new(f"m = keras.Sequential([keras.Input((4,)), keras.layers.Lambda(lambda x: x * 2), keras.layers.Dense(3)])\nm.save({str(e.work / 'model.keras')!r})")


@broken("https://github.com/keras-team/keras/issues/18709", proof=LOAD % "saved", error="File format not supported", cause=r"SavedModel", fix="TFSMLayer, or tf-keras/TensorFlow 2.15 to convert it", fix_text=r"TFSMLayer|tf.keras|2\.15|convert", env=JAX, target="{work}/saved")
def savedmodel_folder_in_keras_3(e):
    e.venv(); e.install("keras==3.15.1", "jax==0.10.2")
    keras_215(DENSE + f"tf.saved_model.save(m, {str(e.work / 'saved')!r})")


@broken("https://github.com/Shawn-Shan/fawkes/issues/186", proof=LOAD % "keras_model.h5", error="groups", cause=r"groups|DepthwiseConv2D|Keras 2", fix="tf-keras (Keras 2), or a converted file", fix_text=r"tf.keras|keras<3|keras 2|convert|groups|2\.15", env=JAX, target="{work}/keras_model.h5")
def teachable_machine_h5_in_keras_3(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")
    run([maker("tf212", "3.9", "tensorflow-cpu==2.12.1"), "-c", "import tensorflow as tf\nk = tf.keras\n"
         f"m = k.Sequential([k.Input((8, 8, 3)), k.layers.DepthwiseConv2D(3), k.layers.Flatten(), k.layers.Dense(2)])\nm.save({str(e.work / 'keras_model.h5')!r})"], env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"})


@broken("https://github.com/sebastian-sz/efficientnet-lite-keras/issues/6", proof=LOAD % "weights.h5", error="[Nn]o model config|config", cause=r"weights", fix="build the model, then load_weights", fix_text=r"load_weights", env=JAX, target="{work}/weights.h5")
def weights_given_to_load_model(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4"); keras_215(DENSE + f"m.save_weights({str(e.work / 'weights.h5')!r})")


@broken("https://github.com/tensorflow/tensorflow/issues/64685", proof="import tensorflow as tf; tf.keras.models.load_model('{work}/mood.keras')", error="batch_shape|Could not|Unable|not.*found|deserializ", cause=r"Keras 3|3\.15|newer|batch_shape",
        fix="a TensorFlow with Keras 3", fix_text=r"keras.*3|tensorflow.*2\.(1[6-9]|2)|upgrade", target="{work}/mood.keras")
def keras_3_file_in_tensorflow_215(e):
    e.venv(); e.install("tensorflow-cpu==2.15.1"); keras_new(DENSE + f"m.save({str(e.work / 'mood.keras')!r})")


@broken("", proof=LOAD % "model.keras", error="zip|Zip|not", cause=r"hdf5|h5|not a zip|zip", fix="rename it to .h5", fix_text=r"\.h5|rename|mv ", env=JAX, target="{work}/model.keras")
def h5_named_keras(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4"); keras_215(DENSE + f"m.save({str(e.work / 'model.h5')!r})")
    (e.work / "model.h5").rename(e.work / "model.keras")


@broken("", proof="import numpy; numpy.load('{work}/train.npz')['x']", error="zip|BadZip", cause=r"cut|truncat|zip|damaged|whole|incomplete", fix="get the file again", fix_text=r"again|download|copy", target="{work}/train.npz", asked_for="undocumented")
def npz_cut_off(e):
    e.venv(); e.install("numpy==1.26.4")
    run([e.python, "-c", f"import numpy; numpy.savez({str(e.work / 'a.npz')!r}, x=numpy.zeros((1000, 100)))"])
    e.write("{work}/train.npz", (e.work / "a.npz").read_bytes()[:400000])


@broken("https://github.com/mittagessen/kraken/pull/410", proof=["{env}/bin/python", "{work}/train.py"], error="np.bool|numpy.*bool|has no attribute", cause=r"np\.bool|numpy\.bool", fix="bool or np.bool_, or numpy<1.24", fix_text=r"bool|numpy", target="{work}/train.py", asked_for="undocumented")
def script_with_np_bool(e):
    e.venv(); e.install("numpy==1.26.4"); e.write("{work}/train.py", "import numpy as np\nmask = np.zeros(10, dtype=np.bool)\nprint(mask)\n")


@broken("https://github.com/keras-team/keras/issues/18363", proof="from keras.utils import np_utils", error="np_utils", cause=r"np_utils", fix="keras.utils.to_categorical", fix_text=r"to_categorical|keras\.utils", target="{work}/mnist.ipynb", env=JAX, asked_for="undocumented")
def notebook_with_np_utils(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4", "ipykernel==6.29.5")
    cell = {"cell_type": "code", "execution_count": None, "id": "a1", "metadata": {}, "outputs": [], "source": ["from keras.utils import np_utils\n", "y = np_utils.to_categorical([0, 1, 2])\n"]}
    e.write("{work}/mnist.ipynb", json.dumps({"cells": [cell], "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}, "nbformat": 4, "nbformat_minor": 5}))
