"""tf.GradientTape. Ops on values that depend on something watched are noted; gradient() replays them into a trace and runs the Program of
its gradients, which is kept by the structure of the tape: a loop that does the same each time traces once. Inside of a tf.function, or a
train_step, the trace has everything already, and the tape only knows which variables were read under it."""
import itertools
import threading

import numpy as np
from keras import ops
from keras.src import tree
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import convert_to_tensor
from plimsoll import _native
from plimsoll._native import Tensor

from plimsoll_tensorflow.dtypes import as_dtype

MOST_PROGRAMS = 128

_ids = itertools.count()
_local = threading.local()
_programs = {}


def _stack():
    if not hasattr(_local, "tapes"):
        _local.tapes = []
    return _local.tapes


def _id(tensor):
    at = getattr(tensor, "_at", None)
    if at is None:
        at = tensor._at = next(_ids)
    return at


def _differentiable(tensor):
    return as_dtype(tensor.dtype).is_floating or as_dtype(tensor.dtype).is_complex


class Hook:
    """What engine.tape is while a tape of any thread is open."""

    open = 0

    @staticmethod
    def inputs(values):
        """With those in the place of watched constants that the trace knows them by."""
        for tape in _stack():
            if tape._traced:
                values = [tape._traced.get(getattr(x, "_at", None), x) for x in values]
        return values

    @staticmethod
    def note(op, inputs, attrs, outputs):
        for tape in _stack():
            tape._note((op, _frozen(attrs)), lambda *xs: _native.apply(op, list(xs), attrs), inputs, outputs)

    @staticmethod
    def read(variable, value):
        for tape in _stack():
            value = tape._read(variable, value)
        return value


def _frozen(attrs):
    return tuple((k, tuple(v) if isinstance(v, list) else v if isinstance(v, (str, int, float, bool)) else repr(v)) for k, v in attrs.items())


class paused:
    """No tape notes what happens inside."""

    def __enter__(self):
        self.before, _local.tapes = _stack(), []

    def __exit__(self, *error):
        _local.tapes = self.before


def is_recording():
    return bool(_stack()) and engine.current_step() is None


def note_call(key, function, inputs, outputs):
    """function(*inputs) gave outputs: one entry for all it did."""
    for tape in _stack():
        tape._note(key, function, inputs, outputs)


