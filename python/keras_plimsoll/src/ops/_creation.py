"""Tensors made of nothing but numbers, and matrices made of diagonals."""
import math

import numpy as np
from keras.src.backend import config
from keras.src.backend.common import standardize_dtype

from keras_plimsoll.src import engine
from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops._base import (
    FLOATS, axis_in, broadcasted, flat, iota, kind, like, meet, met, operand, permuted, positions, reshaped, scalar, sizes_of, symbolic,
    tensor_of, values_of, where,
)
from keras_plimsoll.src.ops._reduce import sum as _sum
from keras_plimsoll.src.ops.core import cast, convert_to_tensor
from plimsoll import _native


def array(x, dtype=None):
    return convert_to_tensor(x, dtype=dtype)


def full(shape, fill_value, dtype=None):
    dtype = standardize_dtype(dtype or config.floatx())
    return broadcasted(tensor_of(operand(fill_value), dtype), sizes_of(shape))


def zeros(shape, dtype=None):
    return full(shape, 0, dtype)


def ones(shape, dtype=None):
    return full(shape, 1, dtype)


def empty(shape, dtype=None):
    return full(shape, 0, dtype)


def full_like(x, fill_value, dtype=None):
    x = convert_to_tensor(x)
    return full(x.shape, fill_value, dtype or x.dtype)


def zeros_like(x, dtype=None):
    return full_like(x, 0, dtype)


def ones_like(x, dtype=None):
    return full_like(x, 1, dtype)


def empty_like(x, dtype=None):
    return full_like(x, 0, dtype)


def _number(x, what):
    """A number of the host: sizes depend on it."""
    return x if isinstance(x, (int, float)) else values_of(x, what).item()


def arange(start, stop=None, step=None, dtype=None):
    given = [x for x in (start, stop, step) if x is not None]
    dtype = standardize_dtype(dtype) if dtype is not None else met(*[kind(x) for x in given])
    start, stop, step = (None if x is None else _number(x, "arange") for x in (start, stop, step))
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype not in FLOATS and _native.is_tracing():  # no constants of any size in a step
        count = max(0, math.ceil((stop - start) / step))
        return call("add", call("multiply", iota(count, dtype), scalar(int(step), dtype)), scalar(int(start), dtype))
    wide = "float32" if dtype in ("bfloat16", "float16") else engine.numpy_dtype(dtype)
    return convert_to_tensor(np.arange(start, stop, step, dtype=wide), dtype)


# ---- Numbers between two others.


def _spaced(start, stop, num, endpoint, axis):
    """start + i * step with what follows along an axis, and the step; in the dtype of both."""
    start, stop = meet(start, stop)
    shape = list(np.broadcast_shapes(start.shape, stop.shape))
    axis = axis_in(axis, len(shape) + 1)
    step = call("divide", call("subtract", stop, start), like(start, max(num - 1 if endpoint else num, 1)))
    line = [*shape[:axis], num, *shape[axis:]]
    beside = [*shape[:axis], 1, *shape[axis:]]
    first, last, by = (reshaped(broadcasted(x, shape), beside) for x in (start, stop, step))
    place = reshaped(iota(num), [num if a == axis else 1 for a in range(len(line))])
    y = call("add", call("multiply", cast(place, start.dtype), by), first)
    if endpoint and num > 1:  # exactly, whatever the sum came to
        y = call("where", call("equal", place, scalar(num - 1, "int32")), last, y)
    return broadcasted(y, line), step


def _range_dtype(start, stop, dtype):
    return standardize_dtype(dtype) if dtype is not None else met(kind(start), kind(stop), float)


def _on_host(x):
    return x if isinstance(x, (int, float)) else engine.to_numpy(convert_to_tensor(x)).astype("float64")


