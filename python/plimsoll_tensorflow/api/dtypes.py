from plimsoll_tensorflow import dtypes as _dtypes
from plimsoll_tensorflow.dtypes import DType, as_dtype  # noqa: F401

globals().update(_dtypes.DTYPES)
