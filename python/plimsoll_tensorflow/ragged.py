"""tf.RaggedTensor of one ragged axis, the second: rows of different lengths, of numbers or strings. tf.strings gives them; models take what
to_tensor() makes of them."""
import numpy as np

from plimsoll_tensorflow.dtypes import TensorShape
from plimsoll_tensorflow.tensor import StringTensor, to_tensor


def _tensor(array):
    return StringTensor(array) if np.asarray(array).dtype == object else to_tensor(array)


class RaggedTensor:
    def __init__(self, rows):
        """rows: arrays of one dtype, whose first sizes may differ"""
        self.rows = [r.array if isinstance(r, StringTensor) else np.asarray(r) for r in rows]

    dtype = property(lambda self: _tensor(self.rows[0] if self.rows else np.zeros(0, "float32")).dtype)
    shape = property(lambda self: TensorShape([len(self.rows), None, *(self.rows[0].shape[1:] if self.rows else ())]))
    ragged_rank = 1

    def get_shape(self):
        return self.shape

    @classmethod
    def of_rows(cls, rows):
        return cls(rows)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        values, ends = _values(values), np.cumsum(np.asarray(row_lengths, int))
        if validate and (int(ends[-1]) if len(ends) else 0) != len(values):
            raise _invalid(f"Arguments to from_row_lengths do not form a valid RaggedTensor: {len(values)} values for rows of {np.asarray(row_lengths).tolist()}")
        return cls(np.split(values, ends[:-1]) if len(ends) else [])

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        return cls.from_row_lengths(values, np.diff(np.asarray(row_splits)), validate=validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        ids = np.asarray(value_rowids, int)
        count = (int(ids[-1]) + 1 if len(ids) else 0) if nrows is None else int(np.asarray(nrows))
        return cls.from_row_lengths(values, np.bincount(ids, minlength=count))

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        return cls.from_row_lengths(values, np.diff([*np.asarray(row_starts).tolist(), len(_values(values))]))

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        return cls.from_row_lengths(values, np.diff([0, *np.asarray(row_limits).tolist()]))

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, name=None, validate=True):
        values, size = _values(values), int(np.asarray(uniform_row_length))
        return cls([values[i : i + size] for i in range(0, len(values), size)])

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype="int64"):
        rows = _values(tensor)
        if lengths is not None:
            return cls([row[:n] for row, n in zip(rows, np.asarray(lengths).tolist())])
        if padding is None:
            return cls(list(rows))
        padding = np.asarray(padding)[()]
        held = [np.flatnonzero(np.any(row != padding, axis=tuple(range(1, row.ndim)))) for row in rows]
        return cls([row[: at[-1] + 1 if len(at) else 0] for row, at in zip(rows, held)])

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype="int64"):
        return cls.from_value_rowids(st_input.values, np.asarray(st_input.indices)[:, 0], st_input.shape[0])

    def to_sparse(self, name=None):
        from plimsoll_tensorflow.sparse_tensor import SparseTensor

        places = [[i, j] for i, row in enumerate(self.rows) for j in range(len(row))]
        return SparseTensor(np.asarray(places, "int64").reshape(-1, 2), self.flat_values, np.asarray(self.bounding_shape()).tolist())

    @property
    def row_splits(self):
        return to_tensor(np.cumsum([0, *[len(r) for r in self.rows]]).astype("int64"))

    nested_row_splits = property(lambda self: (self.row_splits,))

    def value_rowids(self, name=None):
        return to_tensor(np.repeat(np.arange(len(self.rows)), [len(r) for r in self.rows]).astype("int64"))

    def row_starts(self, name=None):
        return self.row_splits[:-1]

    def row_limits(self, name=None):
        return self.row_splits[1:]

    def nested_row_lengths(self, name=None):
        return (self.row_lengths(),)

    def with_values(self, new_values):
        return self.map_values(lambda _: new_values)

    with_flat_values = with_values

    def merge_dims(self, outer_axis, inner_axis):
        if (outer_axis, inner_axis) != (0, 1):
            raise NotImplementedError(f"[RaggedTensor.merge_dims] expected (0, 1): only the second axis is ragged here, got {(outer_axis, inner_axis)}")
        return self.flat_values

    def consumers(self):
        return []

    def map_values(self, function):
        """The same rows of what `function` makes of all values at once."""
        values = function(self.flat_values)
        values = values.array if isinstance(values, StringTensor) else np.asarray(values)
        return RaggedTensor(np.split(values, np.cumsum([len(r) for r in self.rows])[:-1]))

    @property
    def flat_values(self):
        return _tensor(np.concatenate(self.rows) if self.rows else np.zeros(0, "float32"))

    values = flat_values

    def combined(self, function, other, reflected=False):
        """function on the values of both; a row of `other` goes with a row of this."""
        if isinstance(other, RaggedTensor):
            if [len(r) for r in self.rows] != [len(r) for r in other.rows]:
                raise _invalid(f"Unable to broadcast: dimension size mismatch in dimension 1: {[len(r) for r in self.rows]} and {[len(r) for r in other.rows]}")
            other = other.flat_values
        else:
            array = _values(other) if not isinstance(other, (int, float, bool, str, bytes)) else None
            if array is not None and array.ndim > 1 and len(array) in (1, len(self.rows)) and array.shape[1] == 1:
                other = _tensor(np.repeat(np.broadcast_to(array, (len(self.rows), *array.shape[1:]))[:, 0], [len(r) for r in self.rows], axis=0))
        return self.map_values(lambda values: function(other, values) if reflected else function(values, other))

    def reduced(self, function, axis, keepdims):
        """function(x, axis=, keepdims=) of NumPy arrays or tensors, over rows (1), down columns (0) or over all."""
        axis = [axis] if np.ndim(axis) == 0 else list(axis)
        if axis == [None] or sorted(a % 2 for a in axis) == [0, 1]:
            return function(self.flat_values, axis=0 if self.flat_values.ndim == 1 else None, keepdims=False)
        if axis[0] % max(self.flat_values.ndim + 1, 2) == 0 and axis[0] >= 0:
            width = max((len(r) for r in self.rows), default=0)
            return _stack([function(_tensor(np.stack([r[i] for r in self.rows if len(r) > i])), axis=0, keepdims=False) for i in range(width)])
        if axis[0] > 1:
            return self.map_values(lambda v: function(v, axis=axis[0] - 1, keepdims=keepdims))
        return _stack([_of_row(function, r, keepdims) for r in self.rows])

    def row_lengths(self, axis=1, name=None):
        return to_tensor(np.asarray([len(r) for r in self.rows], "int64"))

    def nrows(self, out_type=None, name=None):
        return to_tensor(np.asarray(len(self.rows), "int64"))

    def bounding_shape(self, axis=None, name=None):
        return to_tensor(np.asarray([len(self.rows), max((len(r) for r in self.rows), default=0)], "int64"))

    def to_tensor(self, default_value=None, name=None, shape=None):
        width = max((len(r) for r in self.rows), default=0)
        if shape is not None and len(shape) > 1 and shape[1] is not None:
            width = int(shape[1])
        kind = self.rows[0].dtype if self.rows else np.dtype("float32")
        value = (b"" if kind == object else 0) if default_value is None else np.asarray(default_value)[()]
        out = np.full((len(self.rows), width, *(self.rows[0].shape[1:] if self.rows else ())), value, kind)
        for row, given in zip(out, self.rows):
            row[: len(given)] = given[:width]
        return _tensor(out)

    def to_list(self):
        return [r.tolist() for r in self.rows]

    def numpy(self):
        if len({len(r) for r in self.rows}) < 2:
            return np.array(self.rows)
        out = np.empty(len(self.rows), object)
        out[:] = self.rows
        return out

    def __len__(self):
        return len(self.rows)

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    __hash__ = object.__hash__

    def __iter__(self):
        return (_tensor(r) for r in self.rows)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return RaggedTensor(self.rows[key])
        if isinstance(key, tuple):
            row, rest = key[0], tuple(slice(*[None if v is None else int(v) for v in (k.start, k.stop, k.step)]) if isinstance(k, slice) else
                                      k if k in (None, Ellipsis) else int(k) for k in key[1:])
            if isinstance(row, slice) and rest and isinstance(rest[0], int):
                raise ValueError("Cannot index into an inner ragged dimension.")
            return RaggedTensor([r[rest] for r in self.rows[row]]) if isinstance(row, slice) else _tensor(self.rows[int(row)][rest])
        return _tensor(self.rows[int(key)])

    def __repr__(self):
        with np.printoptions(formatter={"all": _text}):
            return f"<tf.RaggedTensor {_text(self.numpy())}>"

    __str__ = __repr__


