"""Indices, order, sets and counts."""
import math
import operator

import numpy as np
from keras.src.backend import config

from keras_plimsoll.src import engine
from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops._base import (
    FLOATS, axes_in, axis_in, broadcasted, check_indices, cut, flat, iota, joined, like, meet, met, permuted, positions, reshaped, scalar, values_of, where,
)
from keras_plimsoll.src.ops._creation import linspace
from keras_plimsoll.src.ops._reduce import max as _max, min as _min, sum as _sum
from keras_plimsoll.src.ops._unary import isnan
from keras_plimsoll.src.ops.core import cast, convert_to_tensor


def _indices(x):
    x = convert_to_tensor(x)
    return cast(x, "int32") if x.dtype == "bool" or x.dtype in FLOATS else x


def take(x, indices, axis=None):
    x, indices = convert_to_tensor(x), _indices(indices)
    if axis is None:
        x, axis = flat(x), 0
    axis = axis_in(axis, x.ndim)
    check_indices(indices, x.shape[axis] if x.ndim else 1, "take")
    if axis == 0 and x.ndim == 2 and x.dtype in FLOATS:  # with a gradient that adds up rows
        return call("embedding", x, indices)
    return call("take", x, indices, axis=axis)


def take_along_axis(x, indices, axis=None):
    x, indices = convert_to_tensor(x), _indices(indices)
    if axis is None:
        return take_along_axis(flat(x), flat(indices), 0)
    if x.ndim != indices.ndim:
        raise ValueError(f"Expected as many axes in `x` as in `indices`. Received: shapes {x.shape} and {indices.shape}")
    axis = axis_in(axis, x.ndim)
    check_indices(indices, x.shape[axis], "take_along_axis")
    outer = np.broadcast_shapes(*[(*s[:axis], 1, *s[axis + 1 :]) for s in (x.shape, indices.shape)])
    x = broadcasted(x, [*outer[:axis], x.shape[axis], *outer[axis + 1 :]])
    shape = [*outer[:axis], indices.shape[axis], *outer[axis + 1 :]]
    indices = cast(broadcasted(indices, shape), "int32")
    columns = [indices if a == axis else positions(shape, a) for a in range(x.ndim)]
    return gather(x, columns)


def gather(x, columns):
    """x at places whose coordinates along the first axes are `columns`, tensors of one shape."""
    shape = columns[0].shape
    return call("gather_nd", x, joined([reshaped(cast(c, "int32"), [*shape, 1]) for c in columns], len(shape)))


def sort(x, axis=-1):
    x = convert_to_tensor(x)
    if axis is None or x.ndim == 0:
        x, axis = flat(x), 0
    return call("sort", x, axis=axis_in(axis, x.ndim))


def argsort(x, axis=-1):
    x = convert_to_tensor(x)
    if axis is None or x.ndim == 0:
        x, axis = flat(x), 0
    axis = axis_in(axis, x.ndim)
    return call("sort", x, positions(x.shape, axis), axis=axis)[1]


def argpartition(x, kth, axis=-1):
    return argsort(x, axis)  # what is sorted is parted at every place


def searchsorted(sorted_sequence, values, side="left"):
    sorted_sequence, values = meet(convert_to_tensor(sorted_sequence), convert_to_tensor(values))
    if sorted_sequence.ndim != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use `keras.ops.vectorized_map` to extend it to N-D sequences. "
            f"Received: sorted_sequence.shape={sorted_sequence.shape}"
        )
    return _bisect(sorted_sequence, values, "less" if side == "left" else "less_equal")


def _bisect(line, values, before):
    """For every value, how many of the line come before it: log2(n) steps, each for all values."""
    low = broadcasted(scalar(0, "int32"), values.shape)
    high = broadcasted(scalar(line.size, "int32"), values.shape)
    for _ in range(line.size.bit_length()):
        middle = call("right_shift", call("add", low, high), scalar(1, "int32"))
        right = call(before, call("take", line, middle, axis=0), values)
        open_ = call("less", low, high)
        low, high = (
            call("where", call("bitwise_and", open_, right), call("add", middle, scalar(1, "int32")), low),
            call("where", call("bitwise_and", open_, call("logical_not", right)), middle, high),
        )
    return low


def digitize(x, bins):
    x, bins = meet(convert_to_tensor(x), convert_to_tensor(bins))
    up = _bisect(bins, x, "less_equal")
    if bins.size < 2:
        return up
    down = call("subtract", scalar(bins.size, "int32"), _bisect(call("reverse", bins, axes=[0]), x, "less"))
    rising = call("less_equal", *[reshaped(cut(bins, 0, i, i + 1), []) for i in (0, bins.size - 1)])
    return call("where", rising, up, down)


