"""The face of the engine's tensor in Python: operators, indexing, conversion. Imported once, it completes plimsoll.Tensor."""
import operator

import numpy as np
from keras.src.backend.common import KerasVariable

from keras_plimsoll.src import engine
from keras_plimsoll.src.indexing import index
from keras_plimsoll.src.ops import numpy as ops
from keras_plimsoll.src.ops.core import cast, convert_to_tensor, unstack
from plimsoll._native import Tensor

OPERAND_TYPES = (Tensor, KerasVariable, bool, int, float, complex, np.ndarray, np.generic, list, tuple)

BINARY = {
    "add": ops.add, "sub": ops.subtract, "mul": ops.multiply, "truediv": ops.divide, "floordiv": ops.floor_divide, "mod": ops.mod,
    "pow": ops.power, "matmul": ops.matmul, "and": ops.bitwise_and, "or": ops.bitwise_or, "xor": ops.bitwise_xor,
    "lshift": ops.left_shift, "rshift": ops.right_shift,
}
COMPARISONS = {
    "eq": ops.equal, "ne": ops.not_equal, "lt": ops.less, "le": ops.less_equal, "gt": ops.greater, "ge": ops.greater_equal,
}


def _is_operand(x):
    return isinstance(x, OPERAND_TYPES) or (hasattr(x, "__array__") and not hasattr(x, "record_history"))


def _operator(function, reflected=False):
    """Anything else, such as a KerasTensor, may know what to do with a tensor."""

    def method(self, other):
        if not _is_operand(other):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    return method


def _add(self, other):
    if not _is_operand(other):
        return NotImplemented
    total = ops.add(self, other)
    if type(other) is int and self.is_symbolic and self.ndim == 0:
        total.sum_of = self, other  # for x[i : i + n]
    return total


class _Face:
    """What Tensor gets besides what the extension gives it."""

    __array_priority__ = 100  # NumPy's arrays leave the operator to us
    __hash__ = object.__hash__

    def __neg__(self):
        return ops.negative(self)

    def __pos__(self):
        return self

    def __abs__(self):
        return ops.absolute(self)

    def __invert__(self):
        return ops.bitwise_not(self)

    def __round__(self, ndigits=None):
        return ops.round(self, decimals=ndigits or 0)

    def __divmod__(self, other):
        return self // other, self % other

    def __getitem__(self, key):
        return index(self, key)

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("A tensor without axes has no len().")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("Cannot iterate over a tensor without axes.")
        return iter(unstack(self))

    def item(self):
        return engine.to_numpy(self).item()

    def __bool__(self):
        return bool(engine.to_numpy(self))

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        if self.ndim or "int" not in self.dtype:
            raise TypeError(f"Only a tensor with one integer is an index. Received: shape={self.shape}, dtype={self.dtype}")
        return operator.index(self.item())

    def __array__(self, dtype=None, copy=None):
        array = engine.to_numpy(self)
        return array if dtype is None else array.astype(dtype, copy=False)

    def numpy(self):
        return engine.to_numpy(self)

    def tolist(self):
        return engine.to_numpy(self).tolist()

    def astype(self, dtype):
        return cast(self, dtype)

    def reshape(self, *shape):
        return ops.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    @property
    def T(self):
        return ops.transpose(self)

    def __dlpack__(self, **options):
        return engine.to_numpy(self).__dlpack__(**options)

    def __dlpack_device__(self):
        return 1, 0  # the processor's memory

    def __repr__(self):
        if self.is_symbolic:
            return f"<Tensor shape={self.shape}, dtype={self.dtype}, of a step that is being traced>"
        return f"<Tensor shape={self.shape}, dtype={self.dtype}, value=\n{engine.to_numpy(self)}>"

    def __str__(self):
        return repr(self) if self.is_symbolic else str(engine.to_numpy(self))

    def __format__(self, spec):
        return format(self.item() if self.ndim == 0 and not self.is_symbolic else str(self), spec)

    def __reduce__(self):
        return convert_to_tensor, (engine.to_numpy(self),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self if self.is_symbolic else engine.from_numpy(engine.to_numpy(self))


def _complete():
    methods = {k: v for k, v in vars(_Face).items() if k not in ("__module__", "__dict__", "__weakref__", "__doc__")}
    for name, function in BINARY.items():
        methods[f"__{name}__"] = _operator(function)
        methods[f"__r{name}__"] = _operator(function, reflected=True)
    methods["__add__"] = _add
    for name, function in COMPARISONS.items():
        methods[f"__{name}__"] = _operator(function)
    for name, method in methods.items():
        setattr(Tensor, name, method)


_complete()
