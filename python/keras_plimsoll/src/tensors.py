"""Tensors from whatever Python has and back, and variables."""
import weakref

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable, global_state, standardize_dtype
from keras.src.backend.common.dtypes import result_type
from keras.src.backend.common.stateless_scope import in_stateless_scope

from keras_plimsoll.src import engine as _engine
from keras_plimsoll.src.engine import call as _call
from plimsoll import _native, memory
from plimsoll._native import Tensor

FLOATS = frozenset(["float16", "bfloat16", "float32", "float64"])

_variables = weakref.WeakValueDictionary()  # by id, as Keras's scopes name them


def variable_at(key):
    return _variables[key]


def is_float(dtype):
    return dtype in FLOATS


class Variable(KerasVariable):
    """Its contents are a storage of the engine, which the programs of a model write in place."""

    _storage = None
    _is_state = False  # of an optimizer: may lie in a file (set_memory_limit(spill=))

    def __init__(self, *args, **kwargs):
        _variables[id(self)] = self
        self._is_state = _is_inside_optimizer()
        super().__init__(*args, **kwargs)

    @property
    def _value(self):
        if self._storage is None:
            return None
        step = _engine.current_step()
        value = self._storage.value() if step is None else step.read(self._storage, self._path_for_trace())
        return value if _engine.tape is None else _engine.tape.read(self, value)

    @_value.setter
    def _value(self, value):
        self._storage = None if value is None else _native.make_storage(convert_to_tensor(value), self._spill_folder())

    @property
    def value(self):
        """As in the base class, which asks for the value twice."""
        if self._storage is None or in_stateless_scope():
            return super().value
        return self._maybe_autocast(self._value)

    def _spill_folder(self):
        return memory.spill_folder() if self._is_state else ""

    def _path_for_trace(self):
        return getattr(self, "_path", None) or ""

    def _initialize_with_initializer(self, initializer):
        if _engine.is_planning():
            self._storage = _native.planned_storage(self._dtype, list(self._shape), bool(self._spill_folder()))
            return
        from keras.src.initializers import Zeros
        if type(initializer) is Zeros and not self._spill_folder():
            self._storage = _native.zero_storage(self._dtype, list(self._shape))
            return
        with _engine.outside():
            super()._initialize_with_initializer(initializer)

    def _initialize(self, value):
        self._value = convert_to_tensor(value, dtype=self._dtype)

    def _direct_assign(self, value):
        value = convert_to_tensor(value, dtype=self._dtype)
        step = _engine.current_step()
        if step is not None:
            step.write(self._storage, value, self._path_for_trace())
        elif value.is_symbolic:
            raise ValueError("A variable outside of the step cannot be given a value of a step that is being traced.")
        else:
            self._storage.assign(value)

    def _convert_to_tensor(self, value, dtype=None):
        return convert_to_tensor(value, dtype=dtype)

    def __array__(self, dtype=None, copy=None):
        array = convert_to_numpy(self.value)
        return array if dtype is None else array.astype(dtype)

    def __getstate__(self):
        state = dict(self.__dict__)
        if state.pop("_storage", None) is not None:
            state["contents"] = convert_to_numpy(self._storage.value())
        return state

    def __setstate__(self, state):
        contents = state.pop("contents", None)
        self.__dict__.update(state)
        _variables[id(self)] = self
        if contents is not None:
            self._value = convert_to_tensor(contents)


def _is_inside_optimizer():
    """Whether a variable that is made now is one of an optimizer: Keras makes those in a scope of its own."""
    from keras.src.optimizers.base_optimizer import BaseOptimizer

    scopes = global_state.get_global_attribute("name_scope_stack")
    return bool(scopes) and isinstance(scopes[-1].caller, BaseOptimizer)


def _spill(folder):
    _native.spill([v._storage for v in list(_variables.values()) if v._is_state and v._storage is not None], folder)


memory.movers.append(_spill)


outside = ()  # classes of tensors that are not the engine's (strings): Keras passes them on, a step with one is run op by op


def is_tensor(x):
    return isinstance(x, (Tensor, *outside))


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    if sparse:
        raise ValueError("`sparse=True` is not supported with the plimsoll backend")
    if ragged:
        raise ValueError("`ragged=True` is not supported with the plimsoll backend")
    if dtype is not None:
        dtype = standardize_dtype(dtype)
    if isinstance(x, Tensor):
        return x if dtype is None or x.dtype == dtype else _call("cast", x, dtype=dtype)
    if isinstance(x, KerasVariable):
        return convert_to_tensor(x.value, dtype)
    if outside and isinstance(x, outside):
        return x
    if isinstance(x, (bool, int, float)):
        return _from_array(np.asarray(x), dtype or result_type(type(x)))
    if isinstance(x, (list, tuple)):
        leaves = tree.flatten(x)
        kinds = {getattr(leaf, "dtype", type(leaf)) for leaf in leaves}
        dtype = dtype or (result_type(*kinds) if leaves else standardize_dtype(None))
        if any(isinstance(leaf, (Tensor, KerasVariable)) for leaf in leaves):
            return _stacked(x, dtype)
    elif not hasattr(x, "dtype") and hasattr(x, "__array__"):
        x = x.__array__()
    return _from_array(np.asarray(x), dtype)


def _stacked(x, dtype):
    """A list of lists ... of tensors and numbers."""
    if not isinstance(x, (list, tuple)):
        return convert_to_tensor(x, dtype=dtype)
    parts = [_stacked(part, dtype) for part in x]
    return _call("concatenate", *[_call("reshape", p, shape=[1, *p.shape]) for p in parts], axis=0)


def _from_array(array, dtype):
    if array.dtype.kind in "OSU":
        raise ValueError(f"Expected numbers to make a tensor of, got an array of {array.dtype}: {array!r}")
    dtype = dtype or standardize_dtype(array.dtype)
    return _engine.from_numpy(array.astype(_engine.numpy_dtype(dtype)) if str(array.dtype) != dtype else array)


def convert_to_numpy(x):
    if isinstance(x, KerasVariable):
        x = x.value
    if isinstance(x, (list, tuple)) and any(isinstance(leaf, (Tensor, KerasVariable)) for leaf in tree.flatten(x)):
        x = convert_to_tensor(x)
    return _engine.to_numpy(x) if isinstance(x, Tensor) else np.array(x)


def cast(x, dtype):
    dtype = standardize_dtype(dtype)
    x = convert_to_tensor(x)
    return x if x.dtype == dtype else _call("cast", x, dtype=dtype)
