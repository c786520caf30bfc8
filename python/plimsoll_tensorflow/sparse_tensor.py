"""tf.SparseTensor: where the values are, kept as given. What computes with it does so on the dense tensor."""
import numpy as np
from keras import ops as k

from plimsoll_tensorflow.dtypes import TensorShape, as_dtype
from plimsoll_tensorflow.ops import cast, gather_nd, matmul, scatter_nd, shape_list, tensor, to_tensor, where
from plimsoll_tensorflow.tensor import StringTensor


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

    def with_values(self, new_values):
        return SparseTensor(self.indices, new_values, list(self._shape))

    @classmethod
    def from_value(cls, value):
        return cls(value.indices, value.values, value.dense_shape)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def _with(self, other, function):
        """With a number, or with what a dense tensor has at the same places."""
        b = tensor(other)
        return self.with_values(function(self.values, other if not b.ndim else gather_nd(k.broadcast_to(b, tuple(self._shape)), self.indices)))

    __rmul__ = __mul__

    def __repr__(self):
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    if isinstance(sp_input.values, StringTensor):
        out = np.full(tuple(sp_input.shape), b"" if default_value is None else default_value, object)
        out[tuple(np.asarray(sp_input.indices).T)] = sp_input.values.array
        return StringTensor(out)
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


def _pairs(sp_input):
    """Places and values as NumPy has them."""
    return np.asarray(sp_input.indices), sp_input.values.numpy()


def _made(places, values, shape):
    """Sorted by place."""
    places = np.asarray(places, "int64").reshape(-1, len(shape))
    order = np.lexsort(places.T[::-1]) if len(places) else []
    values = values[order] if len(places) else values[:0]
    return SparseTensor(places[order] if len(places) else places, StringTensor(values) if values.dtype == object else to_tensor(values), list(shape))


def reorder(sp_input, name=None):
    return _made(*_pairs(sp_input), sp_input.shape)


def add(a, b, threshold=0):
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        return tensor(to_dense(a) if isinstance(a, SparseTensor) else a) + tensor(to_dense(b) if isinstance(b, SparseTensor) else b)
    (pa, va), (pb, vb) = _pairs(a), _pairs(b)
    places, where_ = np.unique(np.concatenate([pa, pb]), axis=0, return_inverse=True)
    values = np.zeros(len(places), np.result_type(va, vb))
    np.add.at(values, where_.ravel(), np.concatenate([va, vb]))
    kept = np.abs(values) >= threshold
    return _made(places[kept], values[kept], a.shape)


def _either(function):
    def both(sp_a, sp_b, name=None):
        return from_dense(function(to_dense(sp_a), to_dense(sp_b)))

    return both


maximum, minimum = _either(k.maximum), _either(k.minimum)


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    places, at = [], 0
    axis = axis % len(sp_inputs[0].shape)
    for x in sp_inputs:
        moved = _pairs(x)[0].copy()
        moved[:, axis] += at
        at += x.shape[axis]
        places.append(moved)
    shape = [at if i == axis else max(x.shape[i] for x in sp_inputs) for i in range(len(sp_inputs[0].shape))]
    return _made(np.concatenate(places), np.concatenate([_pairs(x)[1] for x in sp_inputs]), shape)


def slice(sp_input, start, size, name=None):
    places, values = _pairs(sp_input)
    start, size = np.asarray(shape_list(start)), np.asarray(shape_list(size))
    ends = np.minimum(start + size, np.asarray(sp_input.shape))
    kept = np.all((places >= start) & (places < ends), axis=1)
    return _made(places[kept] - start, values[kept], (ends - start).tolist())


def split(sp_input=None, num_split=None, axis=None, name=None):
    size, found, at = sp_input.shape[axis], [], 0
    for i in range(num_split):
        width = size // num_split + (i < size % num_split)
        start, sizes = [0] * len(sp_input.shape), list(sp_input.shape)
        start[axis], sizes[axis] = at, width
        found.append(slice(sp_input, start, sizes))
        at += width
    return found


