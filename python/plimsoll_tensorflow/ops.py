"""TensorFlow's functions on tensors over keras.ops: names and arguments are TensorFlow's. `name=` is taken everywhere and means nothing."""
import builtins
import functools
import inspect

import keras
import numpy as np
from keras import ops as k
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import cast as backend_cast
from plimsoll._native import Tensor

from plimsoll_tensorflow import tape
from plimsoll_tensorflow.dtypes import TensorShape, as_dtype
from plimsoll_tensorflow.tensor import StringTensor, is_text, operand, text_tensor, to_tensor


def tensor(x, dtype=None):
    if isinstance(x, (Tensor, StringTensor, keras.KerasTensor)):
        return x
    return x.value if isinstance(x, BackendVariable) else to_tensor(x, dtype)


def pair(x, y):
    """Two operands: what is no tensor takes the dtype of the one that is."""
    if isinstance(x, BackendVariable):
        x = x.value
    if isinstance(y, BackendVariable):
        y = y.value
    if isinstance(x, Tensor):
        return x, operand(x, y)
    if isinstance(y, Tensor):
        return operand(y, x), y
    return tensor(x), tensor(y)


def named(function):
    """function, which also takes `name`."""
    if "name" in inspect.signature(function).parameters:
        return function

    @functools.wraps(function)
    def call(*args, name=None, **kwargs):
        return function(*args, **kwargs)

    return call


def unary(function):
    """Under the name that Keras saves an activation by."""

    def call(x, name=None):
        return function(tensor(x))

    call.__name__ = call.__qualname__ = function.__name__
    return call


def binary(function):
    return lambda x, y, name=None: function(*pair(x, y))


def reduction(function, keeps_dtype=False):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        x = tensor(input_tensor)
        axis = tuple(int(a) for a in np.asarray(axis).ravel()) if isinstance(axis, (Tensor, np.ndarray, list)) else axis
        y = function(x, axis=axis, keepdims=keepdims)
        return backend_cast(y, x.dtype) if keeps_dtype and isinstance(y, Tensor) and y.dtype != x.dtype else y

    return reduce


def static(numbers):
    """Shapes and the like as ints."""
    if isinstance(numbers, (Tensor, np.ndarray)):
        return np.asarray(numbers).tolist()
    if isinstance(numbers, (list, tuple)):
        return [int(n) if n is not None else None for n in numbers]
    return int(numbers)


def shape_list(shape):
    found = static(shape)
    return found if isinstance(found, list) else [found]


# making tensors


def constant(value, dtype=None, shape=None, name="Const"):
    dtype = None if dtype is None else as_dtype(dtype)
    if is_text(value) or dtype == "string":
        made = text_tensor(value)
        return made if shape is None else StringTensor(np.broadcast_to(made.array, shape))
    if isinstance(value, Tensor):
        made = value if dtype is None else backend_cast(value, dtype)
    else:
        made = to_tensor(value, dtype)
    if shape is None or tuple(made.shape) == tuple(shape_list(shape)):
        return made
    return k.broadcast_to(made, shape_list(shape)) if made.size == 1 else k.reshape(made, shape_list(shape))


def zeros(shape, dtype="float32", name=None):
    return k.zeros(shape_list(shape), as_dtype(dtype).name)


def ones(shape, dtype="float32", name=None):
    return k.ones(shape_list(shape), as_dtype(dtype).name)


def _like(make):
    return lambda input, dtype=None, name=None: make(tensor(input), None if dtype is None else as_dtype(dtype).name)


zeros_like, ones_like = _like(lambda x, d: k.zeros_like(x, dtype=d)), _like(lambda x, d: k.ones_like(x, dtype=d))


def fill(dims, value, name=None):
    return k.broadcast_to(tensor(value), shape_list(dims))


def eye(num_rows, num_columns=None, batch_shape=None, dtype="float32", name=None):
    made = k.eye(static(num_rows), None if num_columns is None else static(num_columns), dtype=as_dtype(dtype).name)
    return made if batch_shape is None else k.broadcast_to(made, [*shape_list(batch_shape), *made.shape])


