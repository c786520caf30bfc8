"""tf.keras: Keras 3 as TensorFlow has it, and spellings of Keras 2."""
import importlib
import sys
import types

from plimsoll_tensorflow import hints

GONE = ("fit_generator", "evaluate_generator", "predict_generator")
ALIASES = {
    "optimizers.legacy": "plimsoll_tensorflow.legacy_optimizers",
    "layers.experimental": "plimsoll_tensorflow.experimental_layers",
    "layers.experimental.preprocessing": "plimsoll_tensorflow.experimental_layers",
    "layers.preprocessing": "plimsoll_tensorflow.experimental_layers",
    "utils.np_utils": "keras.utils",
    "wrappers.scikit_learn": "plimsoll_tensorflow.sklearn_names",
    "optimizers.schedules": "keras.optimizers.schedules",
}
ALIASES.pop("wrappers.scikit_learn")
done = False


def alias(under):
    """The module of tensorflow.keras.<under> where it is neither in keras._tf_keras.keras nor in keras."""
    return ALIASES.get(under)


def module():
    install()
    return importlib.import_module("keras._tf_keras.keras")


def _gone(name):
    def raiser(self):
        raise AttributeError(f"'{type(self).__name__}' has no '{name}': {hints.HINTS['keras.models.Model.' + name]}")

    return property(raiser)


def _module_getter(prefix):
    fallback = hints.getter(prefix)

    def __getattr__(name):
        known = ALIASES.get(f"{prefix}.{name}".removeprefix("keras."))
        if known:
            return importlib.import_module(known)
        here = sys.modules.get(prefix)  # what Keras has and TensorFlow does not list
        return vars(here)[name] if here is not None and name in vars(here) else fallback(name)

    return __getattr__


def _keep_64_bits():
    """Keras folds 64 bits into 32 on every backend but TensorFlow's, and has integers of 32 bits where none are named (the steps an optimizer counts)."""
    from keras.src.backend.common import dtypes
    from keras_plimsoll.src.ops import _base

    dtypes.BIT64_TO_BIT32_DTYPE.update(int64="int64", uint64="uint64", float64="float64", complex128="complex128")
    dtypes.PYTHON_DTYPES_MAP.update({int: "int64", "int": "int64"})
    for cached in vars(_base).values():
        getattr(cached, "cache_clear", lambda: None)()


def _strings_are_tensors():
    """For Keras, which passes them on as they are to the layers for text; a step that is given strings is run op by op."""
    from keras.src.models.functional import Functional
    from keras_plimsoll.src import tensors

    from plimsoll_tensorflow.tensor import StringTensor

    tensors.outside = (StringTensor,)
    adjust = Functional._adjust_input_rank

    def _adjust_input_rank(self, flat_inputs):
        """A row of strings for an input of shape (1,), as TensorFlow's expand_dims does it."""
        fitted = [x if not isinstance(x, StringTensor) else StringTensor(x.array[..., None]) if x.ndim == len(i.shape) - 1 and i.shape[-1] == 1 else
                  StringTensor(x.array[..., 0]) if x.ndim == len(i.shape) + 1 and x.shape[-1] == 1 else x for x, i in zip(flat_inputs, self._inputs)]
        return adjust(self, fitted)

    Functional._adjust_input_rank = _adjust_input_rank


def install():
    global done
    if done:
        return
    done = True
    import keras
    from keras.src.api_export import keras_export
    from keras.src.trainers import data_adapters, epoch_iterator  # noqa: F401
    from keras.src.utils import backend_utils

    tf_keras = importlib.import_module("keras._tf_keras.keras")
    from plimsoll_tensorflow import hashing, text_layers
    from plimsoll_tensorflow.dataset import adapter

    _keep_64_bits()
    _strings_are_tensors()
    backend_utils.in_tf_graph = lambda: False  # what Keras asks TensorFlow; our traces are those of the backend
    adapter.install(data_adapters)
    layers = importlib.import_module("keras._tf_keras.keras.layers")
    for layer in (text_layers.TextVectorization, text_layers.StringLookup, text_layers.IntegerLookup, hashing.Hashing, hashing.HashedCrossing):
        keras_export(f"keras.layers.{layer.__name__}")(layer)  # saved under Keras's name, and found by it
    for where in (layers, keras.layers, keras.src.layers):
        where.TextVectorization, where.StringLookup = text_layers.TextVectorization, text_layers.StringLookup
        where.Hashing, where.HashedCrossing, where.IntegerLookup = hashing.Hashing, hashing.HashedCrossing, text_layers.IntegerLookup
    keras.optimizers.legacy = importlib.import_module("plimsoll_tensorflow.legacy_optimizers")
    for name in GONE:
        setattr(keras.Model, name, _gone(name))
    for name, where in vars(tf_keras).items():
        if isinstance(where, types.ModuleType) and not name.startswith("_") and not hasattr(where, "__getattr__"):
            where.__getattr__ = _module_getter(f"keras.{name}")
    tf_keras.__getattr__ = _module_getter("keras")
    tf_keras.backend.backend = lambda: "tensorflow"  # what scripts branch on: the functions that they call then are here
