"""Control flow: branches and loops whose bodies become graphs of their own when a step is traced.

A body may change variables (a metric in a branch, a seed in a loop). What it changes must leave its graph as outputs: the body is
traced, and if it changed variables that are not yet among its outputs, it is traced again with them.
"""
import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable
from keras.src.backend.common.stateless_scope import get_stateless_scope, in_stateless_scope

from keras_plimsoll.src import engine as _engine
from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.tensors import Tensor, cast, convert_to_numpy, convert_to_tensor, is_float, variable_at
from plimsoll import _native


class _Changed(Exception):
    """A body changed variables that are not among its outputs."""

    def __init__(self, keys):
        self.keys = keys


class _Values:
    """What variables are now: those of the step by their storage, those of a scope of Keras by their id."""

    def __init__(self):
        self.step = _engine.current_step()
        self.scope = get_stateless_scope().state_mapping if in_stateless_scope() else {}

    def get(self, key):
        if not isinstance(key, int):
            return self.step.read(key)
        value = self.scope.get(key)
        return convert_to_tensor(variable_at(key)._value if value is None else value)

    def set(self, key, value):
        if isinstance(key, int):
            self.scope[key] = value
        else:
            self.step.write(key, value)

    def inside(self, keys, values, fn):
        """fn's result with `values` for `keys`, and what these are after it. Outside all is as before."""
        steps, scope = dict(self.step.now) if self.step else {}, dict(self.scope)
        if self.step:
            self.step.depth += 1
        try:
            for key, value in zip(keys, values):
                self.set(key, value)
            result = fn()
            others = [k for k, v in self._now().items() if k not in keys and v is not self._before(k, steps, scope)]
            if others:
                raise _Changed(others)
            return result, [self.get(key) for key in keys]
        finally:
            if self.step:
                self.step.depth -= 1
                self.step.now = {s: steps.get(s, self.step.initial[s]) for s in self.step.now}
            self.scope.clear()
            self.scope.update(scope)

    def _now(self):
        return ({} if self.step is None else self.step.now) | self.scope

    def _before(self, key, steps, scope):
        return scope.get(key) if isinstance(key, int) else steps.get(key, self.step.initial[key])


def _with_changes(build):
    """build(values, keys) with the variables that its bodies change; its last outputs are what these become."""
    values, keys = _Values(), []
    while True:
        try:
            out = build(values, keys)
            break
        except _Changed as changed:
            keys = keys + [k for k in changed.keys if k not in keys]
    count = len(out) - len(keys)
    for key, value in zip(keys, out[count:]):
        values.set(key, value)
    return out[:count]


def _is_traced(*structures):
    return _native.is_tracing() or any(isinstance(x, Tensor) and x.is_symbolic for x in tree.flatten(structures))


def _is_recorded(*structures):
    """Also on the tape of an eager step, where all have values."""
    return _native.is_tracing() or any(isinstance(x, Tensor) and _native.is_recorded(x) for x in tree.flatten(structures))


def _tensors(structure):
    return [convert_to_tensor(x) for x in tree.flatten(structure)]


def _recorded(tensors):
    """As values of the step, so that a loop over constants becomes part of it too: its body may use values of the step."""
    return [_native.recorded(t) for t in tensors]


def _pack(structure, flat):
    return tree.pack_sequence_as(structure, flat) if tree.is_nested(structure) else flat[0]


def cond(pred, true_fn, false_fn):
    if isinstance(pred, KerasVariable):
        pred = pred.value
    if not (isinstance(pred, Tensor) and pred.is_symbolic):
        return true_fn() if pred else false_fn()
    pred, made = cast(pred, "bool"), {}

    def build(values, keys):
        def body(name, fn):
            def run(_):
                result, after = values.inside(keys, [values.get(k) for k in keys], fn)
                made[name] = result
                return [convert_to_tensor(x) for x in tree.flatten(result) if x is not None] + after

            return run

        return _native.cond(pred, [pred], body("true", true_fn), body("false", false_fn))

    results = iter(_with_changes(build))
    return tree.map_structure(lambda x: None if x is None else next(results), made["true"])


