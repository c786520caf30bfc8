"""Activations. Those that the engine's library ops take in (relu, sigmoid, tanh, gelu, silu) stay single ops or short chains."""
import math

from keras_plimsoll.src.engine import call, quick
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops.core import convert_to_tensor


def _floats(x):
    return f.to_float(convert_to_tensor(x))


@quick("relu", "any")
def relu(x):
    return call("relu", convert_to_tensor(x))


def relu6(x):
    # Not clip(), whose gradient is 1 at its bounds: here it is 0 there.
    x = convert_to_tensor(x)
    return f.where(f.greater_equal(x, 6.0), 6.0, call("relu", x))


@quick("sigmoid", "floats")
def sigmoid(x):
    return call("sigmoid", _floats(x))


def sparse_sigmoid(x):
    return f.multiply(f.clip(f.add(_floats(x), 1.0), 0.0, 2.0), 0.5)


@quick("tanh", "floats")
def tanh(x):
    return call("tanh", _floats(x))


def tanh_shrink(x):
    x = _floats(x)
    return f.subtract(x, call("tanh", x))


def softplus(x):
    # Without relu() and absolute(): at 0 their gradients do not add up to one half.
    x = _floats(x)
    positive = f.greater_equal(x, 0.0)
    minus_abs = f.where(positive, call("negative", x), x)
    return f.add(f.where(positive, x, 0.0), call("log1p", call("exp", minus_abs)))


def softsign(x):
    x = _floats(x)
    return f.divide(x, f.add(call("absolute", x), 1.0))


def soft_shrink(x, threshold=0.5):
    x = _floats(x)
    below = f.where(f.less(x, -threshold), f.add(x, threshold), 0.0)
    return f.where(f.greater(x, threshold), f.subtract(x, threshold), below)


def sparse_plus(x):
    x = _floats(x)
    bend = f.multiply(call("square", f.add(x, 1.0)), 0.25)
    return f.where(f.less_equal(x, -1.0), 0.0, f.where(f.greater_equal(x, 1.0), x, bend))


def silu(x):
    x = _floats(x)
    return f.multiply(x, call("sigmoid", x))


def squareplus(x, b=4):
    x = _floats(x)
    return f.multiply(f.add(x, call("sqrt", f.add(call("square", x), b))), 0.5)


def log_sigmoid(x):
    return call("negative", softplus(call("negative", _floats(x))))


def leaky_relu(x, negative_slope=0.2):
    x = _floats(x)
    return f.where(f.greater_equal(x, 0.0), x, f.multiply(x, negative_slope))


def hard_sigmoid(x):
    return f.divide(relu6(f.add(_floats(x), 3.0)), 6.0)


def hard_silu(x):
    x = _floats(x)
    return f.multiply(x, hard_sigmoid(x))


def _elu(x, alpha, steep):
    # The branch that is not taken must not overflow: its gradient would be NaN.
    below = f.minimum(x, 0.0)
    curve = call("expm1", below if steep == 1.0 else f.divide(below, steep))
    return f.where(f.greater(x, 0.0), x, f.multiply(curve, alpha))


def elu(x, alpha=1.0):
    return _elu(_floats(x), alpha, 1.0)


def selu(x):
    return f.multiply(_elu(_floats(x), 1.6732632423543772, 1.0), 1.0507009873554805)


def celu(x, alpha=1.0):
    return _elu(_floats(x), alpha, alpha)


def gelu(x, approximate=True):
    return call("gelu", _floats(x), approximate=bool(approximate))


def glu(x, axis=-1):
    x = _floats(x)
    axis = f.axis_in(axis, x.ndim)
    half, rest = divmod(x.shape[axis], 2)
    if rest:
        raise ValueError(f"axis size must be divisible by 2, got {x.shape[axis]} along axis {axis} of shape {x.shape}")
    return f.multiply(f.cut(x, axis, 0, half), call("sigmoid", f.cut(x, axis, half, 2 * half)))


def hard_tanh(x):
    return f.clip(_floats(x), -1.0, 1.0)


def hard_shrink(x, threshold=0.5):
    x = _floats(x)
    return f.where(f.greater(call("absolute", x), threshold), x, 0.0)


def threshold(x, threshold, default_value):
    x = _floats(x)
    return f.where(f.greater(x, threshold), x, default_value)


def _over_axes(name, x, axis):
    """Along one axis by the engine's op; several axes are made one first."""
    x = _floats(x)
    if isinstance(axis, int):
        return call(name, x, axis=axis)
    axes = f.axes_in(axis, x.ndim)
    order = [a for a in range(x.ndim) if a not in axes] + axes
    moved = f.permuted(x, order)
    kept = moved.shape[: x.ndim - len(axes)]
    flat = call(name, f.reshaped(moved, [*kept, math.prod(moved.shape[len(kept) :])]), axis=-1)
    return f.permuted(f.reshaped(flat, moved.shape), [order.index(a) for a in range(x.ndim)])


def softmax(x, axis=-1):
    return _over_axes("softmax", x, axis)


def log_softmax(x, axis=-1):
    return _over_axes("log_softmax", x, axis)


def sparsemax(x, axis=-1):
    """The nearest point of the simplex: max(x - tau, 0), tau such that the sum is 1 (Martins and Astudillo, 2016)."""
    x = _floats(x)
    axis = f.axis_in(axis, x.ndim)
    falling = call("negative", call("sort", call("negative", x), axis=axis))
    sums = call("cumsum", falling, axis=axis)
    rank = f.add(f.positions(x.shape, axis, x.dtype), 1.0)
    inside = f.greater(f.add(f.multiply(rank, falling), 1.0), sums)
    count = f.reduce("sum", f.cast(inside, x.dtype), axis, keepdims=True)
    total = f.reduce("sum", f.where(inside, falling, 0.0), axis, keepdims=True)
    return call("relu", f.subtract(x, f.divide(f.subtract(total, 1.0), count)))
