"""Functions of two tensors, element by element, and choices between tensors."""
import math

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.dtypes import INT_TYPES

from keras_plimsoll.src import engine
from keras_plimsoll.src.engine import call, quick
from keras_plimsoll.src.ops import core
from keras_plimsoll.src.ops._base import FLOATS, WHOLE, broadcasted, in_range, kind, like, meet, met, operand, tensor_of, where as _where
from keras_plimsoll.src.ops._unary import BITS, isnan
from keras_plimsoll.src.ops.core import cast, convert_to_tensor


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    return function


def _meeting(name):
    def function(x1, x2):
        return call(name, *meet(x1, x2))

    return _named(quick(name, "any")(function), name)


def _in_floats(name):
    def function(x1, x2):
        return call(name, *meet(x1, x2, also=(float,)))

    return _named(quick(name, "floats")(function), name)


def _in_numbers(name, op=None):
    """Bools count as integers."""
    op = op or name

    def function(x1, x2):
        x1, x2 = meet(x1, x2)
        return call(op, *[cast(x, "int32") if x.dtype == "bool" else x for x in (x1, x2)])

    return _named(quick(op, "numbers")(function), name)


def _to_compare(x1, x2):
    """In a dtype that has both exactly: results have no dtype to fold to 32 bits, so the operands need none."""
    x1, x2 = operand(x1), operand(x2)
    kinds = [kind(x) for x in (x1, x2)]
    dtypes = [k for k in kinds if isinstance(k, str)]
    if kinds[0] == kinds[1] and dtypes:
        return x1, x2
    if all(k is int or k in WHOLE for k in kinds):
        numbers = [x for x in (x1, x2) if type(x) is int]
        if len(dtypes) == 1 and in_range(numbers[0], dtypes[0]):
            return [tensor_of(x, dtypes[0]) for x in (x1, x2)]
        if numbers or any("64" in d for d in dtypes):
            dtype = "uint64" if all(d.startswith("u") for d in dtypes) and not numbers else "int64"
            return [tensor_of(x, dtype) for x in (x1, x2)]
    if any("64" in d for d in dtypes) and not any("complex" in d for d in dtypes):
        return [tensor_of(x, "float64") for x in (x1, x2)]
    return meet(x1, x2)


def _compare(name):
    def function(x1, x2):
        return call(name, *_to_compare(x1, x2))

    return _named(quick(name, "any")(function), name)


def _of_bools(name, op):
    def function(x1, x2):
        return call(op, cast(x1, "bool"), cast(x2, "bool"))

    return _named(function, name)


def _of_bits(name, op):
    def function(x, y):
        return call(op, *meet(x, y))

    return _named(function, name)


add = _meeting("add")
subtract = _meeting("subtract")
multiply = _meeting("multiply")
maximum = _meeting("maximum")
minimum = _meeting("minimum")
power = _in_numbers("power")
floor_divide = _in_numbers("floor_divide")
mod = _in_numbers("mod")
fmod = _in_numbers("fmod", "rem")
divide = _in_floats("divide")
arctan2 = _in_floats("arctan2")

equal = _compare("equal")
not_equal = _compare("not_equal")
greater = _compare("greater")
greater_equal = _compare("greater_equal")
less = _compare("less")
less_equal = _compare("less_equal")

logical_and = _of_bools("logical_and", "bitwise_and")
logical_or = _of_bools("logical_or", "bitwise_or")
logical_xor = _of_bools("logical_xor", "bitwise_xor")
bitwise_and = _of_bits("bitwise_and", "bitwise_and")
bitwise_or = _of_bits("bitwise_or", "bitwise_or")
bitwise_xor = _of_bits("bitwise_xor", "bitwise_xor")
bitwise_left_shift = _of_bits("bitwise_left_shift", "left_shift")
bitwise_right_shift = _of_bits("bitwise_right_shift", "right_shift")
left_shift = _of_bits("left_shift", "left_shift")
right_shift = _of_bits("right_shift", "right_shift")


def true_divide(x1, x2):
    return divide(x1, x2)


def divide_no_nan(x1, x2):
    x1, x2 = meet(x1, x2, also=(float,))
    zero = call("equal", x2, like(x2, 0))
    return _where(zero, 0.0, call("divide", x1, _where(zero, 1.0, x2)))


def _other_than_nan(op):
    def function(x1, x2):
        x1, x2 = meet(x1, x2)
        if x1.dtype not in FLOATS:
            return call(op, x1, x2)
        return call("where", isnan(x1), x2, call("where", isnan(x2), x1, call(op, x1, x2)))

    return function


fmax = _named(_other_than_nan("maximum"), "fmax")
fmin = _named(_other_than_nan("minimum"), "fmin")


def hypot(x1, x2):
    x1, x2 = (call("absolute", x) for x in _floats_of(x1, x2))
    most = call("maximum", x1, x2)
    plain = call("bitwise_and", call("isfinite", most), call("greater", most, like(most, 0)))
    scale = core.stop_gradient(_where(plain, most, 1.0))  # so that no square overflows
    squares = [call("square", call("divide", x, scale)) for x in (x1, x2)]
    return call("multiply", scale, call("sqrt", call("add", *squares)))