def switch(index, branches, *operands):
    index = convert_to_tensor(index, "int32")
    if not index.is_symbolic:
        return branches[int(np.clip(convert_to_numpy(index), 0, len(branches) - 1))](*operands)

    def among(first, count):
        if count == 1:
            return branches[first](*operands)
        half = count // 2
        below = _call("less", index, convert_to_tensor(first + half, "int32"))
        return cond(below, lambda: among(first, half), lambda: among(first + half, count - half))

    return among(0, len(branches))


def while_loop(cond, body, loop_vars, maximum_iterations=None):
    is_tuple = isinstance(loop_vars, (tuple, list))
    state = tree.map_structure(convert_to_tensor, tuple(loop_vars) if is_tuple else (loop_vars,))
    flat = tree.flatten(state)
    counter = [] if maximum_iterations is None else [convert_to_tensor(0, "int32")]

    def goes_on(*values):
        here = cast(cond(*tree.pack_sequence_as(state, values[: len(flat)])), "bool")
        if not counter:
            return here
        return _call("bitwise_and", here, _call("less", values[len(flat)], convert_to_tensor(maximum_iterations, "int32")))

    def advance(*values):
        result = body(*tree.pack_sequence_as(state, values[: len(flat)]))
        result = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        tree.assert_same_structure(state, tree.map_structure(lambda x: x, result))
        rounds = [_call("add", i, convert_to_tensor(1, "int32")) for i in values[len(flat) :]]
        return [convert_to_tensor(x, before.dtype) for x, before in zip(tree.flatten(result), flat)] + rounds

    if _is_traced(flat):
        out = _traced_loop(flat + counter, goes_on, advance)
    else:
        out = flat + counter
        while bool(convert_to_numpy(goes_on(*out))):
            out = advance(*out)
    result = tree.pack_sequence_as(state, out[: len(flat)])
    return result if is_tuple else result[0]


def _traced_loop(state, goes_on, advance):
    count = len(state)

    def build(values, keys):
        def test(*now):
            return [values.inside(keys, now[count:], lambda: goes_on(*now[:count]))[0]]

        def body(*now):
            new, after = values.inside(keys, now[count:], lambda: advance(*now[:count]))
            return new + after

        return _native.while_loop(_recorded(state + [values.get(k) for k in keys]), test, body)

    return _with_changes(build)


def fori_loop(lower, upper, body_fun, init_val):
    lower, upper = convert_to_tensor(lower, "int32"), convert_to_tensor(upper, "int32")
    if not (lower.is_symbolic or upper.is_symbolic):
        first, last = int(convert_to_numpy(lower)), int(convert_to_numpy(upper))
        if last <= first:
            return init_val
        if _is_traced(init_val):  # a scan has a gradient, a while_loop has none
            return scan(lambda value, i: (body_fun(i, value), None), init_val, np.arange(first, last, dtype="int32"))[0]

    def body(i, value):
        return _call("add", i, convert_to_tensor(1, "int32")), body_fun(i, value)

    return while_loop(lambda i, value: _call("less", i, upper), body, (lower, init_val))[1]


def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}")
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    carry, items, made = _tensors(init), [] if xs is None else _tensors(xs), {}
    count = int(length) if length is not None else items[0].shape[0]
    anchor = [] if carry else [convert_to_tensor(0, "int32")]  # the engine's scan wants something to carry

    def one(state, rows):
        new, y = f(_pack(init, state) if carry else init, None if xs is None else _pack(xs, rows))
        made["y"] = y
        ys = [convert_to_tensor(x) for x in tree.flatten(y) if x is not None]
        return [convert_to_tensor(x, c.dtype) for x, c in zip(tree.flatten(new), carry)], ys

    def build(values, keys):
        start = anchor + [values.get(k) for k in keys]

        def body(*now):
            kept = now[len(carry) : len(carry) + len(start)]
            rows = list(now[len(carry) + len(start) :])
            (new, ys), after = values.inside(keys, kept[len(anchor) :], lambda: one(list(now[: len(carry)]), rows))
            return new + list(kept[: len(anchor)]) + after + ys

        out = _native.scan(_recorded(carry + start), items, count, body, reverse)
        new, ys, states = out[: len(carry)], out[len(carry) + len(start) :], out[len(carry) + len(anchor) :]
        return new + ys + states[: len(keys)]

    out = _with_changes(build) if _engine.tape is None or _is_traced(carry, items) else _unrolled(carry, items, count, one, reverse)
    ys = iter(out[len(carry) :])
    return (_pack(init, out[: len(carry)]) if carry else init), tree.map_structure(
        lambda x: None if x is None else next(ys), made.get("y"))


