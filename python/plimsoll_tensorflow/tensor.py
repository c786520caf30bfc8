"""plimsoll.Tensor with TensorFlow's face (printing, dtypes, shapes, operators), tf.Variable, and tensors of strings."""
import numpy as np
from keras_plimsoll.src import engine
from keras_plimsoll.src import tensor as face
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import cast, convert_to_tensor
from plimsoll._native import Tensor

from plimsoll_tensorflow.dtypes import DTYPES, TensorShape, as_dtype

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def value_of(x):
    """As NumPy: a scalar for a tensor without axes, as TensorFlow's numpy()."""
    return engine.to_numpy(x)[()]


def value_repr(value):
    text = repr(value) if isinstance(value, (np.ndarray, bytes)) else str(value)
    return "\n" + text if "\n" in text else text


def value_str(value):
    text = str(value)
    return "\n" + text if "\n" in text else text


KINDS = ((bool, "b"), (int, "i"), (float, "f"), (complex, "c"))  # with what is made of them: numpy.float64 is a float, IntEnum an int


def operand(self, other):
    """A number or an array takes the tensor's dtype, as in TensorFlow, unless it would lose its fraction."""
    if isinstance(other, (Tensor, BackendVariable)) or not face._is_operand(other):
        return other
    array = np.asarray(other) if not isinstance(other, (bool, int, float, complex)) else None
    kind = array.dtype.kind if array is not None else next(k for t, k in KINDS if isinstance(other, t))
    fits = kind in "bi" or kind == "u" or (kind == "f" and ("float" in self.dtype or "complex" in self.dtype)) or "complex" in self.dtype
    return convert_to_tensor(other, self.dtype) if fits and self.dtype != "bool" else convert_to_tensor(other)


OPERATORS = {"__getitem__"} | {f"__{side}{name}__" for name in (*face.BINARY, "truediv") for side in ("", "r")} | {f"__{n}__" for n in face.COMPARISONS}


def _binary(function, reflected):
    def method(self, other):
        other = operand(self, other)
        if not face._is_operand(other):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    return method


