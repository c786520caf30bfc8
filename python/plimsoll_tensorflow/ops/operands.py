"""What the functions are given: tensors, variables, arrays and numbers become tensors; shapes and axes become ints."""
import keras
import numpy as np
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import cast as backend_cast
from plimsoll._native import Tensor

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
        return function(tensor(x))

    call.__name__ = call.__qualname__ = function.__name__
    return call


def binary(function):
    return lambda x, y, name=None: function(*pair(x, y))


def reduction(function, keeps_dtype=False):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        x = tensor(input_tensor)
        axis = tuple(int(a) for a in np.asarray(axis).ravel()) if isinstance(axis, (Tensor, np.ndarray, list)) else axis
        y = function(x, axis=axis, keepdims=keepdims)
        return backend_cast(y, x.dtype) if keeps_dtype and isinstance(y, Tensor) and y.dtype != x.dtype else y

    return reduce


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
