"""TFRecord files: each record is its length, a checksum of that, the bytes, and a checksum of those; all of it may be compressed."""
import contextlib
import gzip
import struct
import zlib

import numpy as np
from plimsoll._native import crc32c

from plimsoll_tensorflow.dataset import Dataset
from plimsoll_tensorflow.dtypes import TensorSpec
from plimsoll_tensorflow.files import path_of
from plimsoll_tensorflow.tensor import StringTensor


def _masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class TFRecordOptions:
    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None, window_bits=None, compression_level=None,
                 compression_method=None, mem_level=None, compression_strategy=None):
        self.compression_type, self.compression_level = _known(compression_type, "tf.io.TFRecordOptions"), compression_level


def _known(compression, what):
    if compression not in (None, "", "GZIP", "ZLIB"):
        raise ValueError(f"[{what}] expected compression_type 'GZIP', 'ZLIB' or '', got {compression!r}")
    return compression or ""


class _Zlib:
    """A file to write to, as gzip.open() gives one."""

    def __init__(self, path, level):
        self._file, self._packed = open(path, "wb"), zlib.compressobj(level)

    def write(self, data):
        self._file.write(self._packed.compress(data))

    def flush(self):
        self._file.write(self._packed.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self):
        if not self._file.closed:
            self._file.write(self._packed.flush())
            self._file.close()


class TFRecordWriter:
    def __init__(self, path, options=None):
        options = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        level = -1 if options.compression_level is None else options.compression_level
        path = path_of(path)
        if options.compression_type == "ZLIB":
            self._file = _Zlib(path, level)
        else:
            self._file = gzip.open(path, "wb", 6 if level < 0 else level) if options.compression_type else open(path, "wb")

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


class _Unpacked:
    """Reads a file of zlib's."""

    def __init__(self, path):
        self._file, self._packed, self._left = open(path, "rb"), zlib.decompressobj(), b""

    def read(self, size):
        while len(self._left) < size and (data := self._packed.unconsumed_tail or self._file.read(1 << 16)):
            self._left += self._packed.decompress(data, 1 << 20)
        data, self._left = self._left[:size], self._left[size:]
        return data

    def close(self):
        self._file.close()


MOST_AT_ONCE = 1 << 24  # bytes: a length in a broken file takes no more memory than there are bytes


def _pieces(file, size):
    parts = []
    while size > 0 and (part := file.read(min(size, MOST_AT_ONCE))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_records(path, compression=""):
    from plimsoll_tensorflow.api.errors import DataLossError

    def checked(data, size, at):
        if len(data) != size + 4 or _masked(data[:size]) != struct.unpack("<I", data[size:])[0]:
            raise DataLossError(f"corrupted record at {at} of {path}: expected a TFRecord file{' of compression_type ' + compression if compression else ' that is not compressed'}")
        return data[:size]

    opened = {"GZIP": gzip.open, "ZLIB": _Unpacked}.get(compression, lambda p: open(p, "rb"))(path)
    with contextlib.closing(opened) as file:
        at = 0
        try:
            while head := file.read(12):
                (length,) = struct.unpack("<Q", checked(head, 8, at))
                yield checked(_pieces(file, length + 4), length, at)
                at += length + 16
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataLossError(f"corrupted {compression} file {path}: {error}") from error


class TFRecordDataset(Dataset):
    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        compression = _known(compression_type, "tf.data.TFRecordDataset")
        found = [path.numpy() for path in filenames] if isinstance(filenames, Dataset) else np.asarray(filenames, object).reshape(-1)
        paths = [path_of(path) for path in found]
        super().__init__(lambda: (np.asarray(record, object) for path in paths for record in read_records(path, compression)),
                         spec=TensorSpec((), "string"), kind="TFRecordDatasetV2")
