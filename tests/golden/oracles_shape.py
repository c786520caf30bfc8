"""Oracles of ops that move elements or make many into one."""
import itertools

import numpy as np

from inputs import is_float
from oracles_elementwise import wide


def lowest(dtype):
    if is_float(dtype):
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def highest(dtype):
    if is_float(dtype):
        return np.inf
    return True if dtype.kind == "b" else np.iinfo(dtype).max


def reduction(fn, initial):
    """`initial(dtype)` is what the reduction of nothing is."""
    def run(inputs, attrs, out):
        x = inputs[0]
        axes = tuple(attrs["axes"]) or None
        keywords = {} if is_float(x.dtype) or x.dtype.kind == "b" or fn not in (np.sum, np.prod) else {"dtype": x.dtype}
        return fn(wide(x), axis=axes, keepdims=attrs["keepdims"], initial=initial(x.dtype), **keywords)
    return run


def logical(fn):
    return lambda inputs, attrs, out: fn(inputs[0], axis=tuple(attrs["axes"]) or None, keepdims=attrs["keepdims"])


def arg_reduce(fn):
    return lambda inputs, attrs, out: fn(wide(inputs[0]), axis=attrs["axis"], keepdims=attrs["keepdims"])


def cumulative(fn):
    def run(inputs, attrs, out):
        x, axis = inputs[0], attrs["axis"]
        x = np.flip(x, axis) if attrs["reverse"] else x
        keywords = {} if is_float(x.dtype) or fn is np.maximum.accumulate else {"dtype": x.dtype}
        y = fn(wide(x), axis=axis, **keywords)
        return np.flip(y, axis) if attrs["reverse"] else y
    return run


def cut(x, low, high, strides):
    return x[tuple(slice(a, b, s) for a, b, s in zip(low, high, strides))]


def pad(inputs, attrs, out):
    x, low, high = inputs[0], attrs["low"], attrs["high"]
    interior = attrs["interior"] or [0] * x.ndim
    spread = [n + max(n - 1, 0) * k for n, k in zip(x.shape, interior)]
    y = np.full([n + max(a, 0) + max(b, 0) for n, a, b in zip(spread, low, high)], attrs["value"], np.float64
                if is_float(x.dtype) else x.dtype)
    y[tuple(slice(max(a, 0), max(a, 0) + n, k + 1) for a, n, k in zip(low, spread, interior))] = x
    return cut(y, [max(-a, 0) for a in low], [n - max(-b, 0) for n, b in zip(y.shape, high)], [1] * x.ndim)


def clamped_starts(starts, sizes, shape):
    return [int(np.clip(s, 0, n - w)) for s, w, n in zip(starts.astype(np.int64), sizes, shape)]


def dynamic_slice(inputs, attrs, out):
    x, starts = inputs
    at = clamped_starts(starts, attrs["sizes"], x.shape)
    return wide(x)[tuple(slice(a, a + w) for a, w in zip(at, attrs["sizes"]))]


def dynamic_update_slice(inputs, attrs, out):
    x, update, starts = inputs
    at = clamped_starts(starts, update.shape, x.shape)
    y = wide(x).copy()
    y[tuple(slice(a, a + w) for a, w in zip(at, update.shape))] = update
    return y


def iota(inputs, attrs, out):
    shape, axis = attrs["shape"], attrs["axis"]
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.broadcast_to(np.arange(shape[axis]).reshape(along), shape)


def wrap(indices, size):
    """Negative indices count from the end; what is still outside is clamped."""
    indices = indices.astype(np.int64)
    return np.clip(np.where(indices < 0, indices + size, indices), 0, max(size - 1, 0))


def take(inputs, attrs, out):
    x, indices = inputs
    axis = attrs["axis"] % x.ndim
    if indices.size == 0 or x.size == 0:
        return np.zeros(x.shape[:axis] + indices.shape + x.shape[axis + 1:])
    return np.take(wide(x), wrap(indices, x.shape[axis]), axis=axis)


def gather_nd(inputs, attrs, out):
    x, indices = inputs
    k = indices.shape[-1]
    if indices.size == 0 and k > 0 or x.size == 0:
        return np.zeros(indices.shape[:-1] + x.shape[k:])
    return wide(x)[tuple(wrap(indices[..., i], x.shape[i]) for i in range(k))] if k else np.broadcast_to(
        wide(x), indices.shape[:-1] + x.shape)


