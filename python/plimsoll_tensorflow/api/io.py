import sys as _sys

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import images as _images
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api import gfile_names as gfile  # noqa: F401
from plimsoll_tensorflow.files import read_file, write_file  # noqa: F401
from plimsoll_tensorflow.parsing import (  # noqa: F401
    FixedLenFeature, decode_csv, decode_raw, parse_example, parse_single_example, parse_tensor, serialize_tensor)
from plimsoll_tensorflow.records import TFRecordWriter  # noqa: F401

decode_image, decode_jpeg, decode_png, decode_bmp, decode_gif = (_images.decode_image,) * 5
encode_jpeg, encode_png = _images.encode_jpeg, _images.encode_png



def matching_files(pattern, name=None):
    return _ops.StringTensor(gfile.glob(pattern))


_sys.modules[__name__ + ".gfile"] = gfile
__getattr__ = _hints.getter("io")
