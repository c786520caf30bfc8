"""tf.lookup: tables from keys to values, by Python's dict."""
import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.dtypes import as_dtype as _as_dtype
from plimsoll_tensorflow.fingerprint import fingerprint64 as _fingerprint64
from plimsoll_tensorflow.ops import tensor as _tensor
from plimsoll_tensorflow.tensor import StringTensor as _StringTensor
from plimsoll_tensorflow.tensor import to_tensor as _to_tensor


def _array(x, dtype=None):
    x = _tensor(x, dtype)
    return x.array if isinstance(x, _StringTensor) else _np.asarray(x)


class KeyValueTensorInitializer:
    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        keys, values = _tensor(keys, key_dtype), _tensor(values, value_dtype)
        self.key_dtype, self.value_dtype = keys.dtype, values.dtype
        self.pairs = dict(zip(_array(keys).reshape(-1).tolist(), _array(values).reshape(-1).tolist()))


class TextFileIndex:
    WHOLE_LINE, LINE_NUMBER = -2, -1


class TextFileInitializer:
    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None, **options):
        self.key_dtype, self.value_dtype = _as_dtype(key_dtype), _as_dtype(value_dtype)
        with open(filename, "rb") as file:
            lines = file.read().splitlines()[:vocab_size]

        def column(index, kind):
            if index == TextFileIndex.LINE_NUMBER:
                return list(range(len(lines)))
            cells = lines if index == TextFileIndex.WHOLE_LINE else [line.split(delimiter.encode())[index] for line in lines]
            return cells if kind == "string" else [int(c) if kind.is_integer else float(c) for c in cells]

        self.pairs = dict(zip(column(key_index, self.key_dtype), column(value_index, self.value_dtype)))


class StaticHashTable:
    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self.key_dtype, self.value_dtype, self._pairs = initializer.key_dtype, initializer.value_dtype, dict(initializer.pairs)
        self._default = _array(default_value).reshape(-1).tolist()[0]

    def lookup(self, keys, name=None):
        keys = _array(keys)
        out = _np.empty(keys.shape, object if self.value_dtype == "string" else self.value_dtype.as_numpy_dtype)
        out.reshape(-1)[:] = [self._pairs.get(key, self._default) for key in keys.reshape(-1).tolist()]
        return _StringTensor(out) if self.value_dtype == "string" else _to_tensor(out)

    __getitem__ = lookup

    def size(self, name=None):
        return _to_tensor(_np.asarray(len(self._pairs), "int64"))


class StaticVocabularyTable(StaticHashTable):
    """Words that are not in it go to one of num_oov_buckets, by TensorFlow's hash of them."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        super().__init__(initializer, -1)
        self._buckets = num_oov_buckets

    def lookup(self, keys, name=None):
        given, found = _array(keys), _np.asarray(super().lookup(keys)).copy()
        for at in zip(*_np.nonzero(found == -1)):
            key = given[at] if isinstance(given[at], bytes) else str(given[at]).encode()
            found[at] = len(self._pairs) + _fingerprint64(key) % self._buckets
        return _to_tensor(found)

    __getitem__ = lookup

    def size(self, name=None):
        return _to_tensor(_np.asarray(len(self._pairs) + self._buckets, "int64"))


class MutableHashTable(StaticHashTable):
    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", **options):
        self.key_dtype, self.value_dtype, self._pairs = _as_dtype(key_dtype), _as_dtype(value_dtype), {}
        self._default = _array(default_value).reshape(-1).tolist()[0]

    def insert(self, keys, values, name=None):
        self._pairs.update(zip(_array(keys, self.key_dtype).reshape(-1).tolist(), _array(values, self.value_dtype).reshape(-1).tolist()))

    def remove(self, keys, name=None):
        for key in _array(keys, self.key_dtype).reshape(-1).tolist():
            self._pairs.pop(key, None)

    def export(self, name=None):
        keys, values = list(self._pairs), list(self._pairs.values())
        return _tensor(keys, self.key_dtype), _tensor(values, self.value_dtype)


class experimental:
    MutableHashTable = MutableHashTable

    class DenseHashTable(MutableHashTable):
        def __init__(self, key_dtype, value_dtype, default_value, empty_key=None, deleted_key=None, **options):
            super().__init__(key_dtype, value_dtype, default_value)


__getattr__ = _hints.getter("lookup")
