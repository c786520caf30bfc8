import plimsoll_tensorflow.sparse_tensor as _sparse
from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.sparse_tensor import SparseTensor  # noqa: F401

globals().update({name: f for name, f in vars(_sparse).items() if getattr(f, "__module__", "") == _sparse.__name__ and not name.startswith("_")})
maximum, minimum = _sparse.maximum, _sparse.minimum
__getattr__ = _hints.getter("sparse")
