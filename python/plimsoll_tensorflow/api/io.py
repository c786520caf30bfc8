import sys as _sys

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import images as _images
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api import gfile_names as gfile  # noqa: F401
from plimsoll_tensorflow.files import read_file, write_file  # noqa: F401
from plimsoll_tensorflow.parsing import (  # noqa: F401
    FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature, decode_csv, decode_raw, parse_example, parse_single_example,
    parse_single_sequence_example, parse_tensor, serialize_tensor)
from plimsoll_tensorflow.records import TFRecordOptions, TFRecordWriter  # noqa: F401

decode_image, decode_jpeg, decode_png, decode_bmp, decode_gif = (_images.decode_image,) * 5
encode_jpeg, encode_png = _images.encode_jpeg, _images.encode_png
decode_and_crop_jpeg, extract_jpeg_shape, is_jpeg = _images.decode_and_crop_jpeg, _images.extract_jpeg_shape, _images.is_jpeg


def encode_base64(input, pad=False, name=None):
    """Of the alphabet for addresses, as TensorFlow's."""
    import base64

    return _ops.map_text(lambda s: base64.urlsafe_b64encode(s) if pad else base64.urlsafe_b64encode(s).rstrip(b"="), input)


def decode_base64(input, name=None):
    import base64

    return _ops.map_text(lambda s: base64.urlsafe_b64decode(s + b"=" * (-len(s) % 4)), input)



def matching_files(pattern, name=None):
    return _ops.StringTensor(gfile.glob(pattern))


_sys.modules[__name__ + ".gfile"] = gfile
__getattr__ = _hints.getter("io")