def range(start, limit=None, delta=1, dtype=None, name=None):
    if limit is None:
        start, limit = 0, start
    numbers = [np.asarray(n)[()] if isinstance(n, (Tensor, BackendVariable)) else n for n in (start, limit, delta)]
    if dtype is None:
        given = next((n.dtype for n in numbers if isinstance(n, np.generic)), None)
        dtype = as_dtype(given) if given is not None else "float32" if any(isinstance(n, float) for n in numbers) else "int32"
    return to_tensor(np.arange(*numbers).astype(as_dtype(dtype).as_numpy_dtype))


def linspace(start, stop, num, name=None, axis=0):
    start = tensor(start)
    return k.linspace(start, tensor(stop), static(num), axis=axis, dtype=as_dtype(start.dtype).name if "float" in start.dtype else "float64")


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    made = k.one_hot(tensor(indices), static(depth), axis=-1 if axis is None else axis, dtype=as_dtype(dtype or "float32").name)
    if on_value is None and off_value is None:
        return made
    on, off = 1 if on_value is None else on_value, 0 if off_value is None else off_value
    return made * (on - off) + off


# shapes


def shape(input, out_type="int32", name=None):
    return to_tensor(np.array(tuple(tensor(input).shape), as_dtype(out_type).as_numpy_dtype))


def size(input, out_type="int32", name=None):
    return to_tensor(np.array(tensor(input).size, as_dtype(out_type).as_numpy_dtype))


def rank(input, name=None):
    return to_tensor(np.array(tensor(input).ndim, "int32"))


def _text_or(function):
    """The same rearrangement for strings, by NumPy."""

    def wrap(numeric):
        @functools.wraps(numeric)
        def call(x, *args, **kwargs):
            kwargs.pop("name", None)
            x = tensor(x)
            return StringTensor(function(x.array, *args, **kwargs)) if isinstance(x, StringTensor) else numeric(x, *args, **kwargs)

        return call

    return wrap


@_text_or(lambda x, shape: x.reshape(shape_list(shape)))
def reshape(tensor, shape):
    return k.reshape(tensor, shape_list(shape))


@_text_or(lambda x, axis: np.expand_dims(x, axis))
def expand_dims(input, axis):
    return k.expand_dims(input, axis)


@_text_or(lambda x, axis=None: np.squeeze(x, None if axis is None else tuple(np.atleast_1d(axis))))
def squeeze(input, axis=None):
    return k.squeeze(input, tuple(axis) if isinstance(axis, list) else axis)


def transpose(a, perm=None, conjugate=False, name="transpose"):
    return k.transpose(tensor(a), None if perm is None else shape_list(perm))


def concat(values, axis, name="concat"):
    values = [tensor(v) for v in values] if isinstance(values, (list, tuple)) else [tensor(values)]
    if isinstance(values[0], StringTensor):
        return StringTensor(np.concatenate([v.array for v in values], axis))
    return k.concatenate(values, static(axis))


def stack(values, axis=0, name="stack"):
    values = [tensor(v) for v in values]
    return StringTensor(np.stack([v.array for v in values], axis)) if isinstance(values[0], StringTensor) else k.stack(values, axis)


def unstack(value, num=None, axis=0, name="unstack"):
    return k.unstack(tensor(value), num, axis)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    x = tensor(value)
    if isinstance(num_or_size_splits, (int, np.integer)):
        return k.split(x, int(num_or_size_splits), axis)
    sizes = shape_list(num_or_size_splits)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[axis] - sum(sizes) - 1
    return k.split(x, np.cumsum(sizes)[:-1].tolist(), axis)


def tile(input, multiples, name=None):
    return k.tile(tensor(input), shape_list(multiples))


def repeat(input, repeats, axis=None, name=None):
    return k.repeat(tensor(input), static(repeats), axis)


