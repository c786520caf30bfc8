"""TensorFlow's functions on tensors over keras.ops: names and arguments are TensorFlow's. `name=` is taken everywhere and means nothing."""
import keras  # noqa: F401
import numpy as np  # noqa: F401
from keras import ops as k  # noqa: F401
from keras_plimsoll.src.tensors import cast as backend_cast  # noqa: F401
from plimsoll._native import Tensor  # noqa: F401

from plimsoll_tensorflow import failures
from plimsoll_tensorflow.dtypes import as_dtype  # noqa: F401
from plimsoll_tensorflow.ops.arithmetic import (  # noqa: F401
    BINARY, MATH_BINARY, MATH_UNARY, REDUCTIONS, UNARY, add_n, clip_by_global_norm, clip_by_norm, clip_by_value, cumprod, cumsum, divide_no_nan,
    einsum, global_norm, matmul, norm, squared_difference, tensordot)
from plimsoll_tensorflow.ops.choosing import (  # noqa: F401
    argmax, argmin, argsort, boolean_mask, cast, gather, gather_nd, histogram_fixed_width, reverse_sequence, scatter_nd, sequence_mask,
    sort, tensor_scatter_nd_add, tensor_scatter_nd_update, top_k, unique, where)
from plimsoll_tensorflow.ops.control import (
    case, cond, custom_gradient, group, is_tensor, map_fn, numpy_function, py_function, scan, stop_gradient, while_loop)
from plimsoll_tensorflow.ops.making import constant, eye, fill, linspace, one_hot, ones, ones_like, range, zeros, zeros_like
from plimsoll_tensorflow.ops.operands import binary, pair, reduction, shape_list, static, tensor, unary  # noqa: F401
from plimsoll_tensorflow.ops.pieces import PIECES
from plimsoll_tensorflow.ops.printing import print_
from plimsoll_tensorflow.ops import special, special_values  # noqa: F401
from plimsoll_tensorflow.ops.shapes import (
    broadcast_to, concat, ensure_shape, expand_dims, identity, meshgrid, pad, rank, repeat, reshape, reverse, roll, shape, size, slice_, split,
    squeeze, stack, tile, transpose, unstack)
from plimsoll_tensorflow.tensor import StringTensor, to_tensor  # noqa: F401

SAME = {f.__name__.rstrip("_"): f for f in (
    constant, zeros, ones, fill, eye, range, linspace, one_hot, shape, size, rank, reshape, expand_dims, squeeze, transpose,
    concat, stack, unstack, split, tile, repeat, pad, broadcast_to, reverse, roll, slice_, identity, cast, where, gather, gather_nd, scatter_nd,
    tensor_scatter_nd_update, tensor_scatter_nd_add, boolean_mask, argmax, argmin, sort, argsort, unique, clip_by_value, norm, clip_by_norm,
    clip_by_global_norm, matmul, tensordot, einsum, add_n, cumsum, meshgrid, stop_gradient, custom_gradient, cond, case, while_loop, map_fn, scan,
    numpy_function, py_function, is_tensor, ensure_shape, group, histogram_fixed_width, print_, sequence_mask, reverse_sequence)}
SAME |= {"zeros_like": zeros_like, "ones_like": ones_like, "convert_to_tensor": to_tensor}  # the first two are made by one function


def map_text(function, x):
    """function of bytes on each string."""
    array = StringTensor(x).array
    return StringTensor(np.array([function(v) for v in array.ravel()] + [None], object)[:-1].reshape(array.shape))


SAME |= PIECES | special.TOP
MAKING = ("constant", "convert_to_tensor", "zeros", "ones", "fill", "eye", "range", "linspace", "print", "cond", "case", "while_loop",
          "map_fn", "scan", "py_function", "numpy_function", "custom_gradient", "foldl", "foldr", "vectorized_map", "switch_case")  # errors stay what they are
for table in (SAME, REDUCTIONS, UNARY, BINARY, MATH_UNARY, MATH_BINARY):
    table.update({name: failures.typed(f) for name, f in table.items() if name not in MAKING and callable(f)})
