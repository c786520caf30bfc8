"""The layers Hashing and HashedCrossing, in Python as the other layers that read strings (text_layers.py)."""
import numpy as np
from keras.src.layers.preprocessing import hashed_crossing, hashing
from keras.src.utils import numerical_utils

from plimsoll_tensorflow.fingerprint import fingerprint64
from plimsoll_tensorflow.siphash import siphash
from plimsoll_tensorflow.tensor import StringTensor, to_tensor


class Hashing(hashing.Hashing):
    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        if sparse:
            raise ValueError("[Hashing] expected dense output: sparse tensors are not here")
        super().__init__(num_bins, mask_value=mask_value, salt=salt, output_mode=output_mode, **kwargs)

    def call(self, inputs):
        values = inputs.array if isinstance(inputs, StringTensor) else np.asarray(inputs)
        if values.dtype.kind == "f":
            values = values.astype("int64")
        if self.output_mode == "one_hot" and values.ndim and values.shape[-1] == 1:
            values = values[..., 0]
        bins = np.array([self._bin(v) for v in values.reshape(-1).tolist()], "int64").reshape(values.shape)
        return numerical_utils.encode_categorical_inputs(to_tensor(bins), output_mode=self.output_mode, depth=self.num_bins, dtype=self.dtype)

    def _bin(self, value):
        masked = self.mask_value is not None and self.num_bins > 1
        text = value if isinstance(value, bytes) else str(value).encode()
        if masked and (value == self.mask_value or text == str(self.mask_value).encode()):
            return 0
        found = siphash(self.salt, text) if self.salt else fingerprint64(text)
        return found % (self.num_bins - masked) + masked


M = 2**64 - 1


def _mixed(v):
    return v ^ v >> 47


def _joined(a, b):
    """TensorFlow's FingerprintCat64."""
    multiplier = 0xC6A4A7935BD1E995
    found = a ^ multiplier
    found = (found ^ _mixed(b * multiplier & M) * multiplier) & M
    found = found * multiplier & M
    found = _mixed(found) * multiplier & M
    return _mixed(found)


class HashedCrossing(hashed_crossing.HashedCrossing):
    """TensorFlow's bins of pairs, triples ... of strings or whole numbers."""

    def call(self, inputs):
        columns = [x.array if isinstance(x, StringTensor) else np.asarray(x) for x in inputs]
        columns = [np.array([v.encode() if isinstance(v, str) else v for v in c.ravel()] + [None], object)[:-1].reshape(c.shape) for c in columns]
        bins = np.array([self._bin(row) for row in zip(*[c.ravel() for c in columns])], "int64").reshape(columns[0].shape)
        if self.output_mode == "one_hot" and bins.ndim and bins.shape[-1] == 1:
            bins = bins[..., 0]
        return numerical_utils.encode_categorical_inputs(to_tensor(bins), output_mode=self.output_mode, depth=self.num_bins, dtype=self.dtype)

    def _bin(self, row):
        found = 0xDECAFCAFFE
        for value in row:
            found = _joined(found, fingerprint64(value) if isinstance(value, bytes) else int(value) & M)
        return found % self.num_bins
