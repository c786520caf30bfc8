"""Arithmetic, norms, products, reductions."""
import numpy as np
from keras import ops as k
from keras_plimsoll.src.tensors import cast as backend_cast

from plimsoll_tensorflow.ops.operands import binary, pair, reduction, tensor, unary
from plimsoll_tensorflow.ragged import install_operators
from plimsoll_tensorflow.tensor import StringTensor, operand


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    x = tensor(t)
    return k.minimum(k.maximum(x, operand(x, clip_value_min)), operand(x, clip_value_max))


def norm(tensor_, ord="euclidean", axis=None, keepdims=False, name=None):
    x = tensor(tensor_)
    if axis is None and x.ndim > 2:
        x = k.reshape(x, [-1])
    return k.norm(x if axis is not None or x.ndim < 2 or ord not in ("euclidean", 2) else k.reshape(x, [-1]),
                  None if ord == "euclidean" else ord, axis, keepdims)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    x = tensor(t)
    length = k.sqrt(k.sum(k.square(x), axis=axes, keepdims=axes is not None))
    return x * (clip_norm / k.maximum(length, clip_norm))


def global_norm(t_list, name=None):
    return k.sqrt(sum(k.sum(k.square(tensor(t))) for t in t_list if t is not None))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    length = global_norm(t_list) if use_norm is None else use_norm
    factor = clip_norm / k.maximum(length, tensor(clip_norm, "float32"))
    return [None if t is None else tensor(t) * factor for t in t_list], length


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False, b_is_sparse=False, output_type=None,
           grad_a=False, grad_b=False, name=None):
    a, b = pair(a, b)
    turn = lambda x: k.swapaxes(x, -1, -2)
    return k.matmul(turn(a) if transpose_a or adjoint_a else a, turn(b) if transpose_b or adjoint_b else b)


def tensordot(a, b, axes, name=None):
    return k.tensordot(*pair(a, b), axes=axes)


def einsum(equation, *inputs, **kwargs):
    return k.einsum(equation, *[tensor(x) for x in inputs])


def add_n(inputs, name=None):
    total = tensor(inputs[0])
    for x in inputs[1:]:
        total = total + x
    return total


def divide_no_nan(x, y, name=None):
    return k.divide_no_nan(*pair(x, y))


def squared_difference(x, y, name=None):
    a, b = pair(x, y)
    return k.square(a - b)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    return _cumulated(k.cumsum, 0, x, axis, exclusive, reverse)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    return _cumulated(k.cumprod, 1, x, axis, exclusive, reverse)


def _cumulated(function, neutral, x, axis, exclusive, reverse):
    x = k.flip(tensor(x), axis) if reverse else tensor(x)
    y = backend_cast(function(x, axis), x.dtype)
    if exclusive:
        size = x.shape[axis]
        y = k.concatenate([k.full_like(k.take(y, [0], axis), neutral), k.take(y, np.arange(size - 1), axis)], axis)
    return k.flip(y, axis) if reverse else y


def _equal(x, y):
    return StringTensor(x) == y if isinstance(x, StringTensor) or isinstance(y, StringTensor) else k.equal(x, y)


def _not_equal(x, y):
    return StringTensor(x) != y if isinstance(x, StringTensor) or isinstance(y, StringTensor) else k.not_equal(x, y)


REDUCTIONS = {
    "reduce_sum": reduction(k.sum, True), "reduce_mean": reduction(lambda x, **o: backend_cast(k.mean(x, **o), x.dtype), named="mean"), "reduce_max": reduction(k.max),
    "reduce_min": reduction(k.min), "reduce_prod": reduction(k.prod, True), "reduce_any": reduction(k.any), "reduce_all": reduction(k.all),
    "reduce_std": reduction(k.std), "reduce_variance": reduction(k.var), "reduce_logsumexp": reduction(k.logsumexp),
}
UNARY = {name: unary(function) for name, function in {
    "abs": k.abs, "negative": k.negative, "square": k.square, "sqrt": k.sqrt, "exp": k.exp, "sign": k.sign, "floor": k.floor,
    "round": k.round, "sin": k.sin, "cos": k.cos, "tan": k.tan, "asin": k.arcsin, "acos": k.arccos, "atan": k.arctan, "sinh": k.sinh,
    "cosh": k.cosh, "tanh": k.tanh, "sigmoid": k.sigmoid, "logical_not": k.logical_not,
}.items()}
MATH_UNARY = {name: unary(function) for name, function in {
    "log": k.log, "log1p": k.log1p, "expm1": k.expm1, "ceil": k.ceil, "rsqrt": k.rsqrt, "reciprocal": k.reciprocal, "is_nan": k.isnan,
    "is_inf": k.isinf, "is_finite": k.isfinite, "erf": k.erf, "erfinv": k.erfinv, "softplus": k.softplus, "log_sigmoid": k.log_sigmoid, "real": k.real, "imag": k.imag,
    "conj": k.conj, "softsign": k.softsign, "asinh": k.arcsinh, "acosh": k.arccosh, "atanh": k.arctanh, "angle": k.angle,
}.items()}
def _add(x, y):
    """Of strings: one behind the other."""
    if not isinstance(x, StringTensor) and not isinstance(y, StringTensor):
        return k.add(x, y)
    a, b = np.broadcast_arrays(StringTensor(x).array, StringTensor(y).array)
    return StringTensor(np.asarray([p + q for p, q in zip(a.reshape(-1), b.reshape(-1))] + [None], object)[:-1].reshape(a.shape))


BINARY = {name: binary(function) for name, function in {
    "add": _add, "subtract": k.subtract, "multiply": k.multiply, "divide": lambda x, y: x / y, "maximum": k.maximum, "minimum": k.minimum,
    "pow": k.power, "equal": _equal, "not_equal": _not_equal, "less": k.less, "less_equal": k.less_equal, "greater": k.greater,
    "greater_equal": k.greater_equal, "logical_and": k.logical_and, "logical_or": k.logical_or, "atan2": k.arctan2, "truediv": lambda x, y: x / y,
}.items()}
MATH_BINARY = {name: binary(function) for name, function in {
    "floordiv": k.floor_divide, "floormod": k.mod, "mod": k.mod, "logical_xor": k.logical_xor,
}.items()}

install_operators({"add": BINARY["add"], "sub": BINARY["subtract"], "mul": BINARY["multiply"], "truediv": BINARY["truediv"], "pow": BINARY["pow"],
                   "floordiv": MATH_BINARY["floordiv"], "mod": MATH_BINARY["mod"], "eq": BINARY["equal"], "ne": BINARY["not_equal"],
                   "lt": BINARY["less"], "le": BINARY["less_equal"], "gt": BINARY["greater"], "ge": BINARY["greater_equal"],
                   "and": BINARY["logical_and"], "or": BINARY["logical_or"]}, {"neg": UNARY["negative"], "invert": UNARY["logical_not"], "abs": UNARY["abs"]})
