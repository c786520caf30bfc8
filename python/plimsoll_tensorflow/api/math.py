from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.failures import InvalidArgumentError as _Invalid

globals().update(_ops.special.MATH | _ops.special_values.MATH | _ops.REDUCTIONS | _ops.UNARY | _ops.MATH_UNARY | _ops.BINARY | _ops.MATH_BINARY)
argmax, argmin, cumsum, cumprod, top_k, add_n = _ops.argmax, _ops.argmin, _ops.cumsum, _ops.cumprod, _ops.top_k, _ops.add_n
divide_no_nan, squared_difference = _ops.divide_no_nan, _ops.squared_difference


def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    x = _ops.tensor(x)
    return x * _ops.k.rsqrt(_ops.k.maximum(_ops.k.sum(_ops.k.square(x), axis, keepdims=True), epsilon))


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype="int32", name=None):
    if num_classes is not None and any(getattr(x, "is_symbolic", False) for x in (labels, predictions, weights)):
        return _counted_in_trace(labels, predictions, _ops.static(num_classes), weights, dtype)
    labels, predictions = (_ops.np.asarray(_ops.tensor(x)).ravel().astype("int64") for x in (labels, predictions))  # bools would be a mask
    count = int(num_classes or max(labels.max(), predictions.max()) + 1)
    for name, classes in (("labels", labels), ("predictions", predictions)):
        if classes.min(initial=0) < 0 or classes.max(initial=0) >= count:
            raise _Invalid(f"[confusion_matrix] expected {name} from 0 to {count - 1}, got {classes.min()} to {classes.max()}")
    table = _ops.np.zeros((count, count))
    _ops.np.add.at(table, (labels, predictions), 1 if weights is None else _ops.np.asarray(weights))
    return _ops.to_tensor(table.astype(_ops.as_dtype(dtype).as_numpy_dtype))


def _counted_in_trace(labels, predictions, count, weights, dtype):
    """A class outside of the table, which TensorFlow refuses, is left out."""
    places = [_ops.k.reshape(_ops.backend_cast(_ops.tensor(x), "int32"), [-1]) for x in (labels, predictions)]
    rows, columns = (_ops.k.one_hot(p, count) for p in places)
    rows = rows if weights is None else rows * _ops.k.reshape(_ops.backend_cast(_ops.tensor(weights), "float32"), [-1, 1])
    return _ops.backend_cast(_ops.k.matmul(_ops.k.transpose(rows), columns), _ops.as_dtype(dtype).name)


def in_top_k(targets, predictions, k, name=None):
    return _ops.k.in_top_k(_ops.tensor(targets), _ops.tensor(predictions), k)


def count_nonzero(input, axis=None, keepdims=None, dtype="int64", name=None):
    return _ops.backend_cast(_ops.k.count_nonzero(_ops.tensor(input), axis), _ops.as_dtype(dtype).name)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype="int32", name=None, axis=None):
    found = _ops.k.bincount(_ops.tensor(arr), weights=weights, minlength=minlength or 0)
    return _ops.cast(found if maxlength is None else found[:maxlength], dtype if weights is None else found.dtype)


def segment_sum(data, segment_ids, name=None):
    return _ops.k.segment_sum(_ops.tensor(data), _ops.tensor(segment_ids))


def _segments(function, neutral=0):
    """Of sorted ids, as many as the last one says; what has no rows is `neutral`."""

    def reduce(data, segment_ids, num_segments=None, name=None):
        x, ids = _ops.tensor(data), _ops.tensor(segment_ids)
        return function(x, ids, int(_ops.np.asarray(ids).max(initial=-1)) + 1 if num_segments is None else _ops.static(num_segments))

    return reduce


def _mean_of_segments(x, ids, count):
    rows = _ops.k.segment_sum(_ops.k.ones_like(ids, dtype=x.dtype.name), ids, count)
    return _ops.k.segment_sum(x, ids, count) / _ops.k.reshape(_ops.k.maximum(rows, 1), [-1] + [1] * (x.ndim - 1))


segment_max, segment_min = unsorted_segment_max, unsorted_segment_min = _segments(_ops.k.segment_max), _segments(_ops.k.segment_min)
segment_prod = unsorted_segment_prod = _segments(_ops.k.segment_prod)
segment_mean = unsorted_segment_mean = _segments(_mean_of_segments)


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    if exclusive:
        raise NotImplementedError("[tf.math.cumulative_logsumexp] expected exclusive=False")
    x = _ops.tensor(x)
    top = _ops.k.stop_gradient(_ops.k.max(x, axis=axis, keepdims=True))
    return _ops.k.log(cumsum(_ops.k.exp(x - top), axis, reverse=reverse)) + top


def zero_fraction(value, name=None):
    x = _ops.tensor(value)
    return _ops.k.mean(_ops.k.cast(x == 0, "float32"))


def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    return _ops.k.segment_sum(_ops.tensor(data), _ops.tensor(segment_ids), _ops.static(num_segments))


def softmax(logits, axis=-1, name=None):
    return _ops.k.softmax(_ops.tensor(logits), axis)


__getattr__ = _hints.getter("math")