def pad(tensor_, paddings, mode="CONSTANT", constant_values=0, name=None):
    paddings = np.asarray(paddings).tolist()
    values = {"constant_values": constant_values} if mode.upper() == "CONSTANT" else {}
    return k.pad(tensor(tensor_), paddings, mode.lower(), **values)


def broadcast_to(input, shape, name=None):
    return k.broadcast_to(tensor(input), shape_list(shape))


def reverse(tensor_, axis, name=None):
    return k.flip(tensor(tensor_), tuple(shape_list(axis)))


def roll(input, shift, axis, name=None):
    return k.roll(tensor(input), static(shift), axis)


def slice_(input_, begin, size, name=None):
    x, begin = tensor(input_), shape_list(begin)
    return x[tuple(builtins.slice(b, None if s == -1 else b + s) for b, s in zip(begin, shape_list(size)))]


def identity(input, name=None):
    return tensor(input)


# choosing


def cast(x, dtype, name=None):
    dtype = as_dtype(dtype)
    if isinstance(x, keras.KerasTensor):
        return k.cast(x, dtype.name)
    x = tensor(x)
    return x if dtype == "string" or x.dtype == dtype else backend_cast(x, dtype.name)


def where(condition, x=None, y=None, name=None):
    condition = tensor(condition)
    if x is None:
        return to_tensor(np.argwhere(np.asarray(condition)).astype("int64"))
    x, y = pair(x, y)
    return k.where(condition, x, y)


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    x, indices = tensor(params), tensor(indices)
    if isinstance(x, StringTensor):
        return StringTensor(np.take(x.array, np.asarray(indices), axis or 0))
    if batch_dims:
        axis = batch_dims if axis is None else axis
        if batch_dims == 1 and axis == 1:
            lead = k.expand_dims(k.arange(x.shape[0]), list(builtins.range(1, indices.ndim)))
            return gather_nd(x, k.stack([k.broadcast_to(lead, indices.shape), k.cast(indices, "int32")], -1))
        raise NotImplementedError("[tf.gather] expected batch_dims of 0 or 1 with axis=1: use keras.ops.take_along_axis")
    return k.take(x, indices, axis or 0)


def gather_nd(params, indices, batch_dims=0, name=None):
    x, indices = tensor(params), tensor(indices)
    return engine.call("gather_nd", x, backend_cast(indices, "int32"))


def scatter_nd(indices, updates, shape, name=None):
    return k.scatter(tensor(indices), tensor(updates), shape_list(shape))


def tensor_scatter_nd_update(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), tensor(updates))


def tensor_scatter_nd_add(tensor_, indices, updates, name=None):
    return k.scatter_update(tensor(tensor_), tensor(indices), tensor(updates), reduction="add")


def boolean_mask(tensor_, mask, axis=None, name="boolean_mask"):
    x, mask = tensor(tensor_), np.asarray(mask)
    if isinstance(x, StringTensor):
        return StringTensor(x.array[mask])
    return k.take(k.reshape(x, [-1, *x.shape[mask.ndim:]]), to_tensor(np.flatnonzero(mask).astype("int32")), 0)


def argmax(input, axis=None, output_type="int64", name=None):
    return backend_cast(k.argmax(tensor(input), 0 if axis is None else axis), as_dtype(output_type).name)


def argmin(input, axis=None, output_type="int64", name=None):
    return backend_cast(k.argmin(tensor(input), 0 if axis is None else axis), as_dtype(output_type).name)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    y = k.sort(tensor(values), axis)
    return k.flip(y, axis) if direction == "DESCENDING" else y


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    x = tensor(values)
    return backend_cast(k.argsort(-x if direction == "DESCENDING" else x, axis), "int32")


def unique(x, out_idx="int32", name=None):
    x = tensor(x)
    values, first, inverse = np.unique(np.asarray(x), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order)
    return to_tensor(values[order]), to_tensor(place[inverse].astype(as_dtype(out_idx).as_numpy_dtype))


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    x = tensor(t)
    return k.minimum(k.maximum(x, operand(x, clip_value_min)), operand(x, clip_value_max))


