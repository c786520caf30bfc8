"""Functions that move elements and compute nothing."""
import math
import operator

import numpy as np

from keras_plimsoll.src import engine
from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops._base import (
    COMPLEX, axes_in, axis_in, broadcasted, cut, flat, iota, joined, like, meet, operand, permuted, reshaped, sizes_of, symbolic, values_of,
)
from keras_plimsoll.src.ops.core import cast, convert_to_tensor
from plimsoll._native import Tensor

INDEX_MODES = ("reflect", "symmetric", "edge", "wrap")
HOST_MODES = ("linear_ramp", "maximum", "mean", "median", "minimum", "empty")


def size(x):
    return math.prod(np.shape(x) if not hasattr(x, "shape") else x.shape)


def ndim(x):
    return len(np.shape(x) if not hasattr(x, "shape") else x.shape)


def reshape(x, newshape):
    x, shape = convert_to_tensor(x), sizes_of(newshape)
    if shape.count(-1) == 1:
        known = math.prod(n for n in shape if n != -1)
        if known == 0 or x.size % known:
            raise ValueError(f"Cannot reshape a tensor of shape {x.shape} to {tuple(shape)}.")
        shape[shape.index(-1)] = x.size // known
    return reshaped(x, shape)


def ravel(x):
    return flat(convert_to_tensor(x))


def transpose(x, axes=None):
    x = convert_to_tensor(x)
    return permuted(x, reversed(range(x.ndim)) if axes is None else axes_in(list(axes), x.ndim))


def swapaxes(x, axis1, axis2):
    x = convert_to_tensor(x)
    order = list(range(x.ndim))
    a, b = axis_in(axis1, x.ndim), axis_in(axis2, x.ndim)
    order[a], order[b] = order[b], order[a]
    return permuted(x, order)


