"""What the functions are given: tensors, variables, arrays and numbers become tensors; shapes and axes become ints."""
import functools

import keras
import numpy as np
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import cast as backend_cast
from plimsoll._native import Tensor

from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor, operand, to_tensor


def tensor(x, dtype=None):
    if isinstance(x, (Tensor, StringTensor, keras.KerasTensor)):
        return x
    return x.value if isinstance(x, BackendVariable) else to_tensor(x, dtype)


def pair(x, y):
    """Two operands: what is no tensor takes the dtype of the one that is."""
    if isinstance(x, BackendVariable):
        x = x.value
    if isinstance(y, BackendVariable):
        y = y.value
    if isinstance(x, Tensor):
        return x, operand(x, y)
    if isinstance(y, Tensor):
        return operand(y, x), y
    return tensor(x), tensor(y)


def unary(function):
    """Under the name that Keras saves an activation by."""

    def call(x, name=None):
        return x.map_values(call) if isinstance(x, RaggedTensor) else function(tensor(x))

    call.__name__ = call.__qualname__ = function.__name__
    return call


def binary(function):
    def call(x, y, name=None):
        if isinstance(x, RaggedTensor):
            return x.combined(call, y)
        return y.combined(call, x, True) if isinstance(y, RaggedTensor) else function(*pair(x, y))

    return call


def reduction(function, keeps_dtype=False, named=None):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        if isinstance(input_tensor, RaggedTensor):
            if function.__name__ == "mean" or named == "mean":
                input_tensor = input_tensor.map_values(lambda v: v if v.dtype.is_floating else backend_cast(v, "float64"))
            return input_tensor.reduced(reduce, axis, keepdims)
        x = tensor(input_tensor)
        axis = tuple(int(a) for a in np.asarray(axis).ravel()) if isinstance(axis, (Tensor, np.ndarray, list)) else axis
        y = function(x, axis=axis, keepdims=keepdims)
        return backend_cast(y, x.dtype) if keeps_dtype and isinstance(y, Tensor) and y.dtype != x.dtype else y

    reduce.__name__ = named or function.__name__
    return reduce


def on_rows(function):
    """A function of one tensor first, which a ragged one passes through value by value."""

    @functools.wraps(function)
    def call(x, *args, **kwargs):
        return x.map_values(lambda v: function(v, *args, **kwargs)) if isinstance(x, RaggedTensor) else function(x, *args, **kwargs)

    return call


def static(numbers):
    """Shapes and the like as ints."""
    if isinstance(numbers, (Tensor, np.ndarray)):
        return np.asarray(numbers).tolist()
    if isinstance(numbers, (list, tuple)):
        return [int(n) if n is not None else None for n in numbers]
    return int(numbers)


def shape_list(shape):
    found = static(shape)
    return found if isinstance(found, list) else [found]
