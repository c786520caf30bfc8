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


__getattr__ = _hints.getter("ragged")
