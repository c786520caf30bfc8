"""tf.sets: the last axis is a set; results are sparse, sorted, as in TensorFlow."""
import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.ops import tensor as _tensor
from plimsoll_tensorflow.sparse_tensor import SparseTensor as _SparseTensor
from plimsoll_tensorflow.tensor import StringTensor as _StringTensor
from plimsoll_tensorflow.tensor import to_tensor as _to_tensor


def _rows(x):
    if isinstance(x, _SparseTensor):
        rows = {}
        for at, value in zip(_np.asarray(x.indices).tolist(), x.values.numpy()):
            rows.setdefault(tuple(at[:-1]), []).append(value)
        return tuple(x.shape[:-1]), rows
    x = _tensor(x)
    array = x.array if isinstance(x, _StringTensor) else _np.asarray(x)
    return array.shape[:-1], {at: array[at].tolist() for at in _np.ndindex(*array.shape[:-1])}


def _of(function):
    def operation(a, b, validate_indices=True):
        (lead, left), (_, right) = _rows(a), _rows(b)
        found = {at: sorted(function(set(left.get(at, ())), set(right.get(at, ())))) for at in _np.ndindex(*lead)}
        places = [[*at, i] for at, row in found.items() for i in range(len(row))]
        values = [v for row in found.values() for v in row]
        kind = _tensor(a.values if isinstance(a, _SparseTensor) else a).dtype
        return _SparseTensor(_np.asarray(places, "int64").reshape(-1, len(lead) + 1), _to_tensor(_np.asarray(values, kind.as_numpy_dtype)),
                             [*lead, max(map(len, found.values()), default=0)])

    return operation


intersection, union = _of(lambda a, b: a & b), _of(lambda a, b: a | b)


def difference(a, b, aminusb=True, validate_indices=True):
    return _of((lambda x, y: x - y) if aminusb else (lambda x, y: y - x))(a, b)


def size(a, validate_indices=True):
    lead, rows = _rows(a)
    return _to_tensor(_np.array([len(set(rows.get(at, ()))) for at in _np.ndindex(*lead)], "int32").reshape(lead))


__getattr__ = _hints.getter("sets")
