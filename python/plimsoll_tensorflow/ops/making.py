"""Tensors from numbers and shapes."""
import numpy as np
from keras import ops as k
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import cast as backend_cast
from plimsoll._native import Tensor

from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.ops.operands import on_rows, shape_list, static, tensor
from plimsoll_tensorflow.tensor import StringTensor, is_text, text_tensor, to_tensor


def constant(value, dtype=None, shape=None, name="Const"):
    dtype = None if dtype is None else as_dtype(dtype)
    if is_text(value) or dtype == "string":
        made = text_tensor(value)
        return made if shape is None else StringTensor(np.broadcast_to(made.array, shape))
    if isinstance(value, Tensor):
        made = value if dtype is None else backend_cast(value, dtype)
    else:
        made = to_tensor(value, dtype)
    if shape is None or tuple(made.shape) == tuple(shape_list(shape)):
        return made
    return k.broadcast_to(made, shape_list(shape)) if made.size == 1 else k.reshape(made, shape_list(shape))


def zeros(shape, dtype="float32", name=None):
    return k.zeros(shape_list(shape), as_dtype(dtype).name)


def ones(shape, dtype="float32", name=None):
    return k.ones(shape_list(shape), as_dtype(dtype).name)


def _like(make):
    def like(input, dtype=None, name=None):
        return make(tensor(input), None if dtype is None else as_dtype(dtype).name)

    return on_rows(like)


zeros_like, ones_like = _like(lambda x, d: k.zeros_like(x, dtype=d)), _like(lambda x, d: k.ones_like(x, dtype=d))


def fill(dims, value, name=None):
    x = tensor(value)
    return StringTensor(np.broadcast_to(x.array, shape_list(dims))) if isinstance(x, StringTensor) else k.broadcast_to(x, shape_list(dims))


def eye(num_rows, num_columns=None, batch_shape=None, dtype="float32", name=None):
    made = k.eye(static(num_rows), None if num_columns is None else static(num_columns), dtype=as_dtype(dtype).name)
    return made if batch_shape is None else k.broadcast_to(made, [*shape_list(batch_shape), *made.shape])


def range(start, limit=None, delta=1, dtype=None, name=None):
    if limit is None:
        start, limit = 0, start
    numbers = [np.asarray(n)[()] if isinstance(n, (Tensor, BackendVariable)) else n for n in (start, limit, delta)]
    if dtype is None:
        given = next((n.dtype for n in numbers if isinstance(n, np.generic)), None)
        dtype = as_dtype(given) if given is not None else "float32" if any(isinstance(n, float) for n in numbers) else "int32"
    return to_tensor(np.arange(*numbers).astype(as_dtype(dtype).as_numpy_dtype))


def linspace(start, stop, num, name=None, axis=0):
    start = tensor(start)
    return k.linspace(start, tensor(stop), static(num), axis=axis, dtype=as_dtype(start.dtype).name if "float" in start.dtype else "float64")


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    made = k.one_hot(tensor(indices), static(depth), axis=-1 if axis is None else axis, dtype=as_dtype(dtype or "float32").name)
    if on_value is None and off_value is None:
        return made
    on, off = 1 if on_value is None else on_value, 0 if off_value is None else off_value
    return made * (on - off) + off