class GradientTape:
    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent, self._watch_all = persistent, watch_accessed_variables
        self._used = False
        self.reset()

    def reset(self):
        self._entries = []  # (key, function, ids of inputs, ids of outputs)
        self._leaves = {}  # id -> tensor that was not made under this tape
        self._live = set()  # ids that depend on something watched
        self._reads = {}  # id of variable -> (variable, the tensors it was read as)
        self._watched = set()
        self._traced = {}  # id of a watched tensor with a value -> what it is in the trace

    def __enter__(self):
        _stack().append(self)
        Hook.open += 1
        engine.tape = Hook
        return self

    def __exit__(self, *error):
        _stack().remove(self)
        Hook.open -= 1
        if Hook.open == 0:
            engine.tape = None

    def stop_recording(self):
        return _Stopped(self)

    def watch(self, tensor):
        for x in tree.flatten(tensor):
            if isinstance(x, BackendVariable):
                self._watched.add(id(x))
                self._reads.setdefault(id(x), (x, []))
            else:
                self._live.add(_id(x))
                self._leaves[_id(x)] = x
                if _native.is_tracing() and not x.is_symbolic:
                    self._traced[_id(x)] = _native.recorded(Hook.inputs([x])[0])

    def watched_variables(self):
        return tuple(variable for variable, _ in self._reads.values())

    def _read(self, variable, value):
        if not (variable.trainable and self._watch_all) and id(variable) not in self._watched:
            return value
        if not _differentiable(value):
            return value
        if value.is_symbolic:
            return self._read_traced(variable, value)
        self._live.add(_id(value))
        self._leaves[_id(value)] = value
        self._reads.setdefault(id(variable), (variable, []))[1].append(value)
        return value

    def _read_traced(self, variable, value):
        """As a value of its own, so that what was computed before the tape stays a constant. Not in the body of a loop, whose values
        have no gradient outside of it: there it is the step's value, and the others are made of that one."""
        reads = self._reads.setdefault(id(variable), (variable, []))[1]
        if engine.current_step().depth:
            reads[:] = [value]
            return value
        if len(reads) == 1 and reads[0] is value:
            return value
        reads.append(_native.apply("reshape", [value], {"shape": list(value.shape)})[0])
        return reads[-1]

    def _note(self, key, function, inputs, outputs):
        if not outputs or outputs[0].is_symbolic or key[0] == "stop_gradient":
            return
        ids = [_id(x) for x in inputs]
        if not any(i in self._live for i in ids):
            return
        made = [_id(x) for x in outputs]
        for i, x in zip(ids, inputs):
            if i not in self._live:
                self._leaves[i] = x
        self._live.update(made)
        self._entries.append((key, function, ids, made))

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        if self._used and not self._persistent:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        self._used = True
        ys = [self._target(y) for y in tree.flatten(target)]
        flat = tree.flatten(sources)
        dys = None if output_gradients is None else [convert_to_tensor(g) for g in tree.flatten(output_gradients)]
        symbolic = any(y.is_symbolic for y in ys)
        found = self._traced_gradient(ys, flat, dys) if symbolic else self._noted_gradient(ys, flat, dys)
        zero = str(getattr(unconnected_gradients, "value", unconnected_gradients)) == "zero"
        found = [convert_to_tensor(np.zeros(tuple(s.shape)), as_dtype(s.dtype).name) if g is None and zero else g for g, s in zip(found, flat)]
        if not self._persistent and self not in _stack():
            reads, watched = {key: (variable, []) for key, (variable, _) in self._reads.items()}, self._watched
            self.reset()
            self._reads, self._watched = reads, watched
        return tree.pack_sequence_as(sources, found) if tree.is_nested(sources) else found[0]

    def _target(self, y):
        """A variable that is itself the target was not necessarily read."""
        if isinstance(y, BackendVariable) and y.trainable and self._watch_all:
            return self._read(y, y.value)
        return convert_to_tensor(y)

    def _tensors_of(self, source):
        if isinstance(source, BackendVariable):
            return self._reads.get(id(source), (None, []))[1]
        return [self._traced.get(getattr(source, "_at", None), source)] if isinstance(source, Tensor) else []

    def _traced_gradient(self, ys, sources, dys):
        xs = [x for s in sources for x in self._tensors_of(s) if x.is_symbolic]
        if not xs:
            return [None] * len(sources)
        with paused():
            grads = iter(_native.gradients(ys, xs, dys or [_ones(y) for y in ys]))
        return [_total([next(grads) for x in self._tensors_of(s) if x.is_symbolic]) for s in sources]

    def _noted_gradient(self, ys, sources, dys):
        needed, wanted = self._needed(ys)
        xs = [[_id(t) for t in self._tensors_of(s) if _id(t) in wanted and _differentiable(t)] for s in sources]
        flat = [x for group in xs for x in group]
        ys, dys = [y for y in ys if _id(y) in wanted and _differentiable(y)], dys and [d for y, d in zip(ys, dys) if _id(y) in wanted]
        if not flat or not ys:
            return [None] * len(sources)
        work = _Work(needed, self._leaves, [_id(y) for y in ys], flat, dys)
        grads = work.run()
        note_call(work.key, work.replay, work.leaves, grads)
        grads = iter(grads)
        return [_total([next(grads) for _ in group]) for group in xs]

    def _needed(self, ys):
        """The entries that ys are made with, in order, and all ids among them."""
        wanted = {i for i in (getattr(y, "_at", None) for y in ys) if i in self._live}
        needed = []
        for entry in reversed(self._entries):
            if any(i in wanted for i in entry[3]):
                needed.append(entry)
                wanted.update(entry[2])
        return needed[::-1], wanted

    def jacobian(self, target, sources, unconnected_gradients="none", parallel_iterations=None, experimental_use_pfor=True):
        y, persistent = convert_to_tensor(target), self._persistent
        self._persistent = True
        rows = []
        for i in range(y.size):
            one = np.zeros(y.size, as_dtype(y.dtype).as_numpy_dtype)
            one[i] = 1
            rows.append(tree.flatten(self.gradient(y, sources, one.reshape(tuple(y.shape)), unconnected_gradients)))
        self._persistent = persistent
        whole = [None if parts[0] is None else convert_to_tensor(np.stack([np.asarray(p) for p in parts]).reshape(*y.shape, *parts[0].shape))
                 for parts in zip(*rows)]
        return tree.pack_sequence_as(sources, whole) if tree.is_nested(sources) else whole[0]

    def batch_jacobian(self, target, source, unconnected_gradients="none", parallel_iterations=None, experimental_use_pfor=True):
        """d target[b, i] / d source[b, j]: as many gradients as one row of the target has elements, whatever the batch."""
        y, persistent = convert_to_tensor(target), self._persistent
        if not y.ndim or tuple(y.shape[:1]) != tuple(source.shape[:1]):
            raise ValueError(f"Need first dimension of target shape ({y.shape}) and source shape ({source.shape}) to match.")
        self._persistent, columns, count = True, [], int(np.prod(y.shape[1:]))
        for i in range(count):
            one = np.zeros((y.shape[0], count), as_dtype(y.dtype).as_numpy_dtype)
            one[:, i] = 1
            columns.append(self.gradient(y, source, one.reshape(tuple(y.shape)), unconnected_gradients))
        self._persistent = persistent
        if columns[0] is None:
            return None
        return ops.reshape(ops.stack(columns, 1), [*y.shape, *columns[0].shape[1:]])


