"""Casts, gathers, scatters, orders: which elements, and as what."""
import builtins
from collections import namedtuple

import keras
import numpy as np
from keras import ops as k
from keras_plimsoll.src import engine
from keras_plimsoll.src.ops._base import check_indices
from keras_plimsoll.src.tensors import cast as backend_cast

from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.ops.operands import pair, shape_list, tensor
from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor

Unique, TopK = namedtuple("Unique", "y idx"), namedtuple("TopKV2", "values indices")


def cast(x, dtype, name=None):
    dtype = as_dtype(dtype)
    if isinstance(x, RaggedTensor):
        return x.map_values(lambda v: cast(v, dtype))
    if isinstance(x, keras.KerasTensor):
        return k.cast(x, dtype.name)
    x = tensor(x)
    return x if dtype == "string" or x.dtype == dtype else backend_cast(x, dtype.name)


def where(condition, x=None, y=None, name=None):
    if isinstance(condition, RaggedTensor) and x is not None:
        flat = lambda v: v.flat_values if isinstance(v, RaggedTensor) else v
        return condition.map_values(lambda c: where(c, flat(x), flat(y)))
    condition = tensor(condition)
    if x is None:
        return to_tensor(np.argwhere(np.asarray(condition)).astype("int64"))
    x, y = pair(x, y)
    return k.where(condition, x, y)


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    if isinstance(params, RaggedTensor):
        return RaggedTensor([params.rows[int(i)] for i in np.asarray(tensor(indices)).ravel()])
    if isinstance(indices, RaggedTensor):
        return indices.map_values(lambda v: gather(params, v, axis=axis))
    x, indices = tensor(params), tensor(indices)
    if isinstance(x, StringTensor):
        return StringTensor(np.take(x.array, np.asarray(indices), axis or 0))
    if batch_dims:
        batch = batch_dims % indices.ndim if batch_dims < 0 else batch_dims
        return _gather_batched(x, indices, batch if axis is None else axis % x.ndim, batch)
    return k.take(x, indices, axis or 0)


def _gather_batched(x, indices, axis, batch):
    """The axes before `batch` are those of both; the axes of x between them and `axis` come before what the indices add."""
    more, between = indices.ndim - batch, axis - batch
    shape, range_ = tuple(indices.shape), builtins.range
    places = [k.broadcast_to(k.reshape(k.arange(n), [n if i == at else 1 for i in range_(indices.ndim)]), shape) for at, n in enumerate(shape[:batch])]
    found = gather_nd(k.moveaxis(x, axis, batch), k.stack([*places, k.cast(indices, "int32")], -1))
    return k.moveaxis(found, list(range_(batch + more, batch + more + between)), list(range_(batch, axis))) if between else found


def gather_nd(params, indices, batch_dims=0, name=None):
    x, indices = tensor(params), tensor(indices)
    for axis in builtins.range(indices.shape[-1]):
        check_indices(indices[..., axis], x.shape[axis], "tf.gather_nd")
    return engine.call("gather_nd", x, backend_cast(indices, "int32"))


def scatter_nd(indices, updates, shape, name=None):
    return k.scatter(tensor(indices), tensor(updates), shape_list(shape))


def tensor_scatter_nd_update(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), tensor(updates))


def tensor_scatter_nd_add(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), tensor(updates), reduction="add")


def boolean_mask(tensor_, mask, axis=None, name="boolean_mask"):
    x, mask = tensor(tensor_), np.asarray(mask)
    if isinstance(x, StringTensor):
        return StringTensor(x.array[mask])
    return k.take(k.reshape(x, [-1, *x.shape[mask.ndim:]]), to_tensor(np.flatnonzero(mask).astype("int32")), 0)


def argmax(input, axis=None, output_type="int64", name=None):
    return backend_cast(k.argmax(tensor(input), 0 if axis is None else axis), as_dtype(output_type).name)


def argmin(input, axis=None, output_type="int64", name=None):
    return backend_cast(k.argmin(tensor(input), 0 if axis is None else axis), as_dtype(output_type).name)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    y = k.sort(tensor(values), axis)
    return k.flip(y, axis) if direction == "DESCENDING" else y


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    x = tensor(values)
    return backend_cast(k.argsort(-x if direction == "DESCENDING" else x, axis), "int32")


def unique(x, out_idx="int32", name=None):
    x = tensor(x)
    values, first, inverse = np.unique(np.asarray(x), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order)
    return Unique(to_tensor(values[order]), to_tensor(place[inverse].astype(as_dtype(out_idx).as_numpy_dtype)))


def top_k(input, k_=1, sorted=True, index_type="int32", name=None, **kwargs):
    return TopK(*k.top_k(tensor(input), kwargs.get("k", k_)))


def histogram_fixed_width(values, value_range, nbins=100, dtype="int32", name=None):
    counts, _ = np.histogram(np.clip(np.asarray(values), *np.asarray(value_range)), nbins, tuple(np.asarray(value_range)))
    return to_tensor(counts.astype(as_dtype(dtype).as_numpy_dtype))


def sequence_mask(lengths, maxlen=None, dtype="bool", name=None):
    lengths = tensor(lengths)
    most = int(np.asarray(lengths).max(initial=0)) if maxlen is None else int(np.asarray(maxlen))
    return cast(k.arange(most, dtype="int32") < k.expand_dims(cast(lengths, "int32"), -1), dtype)


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=0, name=None):
    x, lengths = tensor(input), cast(tensor(seq_lengths), "int32")
    steps = k.arange(x.shape[seq_axis], dtype="int32")
    length = k.expand_dims(lengths, 1)
    places = k.where(steps < length, length - 1 - steps, steps)
    if batch_axis > seq_axis:
        places = k.transpose(places)
    shape = [x.shape[a] if a in (seq_axis, batch_axis) else 1 for a in builtins.range(x.ndim)]
    return k.take_along_axis(x, k.broadcast_to(k.reshape(places, shape), x.shape), axis=seq_axis)
