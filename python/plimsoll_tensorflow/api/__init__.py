"""What `import tensorflow as tf` gives."""
import sys as _sys

import keras as _keras_module  # noqa: F401  (the backend is there before the ops)

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import keras_names as _keras_names
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.dtypes import DTYPES as _DTYPES
from plimsoll_tensorflow.dtypes import DType, TensorShape, TensorSpec, TypeSpec, as_dtype  # noqa: F401
from plimsoll_tensorflow.dtypes import IndexedSlices, RaggedTensorSpec, SparseTensorSpec  # noqa: F401
from plimsoll_tensorflow.function import Function as _Function  # noqa: F401
from plimsoll_tensorflow.function import function  # noqa: F401
from plimsoll_tensorflow.module import Module, name_scope, init_scope, device, control_dependencies  # noqa: F401
from plimsoll_tensorflow.ragged import RaggedTensor  # noqa: F401
from plimsoll_tensorflow.sparse_tensor import SparseTensor  # noqa: F401
from plimsoll_tensorflow.tape import GradientTape  # noqa: F401
from plimsoll_tensorflow.tensor import Tensor, Variable  # noqa: F401
from plimsoll_tensorflow.tensor_array import TensorArray  # noqa: F401

globals().update(_DTYPES)
double, half = _DTYPES["float64"], _DTYPES["float16"]
globals().update(_ops.SAME | _ops.REDUCTIONS | _ops.UNARY | _ops.BINARY)

keras = _keras_names.module()

from plimsoll_tensorflow.api import (  # noqa: E402,F401
    audio, autodiff, autograph, bitwise, compat, config, data, debugging, distribute, dtypes, errors, experimental, image, initializers, io, linalg,
    lookup, math, nest, nn, quantization, ragged, random, sets, signal, sparse, strings, summary, sysconfig, test, train, version,
)
from plimsoll_tensorflow.api.version import VERSION as __version__  # noqa: E402,F401

newaxis = None
as_string = strings.as_string
assert_equal, assert_greater, assert_less, assert_rank = debugging.assert_equal, debugging.assert_greater, debugging.assert_less, debugging.assert_rank
Assert = debugging.Assert
losses, metrics, optimizers = keras.losses, keras.metrics, keras.optimizers
random_normal_initializer = keras.initializers.RandomNormal
zeros_initializer, ones_initializer = keras.initializers.Zeros, keras.initializers.Ones
random_uniform_initializer, constant_initializer = keras.initializers.RandomUniform, keras.initializers.Constant


class UnconnectedGradients:
    NONE, ZERO = "none", "zero"


def executing_eagerly():
    return not inside_function()  # noqa: F821


class VariableAggregation:
    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = "none", "sum", "mean", "only_first_replica"


class VariableSynchronization:
    AUTO, NONE, ON_WRITE, ON_READ = "auto", "none", "on_write", "on_read"


def no_op(name=None):
    return None


def get_logger():
    import logging

    return logging.getLogger("tensorflow")


__getattr__ = _hints.getter("")
_sys.modules.setdefault("tensorflow", _sys.modules[__name__])
