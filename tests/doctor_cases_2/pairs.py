"""Versions that do not fit, of real wheels: what `pip install -U one_thing` leaves behind."""

from kit import Env, broken


@broken(["h5py", "numpy"], "a newer h5py, or numpy<2", "numpy.dtype size changed|_ARRAY_API")
def h5py_built_for_numpy_1(place):
    env = Env(place)
    env.install("h5py==3.10.0", "numpy==2.1.3")
    return env.probe("import h5py")


@broken(["pyarrow", "numpy"], "a newer pyarrow, or numpy<2", "_ARRAY_API|multiarray failed")
def pyarrow_built_for_numpy_1(place):
    env = Env(place)
    env.install("pyarrow==12.0.1", "numpy==2.1.3")
    return env.probe("import pyarrow, numpy; pyarrow.array(numpy.arange(3))")


@broken(["tensorflow", "numpy"], "numpy<2 for this TensorFlow", "numpy|_ARRAY_API|multiarray")
def tensorflow_216_numpy_2(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.16.1", "numpy<2", deps=True)
    env.install("numpy==2.1.3")
    return env.probe("import tensorflow as tf; print(tf.constant([1.0]).numpy())")


@broken(["protobuf", "tensorflow"], "a protobuf as new as TensorFlow asks", "runtime_version|protobuf")
def tensorflow_221_old_protobuf(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.21.0", deps=True)
    env.install("protobuf==3.20.3")
    return env.probe("import tensorflow")


@broken(["protobuf", "tensorboard"], "protobuf<4 (3.20.x), or a newer tensorboard", "Descriptors cannot be created directly")
def tensorboard_28_new_protobuf(place):
    env = Env(place, "3.10")
    env.install("tensorboard==2.8.0", "protobuf==4.25.3", "setuptools<70", "wheel", "absl-py", "grpcio", "markdown", "numpy<2", "requests",
                "tensorboard-data-server<0.7", "tensorboard-plugin-wit", "werkzeug<3", "google-auth<3", "google-auth-oauthlib<0.5", deps=True)
    return env.probe("import tensorboard.compat.proto.summary_pb2")


@broken(["keras", "tensorflow"], "keras<2.16 for TensorFlow 2.15", "keras|Error")
def tensorflow_215_keras_3(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.15.1", deps=True)
    env.install("rich", "optree", deps=True)
    env.install("keras==3.3.3", "namex")
    return env.probe("import tensorflow as tf; tf.keras.layers.Dense(2)(tf.zeros((1, 2))); from tensorflow.keras.preprocessing.image import "
                     "ImageDataGenerator; import tensorflow.keras.layers.experimental.preprocessing")


@broken(["tf.keras", "tensorflow"], "tf-keras of TensorFlow's own version", "Error")
def tf_keras_of_another_version(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.21.0", deps=True)
    env.install("tf-keras==2.15.1")
    env.variables["TF_USE_LEGACY_KERAS"] = "1"
    return env.probe("import tensorflow as tf; tf.keras.Sequential([tf.keras.layers.Dense(1)]).build((None, 2))")


@broken(["keras", "2.3.1|tensorflow"], "keras>=3 as TensorFlow 2.17 asks", "Error")
def keras_231_beside_tensorflow_217(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.install("scipy<1.14", deps=True)
    env.install("keras==2.3.1", "keras-applications", "keras-preprocessing", "pyyaml")
    return env.probe("import keras")


@broken(["jax", "jaxlib"], "jax and jaxlib of one version", "jaxlib")
def jax_with_older_jaxlib(place):
    env = Env(place)
    env.install("jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.install("jaxlib==0.4.20")
    return env.probe("import jax")


@broken(["jax", "jaxlib"], "jax and jaxlib of one version", "jaxlib|Error")
def jax_with_newer_jaxlib(place):
    env = Env(place)
    env.install("jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.install("jaxlib==0.4.38")
    return env.probe("import jax; jax.numpy.ones(3)")


@broken(["ml.dtypes"], "a newer ml_dtypes", "ml_dtypes|float")
def old_ml_dtypes_beside_tensorflow_221(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.21.0", deps=True)
    env.install("ml_dtypes==0.2.0")
    return env.probe("import tensorflow")


@broken(["scipy", "jax"], "scipy<1.13, or a newer jax", "tril")
def jax_0413_scipy_113(place):
    env = Env(place)
    env.install("jax==0.4.13", "jaxlib==0.4.13", "numpy==1.26.4", "scipy==1.13.1", "ml_dtypes==0.2.0", "opt_einsum")
    return env.probe("import jax.scipy.linalg, jax")


@broken(["markupsafe", "jinja2"], "MarkupSafe<2.1, or a newer Jinja2", "soft_unicode")
def jinja2_without_soft_unicode(place):
    env = Env(place)
    env.install("jinja2==2.11.3", "markupsafe==2.1.5")
    return env.probe("import jinja2")


@broken(["keras", "tensorflow.addons"], "TensorFlow<2.16 with Keras 2, or without tensorflow-addons (it is no longer made)", "keras")
def tensorflow_addons_with_keras_3(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.install("tensorflow-addons==0.23.0", "typeguard==2.13.3")
    return env.probe("import tensorflow_addons")


@broken(["tensorflow.text", "tensorflow"], "tensorflow-text of TensorFlow's own version", "undefined symbol|Error")
def tensorflow_text_of_another_version(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.install("tensorflow-text==2.15.0", "tensorflow-hub==0.16.1", "tf-keras==2.17.0")
    return env.probe("import tensorflow_text")


@broken(["segmentation.models|keras", "generic_utils|keras"], "Keras 2 (TensorFlow<2.16), or SM_FRAMEWORK=tf.keras with such", "generic_utils")
def segmentation_models_with_keras_3(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.install("scikit-image", "numpy<2", deps=True)
    env.install("segmentation-models==1.0.1", "keras-applications", "image-classifiers==1.0.0", "efficientnet==1.0.0")
    return env.probe("import segmentation_models")


@broken(["flax|jax", "jax"], "a flax of the time of this jax", "Error")
def flax_older_than_jax(place):
    env = Env(place)
    env.install("jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.install("matplotlib", deps=True)
    env.install("flax==0.6.1", "msgpack", "optax==0.1.3", "chex==0.1.5", "absl-py", "dm-tree", "toolz", "rich", "pyyaml", "typing_extensions",
                "pygments", "markdown-it-py", "mdurl", "wrapt", "attrs")
    return env.probe("import flax.linen")


@broken(["traitlets"], "traitlets>=5", "Error")
def ipykernel_with_old_traitlets(place):
    env = Env(place)
    env.install("ipykernel==6.29.5", deps=True)
    env.install("traitlets==4.3.3", "ipython_genutils", "decorator", "six")
    return env.probe(shell="python -m ipykernel_launcher --help > /dev/null")


@broken(["pkg_resources", "setuptools"], "setuptools<81 (later ones have no pkg_resources)", "pkg_resources")
def setuptools_without_pkg_resources(place):
    env = Env(place, "3.12")
    env.install("tensorboard==2.16.2", "numpy==1.26.4", "protobuf==4.25.3", "setuptools==82.0.0", "absl-py", "grpcio", "markdown", "six", "tensorboard-data-server", "werkzeug", "markupsafe",
                "typing-extensions")
    return env.probe("import tensorboard.default")


@broken(["flatbuffers", "imp|3.12"], "a newer flatbuffers, or Python<3.12", "No module named 'imp'")
def flatbuffers_needs_imp(place):
    env = Env(place, "3.12")
    env.install("flatbuffers==1.12", "numpy==1.26.4")
    return env.probe("import flatbuffers")


@broken(["torchvision", "torch"], "torchvision 0.13.1 for torch 1.12.1", "Error|nms")
def torchvision_of_another_torch(place):
    env = Env(place, "3.10")
    env.install("torch==1.12.1", "torchvision==0.14.1", "numpy==1.26.4", "typing_extensions", "pillow", "requests", "urllib3", "idna", "certifi",
                "charset-normalizer")
    return env.probe("import torch, torchvision; torchvision.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)")


@broken(["torch", "numpy"], "numpy<2 for this torch", "Numpy is not available|_ARRAY_API")
def torch_112_numpy_2(place):
    env = Env(place, "3.10")
    env.install("torch==1.12.1", "numpy==2.1.3", "typing_extensions")
    return env.probe("import torch, numpy; torch.from_numpy(numpy.ones(3))")


@broken(["torchaudio", "torch"], "torchaudio 0.12.1 for torch 1.12.1", "undefined symbol|Error")
def torchaudio_of_another_torch(place):
    env = Env(place, "3.10")
    env.install("torch==1.12.1", "torchaudio==0.13.1", "numpy==1.26.4", "typing_extensions")
    return env.probe("import torchaudio")


@broken(["tf.keras", "tensorflow.probability|probability"], "pip install tf-keras (of TensorFlow's version)", "tf.keras")
def tensorflow_probability_without_tf_keras(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.install("tensorflow-probability==0.24.0", "dm-tree", "cloudpickle", "decorator", "gast", "attrs")
    return env.probe("import tensorflow_probability as tfp; tfp.distributions.Normal(0., 1.)")


@broken(["typing.extensions", "optree|keras"], "a newer typing_extensions", "typing_extensions")
def old_typing_extensions(place):
    env = Env(place)
    env.install("keras==3.8.0", "jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.install("typing_extensions==4.1.1")
    env.variables["KERAS_BACKEND"] = "jax"
    return env.probe("import keras")