def norm(tensor_, ord="euclidean", axis=None, keepdims=False, name=None):
    x = tensor(tensor_)
    if axis is None and x.ndim > 2:
        x = k.reshape(x, [-1])
    return k.norm(x if axis is not None or x.ndim < 2 or ord not in ("euclidean", 2) else k.reshape(x, [-1]),
                  None if ord == "euclidean" else ord, axis, keepdims)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    x = tensor(t)
    length = k.sqrt(k.sum(k.square(x), axis=axes, keepdims=axes is not None))
    return x * (clip_norm / k.maximum(length, clip_norm))


def global_norm(t_list, name=None):
    return k.sqrt(sum(k.sum(k.square(tensor(t))) for t in t_list if t is not None))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    length = global_norm(t_list) if use_norm is None else use_norm
    factor = clip_norm / k.maximum(length, tensor(clip_norm, "float32"))
    return [None if t is None else tensor(t) * factor for t in t_list], length


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False, b_is_sparse=False, output_type=None,
           grad_a=False, grad_b=False, name=None):
    a, b = pair(a, b)
    turn = lambda x: k.swapaxes(x, -1, -2)
    return k.matmul(turn(a) if transpose_a or adjoint_a else a, turn(b) if transpose_b or adjoint_b else b)


def tensordot(a, b, axes, name=None):
    return k.tensordot(*pair(a, b), axes=axes)


def einsum(equation, *inputs, **kwargs):
    return k.einsum(equation, *[tensor(x) for x in inputs])


def add_n(inputs, name=None):
    total = tensor(inputs[0])
    for x in inputs[1:]:
        total = total + x
    return total


def divide_no_nan(x, y, name=None):
    return k.divide_no_nan(*pair(x, y))


def squared_difference(x, y, name=None):
    a, b = pair(x, y)
    return k.square(a - b)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    return _cumulated(k.cumsum, 0, x, axis, exclusive, reverse)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    return _cumulated(k.cumprod, 1, x, axis, exclusive, reverse)


def _cumulated(function, neutral, x, axis, exclusive, reverse):
    x = k.flip(tensor(x), axis) if reverse else tensor(x)
    y = backend_cast(function(x, axis), x.dtype)
    if exclusive:
        size = x.shape[axis]
        y = k.concatenate([k.full_like(k.take(y, [0], axis), neutral), k.take(y, np.arange(size - 1), axis)], axis)
    return k.flip(y, axis) if reverse else y


def top_k(input, k_=1, sorted=True, index_type="int32", name=None, **kwargs):
    from collections import namedtuple

    values, indices = k.top_k(tensor(input), kwargs.get("k", k_))
    return namedtuple("TopKV2", "values indices")(values, indices)


def meshgrid(*args, indexing="xy", name=None):
    return k.meshgrid(*[tensor(a) for a in args], indexing=indexing)


def stop_gradient(input, name=None):
    x = tensor(input)
    return x if isinstance(x, StringTensor) else k.stop_gradient(x)


def custom_gradient(f):
    """f returns its result and the function of its gradient."""
    from keras_plimsoll.src.control import custom_gradient as backend_gradient

    traced = backend_gradient(f)

    @functools.wraps(f)
    def call(*args, **kwargs):
        args = [tensor(a) if isinstance(a, (BackendVariable, np.ndarray, float, list)) else a for a in args]
        if not tape.is_recording():
            return traced(*args, **kwargs)
        with tape.paused():
            result = traced(*args, **kwargs)
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]

        def again(*values):
            full = dict(enumerate(args)) | dict(zip(places, values))
            return keras.tree.flatten(traced(*[full[i] for i in builtins.range(len(args))], **kwargs))

        tape.note_call(("custom", id(f)), again, [args[i] for i in places], keras.tree.flatten(result))
        return result

    return call


