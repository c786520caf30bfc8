import sys as _sys

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import images as _images
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api import gfile_names as gfile  # noqa: F401
from plimsoll_tensorflow.files import read_file, write_file  # noqa: F401

decode_image, decode_jpeg, decode_png, decode_bmp, decode_gif = (_images.decode_image,) * 5
encode_jpeg, encode_png = _images.encode_jpeg, _images.encode_png


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    data = input_bytes.numpy() if hasattr(input_bytes, "numpy") else input_bytes
    return _ops.to_tensor(_ops.np.frombuffer(data, _ops.as_dtype(out_type).as_numpy_dtype).copy())


def matching_files(pattern, name=None):
    return _ops.StringTensor(gfile.glob(pattern))


_sys.modules[__name__ + ".gfile"] = gfile
__getattr__ = _hints.getter("io")
