"""x[...] as NumPy does it: slices and numbers cut, tensors of integers gather, masks (with known values) become integers."""
import numpy as np
from keras.src.backend.common import KerasVariable

from keras_plimsoll.src.engine import call, has_invented_sizes
from keras_plimsoll.src.ops._base import broadcasted, check_indices, permuted, reshaped, values_of
from keras_plimsoll.src.ops.core import cast, convert_to_tensor
from keras_plimsoll.src.ops.core import slice as cut
from keras_plimsoll.src.ops.numpy import stack
from plimsoll._native import Tensor

ARRAYS = (Tensor, KerasVariable, np.ndarray, list)


def index(x, key):
    items = _with_all_axes(x, _without_masks(key if isinstance(key, tuple) else (key,)))
    x, items = _cut(*_cut_where_traced(x, items))
    return _gather(x, items) if any(isinstance(item, Tensor) for item in items) else x


def _without_masks(key):
    """Masks become the places where they are true; other arrays tensors."""
    items = []
    for item in key:
        if isinstance(item, (bool, np.bool_)):
            raise IndexError("A single True or False is no index of a tensor.")
        if not isinstance(item, ARRAYS):
            items.append(item)
            continue
        item = convert_to_tensor(item)
        if item.dtype == "bool":
            items += [convert_to_tensor(places.astype("int32")) for places in np.nonzero(values_of(item, "indexing with a mask"))]
        elif "int" in item.dtype:
            items.append(item)
        elif item.size == 0:
            items.append(cast(item, "int32"))
        else:
            raise IndexError(f"Expected integers or a mask as an index, got {item.dtype}")
    return items


def _with_all_axes(x, items):
    """With slices for the axes that are not named."""
    named = sum(item is not None and item is not Ellipsis for item in items)
    if named > x.ndim:
        raise IndexError(f"Too many indices: a tensor with {x.ndim} axes was indexed with {named}.")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("An index can have only one '...'.")
    at = dots[0] if dots else len(items)
    return [*items[:at], *[slice(None)] * (x.ndim - named), *items[at + 1 :]]


def _place(item, size, axis):
    i = item.__index__()
    if has_invented_sizes():
        i = max(-size, min(i, size - 1))
    if not -size <= i < size:
        raise IndexError(f"Index {i} is out of bounds for axis {axis} with size {size}.")
    return i % size


def _span(item, size, axis):
    """start, limit, stride of a slice forwards, and whether it is to be turned round."""
    if isinstance(item, Tensor):
        return 0, size, 1, False
    if not isinstance(item, slice):
        place = _place(item, size, axis)
        return place, place + 1, 1, False
    start, stop, step = item.indices(size)
    count = len(range(start, stop, step))
    if count == 0:
        return 0, 0, 1, False
    last = start + (count - 1) * step
    return (start, last + 1, step, False) if step > 0 else (last, start + 1, -step, True)


def _length(item):
    """Of a slice [i : i + n] whose i has no value yet: n. None: it is another one."""
    if not isinstance(item, slice) or item.step not in (None, 1) or not isinstance(item.start, Tensor) or not item.start.is_symbolic:
        return None
    start, length = getattr(item.stop, "sum_of", (None, None))
    return length if start is item.start and length >= 0 else None


def _cut_where_traced(x, items):
    """Slices that begin where a traced step will say."""
    named = [item for item in items if item is not None]
    lengths = [_length(item) for item in named]
    if all(n is None for n in lengths):
        return x, items
    starts = [0 if n is None else item.start for item, n in zip(named, lengths)]
    x = cut(x, starts, [size if n is None else min(n, size) for n, size in zip(lengths, x.shape)])
    return x, [slice(None) if item is not None and _length(item) is not None else item for item in items]


def _cut(x, items):
    """Slices, numbers and new axes. What is left to do for each axis of the result: a tensor, or None."""
    named = [item for item in items if item is not None]
    spans = [_span(item, size, axis) for axis, (item, size) in enumerate(zip(named, x.shape))]
    if any(span[:3] != (0, size, 1) for span, size in zip(spans, x.shape)):
        starts, limits, strides = zip(*[span[:3] for span in spans])
        x = call("slice", x, starts=list(starts), limits=list(limits), strides=list(strides))
    turned = [axis for axis, span in enumerate(spans) if span[3]]
    if turned:
        x = call("reverse", x, axes=turned)
    advanced = any(isinstance(item, Tensor) for item in items)
    sizes, shape, left = iter(x.shape), [], []
    for item in items:
        size = 1 if item is None else next(sizes)
        if item is None or isinstance(item, (slice, Tensor)):
            shape.append(size)
            left.append(item if isinstance(item, Tensor) else None)
        elif advanced:  # beside tensors a number counts as one of them
            shape.append(1)
            left.append(convert_to_tensor(0, "int32"))
    return reshaped(x, shape), left


def _gather(x, items):
    axes = [a for a, item in enumerate(items) if item is not None]
    for a in axes:
        check_indices(items[a], x.shape[a], "x[...]")
    if len(axes) == 1:
        return call("take", x, items[axes[0]], axis=axes[0])
    shape = np.broadcast_shapes(*[items[a].shape for a in axes])
    places = stack([broadcasted(cast(items[a], "int32"), shape) for a in axes], -1)
    rest = [a for a in range(x.ndim) if a not in axes]
    y = call("gather_nd", permuted(x, axes + rest), places)
    if axes != list(range(axes[0], axes[-1] + 1)):
        return y  # apart, their axes come first
    count, first = len(shape), axes[0]
    order = [*range(count, count + first), *range(count), *range(count + first, y.ndim)]
    return permuted(y, order)
