"""Random numbers that are the same on every backend of Keras, so that losses on two of them can be compared.

A hash of (seed, place of the element) in 32-bit integers: by NumPy where the seed is known, by keras.ops inside of a traced step.
"""
import math

import numpy as np


def _mixed(h, wrap):
    """The finaliser of MurmurHash3."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> wrap(shift))) * wrap(factor)
    return h ^ (h >> wrap(16))


def install():
    from keras import ops
    from keras.src import backend
    from keras.src.random.seed_generator import draw_seed

    module = backend.random

    def constant(x):
        return ops.convert_to_tensor(np.asarray(x, "uint32"), dtype="uint32")

    def words(seed):
        """The seed's two words and what makes constants beside them: NumPy's, or the backend's inside of a traced step."""
        drawn = seed if hasattr(seed, "shape") else draw_seed(seed)
        try:
            return np.asarray(drawn).astype("uint32"), lambda x: np.asarray(x, "uint32")
        except Exception:  # each backend has its own type for "no value yet"
            return ops.cast(drawn, "uint32"), constant

    def unit(shape, seed):
        """Numbers in [0, 1), multiples of 2^-24: exact in float32."""
        shape = tuple(int(n) for n in shape)
        seed, wrap = words(seed)
        places = wrap(np.arange(math.prod(shape)))
        with np.errstate(over="ignore"):
            h = _mixed(_mixed(places * wrap(0x9E3779B1) + seed[0], wrap) ^ _mixed(seed[1] + wrap(0x7F4A7C15), wrap), wrap)
        top = ops.convert_to_tensor(h >> wrap(8))
        return ops.reshape(ops.multiply(ops.cast(top, "float32"), np.float32(2.0**-24)), shape)

    def floats(x, dtype):
        return ops.cast(x, dtype or backend.floatx())

    def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
        low, high = (ops.cast(v, "float32") for v in (minval, maxval))
        return floats(unit(shape, seed) * (high - low) + low, dtype)

    def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
        x = ops.erfinv(unit(shape, seed) * np.float32(2.0) - np.float32(1.0 - 2.0**-24))
        return floats(x * ops.cast(math.sqrt(2.0) * stddev, "float32") + ops.cast(mean, "float32"), dtype)

    def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
        edge = math.erf(math.sqrt(2.0))
        x = ops.erfinv((unit(shape, seed) * np.float32(2.0) - np.float32(1.0)) * np.float32(edge))
        return floats(x * np.float32(math.sqrt(2.0) * stddev) + np.float32(mean), dtype)

    def randint(shape, minval, maxval, dtype="int32", seed=None):
        low, high = (ops.cast(v, "float32") for v in (minval, maxval))
        return ops.cast(ops.floor(unit(shape, seed) * (high - low) + low), dtype)

    def dropout(inputs, rate, noise_shape=None, seed=None):
        shape = inputs.shape if noise_shape is None else [n if s is None else s for n, s in zip(inputs.shape, noise_shape)]
        stays = ops.cast(unit(shape, seed) >= np.float32(rate), inputs.dtype)
        return inputs * stays / ops.cast(1.0 - rate, inputs.dtype)

    def shuffle(x, axis=0, seed=None):
        x = ops.convert_to_tensor(x)
        return ops.take(x, ops.argsort(unit([x.shape[axis]], seed)), axis=axis)

    def categorical(logits, num_samples, dtype="int32", seed=None):
        u = unit([*logits.shape[:1], num_samples, logits.shape[-1]], seed) + np.float32(2.0**-25)
        return ops.cast(ops.argmax(ops.expand_dims(logits, 1) - ops.log(-ops.log(u)), axis=-1), dtype)

    for function in (uniform, normal, truncated_normal, randint, dropout, shuffle, categorical):
        setattr(module, function.__name__, function)
