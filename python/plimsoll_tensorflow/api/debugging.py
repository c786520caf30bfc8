import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api.errors import InvalidArgumentError as _Invalid
from plimsoll_tensorflow.function import warn_no_effect as _warn


def _assertion(holds, words):
    def check(x, y, message=None, summarize=None, name=None):
        a, b = _np.asarray(_ops.tensor(x)), _np.asarray(_ops.tensor(y))
        if not _np.all(holds(a, b)):
            raise _Invalid(f"{message + ': ' if message else ''}Condition x {words} y did not hold.\nx = {a}\ny = {b}")

    return check


assert_equal, assert_none_equal = _assertion(lambda a, b: a == b, "=="), _assertion(lambda a, b: a != b, "!=")
assert_less, assert_less_equal = _assertion(lambda a, b: a < b, "<"), _assertion(lambda a, b: a <= b, "<=")
assert_greater, assert_greater_equal = _assertion(lambda a, b: a > b, ">"), _assertion(lambda a, b: a >= b, ">=")


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    a, b = _np.asarray(_ops.tensor(x)), _np.asarray(_ops.tensor(y))
    eps = _np.finfo(a.dtype).eps
    if not _np.all(_np.abs(a - b) <= (10 * eps if atol is None else atol) + (10 * eps if rtol is None else rtol) * _np.abs(b)):
        raise _Invalid(f"{message or ''} x and y not equal to tolerance\nx = {a}\ny = {b}")


def assert_positive(x, message=None, summarize=None, name=None):
    assert_greater(x, 0, message)


def assert_non_negative(x, message=None, summarize=None, name=None):
    assert_greater_equal(x, 0, message)


def assert_rank(x, rank, message=None, name=None):
    if _ops.tensor(x).ndim != _ops.static(rank):
        raise ValueError(f"{message or ''} Tensor must have rank {rank}. Received rank {_ops.tensor(x).ndim}, shape {_ops.tensor(x).shape}")


def assert_negative(x, message=None, summarize=None, name=None):
    assert_less(x, 0, message)


def assert_non_positive(x, message=None, summarize=None, name=None):
    assert_less_equal(x, 0, message)


def assert_rank_at_least(x, rank, message=None, name=None):
    if _ops.tensor(x).ndim < _ops.static(rank):
        raise ValueError(f"{message or ''} Tensor must have rank at least {rank}. Received rank {_ops.tensor(x).ndim}, shape {_ops.tensor(x).shape}")


def assert_rank_in(x, ranks, message=None, name=None):
    if _ops.tensor(x).ndim not in [_ops.static(r) for r in ranks]:
        raise ValueError(f"{message or ''} Tensor must have rank in {tuple(ranks)}. Received rank {_ops.tensor(x).ndim}, shape {_ops.tensor(x).shape}")


def assert_scalar(tensor, message=None, name=None):
    x = _ops.tensor(tensor)
    if x.ndim:
        raise ValueError(f"{message or ''} Expected scalar shape, saw shape: {x.shape}.")
    return x


def assert_integer(x, message=None, name=None):
    if not _ops.tensor(x).dtype.is_integer:
        raise TypeError(f"{message or ''} Expected \"x\" to be integer type. Found: {_ops.tensor(x).dtype!r}")


def assert_same_float_dtype(tensors=None, dtype=None):
    kinds = {_ops.tensor(x).dtype for x in tensors or ()} | ({_ops.as_dtype(dtype)} if dtype is not None else set())
    if len(kinds) > 1 or any(not kind.is_floating for kind in kinds):
        raise ValueError(f"Expected one floating point type, got {sorted(kind.name for kind in kinds)}.")
    return next(iter(kinds), _ops.as_dtype("float32"))


def assert_type(tensor, tf_type, message=None, name=None):
    if _ops.tensor(tensor).dtype != tf_type:
        raise TypeError(f"{message or ''} tensor must be of type {tf_type!r}; got {_ops.tensor(tensor).dtype!r}")


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    known = {}
    for x, dims in shapes.items() if isinstance(shapes, dict) else shapes:
        x = x.deref() if hasattr(x, "deref") else x
        dims = [dims] if isinstance(dims, (int, str)) else dims
        actual = tuple(_ops.tensor(x).shape)
        if len(actual) != len(dims) or any(d not in (None, ".") and known.setdefault(d, n if isinstance(d, str) else d) != n for d, n in zip(dims, actual)):
            raise ValueError(f"{message or ''} Specified by the caller: shape {tuple(dims)}, got {actual}")


def assert_all_finite(x, message=None, name=None):
    return check_numerics(x, message)


def check_numerics(tensor, message=None, name=None):
    x = _ops.tensor(tensor)
    array = _np.asarray(x)
    if not _np.isfinite(array).all():
        raise _Invalid(f"{message} : Tensor had {'NaN' if _np.isnan(array).any() else 'Inf'} values")
    return x


def Assert(condition, data, summarize=None, name=None):
    if not bool(_ops.tensor(condition)):
        raise _Invalid(f"Expected '{condition}' to be true. Summarized data: {data}")


def is_numeric_tensor(tensor):
    return isinstance(tensor, _ops.Tensor)


def set_log_device_placement(enabled):
    _warn("tf.debugging.set_log_device_placement", "`plimsoll devices` lists what there is")


def enable_check_numerics(*args, **kwargs):
    _warn("tf.debugging.enable_check_numerics", "use keras.callbacks.TerminateOnNaN or tf.debugging.check_numerics")


def disable_check_numerics():
    pass


__getattr__ = _hints.getter("debugging")
