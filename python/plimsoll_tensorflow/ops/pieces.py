"""Functions that take tensors apart and put them together by numbers that are known: partitions, blocks, folds, sizes."""
import builtins
import math
import time
from collections import namedtuple

import keras
import numpy as np
from keras import ops as k
from keras_plimsoll.src import engine
from plimsoll._native import Tensor

from plimsoll_tensorflow.dtypes import TensorShape, as_dtype
from plimsoll_tensorflow.ops.choosing import cast, unique
from plimsoll_tensorflow.ops.operands import pair, shape_list, static, tensor
from plimsoll_tensorflow.ops.shapes import pad, shape, stack
from plimsoll_tensorflow.tensor import StringTensor, to_tensor

UniqueWithCounts = namedtuple("UniqueWithCounts", "y idx count")


def unique_with_counts(x, out_idx="int32", name=None):
    values, places = unique(x, out_idx)
    counts = np.bincount(np.asarray(places), minlength=len(values)).astype(as_dtype(out_idx).as_numpy_dtype)
    return UniqueWithCounts(values, places, to_tensor(counts))


def searchsorted(sorted_sequence, values, side="left", out_type="int32", name=None):
    rows, wanted = pair(sorted_sequence, values)
    if rows.ndim == 1:
        return cast(k.searchsorted(rows, wanted, side), out_type)
    found = [k.searchsorted(r, v, side) for r, v in zip(k.unstack(k.reshape(rows, [-1, rows.shape[-1]])), k.unstack(k.reshape(wanted, [-1, wanted.shape[-1]])))]
    return cast(k.reshape(k.stack(found), wanted.shape), out_type)


def dynamic_partition(data, partitions, num_partitions, name=None):
    x, parts = tensor(data), np.asarray(tensor(partitions))
    if isinstance(x, StringTensor):
        return [StringTensor(x.array[parts == i]) for i in builtins.range(num_partitions)]
    flat = k.reshape(x, [-1, *x.shape[parts.ndim:]])
    return [k.take(flat, to_tensor(np.flatnonzero(parts.ravel() == i).astype("int32")), 0) for i in builtins.range(num_partitions)]


def dynamic_stitch(indices, data, name=None):
    places = [np.asarray(tensor(i)) for i in indices]
    rows = [k.reshape(tensor(d), [-1, *tensor(d).shape[p.ndim:]]) for p, d in zip(places, data)]
    flat = np.concatenate([p.ravel() for p in places])
    last = {int(at): i for i, at in enumerate(flat)}  # what comes later counts
    return k.take(k.concatenate(rows), to_tensor(np.array([last[i] for i in builtins.range(int(flat.max()) + 1)], "int32")), 0)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    flat = [tensor(e) for e in keras.tree.flatten(elems)]
    return _fold(fn, elems, flat, initializer, builtins.range(flat[0].shape[0]))


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    flat = [tensor(e) for e in keras.tree.flatten(elems)]
    return _fold(fn, elems, flat, initializer, builtins.range(flat[0].shape[0] - 1, -1, -1))


def _fold(fn, elems, flat, state, order):
    for i in order:
        row = [x[i] for x in flat]
        row = keras.tree.pack_sequence_as(elems, row) if keras.tree.is_nested(elems) else row[0]
        state = row if state is None else fn(state, row)
    return state


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    from plimsoll_tensorflow.ops.control import map_fn

    return map_fn(fn, elems)


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    fns = dict(branch_fns) if isinstance(branch_fns, dict) or isinstance(branch_fns[0], (tuple, list)) else dict(enumerate(branch_fns))
    return fns.get(int(static(branch_index)), default or fns[max(fns)])()


def complex(real, imag, name=None):
    a, b = pair(real, imag)
    return k.view_as_complex(k.stack([a, b], axis=-1))


def bitcast(input, type, name=None):
    x, kind = tensor(input), as_dtype(type)
    if x.dtype.size == kind.size:
        return engine.call("bitcast", x, dtype=kind.name)
    return to_tensor(np.asarray(x).view(kind.as_numpy_dtype).reshape([*x.shape[: None if x.dtype.size > kind.size else -1], *([-1] if x.dtype.size > kind.size else [])]))


def saturate_cast(value, dtype, name=None):
    x, kind = tensor(value), as_dtype(dtype)
    return k.saturate_cast(x, kind.name) if kind.is_integer else cast(x, kind)


def tensor_scatter_nd_sub(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), -tensor(updates), reduction="add")


def tensor_scatter_nd_max(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), tensor(updates), reduction="max")


def tensor_scatter_nd_min(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), tensor(updates), reduction="min")


def batch_to_space(input, block_shape, crops, name=None):
    x, block, crops = tensor(input), shape_list(block_shape), np.asarray(crops).tolist()
    count, n = len(block), x.shape[0] // math.prod(block)
    x = k.reshape(x, [*block, n, *x.shape[1:]])
    x = k.transpose(x, [count, *[a for i in builtins.range(count) for a in (count + 1 + i, i)], *builtins.range(2 * count + 1, x.ndim)])
    x = k.reshape(x, [n, *[x.shape[1 + 2 * i] * block[i] for i in builtins.range(count)], *x.shape[2 * count + 1:]])
    return x[(slice(None), *[slice(low, size - high) for (low, high), size in zip(crops, x.shape[1:])])]


