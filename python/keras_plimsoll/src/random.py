"""Random numbers, counter-based: an element depends on the seed and its place alone, traced or not."""
import math as _math

import numpy as _np
from keras.src.backend.common.variables import standardize_dtype as _standardize_dtype
from keras.src.backend.config import floatx as _floatx
from keras.src.random.seed_generator import SeedGenerator, draw_seed, make_default_seed  # noqa: F401

from keras_plimsoll.src.engine import Tensor as _Tensor
from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.ops import _formula as _f
from keras_plimsoll.src.ops.core import convert_to_tensor as _tensor
from keras_plimsoll.src.ops.core import while_loop as _while_loop


def _key(seed):
    """Two words, from whatever Keras takes as a seed; layers of preprocessing give what they have drawn already."""
    drawn = seed if isinstance(seed, (_Tensor, _np.ndarray)) else draw_seed(seed)
    return _tensor(drawn, "uint32")


def _next(key, i):
    """Another key, for the i-th use."""
    return _call("fold_in", key, i if isinstance(i, _Tensor) else _f.number(i, "uint32"))


def _is_number(*values):
    return all(isinstance(v, (int, float, _np.integer, _np.floating)) for v in values)


def _float_type(dtype):
    return _standardize_dtype(dtype or _floatx())


def _unit(key, shape, dtype, low=0.0, high=1.0):
    return _call("random_uniform", key, shape=list(shape), dtype=dtype, low=low, high=high)


def _gauss(key, shape, dtype):
    return _call("random_normal", key, shape=list(shape), dtype=dtype)


def _scaled(x, factor, shift):
    return _f.add(_f.multiply(x, _tensor(factor, x.dtype)), _tensor(shift, x.dtype))


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    key, dtype = _key(seed), _float_type(dtype)
    if _is_number(mean, stddev):
        return _call("random_normal", key, shape=list(shape), dtype=dtype, mean=mean, stddev=stddev)
    return _scaled(_gauss(key, shape, dtype), stddev, mean)


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    key, dtype = _key(seed), _float_type(dtype)
    if _is_number(minval, maxval) and minval <= maxval:
        return _unit(key, shape, dtype, minval, maxval)
    low, high = _tensor(minval, dtype), _tensor(maxval, dtype)
    return _scaled(_unit(key, shape, dtype), _f.subtract(high, low), low)


def randint(shape, minval, maxval, dtype="int32", seed=None):
    key, dtype = _key(seed), _standardize_dtype(dtype)
    bounds = _np.iinfo(dtype)
    if _is_number(minval, maxval) and minval < maxval:
        minval, maxval = max(minval, bounds.min), min(maxval, bounds.max + 1)
        return _call("random_uniform", key, shape=list(shape), dtype=dtype, low=minval, high=maxval)
    low, high = _f.cast(_tensor(minval), "int64"), _f.cast(_tensor(maxval), "int64")
    bits = _f.cast(_call("random_bits", key, shape=list(shape)), "int64")
    width = _f.maximum(_f.subtract(high, low), 1)
    return _f.cast(_f.add(low, _f.mod(bits, width)), dtype)