def _space(of_numpy, in_trace, start, stop, dtype, num, endpoint, axis, **more):
    """Known ends are spaced by NumPy in float64, so that only the results are rounded."""
    start, stop = operand(start), operand(stop)
    dtype = _range_dtype(start, stop, dtype)
    if symbolic(start, stop):
        wide = dtype if dtype in FLOATS else config.floatx()
        return cast(in_trace(tensor_of(start, wide), tensor_of(stop, wide)), dtype)
    y = of_numpy(_on_host(start), _on_host(stop), num=num, endpoint=endpoint, axis=axis, **more)
    return convert_to_tensor(y if dtype in FLOATS else np.floor(y), dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    start, stop = operand(start), operand(stop)
    y = _space(np.linspace, lambda a, b: _spaced(a, b, num, endpoint, axis)[0], start, stop, dtype, num, endpoint, axis)
    if not retstep:
        return y
    a, b = meet(start, stop, also=(float,))
    return y, call("divide", call("subtract", b, a), like(a, max(num - 1 if endpoint else num, 1)))


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    def in_trace(a, b):
        line = _spaced(a, b, num, endpoint, axis)[0]
        return call("power", tensor_of(operand(base), line.dtype), line)

    return _space(np.logspace, in_trace, start, stop, dtype, num, endpoint, axis, base=base)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    def in_trace(a, b):
        line = _spaced(call("log", call("absolute", a)), call("log", call("absolute", b)), num, endpoint, axis)[0]
        shape = np.broadcast_shapes(a.shape, b.shape)
        sign = broadcasted(call("sign", a), shape)
        at = axis_in(axis, len(shape) + 1)
        return call("multiply", call("exp", line), reshaped(sign, [*shape[:at], 1, *shape[at:]]))

    return _space(np.geomspace, in_trace, start, stop, dtype, num, endpoint, axis)


# ---- Windows.


def _window(of_numpy, x, *more):
    return convert_to_tensor(of_numpy(int(_number(x, "a window")), *more), config.floatx())


def bartlett(x):
    return _window(np.bartlett, x)


def blackman(x):
    return _window(np.blackman, x)


def hamming(x):
    return _window(np.hamming, x)


def hanning(x):
    return _window(np.hanning, x)


def kaiser(x, beta):
    return _window(np.kaiser, x, float(_number(beta, "kaiser")))


# ---- Matrices.


def _column_less_row(rows, columns):
    return call("subtract", positions([rows, columns], 1), positions([rows, columns], 0))


def _band(compare, rows, columns, k):
    return call(compare, _column_less_row(rows, columns), scalar(int(k), "int32"))


def eye(N, M=None, k=0, dtype=None):
    N = int(_number(N, "eye"))
    M = N if M is None else int(_number(M, "eye"))
    return cast(_band("equal", N, M, _number(k, "eye")), dtype or config.floatx())


def identity(n, dtype=None):
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    N = int(_number(N, "tri"))
    M = N if M is None else int(_number(M, "tri"))
    return cast(_band("less_equal", N, M, _number(k, "tri")), dtype or config.floatx())


def _triangle(x, compare, k):
    x = convert_to_tensor(x)
    if x.ndim == 1:  # as NumPy: a matrix of this row
        x = broadcasted(x, [x.size, x.size])
    return where(_band(compare, x.shape[-2], x.shape[-1], _number(k, "a triangle")), x, 0)


def tril(x, k=0):
    return _triangle(x, "less_equal", k)


def triu(x, k=0):
    return _triangle(x, "greater_equal", k)


def diagonal(x, offset=0, axis1=0, axis2=1):
    x = convert_to_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"`diagonal` requires an array of at least two dimensions. Received: shape={x.shape}")
    a, b = axis_in(axis1, x.ndim), axis_in(axis2, x.ndim)
    x = permuted(x, [i for i in range(x.ndim) if i not in (a, b)] + [a, b])
    *lead, rows, columns = x.shape
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = max(offset, 0) - min(offset, 0) * columns
    x = reshaped(x, [*lead, rows * columns])
    if length == 0:
        return reshaped(call("slice", x, starts=[0] * x.ndim, limits=[*lead, 0]), [*lead, 0])
    stop = start + (length - 1) * (columns + 1) + 1
    strides = [1] * len(lead) + [columns + 1]
    return call("slice", x, starts=[0] * len(lead) + [start], limits=[*lead, stop], strides=strides)


def diag(x, k=0):
    x = convert_to_tensor(x)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"`x` must be 1-D or 2-D. Received: shape={x.shape}")
    size = x.size + abs(k)
    rows = call("pad", x, low=[max(-k, 0)], high=[max(k, 0)], value=0.0)
    return where(_band("equal", size, size, k), reshaped(rows, [size, 1]), 0)


def diagflat(x, k=0):
    return diag(flat(convert_to_tensor(x)), k)


def trace(x, offset=0, axis1=0, axis2=1):
    return _sum(diagonal(x, offset, axis1, axis2), -1)


def vander(x, N=None, increasing=False):
    x = convert_to_tensor(x)
    wide = cast(x, met(x.dtype, config.floatx()))
    N = x.shape[0] if N is None else int(N)
    powers = iota(N, wide.dtype) if increasing else call("reverse", iota(N, wide.dtype), axes=[0])
    return cast(call("power", reshaped(wide, [x.shape[0], 1]), powers), met(x.dtype))
