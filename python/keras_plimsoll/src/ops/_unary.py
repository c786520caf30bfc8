"""Functions of one tensor, element by element."""
import builtins
import math

import numpy as np

from keras_plimsoll.src import engine
from keras_plimsoll.src.engine import call, quick
from keras_plimsoll.src.ops._base import (
    COMPLEX, FLOATS, as_float, as_inexact, broadcasted, cut, like, reshaped, scalar, where,
)
from keras_plimsoll.src.ops.core import cast, convert_to_tensor
from keras.src.backend import config

BITS = {"float16": "int16", "bfloat16": "int16", "float32": "int32", "float64": "int64"}
PART = {"complex64": "float32", "complex128": "float64"}


def _function(name, prepare):
    function = quick(name, "floats")(lambda x: call(name, prepare(x)))
    function.__name__ = function.__qualname__ = name
    return function


def _of_float(name):
    return _function(name, as_float)


def _of_inexact(name):
    return _function(name, as_inexact)


arccos = _of_float("arccos")
arccosh = _of_float("arccosh")
arcsin = _of_float("arcsin")
arcsinh = _of_float("arcsinh")
arctan = _of_float("arctan")
arctanh = _of_float("arctanh")
ceil = _of_float("ceil")
cos = _of_float("cos")
cosh = _of_float("cosh")
floor = _of_float("floor")
log = _of_float("log")
log1p = _of_float("log1p")
sin = _of_float("sin")
sinh = _of_float("sinh")
sqrt = _of_float("sqrt")
tan = _of_float("tan")
tanh = _of_float("tanh")
cbrt = _of_inexact("cbrt")
exp = _of_inexact("exp")
expm1 = _of_inexact("expm1")
reciprocal = _of_inexact("reciprocal")


@quick("absolute", "numbers")
def absolute(x):
    x = convert_to_tensor(x)
    return x if x.dtype == "bool" else call("absolute", x)


def abs(x):
    return absolute(x)


def fabs(x):
    return call("absolute", as_inexact(x))


@quick("negative", "any")
def negative(x):
    return call("negative", convert_to_tensor(x))


@quick("sign", "numbers")
def sign(x):
    x = convert_to_tensor(x)
    return x if x.dtype == "bool" else call("sign", x)


@quick("square", "numbers")
def square(x):
    x = convert_to_tensor(x)
    return call("square", cast(x, "int32") if x.dtype == "bool" else x)


def exp2(x):
    x = as_inexact(x)
    return call("power", like(x, 2), x)


def _log_of_base(x, base):
    x = call("log", as_float(x))
    return call("divide", x, like(x, math.log(base)))


def log10(x):
    return _log_of_base(x, 10)


def log2(x):
    return _log_of_base(x, 2)


def deg2rad(x):
    x = as_inexact(x)
    return call("multiply", x, like(x, math.pi / 180))


def rad2deg(x):
    x = as_inexact(x)
    return call("multiply", x, like(x, 180 / math.pi))


def sinc(x):
    x = as_float(x)
    zero = call("equal", x, like(x, 0))
    t = call("multiply", where(zero, 1.0, x), like(x, math.pi))  # a number that is no zero, for the gradient
    return where(zero, 1.0, call("divide", call("sin", t), t))


def i0(x):
    x = as_inexact(x)
    return call("multiply", call("bessel_i0e", x), call("exp", call("absolute", x)))


def trunc(x):
    x = convert_to_tensor(x)
    if x.dtype not in FLOATS:
        return x
    return call("where", call("less", x, like(x, 0)), call("ceil", x), call("floor", x))


def round(x, decimals=0):
    x = convert_to_tensor(x)
    if x.dtype not in FLOATS:
        if decimals >= 0:
            return x
        return cast(round(cast(x, config.floatx()), decimals), x.dtype)
    if decimals == 0:
        return call("round", x)
    wide = cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    factor = like(wide, 10.0 ** builtins.abs(decimals))
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return cast(call(back, call("round", call(there, wide, factor)), factor), x.dtype)


def _never(x):
    return broadcasted(scalar(False, "bool"), x.shape)


def isfinite(x):
    return call("isfinite", convert_to_tensor(x))


def isnan(x):
    x = convert_to_tensor(x)
    return call("not_equal", x, x)


def isinf(x):
    x = convert_to_tensor(x)
    if x.dtype in COMPLEX:
        return call("bitwise_or", isinf(real(x)), isinf(imag(x)))
    return call("equal", call("absolute", x), like(x, np.inf)) if x.dtype in FLOATS else _never(x)


def isposinf(x):
    x = convert_to_tensor(x)
    return call("equal", x, like(x, np.inf)) if x.dtype in FLOATS else _never(x)


def isneginf(x):
    x = convert_to_tensor(x)
    return call("equal", x, like(x, -np.inf)) if x.dtype in FLOATS else _never(x)


def signbit(x):
    x = convert_to_tensor(x)
    if x.dtype in FLOATS:
        x = call("bitcast", x, dtype=BITS[x.dtype])
    return call("less", x, like(x, 0)) if x.dtype.startswith("int") else _never(x)


def logical_not(x):
    return call("logical_not", cast(x, "bool"))


def bitwise_invert(x):
    return call("bitwise_not", convert_to_tensor(x))


def bitwise_not(x):
    return bitwise_invert(x)


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    x = convert_to_tensor(x)
    if x.dtype not in FLOATS:
        return x
    limits = _limits(x.dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    y = where(isposinf(x), float(posinf), x)
    y = where(isneginf(x), float(neginf), y)
    return where(isnan(x), float(nan), y)


def _limits(dtype):
    import ml_dtypes

    return ml_dtypes.finfo(engine.numpy_dtype(dtype))


def copy(x):
    return convert_to_tensor(x)  # a tensor never changes


# ---- Complex numbers: pairs of floats along a last axis, seen as one.


def _part(z, i):
    pairs = call("bitcast", z, dtype=PART[z.dtype])
    return reshaped(cut(pairs, pairs.ndim - 1, i, i + 1), z.shape)


def complex_of(re, im):
    """Of two floats of one shape."""
    columns = [reshaped(part, [*part.shape, 1]) for part in (re, im)]
    pairs = call("concatenate", *columns, axis=len(re.shape))
    return call("bitcast", pairs, dtype="complex128" if re.dtype == "float64" else "complex64")


def real(x):
    x = convert_to_tensor(x)
    return _part(x, 0) if x.dtype in COMPLEX else x


def imag(x):
    x = convert_to_tensor(x)
    return _part(x, 1) if x.dtype in COMPLEX else broadcasted(like(x, 0), x.shape)


def conjugate(x):
    x = convert_to_tensor(x)
    return complex_of(real(x), call("negative", imag(x))) if x.dtype in COMPLEX else x


def conj(x):
    return conjugate(x)


def angle(x):
    x = as_float(x)
    return call("arctan2", imag(x), real(x))


def isreal(x):
    x = convert_to_tensor(x)
    return call("equal", imag(x), like(imag(x), 0)) if x.dtype in COMPLEX else call("logical_not", _never(x))
