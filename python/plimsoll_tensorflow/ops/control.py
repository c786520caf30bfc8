"""Branches, loops, Python functions, and what has a gradient of its own."""
import builtins
import functools

import keras
import numpy as np
from keras import ops as k
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from plimsoll._native import Tensor

from plimsoll_tensorflow import tape
from plimsoll_tensorflow.ops.operands import tensor
from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.ops.shapes import stack
from plimsoll_tensorflow.ops.choosing import cast
from plimsoll_tensorflow.tensor import StringTensor

PRINT = builtins.print


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
    if isinstance(elems, RaggedTensor):
        rows = [fn(row) for row in elems]
        return RaggedTensor([r.array if isinstance(r, StringTensor) else np.asarray(r) for r in rows]) if rows[0].ndim else stack(rows)
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


def _decorator(function, Tout):
    """tf.numpy_function(Tout=...) and its kin as decorators."""
    return lambda func: functools.wraps(func)(lambda *args: function(func, args, Tout))


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    if func is None:
        return _decorator(numpy_function, Tout)
    results = _printing(func)(*[engine.to_numpy(x)[()] if isinstance(x, Tensor) else x.numpy() if isinstance(x, StringTensor) else x for x in map(tensor, inp)])
    return _typed(results, Tout)


def py_function(func=None, inp=None, Tout=None, name=None):
    if func is None:
        return _decorator(py_function, Tout)
    given = [tensor(x) for x in inp]
    for x in given:
        if x.is_symbolic:
            engine.to_numpy(x)
    return _typed(_printing(func)(*given), Tout)


def _printing(func):
    """Python's own code prints on each call, also from inside a tf.function."""

    @functools.wraps(func)
    def call(*args):
        held, builtins.print = builtins.print, PRINT
        try:
            return func(*args)
        finally:
            builtins.print = held

    return call if builtins.print is not PRINT else func


def _typed(results, types):
    if types is None:
        return results
    several = isinstance(types, (list, tuple))
    types = types if several else [types]
    results = [] if results is None else results if isinstance(results, (list, tuple)) and (several or len(results) == 1) else [results]
    if len(results) != len(types):
        raise ValueError(f"[py_function] expected {len(types)} results, one for each dtype of Tout, got {len(results)}")
    made = [cast(tensor(r), getattr(t, "dtype", t)) for r, t in zip(results, types)]
    return made if several else made[0]


def group(*inputs, **kwargs):
    return None


def is_tensor(x):
    return isinstance(x, (Tensor, StringTensor, BackendVariable))
