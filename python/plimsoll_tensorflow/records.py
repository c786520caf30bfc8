"""TFRecord files: each record is its length, a checksum of that, the bytes, and a checksum of those."""
import os
import struct

import numpy as np
from plimsoll._native import crc32c

from plimsoll_tensorflow.dataset import Dataset
from plimsoll_tensorflow.dtypes import TensorSpec
from plimsoll_tensorflow.files import path_of
from plimsoll_tensorflow.tensor import StringTensor


def _masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class TFRecordWriter:
    def __init__(self, path, options=None):
        if options not in (None, ""):
            raise NotImplementedError(f"[tf.io.TFRecordWriter] expected no options: compressed files are not written here, got {options!r}")
        self._file = open(path_of(path), "wb")

    def write(self, record):
        record = record.numpy() if isinstance(record, StringTensor) else record
        length = struct.pack("<Q", len(record))
        self._file.write(length + struct.pack("<I", _masked(length)) + record + struct.pack("<I", _masked(record)))

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def read_records(path):
    from plimsoll_tensorflow.api.errors import DataLossError

    def checked(data, size, at):
        if len(data) != size + 4 or _masked(data[:size]) != struct.unpack("<I", data[size:])[0]:
            raise DataLossError(f"corrupted record at {at} of {path}: expected a TFRecord file that is not compressed")
        return data[:size]

    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while head := file.read(12):
            at = file.tell() - len(head)
            (length,) = struct.unpack("<Q", checked(head, 8, at))
            yield checked(file.read(min(length, size) + 4), length, at)


class TFRecordDataset(Dataset):
    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        if compression_type not in (None, ""):
            raise NotImplementedError(f"[tf.data.TFRecordDataset] expected files that are not compressed, got compression_type={compression_type!r}")
        found = [path.numpy() for path in filenames] if isinstance(filenames, Dataset) else np.asarray(filenames, object).reshape(-1)
        paths = [path_of(path) for path in found]
        super().__init__(lambda: (np.asarray(record, object) for path in paths for record in read_records(path)),
                         spec=TensorSpec((), "string"), kind="TFRecordDatasetV2")
