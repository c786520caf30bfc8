import contextlib
import operator

from keras.src import tree
from keras.src.backend.common import standardize_dtype
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.stateless_scope import StatelessScope
from keras.src.backend.common.symbolic_scope import SymbolicScope

from keras_plimsoll.src import engine as _engine
from keras_plimsoll.src.control import (  # noqa: F401
    associative_scan,
    cond,
    custom_gradient,
    fori_loop,
    map,
    remat,
    scan,
    switch,
    vectorized_map,
    while_loop,
)
from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.tensors import (  # noqa: F401
    Variable,
    cast,
    convert_to_numpy,
    convert_to_tensor,
    is_tensor,
)


def shape(x):
    return tuple(x.shape)


def compute_output_spec(fn, *args, **kwargs):
    """Shapes and dtypes of fn's results, from one trace, or two where sizes are not known: none of it runs."""

    def outputs(unknown):
        step = _engine.Step()
        step.invented = open_sizes

        def symbolic(x):
            if is_tensor(x) and x.is_symbolic:  # of a step that is being traced around this one
                return step.input(x.dtype, x.shape)
            if not isinstance(x, KerasTensor):
                return x
            return step.input(standardize_dtype(x.dtype), [unknown if size is None else size for size in x.shape])

        with StatelessScope(), SymbolicScope(), _engine.tracing(step):
            inner_args, inner_kwargs = tree.map_structure(symbolic, (args, kwargs))
            return fn(*inner_args, **inner_kwargs)

    def spec(x):
        return KerasTensor(x.shape, x.dtype) if is_tensor(x) else x

    def merge(a, b):
        if not is_tensor(a):
            return a
        return KerasTensor([p if p == q else None for p, q in zip(a.shape, b.shape)], a.dtype)

    open_sizes = any(isinstance(x, KerasTensor) and None in x.shape for x in tree.flatten((args, kwargs)))
    first = outputs(83)
    if not open_sizes:
        return tree.map_structure(spec, first)
    return tree.map_structure(merge, first, outputs(89))


def stop_gradient(variable):
    return _call("stop_gradient", convert_to_tensor(variable))


def _static(numbers):
    """A list of ints, or None if one of them has no value yet."""
    if is_tensor(numbers):
        return None if numbers.is_symbolic else convert_to_numpy(numbers).tolist()
    if any(is_tensor(n) and n.is_symbolic for n in numbers):
        return None
    return [int(convert_to_numpy(n)) if is_tensor(n) else operator.index(n) for n in numbers]


def slice(inputs, start_indices, shape):
    inputs = convert_to_tensor(inputs)
    starts, sizes = _static(start_indices), [operator.index(n) for n in shape]
    if starts is None:
        if -1 in sizes:
            raise ValueError("A slice to the end (-1 in `shape`) needs starts that are known when the step is traced.")
        return _call("dynamic_slice", inputs, convert_to_tensor(start_indices, "int32"), sizes=sizes)
    starts = [s + n if s < 0 else s for s, n in zip(starts, inputs.shape)]
    sizes = [n - s if size == -1 else size for size, s, n in zip(sizes, starts, inputs.shape)]
    if any(size > n for size, n in zip(sizes, inputs.shape)):
        raise ValueError(f"Expected a slice that is no larger than {inputs.shape}, got shape={tuple(sizes)}")
    starts = [min(max(s, 0), n - size) for s, n, size in zip(starts, inputs.shape, sizes)]
    return _call("slice", inputs, starts=starts, limits=[s + size for s, size in zip(starts, sizes)])


def slice_update(inputs, start_indices, updates):
    inputs = convert_to_tensor(inputs)
    updates = convert_to_tensor(updates, inputs.dtype)
    return _call("dynamic_update_slice", inputs, updates, convert_to_tensor(start_indices, "int32"))


def scatter(indices, values, shape):
    values = convert_to_tensor(values)
    zeros = _call("broadcast_to", convert_to_tensor(0, values.dtype), shape=list(_static(shape)))
    return scatter_update(zeros, indices, values, "add")


_SCATTER_MODES = {None: "set", "add": "add", "max": "max", "min": "min", "mul": "mul"}


def scatter_update(inputs, indices, updates, reduction=None):
    if reduction not in _SCATTER_MODES:
        raise ValueError(f"Unsupported reduction: {reduction}")
    inputs, indices = convert_to_tensor(inputs), convert_to_tensor(indices)
    if indices.dtype not in ("int32", "int64"):
        indices = cast(indices, "int32")
    sizes = convert_to_tensor(list(inputs.shape[: indices.shape[-1]]), indices.dtype)
    negative = _call("less", indices, convert_to_tensor(0, indices.dtype))
    indices = _call("where", negative, _call("add", indices, sizes), indices)
    rows = [*indices.shape[:-1], *inputs.shape[indices.shape[-1] :]]
    updates = convert_to_tensor(updates, inputs.dtype)
    if list(updates.shape) != rows:
        updates = _call("broadcast_to", updates, shape=rows)
    return _call("scatter_nd", inputs, indices, updates, mode=_SCATTER_MODES[reduction])


def unstack(x, num=None, axis=0):
    x = convert_to_tensor(x)
    axis = axis % x.ndim
    rest = [size for i, size in enumerate(x.shape) if i != axis]
    parts = []
    for i in range(x.shape[axis] if num is None else num):
        starts, limits = [0] * x.ndim, list(x.shape)
        starts[axis], limits[axis] = i, i + 1
        parts.append(_call("reshape", _call("slice", x, starts=starts, limits=limits), shape=rest))
    return parts


def random_seed_dtype():
    return "uint32"


@contextlib.contextmanager
def device_scope(device_name):
    yield
