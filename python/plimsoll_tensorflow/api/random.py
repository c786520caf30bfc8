import keras as _keras
import numpy as _np

from plimsoll_tensorflow import dataset as _dataset
from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops

_state = {"seed": None, "generator": None}


def generator_for(seed=None):
    """What keras.random takes: the global generator, or one that starts with `seed` and the global seed."""
    if _state["generator"] is None:
        _state["generator"] = _keras.random.SeedGenerator(_state["seed"])
    if seed is None:
        return _state["generator"]
    made = _state.setdefault("by_seed", {})
    if seed not in made:
        made[seed] = _keras.random.SeedGenerator((int(seed) * 1000003 + (_state["seed"] or 0)) % 2**31)
    return made[seed]


def set_seed(seed):
    from keras.src.backend.common import global_state

    seed = int(seed)
    _state.update(seed=seed % 2**31, generator=None, by_seed={})
    _dataset.set_seed(seed % 2**63)
    global_state.set_global_attribute("global_seed_generator", _keras.random.SeedGenerator(seed % 2**31))


def _float(dtype):
    return _ops.as_dtype(dtype).name


def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    return _keras.random.normal(_ops.shape_list(shape), mean, stddev, _float(dtype), seed=generator_for(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    return _keras.random.truncated_normal(_ops.shape_list(shape), mean, stddev, _float(dtype), seed=generator_for(seed))


def uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    return _uniform(_ops.shape_list(shape), minval, maxval, _ops.as_dtype(dtype), generator_for(seed))


def _uniform(shape, low, high, dtype, seed):
    if dtype.is_integer:
        if high is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        return _keras.random.randint(shape, _ops.static(low), _ops.static(high), dtype.name, seed=seed)
    return _keras.random.uniform(shape, low, 1.0 if high is None else high, dtype.name, seed=seed)


def categorical(logits, num_samples, dtype="int64", seed=None, name=None):
    return _keras.random.categorical(_ops.tensor(logits), num_samples, _float(dtype), seed=generator_for(seed))


def gamma(shape, alpha, beta=None, dtype="float32", seed=None, name=None):
    return _keras.random.gamma(_ops.shape_list(shape), alpha, _float(dtype), seed=generator_for(seed)) / (1.0 if beta is None else beta)


def shuffle(value, seed=None, name=None):
    x = _ops.tensor(value)
    if isinstance(x, _ops.StringTensor):
        return _ops.StringTensor(x.array[_dataset.generator.permutation(len(x))])
    return _keras.random.shuffle(x, seed=generator_for(seed))


def _pair(seed):
    words = _np.asarray(seed).astype("uint32").ravel()
    return int((int(words[0]) * 2654435761 + int(words[-1]) * 40503 + 1) % 2**31)


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg=None):
    return _keras.random.normal(_ops.shape_list(shape), mean, stddev, _float(dtype), seed=_pair(seed))


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype="float32", name=None, alg=None):
    return _uniform(_ops.shape_list(shape), minval, maxval, _ops.as_dtype(dtype), _pair(seed))


class Generator:
    def __init__(self, seed=None):
        self._seed = _keras.random.SeedGenerator(seed)

    @classmethod
    def from_seed(cls, seed, alg=None):
        return cls(int(seed) % 2**31)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        return cls()

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        return _keras.random.normal(_ops.shape_list(shape), mean, stddev, _float(dtype), seed=self._seed)

    def uniform(self, shape, minval=0, maxval=None, dtype="float32", name=None):
        return _uniform(_ops.shape_list(shape), minval, maxval, _ops.as_dtype(dtype), self._seed)

    def make_seeds(self, count=1):
        return _keras.random.randint((2, count), 0, 2**31 - 1, "int32", seed=self._seed)


_global = []


def get_global_generator():
    if not _global:
        _global.append(Generator(_state["seed"]))
    return _global[0]


__getattr__ = _hints.getter("random")
