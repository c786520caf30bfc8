"""What the functions of numpy.py share: the dtype that operands meet in, axes, and numbers as tensors."""
import functools
import operator

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type

from keras_plimsoll.src import engine, ranges
from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops.core import cast, convert_to_tensor
from plimsoll._native import Tensor, alike

FLOATS = frozenset(["float16", "bfloat16", "float32", "float64"])
COMPLEX = frozenset(["complex64", "complex128"])
# What sums of small integers are kept in.
WIDER = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
# Numbers that a double has exactly and the dtype has too.
WHOLE = {f"{sign}int{bits}": (-(2 ** min(bits - 1, 53)) if sign == "" else 0, 2 ** min(bits - (sign == ""), 53) - 1)
         for sign in ("", "u") for bits in (8, 16, 32, 64)}


@functools.lru_cache(maxsize=4096)
def _met(floatx, kinds):
    return result_type(*kinds)


def met(*kinds):
    """Keras's result_type, which takes a while, remembered. Kinds are dtypes, or Python's int, float, bool."""
    return _met(config.floatx(), kinds)


def operand(x):
    """A Python number stays one: it takes the dtype of what it meets."""
    return x if isinstance(x, (Tensor, int, float)) else convert_to_tensor(x)


def kind(x):
    return getattr(x, "dtype", type(x))


def in_range(value, dtype):
    return dtype not in WHOLE or WHOLE[dtype][0] <= value <= WHOLE[dtype][1]


def scalar(value, dtype):
    if isinstance(value, complex) or not in_range(value, dtype):  # integers wrap
        return engine.from_numpy(np.asarray(value).astype(engine.numpy_dtype(dtype)))
    return engine.full(value, dtype)


def tensor_of(x, dtype):
    """The tensor or number in this dtype."""
    if isinstance(x, Tensor):
        return x if x.dtype == dtype else cast(x, dtype)
    return scalar(x, dtype) if type(x) in (int, float, bool) and dtype not in COMPLEX else convert_to_tensor(x, dtype)


def meet(*xs, also=()):
    """All as tensors of the dtype in which they, and the kinds in `also`, meet."""
    if not also and alike(xs):
        return xs
    xs = [operand(x) for x in xs]
    dtype = met(*[kind(x) for x in xs], *also)
    return [tensor_of(x, dtype) for x in xs]


def as_float(x):
    """What functions with results that are no integers compute in."""
    x = convert_to_tensor(x)
    return cast(x, met(x.dtype, float))


def as_inexact(x):
    """As it is if it has fractions, else floatx."""
    x = convert_to_tensor(x)
    return x if x.dtype in FLOATS or x.dtype in COMPLEX else cast(x, config.floatx())


def like(x, value):
    return scalar(value, x.dtype)


def where(condition, a, b):
    """Numbers take the dtype of the tensor beside them."""
    other = a if isinstance(a, Tensor) else b
    return call("where", condition, tensor_of(a, other.dtype), tensor_of(b, other.dtype))


def axis_in(axis, rank):
    axis = operator.index(axis)
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"Expected an axis from {-rank} to {rank - 1} of a tensor with {rank} axes. Received: axis={axis}")
    return axis % rank if rank else 0


def axes_in(axis, rank):
    """Axes as a list without negative ones; None means all."""
    if axis is None:
        return list(range(rank))
    axes = [axis_in(a, rank) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    if len(set(axes)) != len(axes):
        raise ValueError(f"Expected each axis once. Received: axis={axis}")
    return axes if rank else []


def reshaped(x, shape):
    shape = list(shape)
    return x if list(x.shape) == shape else call("reshape", x, shape=shape)


def broadcasted(x, shape):
    shape = list(shape)
    return x if list(x.shape) == shape else call("broadcast_to", x, shape=shape)


def permuted(x, order):
    order = list(order)
    return x if order == sorted(order) else call("transpose", x, permutation=order)


def flat(x):
    return reshaped(x, [x.size])


def cut(x, axis, start, stop, step=1):
    """x[start:stop:step] along one axis; 0 <= start <= stop <= size."""
    starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], limits[axis], strides[axis] = start, stop, step
    return x if (start, stop, step) == (0, x.shape[axis], 1) else call("slice", x, starts=starts, limits=limits, strides=strides)


def joined(parts, axis):
    return parts[0] if len(parts) == 1 else call("concatenate", *parts, axis=axis)


def iota(size, dtype="int32"):
    return call("iota", shape=[size], axis=0, dtype=dtype)


def positions(shape, axis, dtype="int32"):
    return call("iota", shape=list(shape), axis=axis, dtype=dtype)


def sizes_of(shape):
    """A shape given as a number, a list, or tensors with values."""
    if isinstance(shape, Tensor):
        shape = engine.to_numpy(shape).tolist()
    return [operator.index(n) for n in (shape if isinstance(shape, (list, tuple, np.ndarray)) else [shape])]


def symbolic(*xs):
    return any(isinstance(x, Tensor) and x.is_symbolic for x in xs)


def values_of(x, what):
    """The values on the host, for functions whose result's shape depends on them."""
    x = convert_to_tensor(x)
    if x.is_symbolic:
        raise ValueError(
            f"{what}: the shape of the result depends on values, which are not known while a step is traced. "
            "Use it outside of a train_step or a call(), or give the size where there is an argument for it."
        )
    return engine.to_numpy(x)


def check_indices(indices, size, what):
    """An IndexError for one that is outside of its axis, where values are known. In a traced step the nearest place is taken, and those that come
    with the data are looked at before it runs."""
    if indices.is_symbolic:
        ranges.note(indices, size, what)
    if indices.is_symbolic or indices.size == 0 or engine.has_invented_sizes():
        return
    values = engine.to_numpy(indices)
    if -size <= values.min() and values.max() < size:
        return
    at = tuple(np.argwhere((values < -size) | (values >= size))[0].tolist())
    place = f"the index at {list(at)}" if at else "the index"
    raise IndexError(f"[{what}] expected indices from {-size} to {size - 1} for an axis of size {size}, but {place} is {values[at]}.")