def _text(x):
    """NumPy's layout of lines, with commas."""
    if not isinstance(x, np.ndarray):
        return str(x)
    return np.array2string(x, separator=", ") if x.size else repr(x.tolist())


def _invalid(text):
    from plimsoll_tensorflow.api.errors import InvalidArgumentError

    return InvalidArgumentError(text)


def _values(x):
    x = x if isinstance(x, (StringTensor, np.ndarray)) else to_tensor(x)
    return x.array if isinstance(x, StringTensor) else np.asarray(x)


def _stack(parts):
    return _tensor(np.stack([np.asarray(p) for p in parts])) if parts else _tensor(np.zeros(0, "float32"))


def _of_row(function, row, keepdims):
    if len(row):
        return function(_tensor(row), axis=0, keepdims=keepdims)
    empty = {"max": -np.inf, "min": np.inf, "mean": np.nan}.get(getattr(function, "__name__", "").removeprefix("reduce_"))
    if empty is None:
        return function(_tensor(np.zeros((1, *row.shape[1:]), row.dtype)), axis=0, keepdims=keepdims) if "prod" not in function.__name__ else np.ones(row.shape[1:], row.dtype)
    if row.dtype.kind in "iu":
        empty = {"max": np.iinfo(row.dtype).min, "min": np.iinfo(row.dtype).max, "mean": 0}[function.__name__.removeprefix("reduce_")]
    return np.full(row.shape[1:], empty, row.dtype)


def install_operators(binary, unary):
    """Arithmetic between ragged tensors, and with what goes along rows: {name: function} of tensors."""
    for name, function in binary.items():
        setattr(RaggedTensor, f"__{name}__", lambda self, other, function=function: self.combined(function, other))
        setattr(RaggedTensor, f"__r{name}__", lambda self, other, function=function: self.combined(function, other, True))
    for name, function in unary.items():
        setattr(RaggedTensor, f"__{name}__", lambda self, function=function: self.map_values(function))