class ForwardAccumulator:
    """tf.autodiff.ForwardAccumulator: tangents of what is computed under it, as the gradient of a gradient."""

    def __init__(self, primals, tangents):
        self._primals, self._tangents = tree.flatten(primals), [convert_to_tensor(t) for t in tree.flatten(tangents)]
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)

    def __enter__(self):
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *error):
        self._tape.__exit__(*error)

    def jvp(self, primals, unconnected_gradients="none"):
        found = [self._one(convert_to_tensor(y), unconnected_gradients) for y in tree.flatten(primals)]
        return tree.pack_sequence_as(primals, found) if tree.is_nested(primals) else found[0]

    def _one(self, y, unconnected_gradients):
        weight = _ones(y)
        with GradientTape(watch_accessed_variables=False) as outer:
            outer.watch(weight)
            grads = self._tape.gradient(y, self._primals, output_gradients=weight)
            along = _total([ops.sum(g * t) for g, t in zip(grads, self._tangents) if g is not None])
        return None if along is None and unconnected_gradients == "none" else outer.gradient(along, weight, unconnected_gradients="zero")


class _Stopped:
    def __init__(self, tape):
        self.tape = tape

    def __enter__(self):
        _stack().remove(self.tape)

    def __exit__(self, *error):
        _stack().append(self.tape)


def _ones(y):
    return convert_to_tensor(np.ones(tuple(y.shape)), as_dtype(y.dtype).name)


def _total(grads):
    total = None
    for g in grads:
        total = g if total is None else total + g
    return total


class _Work:
    """Gradients of ys with respect to xs over entries, with the names of values made small so that equal tapes have equal keys."""

    def __init__(self, entries, leaves, ys, xs, dys):
        self.entries, self.given = entries, dys
        names = {}
        name = lambda i: names.setdefault(i, len(names))
        steps = tuple((key, tuple(map(name, ins)), tuple(map(name, outs))) for key, _, ins, outs in entries)
        made = {i for entry in entries for i in entry[3]}
        used = {i for entry in entries for i in entry[2]} | set(ys) | set(xs)
        self.leaf_ids = [i for i in dict.fromkeys([i for e in entries for i in e[2]] + ys + xs) if i not in made and i in used]
        self.leaves = [leaves[i] for i in self.leaf_ids] + (dys or [])
        self.ys, self.xs = ys, xs
        types = tuple((x.dtype, tuple(x.shape)) for x in self.leaves)
        self.key = ("gradient", steps, types, tuple(map(name, self.leaf_ids)), tuple(map(name, ys)), tuple(map(name, xs)), dys is not None)

    def replay(self, *values):
        now = dict(zip(self.leaf_ids, values))
        for _, function, ins, outs in self.entries:
            now.update(zip(outs, function(*[now[i] for i in ins])))
        ys = [now[i] for i in self.ys]
        dys = list(values[len(self.leaf_ids):]) if self.given is not None else [_ones(y) for y in ys]
        return _native.gradients(ys, [now[i] for i in self.xs], dys)

    def run(self):
        program = _programs.pop(self.key, None) or self.trace()
        _programs[self.key] = program
        if len(_programs) > MOST_PROGRAMS:
            _programs.pop(next(iter(_programs)))
        return program.run(self.leaves)

    def trace(self):
        step = engine.Step()
        with paused(), engine.tracing(step):
            return step.compile(self.replay(*[step.input(x.dtype, x.shape) for x in self.leaves]))
