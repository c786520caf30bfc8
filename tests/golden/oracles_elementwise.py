"""Oracles of the element-wise ops."""
import numpy as np
from scipy import special

from inputs import is_float


def wide(x):
    return x.astype(np.float64) if is_float(x.dtype) else x


def elementwise(fn):
    return lambda inputs, attrs, out: fn(*map(wide, inputs))


def power(a, b):
    if is_float(a.dtype):
        return np.power(a, b)
    out = np.ones(np.broadcast_shapes(a.shape, b.shape), a.dtype)  # NumPy refuses negative exponents of integers
    for k in range(int(b.max(initial=0))):
        out = np.where(b > k, out * a, out).astype(a.dtype)
    return np.where(b < 0, np.where(np.abs(a) == 1, a ** (np.abs(b) % 2), 0), out).astype(a.dtype)




def cast(inputs, attrs, out):
    x, to = inputs[0], out[0]
    if is_float(x.dtype) and to.kind in "iu":
        return np.trunc(x.astype(np.float64)).astype(np.int64).astype(to)
    return wide(x).astype(to) if to.kind in "biu" else wide(x)


def bitcast(inputs, attrs, out):
    x, to = inputs[0], out[0]
    if x.itemsize == to.itemsize:
        return x.view(to)
    shape = x.shape + (x.itemsize // to.itemsize,) if x.itemsize > to.itemsize else x.shape[:-1]
    return np.frombuffer(x.tobytes(), to).reshape(shape)


def log_gamma(a):
    """Stirling's series, in more digits than SciPy's gammaln has: its argument of exp is a difference of large numbers."""
    shift = np.zeros_like(a)
    while np.any(a < 40):
        shift, a = np.where(a < 40, shift + np.log(a), shift), np.where(a < 40, a + 1, a)
    half_log = np.log(np.longdouble("6.28318530717958647692528676655900577")) / 2
    rest = 1 / (12 * a) - 1 / (360 * a**3) + 1 / (1260 * a**5) - 1 / (1680 * a**7)
    return (a - np.longdouble(0.5)) * np.log(a) - a + half_log + rest - shift


def gamma_density(a, x):
    a, x = a.astype(np.longdouble), x.astype(np.longdouble)
    return np.exp((a - 1) * np.log(x) - x - log_gamma(a)).astype(np.float64)


def clip(inputs, attrs, out):
    x = wide(inputs[0])
    return np.minimum(np.maximum(x, attrs["low"]), attrs["high"])


UNARY = {
    "negative": np.negative, "absolute": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
    "round": np.round, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "exp": np.exp,
    "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "arcsin": np.arcsin, "arccos": np.arccos,
    "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "arcsinh": np.arcsinh,
    "arccosh": np.arccosh, "arctanh": np.arctanh, "sigmoid": special.expit, "erf": special.erf,
    "erfc": special.erfc, "erfinv": special.erfinv, "relu": lambda x: np.maximum(x, 0),
    "isfinite": np.isfinite, "logical_not": np.logical_not, "bitwise_not": np.invert, "bessel_i0e": special.i0e,
    "bessel_i1e": special.i1e, "stop_gradient": lambda x: x,
}
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide,
    "floor_divide": np.floor_divide, "mod": np.mod, "rem": np.fmod, "igamma": special.gammainc, "igammac": special.gammaincc,
    "gamma_density": gamma_density, "power": power, "maximum": np.maximum, "minimum": np.minimum,
    "arctan2": np.arctan2, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "left_shift": np.left_shift, "right_shift": np.right_shift, "equal": np.equal,
    "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal,
}
ORACLES = {
    **{name: elementwise(fn) for name, fn in {**UNARY, **BINARY}.items()},
    "where": elementwise(np.where),
    "clip": clip,
    "cast": cast,
    "bitcast": bitcast,
}