def moveaxis(x, source, destination):
    x = convert_to_tensor(x)
    source, destination = axes_in(source, x.ndim), axes_in(destination, x.ndim)
    if len(source) != len(destination):
        raise ValueError(f"Expected as many axes in `source` as in `destination`. Received: {source} and {destination}")
    order = [a for a in range(x.ndim) if a not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return permuted(x, order)


def squeeze(x, axis=None):
    x = convert_to_tensor(x)
    axes = [a for a, n in enumerate(x.shape) if n == 1] if axis is None else axes_in(axis, x.ndim)
    if any(x.shape[a] != 1 for a in axes):
        raise ValueError(f"Cannot squeeze axis={axis}, because the dimension is not 1. Received: shape={x.shape}")
    return reshaped(x, [n for a, n in enumerate(x.shape) if a not in axes])


def expand_dims(x, axis):
    x = convert_to_tensor(x)
    count = len(axis) if isinstance(axis, (list, tuple)) else 1
    axes, old = axes_in(axis, x.ndim + count), iter(x.shape)
    return reshaped(x, [1 if a in axes else next(old) for a in range(x.ndim + count)])


def broadcast_to(x, shape):
    return broadcasted(convert_to_tensor(x), sizes_of(shape))


def repeat(x, repeats, axis=None):
    x = convert_to_tensor(x)
    if axis is None:
        x, axis = flat(x), 0
    axis = axis_in(axis, x.ndim)
    if isinstance(repeats, (int, np.integer)):
        return _repeat_each(x, int(repeats), axis)
    counts = values_of(repeats, "repeat").reshape(-1)
    if counts.size == 1:
        return _repeat_each(x, int(counts[0]), axis)
    places = np.repeat(np.arange(x.shape[axis], dtype="int32"), counts)
    return call("take", x, engine.from_numpy(places), axis=axis)


def _repeat_each(x, count, axis):
    before, after = list(x.shape[: axis + 1]), list(x.shape[axis + 1 :])
    y = broadcasted(reshaped(x, [*before, 1, *after]), [*before, count, *after])
    return reshaped(y, [*before[:-1], before[-1] * count, *after])


def tile(x, repeats):
    x, repeats = convert_to_tensor(x), sizes_of(repeats)
    rank = max(x.ndim, len(repeats))
    shape = [1] * (rank - x.ndim) + list(x.shape)
    repeats = [1] * (rank - len(repeats)) + repeats
    apart = [n for pair in zip([1] * rank, shape) for n in pair]
    whole = [n for pair in zip(repeats, shape) for n in pair]
    if len(whole) > 8:  # more axes than the engine has
        return _tile_each(reshaped(x, shape), repeats)
    return reshaped(broadcasted(reshaped(x, apart), whole), [r * n for r, n in zip(repeats, shape)])


def _tile_each(x, repeats):
    for axis, count in enumerate(repeats):
        x = joined([x] * count, axis) if count else cut(x, axis, 0, 0)
    return x


def flip(x, axis=None):
    x = convert_to_tensor(x)
    axes = axes_in(axis, x.ndim)
    return call("reverse", x, axes=axes) if axes else x


def fliplr(x):
    return flip(x, 1)


def flipud(x):
    return flip(x, 0)


def roll(x, shift, axis=None):
    x = convert_to_tensor(x)
    if axis is None:
        return reshaped(roll(flat(x), shift, 0), x.shape)
    axes = [axis_in(a, x.ndim) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    if isinstance(shift, Tensor) and shift.is_symbolic:
        shifts = [shift] * len(axes) if shift.ndim == 0 else [shift[i] for i in range(shift.shape[0])]
    else:
        shifts = np.broadcast_to(np.asarray(shift), [len(axes)]).tolist()
    for by, a in zip(shifts, axes):
        x = _roll_one(x, by, a)
    return x


def _roll_one(x, shift, axis):
    count = x.shape[axis]
    if count == 0:
        return x
    if isinstance(shift, Tensor):
        places = call("mod", call("subtract", iota(count), cast(shift, "int32")), like(iota(count), count))
        return call("take", x, places, axis=axis)
    at = count - operator.index(shift) % count
    return x if at == count else joined([cut(x, axis, at, count), cut(x, axis, 0, at)], axis)


def rot90(array, k=1, axes=(0, 1)):
    array = convert_to_tensor(array)
    if array.ndim < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={array.ndim}")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    a, b = axes_in(list(axes), array.ndim)
    k %= 4
    if k == 2:
        return flip(array, (a, b))
    if k == 1:
        return swapaxes(flip(array, b), a, b)
    return flip(swapaxes(array, a, b), b) if k == 3 else array


def _pad_widths(pad_width, rank):
    if isinstance(pad_width, Tensor):
        pad_width = engine.to_numpy(pad_width)
    elif isinstance(pad_width, (list, tuple)):
        pad_width = [[operator.index(n) for n in p] if isinstance(p, (list, tuple)) else operator.index(p) for p in pad_width]
    return np.broadcast_to(np.asarray(pad_width, "int64"), [rank, 2]).tolist()


def pad(x, pad_width, mode="constant", constant_values=None):
    x = convert_to_tensor(x)
    widths = _pad_widths(pad_width, x.ndim)
    if constant_values is not None and mode != "constant":
        raise ValueError(f"Argument `constant_values` can only be provided when `mode == 'constant'`. Received: mode={mode}")
    if mode == "constant":
        return _pad_constant(x, widths, 0 if constant_values is None else constant_values)
    if mode in INDEX_MODES:
        return _pad_by_index(x, widths, mode)
    if mode in HOST_MODES:
        return convert_to_tensor(np.pad(values_of(x, f"pad with mode={mode!r}"), widths, mode=mode), x.dtype)
    raise ValueError(f"Expected a mode of numpy.pad. Received: mode={mode}")


def _pad_constant(x, widths, value):
    low, high = [a for a, _ in widths], [b for _, b in widths]
    if symbolic(value) or x.dtype in COMPLEX:
        inside = call("pad", broadcasted(convert_to_tensor(True), x.shape), low=low, high=high, value=0.0)
        return call("where", inside, call("pad", x, low=low, high=high, value=0.0), cast(value, x.dtype))
    value = engine.to_numpy(convert_to_tensor(value, x.dtype))
    if value.size == 1:
        return call("pad", x, low=low, high=high, value=float(value.reshape(())))
    return _pad_sides(x, widths, np.broadcast_to(value.astype("float64"), [x.ndim, 2]).tolist())


def _pad_sides(x, widths, values):
    """Axis by axis, with a value of its own for each side."""
    for axis, (width, pair) in enumerate(zip(widths, values)):
        for side in (0, 1):
            low, high = [0] * x.ndim, [0] * x.ndim
            (low, high)[side][axis] = width[side]
            x = call("pad", x, low=low, high=high, value=pair[side])
    return x


def _pad_by_index(x, widths, mode):
    for axis, width in enumerate(widths):
        if any(width):
            places = np.pad(np.arange(x.shape[axis], dtype="int32"), width, mode=mode)
            x = call("take", x, engine.from_numpy(places), axis=axis)
    return x


def view(x, dtype=None):
    x = convert_to_tensor(x)
    if dtype is None or dtype == x.dtype:
        return x
    old, new = (engine.numpy_dtype(d).itemsize for d in (x.dtype, dtype))
    if old != new and (x.ndim == 0 or x.shape[-1] * old % new):
        raise ValueError(f"Cannot view a tensor of {x.dtype} with shape {x.shape} as {dtype}: the sizes of the elements do not fit.")
    lead = x.shape[:-1]
    if new > old:
        x = reshaped(x, [*lead, x.shape[-1] * old // new, new // old])
    y = call("bitcast", x, dtype=dtype)
    return reshaped(y, [*lead, x.shape[-1] * old // new]) if new < old else y


# ---- Joining and splitting.


def concatenate(xs, axis=0):
    xs = meet(*[convert_to_tensor(x) for x in xs])
    return joined(xs, axis_in(axis, xs[0].ndim))


def append(x1, x2, axis=None):
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    return concatenate([flat(x1), flat(x2)]) if axis is None else concatenate([x1, x2], axis)


def stack(x, axis=0):
    xs = meet(*[operand(part) for part in x])
    axis = axis_in(axis, xs[0].ndim + 1)
    if any(part.shape != xs[0].shape for part in xs):
        raise ValueError(f"Expected tensors of one shape to stack. Received: {[part.shape for part in xs]}")
    shape = list(xs[0].shape)
    return joined([reshaped(part, [*shape[:axis], 1, *shape[axis:]]) for part in xs], axis)


def _at_least(x, rank):
    """As NumPy's atleast_1d to atleast_3d."""
    x = convert_to_tensor(x)
    if x.ndim >= rank:
        return x
    if rank == 3:
        return reshaped(x, {0: [1, 1, 1], 1: [1, *x.shape, 1], 2: [*x.shape, 1]}[x.ndim])
    return reshaped(x, [1] * (rank - x.ndim) + list(x.shape))


def hstack(xs):
    xs = [_at_least(x, 1) for x in xs]
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1)


def vstack(xs):
    return concatenate([_at_least(x, 2) for x in xs], 0)


def dstack(xs):
    return concatenate([_at_least(x, 3) for x in xs], 2)


def column_stack(xs):
    xs = [convert_to_tensor(x) for x in xs]
    return concatenate([x if x.ndim > 1 else reshaped(x, [x.size, 1]) for x in xs], 1)


def _pieces(x, bounds, axis):
    """x[b0:b1], x[b1:b2], ... with bounds as in Python's slices."""
    count = x.shape[axis]
    spans = [slice(a, b).indices(count)[:2] for a, b in zip(bounds, bounds[1:])]
    return [cut(x, axis, a, max(a, b)) for a, b in spans]


def split(x, indices_or_sections, axis=0):
    x = convert_to_tensor(x)
    if isinstance(indices_or_sections, (int, np.integer)) and x.shape[axis_in(axis, x.ndim)] % indices_or_sections:
        raise ValueError(f"Cannot split axis {axis} of a tensor of shape {x.shape} in {indices_or_sections} equal parts.")
    return array_split(x, indices_or_sections, axis)


def array_split(x, indices_or_sections, axis=0):
    x = convert_to_tensor(x)
    axis = axis_in(axis, x.ndim)
    if isinstance(indices_or_sections, (int, np.integer)):
        each, more = divmod(x.shape[axis], int(indices_or_sections))
        bounds = np.cumsum([0] + [each + 1] * more + [each] * (int(indices_or_sections) - more)).tolist()
    else:
        bounds = [0, *sizes_of(indices_or_sections), x.shape[axis]]
    return _pieces(x, bounds, axis)


def hsplit(x, indices_or_sections):
    x = convert_to_tensor(x)
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 0)


def dsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 2)


def meshgrid(*x, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Expected `indexing` to be 'xy' or 'ij'. Received: {indexing}")
    xs, rank = [flat(convert_to_tensor(part)) for part in x], len(x)
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[0], axes[1] = 1, 0
    whole = [0] * rank
    for part, axis in zip(xs, axes):
        whole[axis] = part.size
    return [broadcasted(reshaped(part, [part.size if a == axis else 1 for a in range(rank)]), whole) for part, axis in zip(xs, axes)]
