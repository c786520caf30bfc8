"""The engine's ops as formulas use them: a plain number takes the dtype of the tensor beside it."""
import functools
import math

from keras_plimsoll.src import engine
from keras_plimsoll.src.engine import Tensor, call
from keras_plimsoll.src.ops._base import (  # noqa: F401
    FLOATS,
    axes_in,
    axis_in,
    broadcasted,
    cut,
    joined,
    met,
    permuted,
    positions,
    reshaped,
    where,
)

HALVES = ("float16", "bfloat16")


@functools.lru_cache(maxsize=1024)
def number(value, dtype):
    return engine.full(value, dtype)


def filled(shape, dtype, value=0.0):
    return call("broadcast_to", number(value, dtype), shape=list(shape))


def cast(x, dtype):
    return x if x.dtype == dtype else call("cast", x, dtype=dtype)


def to_float(x):
    return x if x.dtype in FLOATS else cast(x, met(x.dtype, float))


def widened(x):
    """Halves as float32: for sums and long formulas."""
    return cast(x, "float32") if x.dtype in HALVES else x


def meeting(*tensors):
    """All in the dtype that they meet in."""
    dtype = met(*[t.dtype for t in tensors])
    return tuple(cast(t, dtype) for t in tensors)


def _binary(name):
    def op(a, b):
        if not isinstance(a, Tensor):
            a = number(a, b.dtype)
        elif not isinstance(b, Tensor):
            b = number(b, a.dtype)
        return call(name, a, b)

    op.__name__ = name
    return op


add, subtract, multiply, divide = (_binary(name) for name in ("add", "subtract", "multiply", "divide"))
maximum, minimum, power, mod = (_binary(name) for name in ("maximum", "minimum", "power", "mod"))
equal, not_equal, less, less_equal = (_binary(name) for name in ("equal", "not_equal", "less", "less_equal"))
greater, greater_equal = (_binary(name) for name in ("greater", "greater_equal"))
logical_and, logical_or = (_binary(name) for name in ("bitwise_and", "bitwise_or"))


def clip(x, low, high):
    return call("clip", x, low=low, high=high)


def reduce(name, x, axis=None, keepdims=False):
    axes = axes_in(axis, x.ndim)
    return call(f"reduce_{name}", x, axes=axes, keepdims=keepdims) if axes else x


def mean(x, axis=None, keepdims=False):
    """Of floats; sums of halves are kept wide until they are divided."""
    count = math.prod(x.shape[a] for a in axes_in(axis, x.ndim))
    total = reduce("sum", widened(x), axis, keepdims)
    return cast(divide(total, count), x.dtype)


def swapped(x, a, b):
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return permuted(x, order)


def expanded(x, axis):
    axis = axis % (x.ndim + 1)
    return call("reshape", x, shape=[*x.shape[:axis], 1, *x.shape[axis:]])


def at(x, axis, i):
    """x[i] along one axis, which goes."""
    axis, i = axis % x.ndim, i % x.shape[axis]
    return call("reshape", cut(x, axis, i, i + 1), shape=[size for a, size in enumerate(x.shape) if a != axis])


def padded(x, low, high, value=0.0, interior=None):
    return call("pad", x, low=list(low), high=list(high), interior=list(interior or [0] * x.ndim), value=value)