def unravel_index(indices, shape):
    indices = convert_to_tensor(indices)
    indices = cast(indices, met(indices.dtype))
    total = math.prod(shape)
    rest = where(call("less", indices, like(indices, 0)), call("add", indices, like(indices, total)), indices)
    result = []
    for size in reversed([operator.index(n) for n in shape]):
        result.append(call("mod", rest, like(rest, size)))
        rest = call("floor_divide", rest, like(rest, size))
    return tuple(reversed(result))


def nonzero(x):
    return tuple(engine.from_numpy(i.astype("int32")) for i in np.nonzero(values_of(x, "nonzero")))


def isin(x1, x2, assume_unique=False, invert=False):
    x1, x2 = meet(convert_to_tensor(x1), convert_to_tensor(x2))
    if x2.size == 0:
        return broadcasted(scalar(bool(invert), "bool"), x1.shape)
    line = sort(flat(x2))
    at = call("minimum", _bisect(line, x1, "less"), scalar(x2.size - 1, "int32"))
    return call("not_equal" if invert else "equal", call("take", line, at, axis=0), x1)


# ---- Quantiles.


def _to_end(x, axis):
    """The axes as one, the last; and the shape of a result that keeps them as 1."""
    axes = axes_in(axis, x.ndim)
    others = [a for a in range(x.ndim) if a not in axes]
    kept = [1 if a in axes else n for a, n in enumerate(x.shape)]
    return reshaped(permuted(x, others + axes), [*[x.shape[a] for a in others], math.prod(x.shape[a] for a in axes)]), kept


def _at_position(line, position, method):
    """Elements of sorted rows at places between elements; one place for each row, or one for all."""
    below, above = call("floor", position), call("ceil", position)
    if method == "nearest":  # halves to even, as NumPy
        below = above = call("round", position)
    low, high = (_element(line, cast(p, "int32")) for p in (below, above))
    if method in ("lower", "nearest"):
        return low
    if method == "higher":
        return high
    share = cast(call("subtract", position, below), line.dtype)
    if method == "midpoint":
        share = where(call("equal", below, above), 0.0, broadcasted(like(share, 0.5), share.shape))
    elif method != "linear":
        raise ValueError(f"Expected `method` to be linear, lower, higher, midpoint or nearest. Received: method={method}")
    between = call("add", low, call("multiply", call("subtract", high, low), share))
    return call("where", call("equal", low, high), low, between)  # two infinities have no difference


def _element(line, place):
    shape = line.shape[:-1]
    place = broadcasted(place, shape)
    return reshaped(take_along_axis(line, reshaped(place, [*shape, 1]), -1), shape)


def _quantiles(x, q, axis, method, keepdims, count_of):
    """count_of: sorted rows to how many elements count (the first ones), and which rows have no result."""
    x = convert_to_tensor(x)
    x = cast(x, met(x.dtype, float))
    wide = cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    line, kept = _to_end(wide, axis)
    line = call("sort", line, axis=line.ndim - 1)
    count, none = count_of(line)
    q = convert_to_tensor(q, wide.dtype)
    results = []
    for one in [reshaped(part, []) for part in _each(flat(q))]:
        position = call("multiply", call("maximum", call("subtract", count, like(count, 1)), like(count, 0)), one)
        y = where(none, math.nan, _at_position(line, position, method))
        results.append(reshaped(y, [1, *(kept if keepdims else y.shape)]))
    result = joined(results, 0)
    return cast(reshaped(result, [*q.shape, *result.shape[1:]]), x.dtype)


def _each(vector):
    return [cut(vector, 0, i, i + 1) for i in range(vector.size)]


def _all_count(line):
    size = line.shape[-1]
    last = reshaped(cut(line, line.ndim - 1, size - 1, size), line.shape[:-1])  # NaNs come last
    return like(line, size), isnan(last)


def _numbers_count(line):
    count = _sum(cast(call("equal", line, line), line.dtype), -1)
    return count, call("equal", count, like(count, 0))


def quantile(x, q, axis=None, method="linear", keepdims=False):
    return _quantiles(x, q, axis, method, keepdims, _all_count)


def nanquantile(x, q, axis=None, method="linear", keepdims=False):
    return _quantiles(x, q, axis, method, keepdims, _numbers_count)


def _hundredths(q):
    q = convert_to_tensor(q)
    q = q if q.dtype in FLOATS else cast(q, config.floatx())
    return call("divide", q, like(q, 100))


def percentile(x, q, axis=None, method="linear", keepdims=False):
    return quantile(x, _hundredths(q), axis, method, keepdims)


def nanpercentile(x, q, axis=None, method="linear", keepdims=False):
    return nanquantile(x, _hundredths(q), axis, method, keepdims)


def median(x, axis=None, keepdims=False):
    return quantile(x, 0.5, axis, "linear", keepdims)


def nanmedian(x, axis=None, keepdims=False):
    return nanquantile(x, 0.5, axis, "linear", keepdims)


# ---- Counts.