def _unrolled(carry, items, count, one, reverse):
    """A scan op by op, for a tape that notes ops."""
    rounds = []
    for i in reversed(range(count)) if reverse else range(count):
        carry, ys = one(carry, [_call("reshape", _call("slice", x, starts=[i] + [0] * (x.ndim - 1), limits=[i + 1, *x.shape[1:]]),
                                      shape=list(x.shape[1:])) for x in items])
        rounds.append([_call("reshape", y, shape=[1, *y.shape]) for y in ys])
    rounds = rounds[::-1] if reverse else rounds
    return carry + [_call("concatenate", *parts, axis=0) for parts in zip(*rounds)]


def map(f, xs):
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


def vectorized_map(function, elements):
    return map(function, elements)


def associative_scan(f, elems, reverse=False, axis=0):
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    flat = _tensors(elems)
    axes = [axis % e.ndim for e in flat]
    sizes = {e.shape[a] for e, a in zip(flat, axes)}
    if len(sizes) != 1:
        raise ValueError(
            f"Array inputs to associative_scan must have the same first dimension. (saw: {[e.shape for e in flat]})")
    size = sizes.pop()

    def cut(start, stop):
        return [_call("slice", e, starts=[start if i == a else 0 for i in range(e.ndim)],
                      limits=[stop if i == a else n for i, n in enumerate(e.shape)]) for e, a in zip(flat, axes)]

    def turned(tensors):
        return [_call("reverse", e, axes=[a]) for e, a in zip(tensors, axes)] if reverse else tensors

    flat, distance = turned(flat), 1
    while distance < size:  # Hillis and Steele: log2(size) rounds over whole tensors
        joined = _tensors(f(_pack(elems, cut(0, size - distance)), _pack(elems, cut(distance, size))))
        flat = [_call("concatenate", cast(head, j.dtype), j, axis=a) for head, j, a in zip(cut(0, distance), joined, axes)]
        distance *= 2
    return _pack(elems, turned(flat))


def custom_gradient(fun):
    """`fun` returns its result and a function from the gradients of that to those of its arguments."""

    def wrapped(*args, **kwargs):
        args, kwargs = tree.map_structure(lambda x: x.value if isinstance(x, KerasVariable) else x, (args, kwargs))
        result, grad_fn = fun(*args, **kwargs)
        leaves = tree.flatten(args)
        wanted = [i for i, x in enumerate(leaves) if isinstance(x, Tensor) and is_float(x.dtype)]
        if not _is_recorded(result, leaves):
            return result

        def backward(*upstream):
            grads = grad_fn(*upstream)
            grads = [grads] if isinstance(grads, Tensor) else tree.flatten(grads)
            if len(grads) == len(wanted) < len(leaves):  # of the tensors alone
                grads = dict(zip(wanted, grads))
            return [_zeros_like(leaves[i]) if grads[i] is None else convert_to_tensor(grads[i], leaves[i].dtype) for i in wanted]

        return _pack(result, _native.custom_vjp(_tensors(result), [leaves[i] for i in wanted], backward))

    return wrapped


def _zeros_like(x):
    return _call("broadcast_to", convert_to_tensor(0, x.dtype), shape=list(x.shape))


def remat(f):
    """f, whose intermediate results a gradient computes again instead of keeping them."""

    def wrapped(*args, **kwargs):
        leaves, made = tree.flatten((args, kwargs)), {}
        operands = [x for x in leaves if isinstance(x, Tensor)]
        if not operands or not _is_traced(operands):
            return f(*args, **kwargs)

        def build(values, keys):
            def body(*inner):
                given = iter(inner)
                call_args, call_kwargs = tree.pack_sequence_as(
                    (args, kwargs), [next(given) if isinstance(x, Tensor) else x for x in leaves])
                before = [values.get(k) for k in keys]
                made["result"], after = values.inside(keys, before, lambda: f(*call_args, **call_kwargs))
                return [convert_to_tensor(x) for x in tree.flatten(made["result"]) if x is not None] + after

            return _native.remat(_recorded(operands), body)

        results = iter(_with_changes(build))
        return tree.map_structure(lambda x: None if x is None else next(results), made["result"])

    return wrapped
