"""tf.SparseTensor: where the values are, kept as given. What computes with it does so on the dense tensor."""
from keras import ops as k

from plimsoll_tensorflow.dtypes import TensorShape
from plimsoll_tensorflow.ops import cast, matmul, scatter_nd, shape_list, tensor, to_tensor, where


class SparseTensor:
    def __init__(self, indices, values, dense_shape):
        self.indices, self.values = cast(tensor(indices), "int64"), tensor(values)
        self._shape = TensorShape(shape_list(dense_shape))
        if self.indices.ndim != 2 or self.indices.shape[1] != len(self._shape) or len(self.values) != self.indices.shape[0]:
            raise ValueError(f"[tf.SparseTensor] expected a row of {len(self._shape)} indices for each value, got indices of shape "
                             f"{self.indices.shape} for {len(self.values)} values")

    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: self._shape)
    dense_shape = property(lambda self: to_tensor(list(self._shape), "int64"))

    def get_shape(self):
        return self._shape

    def __repr__(self):
        return f"SparseTensor(indices={self.indices}, values={self.values}, dense_shape={self.dense_shape})"


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    dense = scatter_nd(cast(sp_input.indices, "int32"), sp_input.values, list(sp_input.shape))
    if default_value is None:
        return dense
    held = scatter_nd(cast(sp_input.indices, "int32"), k.ones_like(sp_input.values, dtype="int32"), list(sp_input.shape))
    return k.where(held > 0, dense, cast(tensor(default_value), dense.dtype))


def from_dense(tensor_, name=None):
    x = tensor(tensor_)
    places = where(x != 0)
    return SparseTensor(places, k.take(k.reshape(x, [-1]), where(k.reshape(x, [-1]) != 0)[:, 0], 0), list(x.shape))


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    a, b = (to_dense(x) if isinstance(x, SparseTensor) else x for x in (sp_a, b))
    return matmul(a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


def reorder(sp_input, name=None):
    """By rows; the values of a sparse tensor may be in any order here."""
    return sp_input


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    return k.sum(to_dense(sp_input), axis=axis, keepdims=bool(keepdims))
