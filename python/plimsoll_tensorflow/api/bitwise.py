from keras import ops as _k

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.ops import binary as _binary
from plimsoll_tensorflow.ops import unary as _unary

bitwise_and, bitwise_or, bitwise_xor = (_binary(f) for f in (_k.bitwise_and, _k.bitwise_or, _k.bitwise_xor))
left_shift, right_shift = _binary(_k.bitwise_left_shift), _binary(_k.bitwise_right_shift)
invert = _unary(_k.bitwise_invert)
__getattr__ = _hints.getter("bitwise")