def cond(pred, true_fn=None, false_fn=None, name=None):
    return k.cond(tensor(pred), true_fn, false_fn)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    for pred, fn in pred_fn_pairs:
        if bool(tensor(pred)):
            return fn()
    return default()


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, maximum_iterations=None,
               name=None):
    out = k.while_loop(cond, body, loop_vars, maximum_iterations=maximum_iterations)
    return list(out) if isinstance(out, tuple) else out


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None,
           fn_output_signature=None):
    flat = keras.tree.flatten(elems)
    rows = [fn(keras.tree.pack_sequence_as(elems, [tensor(x)[i] for x in flat]) if keras.tree.is_nested(elems) else tensor(elems)[i])
            for i in builtins.range(len(tensor(flat[0])))]
    return keras.tree.map_structure(lambda *parts: stack([tensor(p) for p in parts]), *rows)


def scan(fn, elems, initializer=None, name=None, **options):
    items = [tensor(elems)[i] for i in builtins.range(len(tensor(elems)))]
    state, rows = (initializer, []) if initializer is not None else (items[0], [items[0]])
    for item in items[0 if initializer is not None else 1:]:
        state = fn(state, item)
        rows.append(state)
    return keras.tree.map_structure(lambda *parts: stack([tensor(p) for p in parts]), *rows)


def print_(*inputs, output_stream=None, summarize=3, sep=" ", end="\n", name=None):
    import sys

    def text(x):
        if isinstance(x, BackendVariable):
            x = x.value
        if isinstance(x, StringTensor):
            value = x.numpy()
            return value.decode() if isinstance(value, bytes) else "[" + " ".join(f'"{v.decode()}"' for v in value.ravel()) + "]"
        if isinstance(x, Tensor):
            return _summary(engine.to_numpy(x), summarize)
        if isinstance(x, (list, tuple)):
            inner = ", ".join(text(v) for v in x)
            return f"[{inner}]" if isinstance(x, list) else f"({inner})"
        if isinstance(x, dict):
            return "{" + ", ".join(f"'{key}': {text(v)}" for key, v in x.items()) + "}"
        return str(x)

    stream = output_stream if hasattr(output_stream, "write") else sys.stdout if str(output_stream).endswith("stdout") else sys.stderr
    print(*[text(x) for x in inputs], sep=sep, end=end, file=stream)


def _summary(array, edge):
    """[1 2 3 ... 8 9 10], numbers in their shortest form."""
    if array.ndim == 0:
        number = array[()]
        if array.dtype.kind == "b":
            return "1" if number else "0"
        if array.dtype.kind != "f":
            return str(number)
        text = f"{float(number):.9g}" if array.dtype == np.float64 else str(number)
        return text[:-2] if text.endswith(".0") else text
    rows = [_summary(row, edge) for row in array] if edge < 0 or len(array) <= 2 * edge else \
        [_summary(row, edge) for row in array[:edge]] + ["..."] + [_summary(row, edge) for row in array[-edge:]]
    return "[" + (" " if array.ndim == 1 else "\n ").join(row.replace("\n", "\n ") for row in rows) + "]"


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    results = func(*[engine.to_numpy(x)[()] if isinstance(x, Tensor) else x.numpy() if isinstance(x, StringTensor) else x for x in map(tensor, inp)])
    return _typed(results, Tout)


def py_function(func=None, inp=None, Tout=None, name=None):
    given = [tensor(x) for x in inp]
    for x in given:
        if x.is_symbolic:
            engine.to_numpy(x)
    return _typed(func(*given), Tout)


def _typed(results, types):
    if types is None:
        return results
    if isinstance(types, (list, tuple)):
        return [cast(tensor(r), getattr(t, "dtype", t)) for r, t in zip(results, types)]
    return cast(tensor(results), getattr(types, "dtype", types))


def is_tensor(x):
    return isinstance(x, (Tensor, StringTensor, BackendVariable))


def ensure_shape(x, shape, name=None):
    x = tensor(x)
    TensorShape(x.shape).assert_is_compatible_with(shape)
    return x


def group(*inputs, **kwargs):
    return None