def scatter_nd(inputs, attrs, out):
    x, indices, updates = inputs
    combine = {"set": lambda a, b: b, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[attrs["mode"]]
    y = wide(x).copy()
    for row in itertools.product(*map(range, indices.shape[:-1])):
        at = tuple(int(i) for i in indices[row])
        if all(0 <= i < n for i, n in zip(at, x.shape)):
            y[at] = combine(y[at], wide(updates)[row])
    return y


def windows(shape, attrs):
    """(index of the result, the slice of x under its window), inside x."""
    sizes = [max(0, (n + a + b - w) // s + 1) for n, w, s, a, b in
             zip(shape, attrs["window"], attrs["strides"], attrs["low"], attrs["high"])]
    for at in itertools.product(*map(range, sizes)):
        first = [i * s - a for i, s, a in zip(at, attrs["strides"], attrs["low"])]
        yield at, tuple(slice(max(f, 0), max(f + w, 0)) for f, w in zip(first, attrs["window"]))
    yield None, sizes


def reduce_window(fn, initial):
    def run(inputs, attrs, out):
        x = wide(inputs[0])
        places = list(windows(x.shape, attrs))
        y = np.zeros(places.pop()[1], x.dtype)
        for at, under in places:
            y[at] = fn(x[under], initial=initial(inputs[0].dtype))
        return y
    return run


def select_and_scatter_add(inputs, attrs, out):
    x, dy = map(wide, inputs)
    y = np.zeros_like(x)
    for at, under in list(windows(x.shape, attrs))[:-1]:
        if x[under].size:
            first = np.unravel_index(np.argmax(x[under]), x[under].shape)
            y[tuple(s.start + i for s, i in zip(under, first))] += dy[at]
    return y


def select_and_gather(inputs, attrs, out):
    x, v = map(wide, inputs)
    places = list(windows(x.shape, attrs))
    y = np.zeros(places.pop()[1], x.dtype)
    for at, under in places:
        if x[under].size:
            y[at] = v[under].reshape(-1)[np.argmax(x[under])]
    return y


def sort(inputs, attrs, out):
    axis = attrs["axis"]
    order = np.argsort(wide(inputs[0]), axis=axis, kind="stable")
    return [np.take_along_axis(x, order, axis) for x in inputs]


def top_k(inputs, attrs, out):
    order = np.argsort(-wide(inputs[0]) if is_float(inputs[0].dtype) else ~inputs[0], axis=-1, kind="stable")
    order = order[..., :attrs["k"]]
    return [np.take_along_axis(inputs[0], order, -1), order.astype(np.int32)]


def zero(dtype):
    return 0


def one(dtype):
    return 1


ORACLES = {
    "sort": sort,
    "top_k": top_k,
    "after": lambda inputs, attrs, out: inputs[0],
    "reshape": lambda inputs, attrs, out: inputs[0].reshape(attrs["shape"]),
    "broadcast_to": lambda inputs, attrs, out: np.broadcast_to(inputs[0], attrs["shape"]),
    "transpose": lambda inputs, attrs, out: np.transpose(inputs[0], attrs["permutation"]),
    "reverse": lambda inputs, attrs, out: np.flip(inputs[0], attrs["axes"]),
    "slice": lambda inputs, attrs, out: cut(inputs[0], attrs["starts"], attrs["limits"],
                                            attrs["strides"] or [1] * inputs[0].ndim),
    "pad": pad,
    "concatenate": lambda inputs, attrs, out: np.concatenate(inputs, attrs["axis"]),
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "iota": iota,
    "take": take,
    "gather_nd": gather_nd,
    "scatter_nd": scatter_nd,
    "reduce_sum": reduction(np.sum, zero),
    "reduce_prod": reduction(np.prod, one),
    "reduce_max": reduction(np.max, lowest),
    "reduce_min": reduction(np.min, highest),
    "reduce_and": logical(np.all),
    "reduce_or": logical(np.any),
    "argmax": arg_reduce(np.argmax),
    "argmin": arg_reduce(np.argmin),
    "cumsum": cumulative(np.cumsum),
    "cumprod": cumulative(np.cumprod),
    "cummax": cumulative(np.maximum.accumulate),
    "reduce_window_sum": reduce_window(np.sum, zero),
    "reduce_window_max": reduce_window(np.max, lowest),
    "select_and_scatter_add": select_and_scatter_add,
    "select_and_gather": select_and_gather,
}
