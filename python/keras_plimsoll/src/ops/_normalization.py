"""Statistics and normalisation. Keras asks for the moments first and normalises with them later: where they are the moments of what is
normalised, over all axes but the last, it is the engine's batch_norm, which has a gradient of its own."""
import numpy as np

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops.core import convert_to_tensor

HALF_MAX = float(np.finfo("float16").max)


def moments(x, axes, keepdims=False, synchronized=False):
    if synchronized:
        raise NotImplementedError("Argument synchronized=True is not supported with the plimsoll backend.")
    x = f.to_float(convert_to_tensor(x))
    wide = f.widened(x)
    mean = f.mean(wide, axes, keepdims=True)
    variance = f.mean(call("square", f.subtract(wide, mean)), axes, keepdims=True)
    results = [mean, variance]
    if not keepdims:
        kept = [size for a, size in enumerate(x.shape) if a not in f.axes_in(axes, x.ndim)]
        results = [f.reshaped(r, kept) for r in results]
    if wide is not x:
        results = [f.cast(f.clip(r, -HALF_MAX, HALF_MAX), x.dtype) for r in results]
    for i, result in enumerate(results):
        result._moment_of = (i, x, f.axes_in(axes, x.ndim))
    return tuple(results)


def _are_moments_of(x, mean, variance):
    """Whether these are the moments of x over all axes but the last."""
    for i, statistic in enumerate((mean, variance)):
        order, source, axes = getattr(statistic, "_moment_of", (None, None, None))
        if order != i or source is not x or sorted(axes) != list(range(x.ndim - 1)):
            return False
    return mean.dtype == x.dtype


def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    x, mean, variance = convert_to_tensor(x), convert_to_tensor(mean), convert_to_tensor(variance)
    offset, scale = (None if t is None else convert_to_tensor(t) for t in (offset, scale))
    axis = f.axis_in(axis, x.ndim)
    channels = [x.shape[axis]]
    if x.is_symbolic and axis == x.ndim - 1 and x.ndim >= 2 and _are_moments_of(x, mean, variance):
        gamma = f.filled(channels, x.dtype, 1.0) if scale is None else f.cast(scale, x.dtype)
        beta = f.filled(channels, x.dtype) if offset is None else f.cast(offset, x.dtype)
        return call("batch_norm", x, gamma, beta, epsilon=float(epsilon))[0]
    factor = call("rsqrt", f.add(f.to_float(variance), float(epsilon)))
    if scale is not None:
        factor = f.multiply(*f.meeting(factor, scale))
    shift = call("negative", f.multiply(*f.meeting(mean, factor)))
    if offset is not None:
        shift = f.add(*f.meeting(shift, offset))
    x, factor, shift = f.meeting(x, factor, shift)
    along = [size if a == axis else 1 for a, size in enumerate(x.shape)]
    return f.add(f.multiply(x, f.reshaped(factor, along)), f.reshaped(shift, along))


def layer_normalization(x, gamma, beta, axis, epsilon):
    """The engine's op where it fits: over the last axis; None elsewhere. Keras composes it of small ops for all backends but torch,
    and their gradients keep what the op's own does not."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    x = convert_to_tensor(x)
    if x.ndim < 1 or x.dtype not in f.FLOATS or [a % x.ndim for a in axes] != [x.ndim - 1] or x.shape[-1] == 0:
        return None
    dtype, n = "float64" if x.dtype == "float64" else "float32", x.shape[-1]
    gamma = f.filled([n], dtype, 1.0) if gamma is None else convert_to_tensor(gamma, dtype)
    beta = f.filled([n], dtype) if beta is None else convert_to_tensor(beta, dtype)
    if gamma.shape != (n,) or beta.shape != (n,):
        return None
    return call("layer_norm", x, gamma, beta, epsilon=float(epsilon))[0]
