"""tf.TensorArray: rows that are written one by one. Values are immutable in TensorFlow's graphs; here write() returns the same object."""
from keras import ops as k

from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.ops import cast, concat, static, tensor, to_tensor
from plimsoll_tensorflow.ops.shapes import stack


class TensorArray:
    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None, flow=None,
                 infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        self.dtype, self.dynamic_size, self.element_shape = as_dtype(dtype), bool(dynamic_size), element_shape
        self._rows = [None] * (0 if size is None else static(size))

    def write(self, index, value, name=None):
        from plimsoll_tensorflow.api.errors import OutOfRangeError

        index = static(index)
        if index < 0 or (index >= len(self._rows) and not self.dynamic_size):
            raise OutOfRangeError(f"Tried to write to index {index} but array is not resizeable and size is: {len(self._rows)}")
        self._rows.extend([None] * (index + 1 - len(self._rows)))
        self._rows[index] = cast(tensor(value, self.dtype), self.dtype)
        return self

    def read(self, index, name=None):
        from plimsoll_tensorflow.api.errors import OutOfRangeError

        index = static(index)
        if not 0 <= index < len(self._rows):
            raise OutOfRangeError(f"Tried to read from index {index} but array size is: {len(self._rows)}")
        return self._row(index)

    def _row(self, index):
        """What was never written is zeros of the others' shape."""
        if self._rows[index] is not None:
            return self._rows[index]
        known = next((row for row in self._rows if row is not None), None)
        if known is None and self.element_shape is None:
            raise ValueError(f"[tf.TensorArray] expected a value at {index}, got none: nothing has been written")
        return k.zeros(tuple(self.element_shape) if known is None else known.shape, self.dtype.name)

    def stack(self, name=None):
        return stack([self._row(i) for i in range(len(self._rows))]) if self._rows else k.zeros((0, *(self.element_shape or ())), self.dtype.name)

    def gather(self, indices, name=None):
        return stack([self._row(i) for i in static(indices)])

    def concat(self, name=None):
        return concat([self._row(i) for i in range(len(self._rows))], 0)

    def unstack(self, value, name=None):
        self._rows = [cast(row, self.dtype) for row in k.unstack(tensor(value))]
        return self

    def split(self, value, lengths, name=None):
        x, at = tensor(value), 0
        self._rows = []
        for count in static(lengths):
            self._rows.append(cast(x[at : at + count], self.dtype))
            at += count
        return self

    def scatter(self, indices, value, name=None):
        for index, row in zip(static(indices), k.unstack(tensor(value))):
            self.write(index, row)
        return self

    def size(self, name=None):
        return to_tensor(len(self._rows), "int32")

    def identity(self):
        return self

    def close(self, name=None):
        self._rows = []
