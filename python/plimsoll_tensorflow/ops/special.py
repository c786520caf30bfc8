"""Special functions and the small arithmetic of tf.math that Keras has no name for: compositions, so that they have gradients."""
import math

from keras import ops as k
from keras_plimsoll.src import engine

from plimsoll_tensorflow.ops.operands import binary, pair, tensor, unary

LANCZOS = (0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
           -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7)  # g = 7, n = 9


def lgamma(x, name=None):
    """Lanczos's series, reflected below one half."""
    x = tensor(x)
    low = x < 0.5
    z = k.where(low, 1.0 - x, x) - 1.0
    total = LANCZOS[0] + sum(c / (z + float(i)) for i, c in enumerate(LANCZOS[1:], 1))
    t = z + 7.5
    above = 0.5 * math.log(2 * math.pi) + (z + 0.5) * k.log(t) - t + k.log(total)
    sine = k.abs(k.sin(math.pi * k.where(low, x, 0.25)))
    return k.where(low, math.log(math.pi) - k.log(sine) - above, above)


def digamma(x, name=None):
    """Stepped up by recurrence to where the asymptotic series has float64's digits, reflected below zero."""
    x = tensor(x)
    low = x <= 0.0
    z = k.where(low, 1.0 - x, x)
    shift = 0.0
    for _ in range(8):
        shift, z = shift - 1.0 / z, z + 1.0
    i = 1.0 / k.square(z)
    found = shift + k.log(z) - 0.5 / z - i * (1 / 12 - i * (1 / 120 - i * (1 / 252 - i * (1 / 240 - i * (1 / 132)))))
    return k.where(low, found - math.pi / k.tan(math.pi * k.where(low, x, 0.25)), found)


def _op(name):
    return lambda *xs: engine.call(name, *xs)


def bessel_i0(x, name=None):
    x = tensor(x)
    return engine.call("bessel_i0e", x) * k.exp(k.abs(x))


def bessel_i1(x, name=None):
    x = tensor(x)
    return engine.call("bessel_i1e", x) * k.exp(k.abs(x))


def _where_zero(numerator, function):
    return lambda x, y: k.where(numerator(x, y) == 0, k.zeros_like(x), function(x, k.where(numerator(x, y) == 0, k.ones_like(y), y)))


def ndtri(p, name=None):
    return math.sqrt(2.0) * k.erfinv(2.0 * tensor(p) - 1.0)


def erfcinv(x, name=None):
    return k.erfinv(1.0 - tensor(x))


def reciprocal_no_nan(x, name=None):
    x = tensor(x)
    return k.divide_no_nan(k.ones_like(x), x)


def lbeta(x, name=None):
    parts = tensor(x)
    return k.sum(lgamma(parts), -1) - lgamma(k.sum(parts, -1))


def polyval(coeffs, x, name=None):
    x = tensor(x)
    total = k.zeros_like(x)
    for c in coeffs:
        total = total * x + c
    return total


def invert_permutation(x, name=None):
    x = tensor(x)
    return k.cast(k.argsort(x), x.dtype.name)


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    return k.sqrt(k.sum(k.square(tensor(input_tensor)), axis=axis, keepdims=keepdims))


def scalar_mul(scalar, x, name=None):
    return tensor(x) * scalar


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    return sum(tensor(x) for x in inputs[1:]) + tensor(inputs[0]) if len(inputs) > 1 else tensor(inputs[0])


def is_non_decreasing(x, name=None):
    x = k.reshape(tensor(x), [-1])
    return k.all(x[1:] >= x[:-1])


def is_strictly_increasing(x, name=None):
    x = k.reshape(tensor(x), [-1])
    return k.all(x[1:] > x[:-1])


def log_softmax(logits, axis=-1, name=None):
    return k.log_softmax(tensor(logits), axis)


def truncatediv(x, y, name=None):
    a, b = pair(x, y)
    if not a.dtype.is_integer:
        return k.trunc(a / b)
    return (a - engine.call("rem", a, b)) // b


def truncatemod(x, y, name=None):
    return engine.call("rem", *pair(x, y))



MATH = {"lgamma": unary(lgamma), "digamma": unary(digamma), "erfc": unary(lambda x: engine.call("erfc", x)), "rint": unary(k.round),
        "bessel_i0": bessel_i0, "bessel_i1": bessel_i1, "bessel_i0e": unary(_op("bessel_i0e")), "bessel_i1e": unary(_op("bessel_i1e")),
        "igamma": binary(_op("igamma")), "igammac": binary(_op("igammac")), "nextafter": binary(k.nextafter),
        "xlogy": binary(_where_zero(lambda x, y: x, lambda x, y: x * k.log(y))), "xdivy": binary(_where_zero(lambda x, y: x, lambda x, y: x / y)),
        "xlog1py": binary(_where_zero(lambda x, y: x, lambda x, y: x * k.log1p(y))),
        "multiply_no_nan": binary(lambda x, y: k.where(y == 0, k.zeros_like(x), x * y))}
MATH |= {f.__name__: f for f in (ndtri, erfcinv, reciprocal_no_nan, lbeta, polyval, invert_permutation, reduce_euclidean_norm, scalar_mul,
                                 accumulate_n, is_non_decreasing, is_strictly_increasing, log_softmax)}
MATH["special"] = type("special", (), {name: staticmethod(MATH[name]) for name in ("bessel_i0", "bessel_i1", "bessel_i0e", "bessel_i1e")})
TOP = {"truncatediv": truncatediv, "truncatemod": truncatemod, "scalar_mul": scalar_mul, "acosh": unary(k.arccosh), "asinh": unary(k.arcsinh),
       "atanh": unary(k.arctanh), "realdiv": binary(lambda x, y: x / y)}
