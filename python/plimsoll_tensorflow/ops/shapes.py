"""Shapes and rearrangements; those that strings can take, too."""
import builtins
import functools

import numpy as np
from keras import ops as k

from plimsoll._native import Tensor

from plimsoll_tensorflow.dtypes import TensorShape, as_dtype
from plimsoll_tensorflow.ops.operands import shape_list, static, tensor
from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor


def shape(input, out_type="int32", name=None):
    return to_tensor(np.array(tuple(tensor(input).shape), as_dtype(out_type).as_numpy_dtype))


def size(input, out_type="int32", name=None):
    if isinstance(input, RaggedTensor):
        input = input.flat_values
    return to_tensor(np.array(tensor(input).size, as_dtype(out_type).as_numpy_dtype))


def rank(input, name=None):
    return to_tensor(np.array(len(input.shape) if isinstance(input, RaggedTensor) else tensor(input).ndim, "int32"))


def _text_or(function):
    """The same rearrangement for strings, by NumPy."""

    def wrap(numeric):
        @functools.wraps(numeric)
        def call(x, *args, **kwargs):
            kwargs.pop("name", None)
            x = tensor(x)
            return StringTensor(function(x.array, *args, **kwargs)) if isinstance(x, StringTensor) else numeric(x, *args, **kwargs)

        return call

    return wrap


@_text_or(lambda x, shape: x.reshape(shape_list(shape)))
def reshape(tensor, shape):
    return k.reshape(tensor, shape_list(shape))


@_text_or(lambda x, axis: np.expand_dims(x, axis))
def expand_dims(input, axis):
    return k.expand_dims(input, axis)


@_text_or(lambda x, axis=None: np.squeeze(x, None if axis is None else tuple(np.atleast_1d(axis))))
def squeeze(input, axis=None):
    return k.squeeze(input, tuple(axis) if isinstance(axis, list) else axis)


def transpose(a, perm=None, conjugate=False, name="transpose"):
    return k.transpose(tensor(a), None if perm is None else shape_list(perm))


def _ragged_concat(values, axis):
    rows = [v.rows if isinstance(v, RaggedTensor) else RaggedTensor.from_tensor(v).rows if not isinstance(v, (list, tuple)) else _rows_of(v) for v in values]
    if axis % 2 == 0:
        return RaggedTensor([row for part in rows for row in part])
    return RaggedTensor([np.concatenate(parts) for parts in zip(*rows)])


def _rows_of(lists):
    from plimsoll_tensorflow.api.ragged import constant

    return constant(lists).rows


def _of_one_dtype(values):
    """As tensors: Python's numbers and lists, [] too, take the dtype of the tensors among them."""
    made = [tensor(v) for v in values]
    known = {as_dtype(v.dtype).name for v in values if isinstance(v, Tensor)}
    if len(known) != 1:
        return made
    (dtype,) = known
    return [k.cast(m, dtype) if isinstance(v, (int, float, list)) and not isinstance(m, StringTensor) else m for v, m in zip(values, made)]


def concat(values, axis, name="concat"):
    if isinstance(values, (list, tuple)) and any(isinstance(v, RaggedTensor) for v in values):
        return _ragged_concat(values, axis)
    values = _of_one_dtype(values) if isinstance(values, (list, tuple)) else [tensor(values)]
    if isinstance(values[0], StringTensor):
        return StringTensor(np.concatenate([v.array for v in values], axis))
    return k.concatenate(values, static(axis))


def stack(values, axis=0, name="stack"):
    values = _of_one_dtype(values)
    return StringTensor(np.stack([v.array for v in values], axis)) if isinstance(values[0], StringTensor) else k.stack(values, axis)


def unstack(value, num=None, axis=0, name="unstack"):
    return k.unstack(tensor(value), num, axis)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    x = tensor(value)
    if isinstance(num_or_size_splits, (int, np.integer)):
        return k.split(x, int(num_or_size_splits), axis)
    sizes = shape_list(num_or_size_splits)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[axis] - sum(sizes) - 1
    return k.split(x, np.cumsum(sizes)[:-1].tolist(), axis)


def tile(input, multiples, name=None):
    if isinstance(input, RaggedTensor):
        down, across = shape_list(multiples)
        return RaggedTensor([np.concatenate([row] * across) for row in input.rows] * down)
    return k.tile(tensor(input), shape_list(multiples))


def repeat(input, repeats, axis=None, name=None):
    return k.repeat(tensor(input), static(repeats), axis)


def pad(tensor_, paddings, mode="CONSTANT", constant_values=0, name=None):
    paddings = np.asarray(paddings).tolist()
    values = {"constant_values": constant_values} if mode.upper() == "CONSTANT" else {}
    return k.pad(tensor(tensor_), paddings, mode.lower(), **values)


def broadcast_to(input, shape, name=None):
    return k.broadcast_to(tensor(input), shape_list(shape))


def reverse(tensor_, axis, name=None):
    return k.flip(tensor(tensor_), tuple(shape_list(axis)))


def roll(input, shift, axis, name=None):
    return k.roll(tensor(input), static(shift), axis)


def slice_(input_, begin, size, name=None):
    x, begin = tensor(input_), shape_list(begin)
    return x[tuple(builtins.slice(b, None if s == -1 else b + s) for b, s in zip(begin, shape_list(size)))]


def identity(input, name=None):
    return tensor(input)


def ensure_shape(x, shape, name=None):
    x = tensor(x)
    TensorShape(x.shape).assert_is_compatible_with(shape)
    return x


def meshgrid(*args, indexing="xy", name=None):
    return k.meshgrid(*[tensor(a) for a in args], indexing=indexing)