def _floats_of(x1, x2):
    """Integers and bools become floatx."""
    x1, x2 = meet(x1, x2)
    return [x if x.dtype in FLOATS else cast(x, config.floatx()) for x in (x1, x2)]


def heaviside(x1, x2):
    x1, x2 = _floats_of(x1, x2)
    zero = like(x1, 0)
    step = _where(call("greater", x1, zero), 1.0, _where(call("less", x1, zero), 0.0, x1))
    return call("where", call("equal", x1, zero), x2, step)


def _logaddexp(x1, x2, power_of_minus, base):
    x1, x2 = meet(x1, x2, also=(float,))
    same = call("equal", x1, x2)  # two infinities among them, whose difference is NaN
    distance = call("absolute", call("subtract", x1, _where(same, 0.0, x2)))
    rest = call("log1p", power_of_minus(_where(same, 0.0, distance)))
    half = call("multiply", x1, like(x1, 0.5))
    most = call("where", same, call("add", half, call("multiply", x2, like(x2, 0.5))), call("maximum", x1, x2))  # equals share the gradient
    return call("add", most, call("divide", rest, like(rest, math.log(base))))


def logaddexp(x1, x2):
    return _logaddexp(x1, x2, lambda d: call("exp", call("negative", d)), math.e)


def logaddexp2(x1, x2):
    return _logaddexp(x1, x2, lambda d: call("power", like(d, 0.5), d), 2)


def ldexp(x1, x2):
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    if x2.dtype not in INT_TYPES:
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype}")
    dtype = met(x1.dtype, x2.dtype, float)
    half = call("floor_divide", x2, like(x2, 2))  # 2 ** x2 alone may be out of range where the result is not
    y = cast(x1, dtype)
    for exponent in (half, call("subtract", x2, half)):
        y = call("multiply", y, call("power", like(y, 2), cast(exponent, dtype)))
    return y


def nextafter(x1, x2):
    """Floats read as integers of sign and magnitude are in the order of their values."""
    x1, x2 = meet(x1, x2, also=(float,))
    bits = BITS[x1.dtype]
    least = engine.from_numpy(np.array(np.iinfo(bits).min, bits))

    def turned(b):
        return call("where", call("less", b, like(b, 0)), call("subtract", least, b), b)

    a, b = (turned(call("bitcast", x, dtype=bits)) for x in (x1, x2))
    one = like(a, 1)
    moved = call("where", call("less", a, b), turned(call("add", a, one)), turned(call("subtract", a, one)))
    moved = call("where", call("equal", a, b), turned(b), moved)
    neither = call("bitwise_or", isnan(x1), isnan(x2))
    return call("where", neither, call("add", x1, x2), call("bitcast", moved, dtype=x1.dtype))


def gcd(x1, x2):
    """Euclid's, for all elements at once."""
    x1, x2 = (x if x.dtype.startswith("u") else call("absolute", x) for x in meet(x1, x2))
    shape = np.broadcast_shapes(x1.shape, x2.shape)

    def left(a, b):
        return call("reduce_or", call("not_equal", b, like(b, 0)))

    def divided(a, b):  # a remainder by 0 is 0
        return call("where", call("equal", b, like(b, 0)), a, b), call("rem", a, b)

    return core.while_loop(left, divided, (broadcasted(x1, shape), broadcasted(x2, shape)))[0]


def lcm(x1, x2):
    x1, x2 = (x if x.dtype.startswith("u") else call("absolute", x) for x in meet(x1, x2))
    return call("multiply", call("floor_divide", x1, gcd(x1, x2)), x2)


def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    x1, x2 = meet(x1, x2, also=(float,))
    allowed = call("add", call("multiply", call("absolute", x2), like(x2, rtol)), like(x2, atol))
    near = call("less_equal", call("absolute", call("subtract", x1, x2)), allowed)
    finite = call("bitwise_and", call("isfinite", x1), call("isfinite", x2))
    close = call("bitwise_or", call("bitwise_and", near, finite), call("equal", x1, x2))
    return call("bitwise_or", close, call("bitwise_and", isnan(x1), isnan(x2))) if equal_nan else close


def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    return call("reduce_and", isclose(x1, x2, rtol, atol, equal_nan))


def where(condition, x1=None, x2=None):
    if x1 is None and x2 is None:
        from keras_plimsoll.src.ops._order import nonzero

        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("`where` expects both `x1` and `x2`, or neither.")
    return call("where", cast(condition, "bool"), *meet(x1, x2))


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError(f"Expected as many conditions as choices. Received: {len(condlist)} and {len(choicelist)}")
    *choices, result = meet(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        result = call("where", cast(condition, "bool"), choice, result)
    return result


def clip(x, x_min, x_max):
    x = convert_to_tensor(x)
    if x.dtype == "bool":
        x = cast(x, "int32")
    bounds = [-math.inf if x_min is None else x_min, math.inf if x_max is None else x_max]
    if all(isinstance(b, (int, float)) for b in bounds):
        return call("clip", x, low=float(bounds[0]), high=float(bounds[1]))
    if x_min is not None:
        x = call("maximum", x, tensor_of(operand(x_min), x.dtype))
    if x_max is not None:
        x = call("minimum", x, tensor_of(operand(x_max), x.dtype))
    return x