def transpose(sp_input, perm=None, name=None):
    perm = list(range(len(sp_input.shape)))[::-1] if perm is None else list(perm)
    places, values = _pairs(sp_input)
    return _made(places[:, perm], values, [sp_input.shape[i] for i in perm])


def reshape(sp_input, shape, name=None):
    places, values = _pairs(sp_input)
    flat = np.ravel_multi_index(tuple(places.T), tuple(sp_input.shape))
    sizes = shape_list(shape)
    if -1 in sizes:
        sizes[sizes.index(-1)] = int(np.prod(sp_input.shape) // -np.prod(sizes))
    return _made(np.stack(np.unravel_index(flat, sizes), 1), values, sizes)


def expand_dims(sp_input, axis=None, name=None):
    axis = -1 if axis is None else axis
    places, sizes = np.asarray(sp_input.indices), list(sp_input.shape)
    axis = axis if axis >= 0 else len(sizes) + 1 + axis
    return SparseTensor(np.insert(places, axis, 0, axis=1), sp_input.values, [*sizes[:axis], 1, *sizes[axis:]])


def retain(sp_input, to_retain):
    places, values = _pairs(sp_input)
    kept = np.asarray(to_retain, bool)
    return _made(places[kept], values[kept], sp_input.shape)


def eye(num_rows, num_columns=None, dtype="float32", name=None):
    columns = num_rows if num_columns is None else num_columns
    count = min(num_rows, columns)
    return SparseTensor(np.stack([np.arange(count)] * 2, 1), k.ones([count], as_dtype(dtype).name), [num_rows, columns])


def map_values(op, *args, **kwargs):
    first = next(a for a in args if isinstance(a, SparseTensor))
    values = lambda a: a.values if isinstance(a, SparseTensor) else a
    return first.with_values(op(*map(values, args), **{name: values(a) for name, a in kwargs.items()}))


def softmax(sp_logits, name=None):
    places, values = _pairs(sp_logits)
    dense = np.full(tuple(sp_logits.shape), -np.inf, values.dtype)
    dense[tuple(places.T)] = values
    return sp_logits.with_values(gather_nd(k.softmax(to_tensor(dense)), sp_logits.indices))


def mask(a, mask_indices, name=None):
    places, values = _pairs(a)
    kept = ~np.isin(places[:, 0], np.asarray(mask_indices))
    return _made(places[kept], values[kept], a.shape)


def fill_empty_rows(sp_input, default_value, name=None):
    places, values = _pairs(sp_input)
    empty = np.setdiff1d(np.arange(sp_input.shape[0]), places[:, 0])
    extra = np.stack([empty, np.zeros_like(empty)], 1)
    fill = np.full(len(empty), np.asarray(default_value)[()], values.dtype)
    held = np.isin(np.arange(sp_input.shape[0]), empty)
    return _made(np.concatenate([places, extra]), np.concatenate([values, fill]), sp_input.shape), to_tensor(held)


def to_indicator(sp_input, vocab_size, name=None):
    places, values = _pairs(sp_input)
    out = np.zeros((*sp_input.shape[:-1], vocab_size), bool)
    out[(*places[:, :-1].T, values)] = True
    return to_tensor(out)


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    places, values = _pairs(sp_input)
    dense = np.full(tuple(sp_input.shape), -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min, values.dtype)
    dense[tuple(places.T)] = values
    found = dense.max(axis=axis, keepdims=bool(keepdims))
    held = np.zeros(dense.shape, bool)
    held[tuple(places.T)] = True
    return to_tensor(np.where(held.any(axis=axis, keepdims=bool(keepdims)), found, 0).astype(values.dtype))


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    return k.sum(to_dense(sp_input), axis=axis, keepdims=bool(keepdims))
