"""Functions as Programs of the engine: traced once for arguments of given types, and run natively from then on."""
import weakref

import numpy as np
import optree

from keras_plimsoll.src import engine, tensors
from keras_plimsoll.src.ops.core import convert_to_tensor
from keras_plimsoll.src.tensors import KerasVariable
from plimsoll import _native, memory
from plimsoll.errors import MemoryLineError

MOST_PROGRAMS = 64  # of one function; the one not used for longest goes first

_workshops = weakref.WeakSet()


def flatten(structure):
    return optree.tree_flatten(structure, none_is_leaf=True, namespace="keras")


def is_array(x):
    if isinstance(x, (engine.Tensor, np.ndarray, np.generic)):
        return True
    return hasattr(x, "__array__") and hasattr(x, "dtype") and not isinstance(x, KerasVariable)


def _key(leaf):
    return leaf if type(leaf) is tuple else id(leaf) if isinstance(leaf, KerasVariable) else repr(leaf)


class Workshop:
    """What the functions of one model share: the arena that their Programs run in."""

    def __init__(self):
        self.place, self.functions = _native.Workplace(), weakref.WeakSet()
        _workshops.add(self)

    def forget(self):
        """Gives Programs and arena back; they are made again when they are needed. False if there was nothing."""
        found = any(function.programs for function in self.functions)
        for function in self.functions:
            function.programs.clear()
        self.place = _native.Workplace()
        return found


def forget_all():
    """Also when the line moves: what was planned under another one goes, and the next step, be it of a fit that runs, is planned anew."""
    for workshop in list(_workshops):
        workshop.forget()


memory.followers.append(forget_all)


def attempt(do):
    """(MemoryLineError or None, result). The error holds none of the frames that it came through, and with them Programs and arenas, as one in
    flight does, or one that a notebook keeps."""
    try:
        return None, do()
    except MemoryLineError as error:
        refused = error
    refused.__traceback__ = refused.__context__ = None
    return refused, None


class Ready:
    """A Program, and the structure that its results belong in. `fixed`: what of it is no tensor, by place. `ranges`: of indices among its inputs."""

    def __init__(self, program, spec, fixed, types, ranges, watched=False):
        self.program, self.spec, self.fixed, self.types, self.ranges, self.watched = program, spec, fixed, types, ranges, watched

    def is_bad(self, results):
        """Whether the NaN watch has left something of the step out. Behind its results stand: is the loss finite, is all of it."""
        return self.watched and not results[-1]._item()

    def pack(self, results):
        results = iter(results)
        return self.spec.unflatten([self.fixed[i] if i in self.fixed else next(results) for i in range(self.spec.num_leaves)])


class Steps:
    """`function` of one argument, a structure of arrays. Other leaves than arrays are part of what is traced."""

    def __init__(self, function, workshop=None):
        self.function, self.programs, self.nans = function, {}, None  # the NaN watch (plimsoll.watch)
        self.workshop = workshop or Workshop()
        self.workshop.functions.add(self)

    def __call__(self, batch):
        leaves, spec = flatten(batch)
        leaves = [convert_to_tensor(x) if is_array(x) else x for x in leaves]
        if tensors.outside and any(isinstance(x, tensors.outside) for x in leaves):
            return run_outside(self.function, batch)
        made = self.ready([(x.dtype, x.shape) if isinstance(x, engine.Tensor) else x for x in leaves], spec)
        inputs = [x for x in leaves if isinstance(x, engine.Tensor)]
        for indices in made.ranges:
            indices.check(engine.to_numpy(inputs[indices.place]))
        results = made.program.run(inputs)
        if results is None:  # another thread has moved its variables just now
            return self(batch)
        if made.is_bad(results) and self.hit(made, inputs, results):
            return self(batch)
        return made.pack(results)

    def hit(self, made, inputs, results):
        return self.nans.hit(made.program, inputs, bool(results[-2]._item()))

    def ready(self, types, spec, rows=False):
        """The Program for leaves of these types: (dtype, shape), or the value of one that is no array. `rows`: it is planned beside
        a batch in the workplace, which run_rows() will fill."""
        key = (spec, *map(_key, types), self.nans and self.nans.key)
        made = self.programs.pop(key, None)
        if made is None or not made.program.is_current:
            made = None
            refused, made = attempt(lambda: self.compile(types, spec, rows))
            if refused is not None:
                if not self.workshop.forget():
                    raise refused
                made = self.compile(types, spec, rows)
            if memory.is_drawn() and memory.is_over():  # by code that planning has brought into memory
                made = None
                self.workshop.forget()
                made = self.compile(types, spec, rows)
        self.programs[key] = made
        if len(self.programs) > MOST_PROGRAMS:
            self.programs.pop(next(iter(self.programs)))
        return made

    def compile(self, types, spec, rows=False):
        step, flat, spec = self.trace(types, spec)
        made = [x for x in flat if isinstance(x, engine.Tensor)]
        fixed = {i: x for i, x in enumerate(flat) if not isinstance(x, engine.Tensor)}
        kinds = [(t.dtype, t.shape) for t in made]
        place = self.workshop.place
        if rows:
            place.hold_batch([t for t in types if type(t) is tuple])
        try:
            program = step.compile(made + _flags(step), place=place)
        except MemoryLineError:
            place.hold_batch([])
            raise
        return Ready(program, spec, fixed, kinds, step.ranges, step.gate is not None)

    def forecast(self, types, spec, least=False):
        """What compile() would take under the line, in bytes. `least`: in the smallest arena there is."""
        step, flat, _ = self.trace(types, spec)
        return step.forecast([x for x in flat if isinstance(x, engine.Tensor)] + _flags(step), least)

    def trace(self, types, spec):
        step = engine.Step()
        step.watching = self.nans and self.nans.key
        leaves = [step.input(*t) if type(t) is tuple else t for t in types]
        with engine.tracing(step):
            flat, spec = flatten(self.function(spec.unflatten(leaves)))
            flat = [x.value if isinstance(x, KerasVariable) else x for x in flat]
        return step, flat, spec


def _flags(step):
    if step.gate is None:
        return []
    with engine.tracing(step):
        return [step.gate.loss, step.gate.finite()]


class EagerSteps:
    """The same, op by op: the function is called with values each time."""

    def __init__(self, function):
        self.function = function

    def __call__(self, batch):
        leaves, spec = flatten(batch)
        step = engine.Step(eager=True)
        with engine.tracing(step):
            out = self.function(spec.unflatten([convert_to_tensor(x) if is_array(x) else x for x in leaves]))
            flat, spec = flatten(out)
            flat = [x.value if isinstance(x, KerasVariable) else x for x in flat]
        step.finish()
        return spec.unflatten(flat)


def run_outside(function, batch):
    """Op by op, on a batch with tensors that are not the engine's."""
    try:
        return EagerSteps(function)(batch)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The data has strings, which only the layers for text take (TextVectorization, StringLookup, Hashing ...): map them to numbers "
                         f"first, such as dataset.map(lambda text, label: (vectorize_layer(text), label)). It ended with: {error}") from error