def histogram_fixed_width(values, value_range, nbins=100, dtype="int32", name=None):
    counts, _ = np.histogram(np.clip(np.asarray(values), *np.asarray(value_range)), nbins, tuple(np.asarray(value_range)))
    return to_tensor(counts.astype(as_dtype(dtype).as_numpy_dtype))


def random_index(generator, count):
    return generator.permutation(count)


REDUCTIONS = {
    "reduce_sum": reduction(k.sum, True), "reduce_mean": reduction(lambda x, **o: backend_cast(k.mean(x, **o), x.dtype)), "reduce_max": reduction(k.max),
    "reduce_min": reduction(k.min), "reduce_prod": reduction(k.prod, True), "reduce_any": reduction(k.any), "reduce_all": reduction(k.all),
    "reduce_std": reduction(k.std), "reduce_variance": reduction(k.var), "reduce_logsumexp": reduction(k.logsumexp),
}
UNARY = {name: unary(function) for name, function in {
    "abs": k.abs, "negative": k.negative, "square": k.square, "sqrt": k.sqrt, "exp": k.exp, "sign": k.sign, "floor": k.floor,
    "round": k.round, "sin": k.sin, "cos": k.cos, "tan": k.tan, "asin": k.arcsin, "acos": k.arccos, "atan": k.arctan, "sinh": k.sinh,
    "cosh": k.cosh, "tanh": k.tanh, "sigmoid": k.sigmoid, "logical_not": k.logical_not,
}.items()}
MATH_UNARY = {name: unary(function) for name, function in {
    "log": k.log, "log1p": k.log1p, "expm1": k.expm1, "ceil": k.ceil, "rsqrt": k.rsqrt, "reciprocal": k.reciprocal, "is_nan": k.isnan,
    "is_inf": k.isinf, "is_finite": k.isfinite, "erf": k.erf, "erfinv": k.erfinv, "softplus": k.softplus, "log_sigmoid": k.log_sigmoid, "real": k.real, "imag": k.imag,
    "conj": k.conj, "softsign": k.softsign, "asinh": k.arcsinh, "acosh": k.arccosh, "atanh": k.arctanh, "angle": k.angle,
}.items()}
BINARY = {name: binary(function) for name, function in {
    "add": k.add, "subtract": k.subtract, "multiply": k.multiply, "divide": lambda x, y: x / y, "maximum": k.maximum, "minimum": k.minimum,
    "pow": k.power, "equal": k.equal, "not_equal": k.not_equal, "less": k.less, "less_equal": k.less_equal, "greater": k.greater,
    "greater_equal": k.greater_equal, "logical_and": k.logical_and, "logical_or": k.logical_or, "atan2": k.arctan2, "truediv": lambda x, y: x / y,
}.items()}
MATH_BINARY = {name: binary(function) for name, function in {
    "floordiv": k.floor_divide, "floormod": k.mod, "mod": k.mod, "logical_xor": k.logical_xor,
}.items()}
SAME = {f.__name__.rstrip("_"): f for f in (
    constant, zeros, ones, zeros_like, ones_like, fill, eye, range, linspace, one_hot, shape, size, rank, reshape, expand_dims, squeeze, transpose,
    concat, stack, unstack, split, tile, repeat, pad, broadcast_to, reverse, roll, slice_, identity, cast, where, gather, gather_nd, scatter_nd,
    tensor_scatter_nd_update, tensor_scatter_nd_add, boolean_mask, argmax, argmin, sort, argsort, unique, clip_by_value, norm, clip_by_norm,
    clip_by_global_norm, matmul, tensordot, einsum, add_n, cumsum, meshgrid, stop_gradient, custom_gradient, cond, case, while_loop, map_fn, scan,
    numpy_function, py_function, is_tensor, ensure_shape, group, histogram_fixed_width, print_) if f.__name__ != "<lambda>"}
SAME |= {"zeros_like": zeros_like, "ones_like": ones_like, "convert_to_tensor": to_tensor}
