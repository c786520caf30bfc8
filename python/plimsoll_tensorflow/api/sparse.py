from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.sparse_tensor import SparseTensor, from_dense, reduce_sum, reorder, sparse_dense_matmul, to_dense  # noqa: F401

__getattr__ = _hints.getter("sparse")