def space_to_batch(input, block_shape, paddings, name=None):
    block, paddings = shape_list(block_shape), np.asarray(paddings).tolist()
    x = tensor(input)
    x = pad(x, [[0, 0], *paddings, *[[0, 0]] * (x.ndim - 1 - len(block))])
    count, n, rest = len(block), x.shape[0], list(x.shape[1 + len(block):])
    sizes = [x.shape[1 + i] // block[i] for i in builtins.range(count)]
    x = k.reshape(x, [n, *[v for pair_ in zip(sizes, block) for v in pair_], *rest])
    order = [*[2 + 2 * i for i in builtins.range(count)], 0, *[1 + 2 * i for i in builtins.range(count)], *builtins.range(1 + 2 * count, x.ndim)]
    return k.reshape(k.transpose(x, order), [n * math.prod(block), *sizes, *rest])


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    sizes, block = shape_list(input_shape), shape_list(block_shape)
    base = np.zeros((len(block), 2), int) if base_paddings is None else np.asarray(base_paddings)
    ends = [(-(n + int(lo) + int(hi))) % b for n, b, (lo, hi) in zip(sizes, block, base)]
    return to_tensor(np.array([[lo, hi + e] for (lo, hi), e in zip(base, ends)], "int32")), to_tensor(np.array([[0, e] for e in ends], "int32"))


def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, var=None, name=None):
    begin, end = shape_list(begin), shape_list(end)
    steps = [1] * len(begin) if strides is None else shape_list(strides)
    key = []
    for i, (b, e, s) in enumerate(zip(begin, end, steps)):
        on = lambda mask: bool(mask >> i & 1)
        key.append(Ellipsis if on(ellipsis_mask) else None if on(new_axis_mask) else b if on(shrink_axis_mask) else
                   slice(None if on(begin_mask) else b, None if on(end_mask) else e, s))
    return tensor(input_)[tuple(key)]


def identity_n(input, name=None):
    return [tensor(x) for x in input]


def parallel_stack(values, name="parallel_stack"):
    return stack(values)


def shape_n(input, out_type="int32", name=None):
    return [shape(x, out_type) for x in input]


def broadcast_static_shape(shape_x, shape_y):
    return TensorShape(np.broadcast_shapes(tuple(shape_x), tuple(shape_y)))


def broadcast_dynamic_shape(shape_x, shape_y):
    return to_tensor(np.array(np.broadcast_shapes(tuple(shape_list(shape_x)), tuple(shape_list(shape_y))), "int32"))


def unravel_index(indices, dims, name=None):
    return to_tensor(np.stack(np.unravel_index(np.asarray(tensor(indices)), shape_list(dims))).astype("int32"))


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype="int32", name=None):
    x = np.asarray(tensor(values))
    low, high = np.asarray(value_range)
    return to_tensor(np.clip((x - low) / (high - low) * nbins, 0, nbins - 1).astype(as_dtype(dtype).as_numpy_dtype))


def get_static_value(tensor_, partial=False):
    x = tensor(tensor_)
    return None if isinstance(x, Tensor) and x.is_symbolic else x.numpy()


def recompute_grad(f):
    """What a step keeps is the planner's business here: `f` itself."""
    return f


def grad_pass_through(f):
    """The value of f(x), the gradient of x."""
    return lambda x, *args, **kwargs: tensor(x) + k.stop_gradient(f(x, *args, **kwargs) - tensor(x))


def timestamp(name=None):
    return to_tensor(np.float64(time.time()))


def inside_function():
    from plimsoll_tensorflow import function

    return engine.current_step() is not None or function.is_running()


def is_symbolic_tensor(tensor_):
    return bool(getattr(tensor_, "is_symbolic", False))


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Of sparse tensors of tokens: as in TensorFlow, one number for each sequence."""
    def sequences(x):
        rows = {}
        values = x.values.numpy()
        for at, value in zip(np.asarray(x.indices).tolist(), values):
            rows.setdefault(tuple(at[:-1]), []).append(value)
        return rows

    said, meant = sequences(hypothesis), sequences(truth)
    out = np.zeros(tuple(max(a, b) for a, b in zip(hypothesis.shape[:-1], truth.shape[:-1])), "float32")
    for at in np.ndindex(*out.shape):
        a, b = said.get(at, []), meant.get(at, [])
        row = list(builtins.range(len(b) + 1))
        for i, x in enumerate(a, 1):
            before, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
        out[at] = row[-1] / len(b) if normalize and b else float("inf") if normalize and a else row[-1]
    return to_tensor(out)


PIECES = {f.__name__: f for f in (
    unique_with_counts, searchsorted, dynamic_partition, dynamic_stitch, foldl, foldr, vectorized_map, switch_case, complex, bitcast, saturate_cast,
    tensor_scatter_nd_sub, tensor_scatter_nd_max, tensor_scatter_nd_min, batch_to_space, space_to_batch, required_space_to_batch_paddings,
    strided_slice, identity_n, parallel_stack, shape_n, broadcast_static_shape, broadcast_dynamic_shape, unravel_index,
    histogram_fixed_width_bins, get_static_value, recompute_grad, grad_pass_through, timestamp, inside_function, is_symbolic_tensor, edit_distance)}
PIECES |= {"space_to_batch_nd": space_to_batch, "guarantee_const": lambda input, name=None: tensor(input)}
