import keras as _keras
import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.dataset import seeds as _seeds

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
    _seeds.set_seed(seed % 2**63)
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
        return _ops.StringTensor(x.array[_seeds.generator.permutation(len(x))])
    return _keras.random.shuffle(x, seed=generator_for(seed))


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes by Zipf's law, of which the first are the likelier, and how often each is expected."""
    limit, count = _ops.static(range_max), _ops.static(num_sampled)
    if unique and count > limit:
        raise ValueError(f"[log_uniform_candidate_sampler] expected at most {limit} unique samples, got num_sampled={count}")
    numbers = _np.random.default_rng(int(_np.asarray(_keras.random.randint((), 0, 2**31 - 1, "int32", seed=generator_for(seed)))))
    drawn, tries = [], 0
    while len(drawn) < count:
        tries += 1
        number = min(int(_np.exp(numbers.random() * _np.log(limit + 1))) - 1, limit - 1)
        if not unique or number not in drawn:
            drawn.append(number)

    def expected(classes):
        p = (_np.log(classes + 2.0) - _np.log(classes + 1.0)) / _np.log(limit + 1.0)
        return (-_np.expm1(tries * _np.log1p(-p)) if unique else p * count).astype("float32")

    drawn = _np.asarray(drawn, "int64")
    return tuple(map(_ops.to_tensor, (drawn, expected(_np.asarray(_ops.tensor(true_classes))), expected(drawn))))


def _pair(seed):
    words = _np.asarray(seed).astype("uint32").ravel()
    return int((int(words[0]) * 2654435761 + int(words[-1]) * 40503 + 1) % 2**31)


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg=None):
    return _keras.random.normal(_ops.shape_list(shape), mean, stddev, _float(dtype), seed=_pair(seed))


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype="float32", name=None, alg=None):
    return _uniform(_ops.shape_list(shape), minval, maxval, _ops.as_dtype(dtype), _pair(seed))


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg=None):
    return _keras.random.truncated_normal(_ops.shape_list(shape), mean, stddev, _float(dtype), seed=_pair(seed))


def stateless_categorical(logits, num_samples, seed, dtype="int64", name=None):
    return _keras.random.categorical(_ops.tensor(logits), num_samples, _float(dtype), seed=_pair(seed))


def stateless_gamma(shape, seed, alpha, beta=None, dtype="float32", name=None):
    return _keras.random.gamma(_ops.shape_list(shape), alpha, _float(dtype), seed=_pair(seed)) / (1.0 if beta is None else beta)


def poisson(shape, lam, dtype="float32", seed=None, name=None):
    """Drawn by NumPy; shape + lam's shape, as in TensorFlow."""
    rate = _np.asarray(_ops.tensor(lam))
    numbers = _np.random.default_rng(int(_np.asarray(_keras.random.randint((), 0, 2**31 - 1, "int32", seed=generator_for(seed)))))
    return _ops.to_tensor(numbers.poisson(rate, (*_ops.shape_list(shape), *rate.shape)).astype(_ops.as_dtype(dtype).as_numpy_dtype))


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
