"""Reductions over axes, and sums along an axis."""
import builtins
import math

from keras.src.backend import config

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops._base import (
    COMPLEX, FLOATS, WIDER, axes_in, axis_in, broadcasted, cut, flat, like, meet, met, reshaped, scalar, tensor_of, where,
)
from keras_plimsoll.src.ops._unary import _limits, isnan, signbit
from keras_plimsoll.src.ops.core import cast, convert_to_tensor


def _reduced(op, x, axis, keepdims):
    axes = axes_in(axis, x.ndim)
    if not axes:  # to the engine no axes are all axes
        return x
    return call(op, x, axes=axes, keepdims=bool(keepdims))


def _count(x, axis):
    return math.prod(x.shape[a] for a in axes_in(axis, x.ndim))


def _over(x, number):
    return call("divide", x, like(x, number))


def _wide(dtype):
    """What means are computed in: at least float32."""
    return "float64" if dtype == "float64" else met(dtype, "float32")


def sum(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    return _reduced("reduce_sum", cast(x, WIDER.get(x.dtype, x.dtype)), axis, keepdims)


def prod(x, axis=None, keepdims=False, dtype=None):
    x = convert_to_tensor(x)
    dtype = dtype or WIDER.get(x.dtype, met(x.dtype))
    return _reduced("reduce_prod", cast(x, dtype), axis, keepdims)


def mean(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    wide = cast(x, _wide(x.dtype))
    result = x.dtype if x.dtype in FLOATS or x.dtype in COMPLEX else wide.dtype
    return cast(_over(_reduced("reduce_sum", wide, axis, keepdims), _count(x, axis)), result)


def _squared_distance(x, axis, keepdims):
    distance = call("subtract", x, mean(x, axis, True))
    return mean(call("square", distance), axis, keepdims)


def var(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    return cast(_squared_distance(cast(x, _wide(x.dtype)), axis, keepdims), met(x.dtype, float))


def std(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    x = x if x.dtype in FLOATS else cast(x, config.floatx())
    return cast(call("sqrt", _squared_distance(cast(x, _wide(x.dtype)), axis, keepdims)), x.dtype)


def _extremum(op, between, x, axis, keepdims, initial):
    x = convert_to_tensor(x)
    if initial is None and builtins.any(x.shape[a] == 0 for a in axes_in(axis, x.ndim)):
        raise ValueError(f"An empty axis has no {between}. Received: shape={x.shape}, axis={axis}; give `initial`.")
    y = _reduced(op, x, axis, keepdims)
    return y if initial is None else call(between, y, tensor_of(initial, x.dtype))


def max(x, axis=None, keepdims=False, initial=None):
    return _extremum("reduce_max", "maximum", x, axis, keepdims, initial)


def min(x, axis=None, keepdims=False, initial=None):
    return _extremum("reduce_min", "minimum", x, axis, keepdims, initial)


def amax(x, axis=None, keepdims=False):
    return max(x, axis, keepdims)


def amin(x, axis=None, keepdims=False):
    return min(x, axis, keepdims)


def ptp(x, axis=None, keepdims=False):
    return call("subtract", max(x, axis, keepdims), min(x, axis, keepdims))


def all(x, axis=None, keepdims=False):
    return _reduced("reduce_and", cast(x, "bool"), axis, keepdims)


def any(x, axis=None, keepdims=False):
    return _reduced("reduce_or", cast(x, "bool"), axis, keepdims)


def count_nonzero(x, axis=None):
    return _reduced("reduce_sum", cast(cast(x, "bool"), "int32"), axis, False)


def _zeros_apart(x):
    """-0.0 comes before 0.0, as Keras wants it."""
    if x.dtype not in FLOATS:
        return x
    x = cast(x, _wide(x.dtype))
    negative_zero = call("bitwise_and", call("equal", x, like(x, 0)), signbit(x))
    return where(negative_zero, -float(_limits(x.dtype).tiny), x)


def _arg(op, x, axis, keepdims):
    if axis is not None and x.ndim:
        return call(op, x, axis=axis_in(axis, x.ndim), keepdims=bool(keepdims))
    at = call(op, flat(x), axis=0)
    return reshaped(at, [1] * x.ndim) if keepdims else at


def argmax(x, axis=None, keepdims=False):
    return _arg("argmax", _zeros_apart(convert_to_tensor(x)), axis, keepdims)


def argmin(x, axis=None, keepdims=False):
    return _arg("argmin", _zeros_apart(convert_to_tensor(x)), axis, keepdims)


def average(x, axis=None, weights=None):
    if weights is None:
        x = convert_to_tensor(x)
        return mean(cast(x, met(x.dtype, float)), axis)
    x, weights = meet(convert_to_tensor(x), convert_to_tensor(weights), also=(float,))
    if weights.shape != x.shape:
        weights = _weights_along(axis, weights, x)
    return call("divide", sum(call("multiply", x, weights), axis), sum(weights, axis))


def _weights_along(axis, weights, x):
    """Weights for the axes alone, as they stand beside x."""
    if axis is None:
        raise ValueError(f"Expected an axis where x and weights have different shapes. Received: {x.shape} and {weights.shape}")
    axes = axes_in(axis, x.ndim)
    if list(weights.shape) != [x.shape[a] for a in axes]:
        raise ValueError(f"Expected weights of the sizes of the axes {axes} of x. Received: {weights.shape} for {x.shape}")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    weights = call("transpose", weights, permutation=order)
    shape = [size if a in axes else 1 for a, size in enumerate(x.shape)]
    return broadcasted(reshaped(weights, shape), x.shape)


# ---- Along one axis.


def _cumulative(op, x, axis, dtype):
    x = convert_to_tensor(x)
    dtype = met(dtype or x.dtype)
    x = cast(x, "int32" if dtype == "bool" else dtype)
    return call(op, flat(x), axis=0) if axis is None else call(op, x, axis=axis_in(axis, x.ndim))


def cumsum(x, axis=None, dtype=None):
    return _cumulative("cumsum", x, axis, dtype)


def cumprod(x, axis=None, dtype=None):
    return _cumulative("cumprod", x, axis, dtype)


def diff(a, n=1, axis=-1):
    a = convert_to_tensor(a)
    axis = axis_in(axis, a.ndim)
    for _ in range(n):
        size = a.shape[axis]
        after, before = cut(a, axis, builtins.min(1, size), size), cut(a, axis, 0, builtins.max(size - 1, 0))
        a = call("not_equal" if a.dtype == "bool" else "subtract", after, before)
    return a


def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = convert_to_tensor(y)
    y = cast(y, met(y.dtype, float))
    axis = axis_in(axis, y.ndim)
    if x is None:
        width = tensor_of(dx, y.dtype)
    else:
        x = cast(x, y.dtype)
        if x.ndim == 1:
            x = reshaped(x, [x.shape[0] if a == axis else 1 for a in range(y.ndim)])
        width = diff(x, axis=axis)
    size = y.shape[axis]
    pairs = call("add", cut(y, axis, 1, size), cut(y, axis, 0, size - 1))
    return call("multiply", sum(call("multiply", pairs, width), axis), like(y, 0.5))


# ---- As if NaNs were not there.


def _without_nan(x, value):
    return where(isnan(x), value, x) if x.dtype in FLOATS else x


def _there(x, axis, keepdims, dtype):
    """How many are not NaN."""
    return sum(cast(call("equal", x, x), dtype), axis, keepdims)


def nansum(x, axis=None, keepdims=False):
    return sum(_without_nan(convert_to_tensor(x), 0.0), axis, keepdims)


def nanprod(x, axis=None, keepdims=False):
    return prod(_without_nan(convert_to_tensor(x), 1.0), axis, keepdims)


def nancumsum(x, axis=None, dtype=None):
    return cumsum(_without_nan(convert_to_tensor(x), 0.0), axis, dtype)


def nancumprod(x, axis=None, dtype=None):
    return cumprod(_without_nan(convert_to_tensor(x), 1.0), axis, dtype)


def nanmean(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    wide = cast(x, _wide(x.dtype))
    count = _there(wide, axis, keepdims, wide.dtype)
    return cast(call("divide", nansum(wide, axis, keepdims), count), met(x.dtype, float))


def _nan_squared_distance(x, axis, keepdims):
    distance = _without_nan(call("subtract", x, nanmean(x, axis, True)), 0.0)
    return call("divide", sum(call("square", distance), axis, keepdims), _there(x, axis, keepdims, x.dtype))


def nanvar(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    return cast(_nan_squared_distance(cast(x, met(x.dtype, "float32")), axis, keepdims), met(x.dtype, float))


def nanstd(x, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    distance = _nan_squared_distance(cast(x, met(x.dtype, "float32")), axis, keepdims)
    return cast(call("sqrt", distance), met(x.dtype, float))


def _nan_extremum(of, x, axis, keepdims, nothing):
    x = convert_to_tensor(x)
    if x.dtype not in FLOATS:
        return of(x, axis, keepdims)
    y = of(_without_nan(x, nothing), axis, keepdims)
    return where(all(isnan(x), axis, keepdims), math.nan, y)


def nanmax(x, axis=None, keepdims=False):
    return _nan_extremum(max, x, axis, keepdims, -math.inf)


def nanmin(x, axis=None, keepdims=False):
    return _nan_extremum(min, x, axis, keepdims, math.inf)


def _nan_arg(of, x, axis, keepdims, nothing):
    x = convert_to_tensor(x)
    if x.dtype not in FLOATS:
        return of(x, axis, keepdims)
    at = of(_without_nan(x, nothing), axis, keepdims)
    return call("where", all(isnan(x), axis, keepdims), scalar(-1, "int32"), at)


def nanargmax(x, axis=None, keepdims=False):
    return _nan_arg(argmax, x, axis, keepdims, -math.inf)


def nanargmin(x, axis=None, keepdims=False):
    return _nan_arg(argmin, x, axis, keepdims, math.inf)