def categorical(logits, num_samples, dtype="int32", seed=None):
    """By the largest of logits with Gumbel noise."""
    key, logits = _key(seed), _f.widened(_f.to_float(_tensor(logits)))
    rows, classes = logits.shape
    u = _unit(key, [rows, num_samples, classes], logits.dtype)
    noise = _call("negative", _call("log", _call("negative", _call("log", u))))
    return _f.cast(_call("argmax", _f.add(_f.expanded(logits, 1), noise), axis=-1), _standardize_dtype(dtype))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Within two deviations, by the inverse of the distribution function."""
    key, dtype = _key(seed), _float_type(dtype)
    wide = "float32" if dtype in _f.HALVES else dtype
    edge = _math.erf(_math.sqrt(2.0))
    x = _f.multiply(_call("erfinv", _unit(key, shape, wide, -edge, edge)), _math.sqrt(2.0))
    return _f.cast(_scaled(_f.clip(x, -2.0, 2.0), stddev, mean), dtype)


def dropout(inputs, rate, noise_shape=None, seed=None):
    inputs = _tensor(inputs)
    if rate == 0.0:
        return inputs
    if rate == 1.0:
        return _f.filled(inputs.shape, inputs.dtype)
    shape = inputs.shape if noise_shape is None else [n if s is None else s for n, s in zip(inputs.shape, noise_shape)]
    bits = _call("random_bits", _key(seed), shape=list(shape))
    stays = _f.greater_equal(bits, _math.floor(rate * 2.0**32))
    return _f.where(stays, _f.multiply(inputs, 1.0 / (1.0 - rate)), 0.0)


def shuffle(x, axis=0, seed=None):
    x = _tensor(x)
    axis = _f.axis_in(axis, x.ndim)
    count = x.shape[axis]
    _, order = _call("sort", _call("random_bits", _key(seed), shape=[count]), _f.positions([count], 0), axis=0)
    return _call("take", x, order, axis=axis)


def _until_accepted(propose, key, shape, dtype):
    """Values of `propose(key) -> (values, accepted)`, drawn again until each has been accepted once."""

    def open_ones(round_, values, done):
        return _call("logical_not", _f.reduce("and", done))

    def draw(round_, values, done):
        new, accepted = propose(_next(key, round_))
        values = _f.where(_f.logical_or(done, _call("logical_not", accepted)), values, new)
        return _f.add(round_, 1), values, _f.logical_or(done, accepted)

    start = (_f.number(0, "uint32"), _f.filled(shape, dtype), _f.filled(shape, "bool"))
    return _call("stop_gradient", _while_loop(open_ones, draw, start)[1])  # which one was accepted is no smooth function of the parameters


def _gamma(key, shape, alpha):
    """Marsaglia and Tsang, 2000; below 1 by way of alpha + 1."""
    dtype = alpha.dtype
    small = _f.less(alpha, 1.0)
    d = _f.subtract(_f.where(small, _f.add(alpha, 1.0), alpha), 1.0 / 3.0)
    c = _f.divide(1.0, _call("sqrt", _f.multiply(d, 9.0)))

    def propose(key):
        x, u = _gauss(_next(key, 0), shape, dtype), _unit(_next(key, 1), shape, dtype)
        root = _f.add(_f.multiply(c, x), 1.0)
        v = _f.power(root, 3.0)
        safe = _f.where(_f.greater(root, 0.0), v, 1.0)
        bound = _f.add(_f.multiply(_call("square", x), 0.5), _f.multiply(d, _f.add(_f.subtract(1.0, v), _call("log", safe))))
        accepted = _f.logical_and(_f.greater(root, 0.0), _f.less(_call("log", u), bound))
        return _f.multiply(d, safe), accepted

    value = _until_accepted(propose, _next(key, 0), shape, dtype)
    u = _f.subtract(1.0, _unit(_next(key, 1), shape, dtype))  # never 0
    return _f.where(small, _f.multiply(value, _f.power(u, _f.divide(1.0, alpha))), value)


def _parameter(value, shape, dtype):
    return _f.broadcasted(_tensor(value, dtype), shape)


def _wide(dtype):
    return "float64" if dtype == "float64" else "float32"


def gamma(shape, alpha, dtype=None, seed=None):
    key, dtype = _key(seed), _float_type(dtype)
    return _f.cast(_gamma(key, shape, _parameter(alpha, shape, _wide(dtype))), dtype)


def beta(shape, alpha, beta, dtype=None, seed=None):
    key, dtype = _key(seed), _float_type(dtype)
    a = _gamma(_next(key, 0), shape, _parameter(alpha, shape, _wide(dtype)))
    b = _gamma(_next(key, 1), shape, _parameter(beta, shape, _wide(dtype)))
    return _f.cast(_f.divide(a, _f.add(a, b)), dtype)


def _stirling_rest(k):
    """log(k!) less Stirling's formula for it."""
    one = _f.add(k, 1.0)
    square = _call("square", one)
    series = _f.divide(_f.subtract(1 / 12, _f.divide(_f.subtract(1 / 360, _f.divide(1 / 1260, square)), square)), one)
    table = [_math.lgamma(i + 1) - ((i + 0.5) * _math.log(i + 1) - (i + 1) + 0.5 * _math.log(2 * _math.pi)) for i in range(10)]
    place = _f.cast(_f.clip(k, 0.0, 9.0), "int32")
    return _f.where(_f.less_equal(k, 9.0), _call("take", _tensor(table, k.dtype), place, axis=0), series)


