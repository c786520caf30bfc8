import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.dtypes import as_dtype as _as_dtype
from plimsoll_tensorflow.ragged import RaggedTensor as _RaggedTensor
from plimsoll_tensorflow.tensor import is_text as _is_text
from plimsoll_tensorflow.tensor import text_tensor as _text_tensor
from plimsoll_tensorflow.tensor import to_tensor as _to_tensor


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype="int64"):
    """Of a list of lists; deeper ones are not here."""
    if any(isinstance(cell, (list, tuple)) for row in pylist for cell in row):
        raise NotImplementedError("[tf.ragged.constant] expected a list of lists of numbers or strings: only the second axis may be ragged")
    if any(_is_text(row) for row in pylist):
        return _RaggedTensor([_text_tensor(row).array if row else _np.zeros(0, object) for row in pylist])
    kind = _to_tensor([cell for row in pylist for cell in row] or [0.0]).dtype if dtype is None else _as_dtype(dtype)
    return _RaggedTensor([_np.asarray(row, kind.as_numpy_dtype) for row in pylist])


def map_flat_values(op, *args, **kwargs):
    first = next(a for a in args if isinstance(a, _RaggedTensor))
    flat = lambda a: a.flat_values if isinstance(a, _RaggedTensor) else a
    return first.map_values(lambda _: op(*map(flat, args), **{name: flat(a) for name, a in kwargs.items()}))


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype="int64"):
    starts, limits = (0, starts) if limits is None else (starts, limits)
    rows = _np.broadcast_arrays(*[_np.atleast_1d(_np.asarray(_to_tensor(n))) for n in (starts, limits, deltas)])
    kind = rows[0].dtype if dtype is None else _as_dtype(dtype).as_numpy_dtype
    return _RaggedTensor([_np.arange(*row).astype(kind) for row in zip(*rows)])


def stack(values, axis=0, name=None):
    if axis != 0 or any(isinstance(v, _RaggedTensor) for v in values):
        raise NotImplementedError("[tf.ragged.stack] expected rows and axis=0: only the second axis may be ragged")
    rows = [_to_tensor(v) for v in values]
    return _RaggedTensor([getattr(r, "array", r) for r in rows])


def boolean_mask(data, mask, name=None):
    rows = data.rows if isinstance(data, _RaggedTensor) else _RaggedTensor.from_tensor(data).rows
    kept = mask.rows if isinstance(mask, _RaggedTensor) else list(_np.asarray(mask))
    return _RaggedTensor([row[_np.asarray(m, bool)] for row, m in zip(rows, kept)])


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    lengths = _np.diff(_np.asarray(splits))
    return _to_tensor(_np.repeat(_np.arange(len(lengths)), lengths).astype("int64"))


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    counts = _np.bincount(_np.asarray(segment_ids), minlength=num_segments or 0)
    return _to_tensor(_np.cumsum([0, *counts]).astype("int64"))


__getattr__ = _hints.getter("ragged")
