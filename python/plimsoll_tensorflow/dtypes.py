"""tf.DType and tf.TensorShape: a str and a tuple, so that Keras and the backend read them as their own, printed as TensorFlow does."""
import ml_dtypes
import numpy as np


class DType(str):
    """Equal to its name; `keras.backend.standardize_dtype` takes it."""

    __slots__ = ()

    @property
    def name(self):
        return str.__str__(self)

    @property
    def as_numpy_dtype(self):
        return {"bfloat16": ml_dtypes.bfloat16, "string": object}.get(self.name) or np.dtype(self.name).type

    @property
    def base_dtype(self):
        return self

    is_floating = property(lambda self: "float" in self.name)
    is_integer = property(lambda self: "int" in self.name)
    is_unsigned = property(lambda self: self.name.startswith("uint"))
    is_complex = property(lambda self: "complex" in self.name)
    is_bool = property(lambda self: self.name == "bool")
    size = property(lambda self: np.dtype(self.as_numpy_dtype).itemsize)

    @property
    def max(self):
        return _limits(self).max

    @property
    def min(self):
        return _limits(self).min

    def __str__(self):
        return f"<dtype: '{self.name}'>"

    def __repr__(self):
        return f"tf.{self.name}"

    def __format__(self, spec):
        return format(str(self), spec)

    def __eq__(self, other):
        if isinstance(other, str):
            return str.__eq__(self, other)
        if other in (None, bool, int, float, complex):  # the backend tells Python's numbers from tensors by their types
            return False
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self):
        return as_dtype, (self.name,)


def _limits(dtype):
    number = dtype.as_numpy_dtype
    return np.iinfo(number) if dtype.is_integer else ml_dtypes.finfo(number)


NAMES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
         "complex64", "complex128", "string")
DTYPES = {name: DType(name) for name in NAMES}
ALIASES = {"half": "float16", "double": "float64", "float": "float32", "int": "int32", "str": "string", "object": "string"}


def as_dtype(x):
    """A DType from a name, a NumPy dtype, a Python type or a DType."""
    if isinstance(x, str):
        name = str.__str__(x) if not isinstance(x, DType) else x.name
    elif isinstance(x, type) and x in (bool, int, float, complex, str, bytes):
        name = {bool: "bool", int: "int32", float: "float32", complex: "complex128"}.get(x, "string")
    else:
        try:
            name = np.dtype(x).name
        except TypeError:
            name = getattr(x, "name", None)
        if name is not None and (name.startswith(("str", "bytes")) or name == "object"):
            name = "string"
    found = DTYPES.get(ALIASES.get(name, name))
    if found is None:
        raise TypeError(f"Cannot convert {x!r} to a TensorFlow DType.")
    return found


class TensorShape(tuple):
    def __new__(cls, dims=()):
        if dims is None:
            raise ValueError("Shapes of unknown rank are not supported: give a list with None for unknown sizes.")
        return super().__new__(cls, [dims] if isinstance(dims, int) else [None if d is None or d == -1 else int(d) for d in dims])

    rank = property(len)
    ndims = property(len)
    dims = property(list)

    def as_list(self):
        return list(self)

    def num_elements(self):
        return int(np.prod(self, dtype=np.int64)) if self.is_fully_defined() else None

    def is_fully_defined(self):
        return None not in tuple(self)

    def is_compatible_with(self, other):
        other = TensorShape(other)
        return len(self) == len(other) and all(None in (a, b) or a == b for a, b in zip(self, other))

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def concatenate(self, other):
        return TensorShape([*self, *other])

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return TensorShape([*other, *self])

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return TensorShape(found) if isinstance(key, slice) else found

    def __eq__(self, other):
        return isinstance(other, (list, tuple)) and tuple(self) == tuple(other)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__

    def __str__(self):
        return f"({', '.join(map(str, self))}{',' if len(self) == 1 else ''})"

    def __repr__(self):
        return f"TensorShape([{', '.join(map(str, self))}])"

    def __reduce__(self):
        return TensorShape, (tuple(self),)


def _refused(name):
    """A class for isinstance, of which nothing can be made."""
    from plimsoll_tensorflow.hints import missing

    def refuse(self, *args, **kwargs):
        raise missing(name)

    return type(name, (), {"__init__": refuse})


SparseTensorSpec, RaggedTensorSpec = map(_refused, ("SparseTensorSpec", "RaggedTensorSpec"))


class IndexedSlices:
    """Rows and where they belong, for Variable.scatter_add and its kin; no gradient is one here."""

    def __init__(self, values, indices, dense_shape=None):
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    dtype = property(lambda self: self.values.dtype)


class TypeSpec:
    """What Keras asks for when it saves."""


class TensorSpec(TypeSpec):
    def __init__(self, shape, dtype="float32", name=None):
        self.shape, self.dtype, self.name = None if shape is None else TensorShape(shape), as_dtype(dtype), name

    @classmethod
    def from_tensor(cls, tensor, name=None):
        return cls(tensor.shape, tensor.dtype, name)

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"TensorSpec(shape={'<unknown>' if self.shape is None else self.shape}, dtype={self.dtype!r}, name={self.name!r})"
