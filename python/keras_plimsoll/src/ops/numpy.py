"""keras.ops.numpy over the ops of the engine; the functions are in the private modules beside this one."""
from keras_plimsoll.src.ops._unary import (  # noqa: F401
    abs, absolute, angle, arccos, arccosh, arcsin, arcsinh, arctan, arctanh, bitwise_invert, bitwise_not, cbrt, ceil, conj,
    conjugate, copy, cos, cosh, deg2rad, exp, exp2, expm1, fabs, floor, i0, imag, isfinite, isinf, isnan, isneginf, isposinf,
    isreal, log, log10, log1p, log2, logical_not, nan_to_num, negative, rad2deg, real, reciprocal, round, sign, signbit, sin, sinc,
    sinh, sqrt, square, tan, tanh, trunc,
)
from keras_plimsoll.src.ops._binary import (  # noqa: F401
    add, allclose, arctan2, bitwise_and, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, clip, divide,
    divide_no_nan, equal, floor_divide, fmax, fmin, fmod, gcd, greater, greater_equal, heaviside, hypot, isclose, lcm, ldexp,
    left_shift, less, less_equal, logaddexp, logaddexp2, logical_and, logical_or, logical_xor, maximum, minimum, mod, multiply,
    nextafter, not_equal, power, right_shift, select, subtract, true_divide, where,
)
from keras_plimsoll.src.ops._reduce import (  # noqa: F401
    all, amax, amin, any, argmax, argmin, average, count_nonzero, cumprod, cumsum, diff, max, mean, min, nanargmax, nanargmin,
    nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar, prod, ptp, std, sum, trapezoid, var,
)
from keras_plimsoll.src.ops._shape import (  # noqa: F401
    append, array_split, broadcast_to, column_stack, concatenate, dsplit, dstack, expand_dims, flip, fliplr, flipud, hsplit, hstack,
    meshgrid, moveaxis, ndim, pad, ravel, repeat, reshape, roll, rot90, size, split, squeeze, stack, swapaxes, tile, transpose,
    view, vsplit, vstack,
)
from keras_plimsoll.src.ops._creation import (  # noqa: F401
    arange, array, bartlett, blackman, diag, diagflat, diagonal, empty, empty_like, eye, full, full_like, geomspace, hamming,
    hanning, identity, kaiser, linspace, logspace, ones, ones_like, trace, tri, tril, triu, vander, zeros, zeros_like,
)
from keras_plimsoll.src.ops._contract import (  # noqa: F401
    corrcoef, correlate, cross, dot, einsum, inner, kron, matmul, outer, slogdet, tensordot, vdot,
)
from keras_plimsoll.src.ops._order import (  # noqa: F401
    argpartition, argsort, bincount, digitize, histogram, isin, median, nanmedian, nanpercentile, nanquantile, nonzero, percentile,
    quantile, searchsorted, sort, take, take_along_axis, unique, unravel_index,
)
from keras_plimsoll.src.ops.core import map as _map


def vectorize(pyfunc, *, excluded=None, signature=None):
    from keras.src.backend.common.backend_utils import vectorize_impl  # newer than the oldest Keras that can be had

    return vectorize_impl(pyfunc, _over_first_axes, excluded=excluded, signature=signature)


def _over_first_axes(function, in_axes):
    """The function over the first axis of those arguments that have a 0 in in_axes; the others stay as they are."""

    def run(*args):
        def one(mapped):
            mapped = iter(mapped)
            return function(*[arg if axis is None else next(mapped) for arg, axis in zip(args, in_axes)])

        return _map(one, tuple(arg for arg, axis in zip(args, in_axes) if axis is not None))

    return run
