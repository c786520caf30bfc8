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

    def map_values(self, function):
        """The same rows of what `function` makes of all values at once."""
        values = function(self.flat_values)
        values = values.array if isinstance(values, StringTensor) else np.asarray(values)
        return RaggedTensor(np.split(values, np.cumsum([len(r) for r in self.rows])[:-1]))

    @property
    def flat_values(self):
        return _tensor(np.concatenate(self.rows) if self.rows else np.zeros(0, "float32"))

    values = flat_values

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
        return np.array(self.rows, object) if len({len(r) for r in self.rows}) > 1 else np.array(self.rows)

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return (_tensor(r) for r in self.rows)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return RaggedTensor(self.rows[key])
        if isinstance(key, tuple):
            row, rest = key[0], key[1:]
            return RaggedTensor([r[rest] for r in self.rows[row]]) if isinstance(row, slice) else _tensor(self.rows[int(row)][rest])
        return _tensor(self.rows[int(key)])

    def __repr__(self):
        return f"<tf.RaggedTensor {self.to_list()}>"
