from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.tape import ForwardAccumulator, GradientTape  # noqa: F401

__getattr__ = _hints.getter("autodiff")
