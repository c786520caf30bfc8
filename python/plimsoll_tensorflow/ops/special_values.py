"""Special functions of which only values are made, on the host in float64: they have no gradients here."""
import math

import numpy as np

from plimsoll_tensorflow.ops.operands import tensor
from plimsoll_tensorflow.tensor import to_tensor

BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)  # B_2j / (2j)!


def _of_numbers(function):
    def call(*operands, name=None):
        given = [tensor(x) for x in operands]
        arrays = np.broadcast_arrays(*[np.asarray(x) for x in given])
        kind = next((a.dtype for a in arrays if a.dtype.kind == "f"), np.dtype("float32"))
        found = [function(*map(float, row)) for row in zip(*[a.reshape(-1) for a in arrays])]
        return to_tensor(np.asarray(found, kind).reshape(arrays[0].shape))

    call.__name__ = function.__name__
    return call


@_of_numbers
def zeta(x, q):
    """Hurwitz's, by Euler and Maclaurin from the twelfth term on."""
    if x <= 1.0 or q <= 0.0:
        return math.inf if x == 1.0 else math.nan
    end = q + 12.0
    total = sum((q + i) ** -x for i in range(12)) + end ** (1.0 - x) / (x - 1.0) + 0.5 * end**-x
    factor = x
    for j, b in enumerate(BERNOULLI):
        total += b * factor * end ** (-x - 2 * j - 1)
        factor *= (x + 2 * j + 1) * (x + 2 * j + 2)
    return total


@_of_numbers
def polygamma(a, x):
    if a < 0 or a != int(a) or x <= 0:
        return math.nan
    if a == 0:
        from plimsoll_tensorflow.ops.special import digamma

        return float(digamma(np.float64(x)))
    return (-1) ** (int(a) + 1) * math.factorial(int(a)) * float(zeta(np.float64(a + 1), np.float64(x)))


@_of_numbers
def betainc(a, b, x):
    """The regularised integral, by its continued fraction (Lentz), turned where that converges slowly."""
    if not 0.0 <= x <= 1.0 or a <= 0.0 or b <= 0.0:
        return math.nan
    if x in (0.0, 1.0):
        return x
    turned = x > (a + 1.0) / (a + b + 2.0)
    if turned:
        a, b, x = b, a, 1.0 - x
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))) / a
    safe = lambda v: v if abs(v) > 1e-300 else 1e-300
    c, d = 1.0, 1.0 / safe(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, 500):
        for top in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1.0 / safe(1.0 + top * d), safe(1.0 + top / c)
            found *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return 1.0 - front * found if turned else front * found


MATH = {"zeta": zeta, "polygamma": polygamma, "betainc": betainc}
