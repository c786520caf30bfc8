"""The engine as the modules of ops use it: an op by name, conversion from and to NumPy, and the step that is being traced."""
import contextlib
import functools
import threading

import ml_dtypes
import numpy as np

from plimsoll import _native
from plimsoll._native import Tensor

NUMPY_DTYPES = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}


tape = None  # who notes ops on values and reads of variables (tf.GradientTape); None: nobody


class NoValueYet(TypeError):
    """Code asked for the value of a tensor of a step that is being traced."""


def call(op, *inputs, **attrs):
    """The one output of an op; a tuple where it has several."""
    if tape is None:
        return _native.call(op, inputs, attrs)
    inputs = tape.inputs(inputs)
    out = _native.apply(op, list(inputs), attrs)
    tape.note(op, inputs, attrs, out)
    return out[0] if len(out) == 1 else tuple(out)


def quick(op, kinds):
    """Decorates a function of one tensor or two that runs the op `op` under Keras's rules of promotion: past the rules, which take longer than
    the op, where operands need none, being tensors of one dtype, and one of `kinds` ("any", "numbers": no bool, "floats")."""
    run = _native.quick_op(op, kinds)

    def decorated(rules):
        def unary(x):
            result = run(x) if tape is None else None
            return rules(x) if result is None else result

        def binary(x1, x2):
            result = run(x1, x2) if tape is None else None
            return rules(x1, x2) if result is None else result

        return functools.wraps(rules)(unary if rules.__code__.co_argcount == 1 else binary)

    return decorated


def numpy_dtype(dtype):
    return NUMPY_DTYPES.get(dtype) or np.dtype(dtype)


def from_numpy(array):
    """A tensor with a copy of the array, which has a dtype that the engine has."""
    name = str(array.dtype)
    array = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes a scalar one-dimensional
    raw = array.view(np.uint16) if name == "bfloat16" else array
    return _native.from_buffer(name, array.shape, raw if raw.ndim else raw.reshape(1))


def to_numpy(tensor):
    if tensor.is_symbolic:
        raise NoValueYet(
            "This tensor has no value yet: it belongs to a step that is being traced. Code that needs values (float(x), if x > 0, "
            "numpy.asarray(x)) cannot be inside a train_step or a call(); use keras.ops there, or compile(run_eagerly=True)."
        )
    array = np.empty(tensor.shape, numpy_dtype(tensor.dtype))
    raw = array.view(np.uint16) if tensor.dtype == "bfloat16" else array
    tensor._copy_to(raw if raw.ndim else raw.reshape(1))
    return array


def full(value, dtype, shape=()):
    return _native.full(dtype, list(shape), float(value))


class Step:
    """A step that is being traced: what each variable is at its beginning, and what it is now. An eager one computes as it goes."""

    def __init__(self, eager=False):
        self.eager, self.trace = eager, _native.Trace(eager)
        self.initial, self.now = {}, {}  # storage -> tensor
        self.assigned = {}  # storage -> what it was given so far, outside of loops and branches
        self.inputs = []
        self.invented = False  # some sizes of the inputs: indices may lie outside of them
        self.ranges = []  # of indices that come with the data (ranges.py)
        self.depth = 0  # of bodies of loops and branches that are being traced
        self.watching, self.gate = None, None  # by the NaN watch: "each", "held"; and what lets new values through (nan_gate.py)

    def input(self, dtype, shape):
        self.inputs.append(self.trace.input(f"x{len(self.inputs)}", dtype, list(shape)))
        return self.inputs[-1]

    def read(self, storage, name=""):
        if storage not in self.now:
            self.now[storage] = self.initial[storage] = self.trace.variable(name, storage)
        return self.now[storage]

    def write(self, storage, value, name=""):
        before = self.read(storage, name)
        if self.depth == 0:
            if self.gate is not None:
                value = self.gate.let_through(storage, value, self.initial.get(storage, before))
            if "float" in value.dtype:
                value = self._leaf(value)
            self.assigned.setdefault(storage, []).append(value)
        self.now[storage] = value

    def _leaf(self, value):
        """A value of the trace that gradients can be taken to, but not through: what is read of a variable is not a function of how it was
        computed. Otherwise the second of two losses in a train_step would be differentiated through the first one's update."""
        if _native.is_recorded(value):
            return call("stop_gradient", value)
        return self.trace.watched(value) if self.eager else _native.recorded(value)

    def value_for(self, storage, result):
        """What the variable was when `result` was computed."""
        before = [v for v in self.assigned.get(storage, ()) if self.depth == 0 and _native.is_made_before(v, result)]
        return before[-1] if before else self.initial[storage]

    def updates(self):
        return [(s, t) for s, t in self.now.items() if t is not self.initial[s]]

    def compile(self, outputs, place=None, device=""):
        return self.trace.compile(list(outputs), self.updates(), place, device=device)

    def forecast(self, outputs, least=False):
        return self.trace.forecast(list(outputs), self.updates(), least)

    def finish(self):
        """Of an eager one: variables become what they are at its end."""
        self.trace.finish()
        for storage, value in self.updates():
            storage.assign(value)


_local = threading.local()


def current_step():
    return getattr(_local, "step", None)


def has_invented_sizes():
    step = current_step()
    return step is not None and step.invented


@contextlib.contextmanager
def tracing(step):
    before = current_step()
    _local.step = step
    step.trace.enter()
    try:
        yield step
    finally:
        step.trace.exit()
        _local.step = before


def is_planning():
    return getattr(_local, "planning", False)


@contextlib.contextmanager
def planning():
    """Variables that are made inside take no memory: steps with them are planned, not run."""
    before, _local.planning = is_planning(), True
    try:
        yield
    finally:
        _local.planning = before


@contextlib.contextmanager
def outside():
    """Out of the trace for a moment, to make a variable."""
    step = current_step()
    if step is None:
        yield
        return
    _local.step = None
    step.trace.exit()
    try:
        yield
    finally:
        step.trace.enter()
        _local.step = step


@contextlib.contextmanager
def changes(step):
    """What variables become inside; outside they are as before. For the branches of a cond and the bodies of loops."""
    before, changed = dict(step.now), {}
    try:
        yield changed
    finally:
        changed.update({s: t for s, t in step.now.items() if before.get(s, step.initial[s]) is not t})
        step.now = before | {s: step.initial[s] for s in step.now if s not in before}
