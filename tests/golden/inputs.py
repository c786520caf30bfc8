"""The inputs of the tests, made as tests/support/fill.cpp makes them: element i is a hash of (seed, i)."""
import numpy as np

try:
    import ml_dtypes
except ImportError:  # then there is no bfloat16
    ml_dtypes = None

MASK = (1 << 64) - 1
DTYPES = {name: np.dtype(name) for name in
          ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
           "float64", "complex64", "complex128"]}
if ml_dtypes:
    DTYPES["bfloat16"] = np.dtype(ml_dtypes.bfloat16)


def is_complex(dtype):
    return dtype.kind == "c"


def is_float(dtype):
    return dtype.kind == "f" or dtype == DTYPES.get("bfloat16")


def hash_text(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def hash_at(seed, i):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.asarray(i, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def fill(dtype, shape, low, high, seed):
    """Uniform floats in [low, high), integers in [ceil(low), floor(high)] (unsigned from 0), fair bools."""
    dtype = DTYPES[dtype] if isinstance(dtype, str) else np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64)) * (2 if is_complex(dtype) else 1)
    u = (hash_at(seed, np.arange(count)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    if dtype == np.bool_:
        return (u >= 0.5).reshape(shape)
    if is_complex(dtype):
        values = (low + (high - low) * u).astype(np.float32 if dtype == np.complex64 else np.float64)
        return values.view(dtype).reshape(shape)
    if is_float(dtype):
        values = low + (high - low) * u
        if dtype.itemsize == 2:
            values = values.astype(np.float32)  # halves are rounded from float
        return values.astype(dtype).reshape(shape)
    first = np.ceil(0 if dtype.kind == "u" and low < 0 else low)
    last = np.floor(high)
    return (first + np.floor((last - first + 1) * u)).astype(dtype).reshape(shape)
