"""TensorBoard's event files: TFRecords of Event messages, each a Summary of one tagged tensor, as TensorFlow 2 writes them.
Event{1: double time, 2: step, 3: version, 5: Summary{1: Value{1: tag, 8: TensorProto, 9: SummaryMetadata}}}"""
import io
import itertools
import os
import socket
import struct
import time

import numpy as np

from plimsoll_tensorflow.example_proto import _field, _varint
from plimsoll_tensorflow.files import path_of
from plimsoll_tensorflow.records import TFRecordWriter

SCALAR, TENSOR, BLOBS = 1, 2, 3  # classes of data, by which TensorBoard decides what may be thinned out
TYPES = {"float32": 1, "float64": 2, "string": 7}
_files = itertools.count()


def _number(field, value):
    return _varint(field << 3) + _varint(int(value))


def tensor_proto(array):
    array = np.asarray(array)
    kind = "string" if array.dtype.kind in "OSU" else array.dtype.name
    shape = _field(2, b"".join(_field(2, _number(1, n)) for n in array.shape))
    if kind != "string":
        return _number(1, TYPES[kind]) + shape + _field(4, array.tobytes())
    return _number(1, TYPES[kind]) + shape + b"".join(_field(8, v.encode() if isinstance(v, str) else bytes(v)) for v in array.ravel())


def metadata_proto(plugin, data_class, description="", content=b""):
    told = _field(3, description.encode()) if description else b""
    return _field(1, _field(1, plugin.encode()) + (_field(2, content) if content else b"")) + told + _number(4, data_class)


def summary_event(tag, tensor, metadata, step):
    value = _field(1, tag.encode()) + _field(8, tensor_proto(tensor)) + _field(9, metadata)
    return _event(_number(2, step) + _field(5, _field(1, value)))


def _event(rest):
    return _varint(1 << 3 | 1) + struct.pack("<d", time.time()) + rest


class EventFile:
    """Made with the first event; what was written is on the disk after flush()."""

    def __init__(self, folder, suffix=""):
        self.folder, self.suffix, self._records = path_of(folder), suffix or ".v2", None

    def write(self, event):
        if self._records is None:
            os.makedirs(self.folder, exist_ok=True)
            name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{next(_files)}{self.suffix}"
            self._records = TFRecordWriter(os.path.join(self.folder, name))
            self._records.write(_event(_field(3, b"brain.Event:2")))
        self._records.write(event)

    def flush(self):
        if self._records is not None:
            self._records.flush()

    def close(self):
        if self._records is not None:
            self._records.close()
            self._records = None


def histogram(values, buckets=30):
    """Rows of left end, right end and count."""
    x = np.asarray(values, "float64").ravel()
    if not x.size:
        return np.zeros((buckets, 3))
    if x.min() == x.max():
        rows = np.full((buckets, 3), [x[0] - 0.5, x[0] - 0.5, 0.0])
        rows[-1] = x[0] - 0.5, x[0] + 0.5, x.size
        return rows
    counts, ends = np.histogram(x, buckets)
    return np.stack([ends[:-1], ends[1:], counts], -1)


def png(pixels):
    from PIL import Image

    pixels = np.asarray(pixels)
    pixels = pixels if pixels.dtype == np.uint8 else (np.clip(pixels, 0.0, 1.0) * 255.999).astype("uint8")
    out = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(out, "PNG")
    return out.getvalue()