def _divided(a, b):
    """The quotient of integers is float64 in TensorFlow."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if "int" in a.dtype and "int" in b.dtype:
        a, b = cast(a, "float64"), cast(b, "float64")
    return face.ops.divide(a, b)


class Reference:
    """A tensor as a key of dicts."""

    def __init__(self, tensor):
        self._tensor = tensor

    def deref(self):
        return self._tensor

    def __eq__(self, other):
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self):
        return id(self._tensor)


class Face:
    """What a tensor has in TensorFlow besides what it has in Keras."""

    device = DEVICE

    def __repr__(self):
        if self.is_symbolic:
            return f"<tf.Tensor 'Tensor:0' shape={self.shape} dtype={self.dtype.name}>"
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={value_repr(value_of(self))}>"

    def __str__(self):
        if self.is_symbolic:
            return f'Tensor("Tensor:0", shape={self.shape}, dtype={self.dtype.name})'
        return f"tf.Tensor({value_str(value_of(self))}, shape={self.shape}, dtype={self.dtype.name})"

    def __format__(self, spec):
        return format(str(self) if self.is_symbolic else value_of(self), spec)

    def numpy(self):
        return value_of(self)

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        TensorShape(self.shape).assert_is_compatible_with(shape)

    def ref(self):
        return Reference(self)

    def eval(self, *args, **kwargs):
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're looking for?")


def install():
    if "ref" in vars(Tensor):
        return
    native_dtype, native_shape = Tensor.dtype, Tensor.shape
    methods = {k: v for k, v in vars(Face).items() if k not in ("__module__", "__dict__", "__weakref__", "__doc__")}
    for name, function in (face.BINARY | {"truediv": _divided}).items():
        methods[f"__{name}__"] = _binary(function, False)
        methods[f"__r{name}__"] = _binary(function, True)
    for name, function in face.COMPARISONS.items():
        methods[f"__{name}__"] = _binary(function, False)
    from plimsoll_tensorflow.failures import typed

    methods["__getitem__"] = Tensor.__getitem__
    methods |= {name: typed(m) for name, m in methods.items() if name in OPERATORS}
    methods["dtype"] = property(lambda self: DTYPES[native_dtype.__get__(self)])
    methods["shape"] = property(lambda self: TensorShape(native_shape.__get__(self)))
    for name, method in methods.items():
        setattr(Tensor, name, method)
    BackendVariable.shape = property(lambda self: TensorShape(self._shape))  # as Keras has it on TensorFlow
    BackendVariable.device = DEVICE


scopes = []  # of tf.name_scope


class MadeInside(engine.NoValueYet):
    """A variable whose first value is computed in the trace that makes it: that call is run op by op, the next is traced."""


class Variable(BackendVariable):
    def __init__(self, initial_value=None, trainable=True, validate_shape=True, caching_device=None, name=None, variable_def=None,
                 dtype=None, import_scope=None, constraint=None, synchronization=None, aggregation=None, shape=None, **kwargs):
        with engine.outside():
            value = convert_to_tensor(initial_value() if callable(initial_value) else initial_value,
                                      None if dtype is None else as_dtype(dtype).name)
        if value.is_symbolic:
            raise MadeInside("[tf.Variable] expected a value, got one of a step that is being traced")
        super().__init__(lambda shape, dtype: value, shape=tuple(value.shape), dtype=value.dtype.name,
                         trainable=trainable is not False, autocast=False, name=name or "Variable")
        self._scoped = "/".join([*scopes, self._name])
        self.constraint = constraint

    @property
    def dtype(self):
        return DTYPES[self._dtype]

    name = property(lambda self: f"{getattr(self, '_scoped', self._name)}:0")

    def get_shape(self):
        return self.shape

    def numpy(self):
        return value_of(self.value)

    def read_value(self):
        return self.value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        super().assign(value)
        return self

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self.assign(self.value + delta)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self.assign(self.value - delta)

    def __getitem__(self, key):
        """As a tensor that can be assigned to: v[0, 1].assign(x)."""
        part = self.value[key]
        if not part.is_symbolic:
            part.assign = lambda value: self._assign_part(key, value)
        return part

    def _assign_part(self, key, value):
        keys = tuple(engine.to_numpy(k) if isinstance(k, Tensor) else k for k in key) if isinstance(key, tuple) else key
        array = np.array(self.numpy())
        array[keys] = np.asarray(value)
        return self.assign(array)

    def scatter_nd_update(self, indices, updates, name=None):
        return self._scattered(indices, updates, None)

    def scatter_nd_add(self, indices, updates, name=None):
        return self._scattered(indices, updates, "add")

    def scatter_nd_sub(self, indices, updates, name=None):
        return self._scattered(indices, -convert_to_tensor(updates), "add")

    def _rows(how, sign=1):
        def scatter(self, sparse_delta, use_locking=False, name=None):
            places = convert_to_tensor(sparse_delta.indices)
            return self._scattered(face.ops.expand_dims(places, -1), sign * convert_to_tensor(sparse_delta.values, self._dtype), how)

        return scatter

    scatter_update, scatter_add, scatter_sub = _rows(None), _rows("add"), _rows("add", -1)
    scatter_max, scatter_min, scatter_mul = _rows("max"), _rows("min"), _rows("mul")
    del _rows

    def sparse_read(self, indices, name=None):
        return face.ops.take(self.value, convert_to_tensor(indices), 0)

    def set_shape(self, shape):
        self.value.set_shape(shape)

    def _scattered(self, indices, updates, how):
        from keras import ops

        return self.assign(ops.scatter_update(self.value, convert_to_tensor(indices), convert_to_tensor(updates, self._dtype), reduction=how))

    def ref(self):
        return Reference(self)

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={value_repr(self.numpy())}>"

    __str__ = __repr__

    def __format__(self, spec):
        return format(self.numpy() if spec else str(self), spec)

    def __float__(self):
        return float(self.numpy())

    def __int__(self):
        return int(self.numpy())

    def __bool__(self):
        return bool(self.numpy())

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter(self.value)


class StringTensor:
    """Strings live outside of the engine: an array of bytes that data pipelines, tf.strings and the text layers read."""

    dtype, is_symbolic, device = DTYPES["string"], False, DEVICE
    __array_priority__ = 100

    def __init__(self, values):
        array = np.asarray(values, dtype=object) if not isinstance(values, StringTensor) else values.array
        flat = [v.encode() if isinstance(v, str) else v for v in array.ravel()]
        self.array = np.empty(array.shape, object)
        self.array.reshape(-1)[:] = flat

    @property
    def shape(self):
        return TensorShape(self.array.shape)

    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    get_shape = Face.get_shape
    set_shape = Face.set_shape
    ref = Face.ref

    def numpy(self):
        return self.array[()]

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)

    def __getitem__(self, key):
        if isinstance(key, Tensor):
            key = engine.to_numpy(key)
        return StringTensor(self.array[key])

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return (StringTensor(row) for row in self.array)

    def __eq__(self, other):
        return convert_to_tensor(np.asarray(self.array == StringTensor(other).array, bool))

    def __ne__(self, other):
        return convert_to_tensor(np.asarray(self.array != StringTensor(other).array, bool))

    __hash__ = object.__hash__

    def __add__(self, other):
        return StringTensor(self.array + StringTensor(other).array)

    def __radd__(self, other):
        return StringTensor(StringTensor(other).array + self.array)

    def __format__(self, spec):
        return format(self.numpy(), spec)

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype=string, numpy={value_repr(self.numpy())}>"

    def __str__(self):
        return f"tf.Tensor({value_str(self.numpy())}, shape={self.shape}, dtype=string)"


def is_text(x):
    """Whether x is a string, or an array or nested list of them."""
    if isinstance(x, (str, bytes, StringTensor)):
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "SU" or (x.dtype.kind == "O" and x.size > 0 and isinstance(x.flat[0], (str, bytes)))
    if isinstance(x, np.generic):
        return x.dtype.kind in "SU"
    while isinstance(x, (list, tuple)) and len(x):
        x = x[0]
    return isinstance(x, (str, bytes, StringTensor)) or (isinstance(x, (np.ndarray, np.generic)) and is_text(x))


def text_tensor(x):
    if isinstance(x, (list, tuple)) and any(isinstance(part, StringTensor) for part in x):
        x = [part.array if isinstance(part, StringTensor) else part for part in x]
    return StringTensor(x)


def to_tensor(value, dtype=None, name=None, dtype_hint=None, **kwargs):
    """tf.convert_to_tensor."""
    if isinstance(value, Tensor) and dtype is None:
        return value
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    if isinstance(value, TensorShape):
        value = np.asarray(value, "int32" if dtype is None else as_dtype(dtype).as_numpy_dtype)
    if is_text(value) or (dtype is not None and as_dtype(dtype) == "string"):
        return value if isinstance(value, StringTensor) else text_tensor(value)
    if isinstance(value, (Tensor, BackendVariable)) and dtype is not None and as_dtype(dtype) != value.dtype:
        raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype {as_dtype(value.dtype).name}: {value!r}")
    value = np.asarray(value) if isinstance(value, np.generic) else value
    dtype = dtype or (dtype_hint if dtype_hint is not None and not hasattr(value, "dtype") else None)
    if isinstance(value, (list, tuple)) and dtype is None and len(value) and all(isinstance(v, (np.ndarray, np.generic)) for v in value):
        value = np.asarray(value)
    return convert_to_tensor(value, None if dtype is None else as_dtype(dtype).name)