def bincount(x, weights=None, minlength=0, sparse=False):
    if sparse:
        raise ValueError("Unsupported value `sparse=True` with the plimsoll backend")
    x = cast(_indices(x), "int32")
    if weights is None:
        weights = broadcasted(scalar(1, "int32"), x.shape)
    else:
        weights = convert_to_tensor(weights)
        weights = cast(weights, met(weights.dtype))
        weights = cast(weights, "int32") if weights.dtype == "bool" else weights
    size = _bins_for(x, minlength)
    lead = list(x.shape[:-1])
    place = [positions(x.shape, a) for a in range(len(lead))] + [x]
    place = joined([reshaped(p, [*x.shape, 1]) for p in place], x.ndim)
    return call("scatter_nd", broadcasted(like(weights, 0), [*lead, size]), place, weights, mode="add")


def _bins_for(x, minlength):
    if x.is_symbolic:
        if not minlength:
            raise ValueError("bincount: give `minlength` inside of a step that is being traced: it is the size of the result there.")
        return minlength
    return max(int(engine.to_numpy(_max(x))) + 1 if x.size else 0, minlength)


def histogram(x, bins=10, range=None):
    x = flat(convert_to_tensor(x))
    x = x if x.dtype in FLOATS else cast(x, config.floatx())
    if range is not None:
        low, high = (convert_to_tensor(r, x.dtype) for r in range)
    elif x.size:
        low, high = _min(x), _max(x)
    else:
        low, high = like(x, 0), like(x, 1)
    none = call("equal", low, high)
    half = where(none, 0.5, like(x, 0))
    edges = linspace(call("subtract", low, half), call("add", high, half), num=bins + 1, dtype=x.dtype)
    at = call("subtract", _bisect(edges, x, "less_equal"), scalar(1, "int32"))
    last = call("equal", x, reshaped(cut(edges, 0, bins, bins + 1), []))
    at = call("where", last, scalar(bins - 1, "int32"), at)  # -1 or `bins` where it lies outside: dropped
    counts = broadcasted(scalar(0, "int32"), [bins])
    ones = broadcasted(scalar(1, "int32"), at.shape)
    return call("scatter_nd", counts, reshaped(at, [at.size, 1]), ones, mode="add"), edges


# ---- Sets.


def unique(
    x, sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None, size=None, fill_value=None
):
    x = convert_to_tensor(x)
    wanted = [True, return_index, return_inverse, return_counts]
    if x.is_symbolic:
        if size is None or axis is not None:
            raise ValueError("unique: inside of a step that is being traced give `size` and leave `axis` as None.")
        results = _unique_of_size(x, size, fill_value)
    else:
        results = _unique_on_host(x, axis, size, fill_value)
    results = tuple(r for r, want in zip(results, wanted) if want)
    return results[0] if len(results) == 1 else results


def _unique_on_host(x, axis, size, fill_value):
    array = engine.to_numpy(x)
    dim = 0 if axis is None else axis_in(axis, x.ndim)
    values, index, inverse, counts = np.unique(array, True, True, True, axis=axis, equal_nan=False)
    if size is not None:
        fill = 0 if fill_value is None else fill_value
        values, index, counts = (
            _to_size(part, size, at, value) for part, at, value in ((values, dim, fill), (index, 0, 1), (counts, 0, 0))
        )
    whole = [part.astype("int32") for part in (index, inverse.reshape(array.shape if axis is None else -1), counts)]
    return [engine.from_numpy(part) for part in (values, *whole)]


def _to_size(part, size, axis, fill):
    part = part.take(range(min(size, part.shape[axis])), axis)
    widths = [(0, size - part.shape[axis] if a == axis else 0) for a in range(part.ndim)]
    return np.pad(part, widths, constant_values=fill)


def _unique_of_size(x, size, fill_value):
    """The firsts of equals in the sorted elements, each moved to its number; those past `size` are dropped."""
    line, origin = call("sort", flat(x), iota(x.size), axis=0)
    one = scalar(1, "int32")
    new = call("not_equal", cut(line, 0, 1, x.size), cut(line, 0, 0, x.size - 1))
    number = call("pad", call("cumsum", cast(new, "int32"), axis=0), low=[1], high=[0], value=0.0)
    first = call("pad", new, low=[1], high=[0], value=1.0)
    place = reshaped(number, [x.size, 1])
    target = reshaped(call("where", first, number, scalar(size, "int32")), [x.size, 1])
    values = broadcasted(like(x, 0 if fill_value is None else fill_value), [size])
    values = call("scatter_nd", values, target, line, mode="set")
    index = call("scatter_nd", broadcasted(one, [size]), target, origin, mode="set")
    inverse = call("scatter_nd", iota(x.size), reshaped(origin, [x.size, 1]), number, mode="set")
    ones = broadcasted(one, [x.size])
    counts = call("scatter_nd", broadcasted(scalar(0, "int32"), [size]), place, ones, mode="add")
    return values, index, reshaped(inverse, x.shape), counts