def _many(key, shape, n, p):
    """Binomial numbers for n p >= 10, p <= 1/2: BTRS of Hoermann, 1993, whose names the letters are."""
    q = _f.subtract(1.0, p)
    deviation = _call("sqrt", _f.multiply(_f.multiply(n, p), q))
    b = _f.add(_f.multiply(deviation, 2.53), 1.15)
    a = _f.add(_f.add(_f.multiply(b, 0.0248), -0.0873), _f.multiply(p, 0.01))
    c = _f.add(_f.multiply(n, p), 0.5)
    v_r = _f.subtract(0.92, _f.divide(4.2, b))
    r = _f.divide(p, q)
    alpha = _f.multiply(_f.add(_f.divide(5.1, b), 2.83), deviation)
    m = _call("floor", _f.multiply(_f.add(n, 1.0), p))
    n_m = _f.add(_f.subtract(n, m), 1.0)
    of_m = _f.add(_f.multiply(_f.add(m, 0.5), _call("log", _f.divide(_f.add(m, 1.0), _f.multiply(r, n_m)))),
                  _f.add(_stirling_rest(m), _stirling_rest(_f.subtract(n, m))))

    def propose(key):
        u = _f.subtract(_unit(_next(key, 0), shape, n.dtype), 0.5)
        v = _f.subtract(1.0, _unit(_next(key, 1), shape, n.dtype))
        us = _f.maximum(_f.subtract(0.5, _call("absolute", u)), 1e-12)
        k = _call("floor", _f.add(_f.multiply(_f.add(_f.divide(_f.multiply(a, 2.0), us), b), u), c))
        inside = _f.logical_and(_f.greater_equal(k, 0.0), _f.less_equal(k, n))
        k = _f.minimum(_f.maximum(k, 0.0), n)
        n_k = _f.add(_f.subtract(n, k), 1.0)
        height = _call("log", _f.divide(_f.multiply(v, alpha), _f.add(_f.divide(a, _call("square", us)), b)))
        bound = _f.add(of_m, _f.multiply(_f.add(n, 1.0), _call("log", _f.divide(n_m, n_k))))
        bound = _f.add(bound, _f.multiply(_f.add(k, 0.5), _call("log", _f.divide(_f.multiply(r, n_k), _f.add(k, 1.0)))))
        bound = _f.subtract(bound, _f.add(_stirling_rest(k), _stirling_rest(_f.subtract(n, k))))
        quick = _f.logical_and(_f.greater_equal(us, 0.07), _f.less_equal(v, v_r))
        return k, _f.logical_and(inside, _f.logical_or(quick, _f.less_equal(height, bound)))

    return _until_accepted(propose, key, shape, n.dtype)


def _few(key, shape, n, p):
    """Binomial numbers for small n p: how many geometric waits fit into n trials."""
    log_q = _call("log1p", _call("negative", _f.minimum(p, 0.5)))

    def waits(round_, trials, count):
        return _f.reduce("or", _f.less_equal(trials, n))

    def wait(round_, trials, count):
        u = _f.subtract(1.0, _unit(_next(key, round_), shape, n.dtype))
        trials = _f.add(trials, _f.maximum(_call("ceil", _f.divide(_call("log", u), log_q)), 1.0))
        return _f.add(round_, 1), trials, _f.add(count, _f.cast(_f.less_equal(trials, n), n.dtype))

    none = _f.filled(shape, n.dtype)
    return _call("stop_gradient", _while_loop(waits, wait, (_f.number(0, "uint32"), none, none))[2])


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    key, dtype = _key(seed), _float_type(dtype)
    n, p = _parameter(counts, shape, "float64"), _parameter(probabilities, shape, "float64")
    turned = _f.greater(p, 0.5)
    p = _f.where(turned, _f.subtract(1.0, p), p)
    many = _f.greater_equal(_f.multiply(n, p), 10.0)
    # Each of the two methods gets numbers that suit it where the other one counts.
    large = _many(_next(key, 0), shape, _f.where(many, n, 100.0), _f.where(many, p, 0.5))
    impossible = _f.less_equal(p, 0.0)
    small = _few(_next(key, 1), shape, _f.where(_f.logical_or(many, impossible), -1.0, n), _f.where(impossible, 0.5, p))
    drawn = _f.where(many, large, small)
    return _f.cast(_f.where(turned, _f.subtract(n, drawn), drawn), dtype)
