from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops

globals().update(_ops.REDUCTIONS | _ops.UNARY | _ops.MATH_UNARY | _ops.BINARY | _ops.MATH_BINARY)
argmax, argmin, cumsum, cumprod, top_k, add_n = _ops.argmax, _ops.argmin, _ops.cumsum, _ops.cumprod, _ops.top_k, _ops.add_n
divide_no_nan, squared_difference = _ops.divide_no_nan, _ops.squared_difference


def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    x = _ops.tensor(x)
    return x * _ops.k.rsqrt(_ops.k.maximum(_ops.k.sum(_ops.k.square(x), axis, keepdims=True), epsilon))


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype="int32", name=None):
    labels, predictions = (_ops.np.asarray(_ops.tensor(x)).ravel() for x in (labels, predictions))
    count = int(num_classes or max(labels.max(), predictions.max()) + 1)
    table = _ops.np.zeros((count, count))
    _ops.np.add.at(table, (labels, predictions), 1 if weights is None else _ops.np.asarray(weights))
    return _ops.to_tensor(table.astype(_ops.as_dtype(dtype).as_numpy_dtype))


def in_top_k(targets, predictions, k, name=None):
    return _ops.k.in_top_k(_ops.tensor(targets), _ops.tensor(predictions), k)


def count_nonzero(input, axis=None, keepdims=None, dtype="int64", name=None):
    return _ops.backend_cast(_ops.k.count_nonzero(_ops.tensor(input), axis), _ops.as_dtype(dtype).name)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype="int32", name=None, axis=None):
    return _ops.k.bincount(_ops.tensor(arr), weights=weights, minlength=minlength or 0)


def segment_sum(data, segment_ids, name=None):
    return _ops.k.segment_sum(_ops.tensor(data), _ops.tensor(segment_ids))


def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    return _ops.k.segment_sum(_ops.tensor(data), _ops.tensor(segment_ids), _ops.static(num_segments))


def softmax(logits, axis=-1, name=None):
    return _ops.k.softmax(_ops.tensor(logits), axis)


__getattr__ = _hints.getter("math")
