"""tf.function: each signature of arguments is traced once and kept as a Program of the engine.

There is no AutoGraph. A function whose Python code asks for values of tensors (`if x > 0`, tf.print, assertions) is run op by op instead,
with the same results; so is one that is called under an open GradientTape.
"""
import builtins
import contextlib
import functools
import threading
import warnings

import numpy as np
from keras.src import tree
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from keras_plimsoll.src.tensors import convert_to_tensor
from plimsoll._native import Tensor

from plimsoll_tensorflow import tape
from plimsoll_tensorflow.dtypes import TensorSpec
from plimsoll_tensorflow.tensor import MadeInside, StringTensor, to_tensor

MOST_PROGRAMS = 64

eagerly = False  # tf.config.run_functions_eagerly
running = threading.local()


def is_running():
    """Whether this thread is in a tf.function that is run op by op: TensorFlow would be tracing."""
    return getattr(running, "now", False)


def _is_array(x):
    return isinstance(x, (Tensor, np.ndarray)) and not (isinstance(x, np.ndarray) and x.dtype.kind in "OSU")


def _static(x):
    """How an argument that is no tensor is told from another one."""
    return (type(x), x) if isinstance(x, (str, int, float, bool, bytes, type(None))) else (type(x), id(x))


def _type_of(x):
    if isinstance(x, (Tensor, StringTensor)):
        return str(x.dtype), tuple(x.shape)
    return _static(x)


def _as_tensor(x):
    return to_tensor(x) if isinstance(x, (bool, int, float, complex, np.ndarray, np.generic, str, bytes)) else x


def _as_tensors(results):
    """What a tf.function gives are tensors, of Python's numbers too."""
    return tree.map_structure(_as_tensor, results) if tree.is_nested(results) else _as_tensor(results)


class Prints:
    """Holds back what print() is given in this thread. Two that overlap in two threads may leave one on: it passes on what others print."""

    def __enter__(self):
        self.held, self.thread, self.before = [], threading.get_ident(), builtins.print
        builtins.print = self.print
        return self

    def print(self, *args, **kwargs):
        if threading.get_ident() == self.thread and kwargs.get("file") is None:
            self.held.append((args, kwargs))
        else:
            self.before(*args, **kwargs)

    def __exit__(self, *error):
        builtins.print = self.before

    def show(self):
        for args, kwargs in self.held:
            print(*args, **kwargs)


class Function:
    def __init__(self, python_function, input_signature=None):
        functools.update_wrapper(self, python_function)
        self.python_function, self.input_signature = python_function, input_signature
        self.programs, self.op_by_op, self.seen = {}, False, set()
        self._bound = {}

    def __get__(self, instance, owner=None):
        """As a method: one set of programs per object."""
        if instance is None:
            return self
        name = "_function_" + self.python_function.__name__
        found = instance.__dict__.get(name) if hasattr(instance, "__dict__") else None
        if found is None:
            found = Function(self.python_function.__get__(instance, owner), self.input_signature)
            object.__setattr__(instance, name, found) if hasattr(instance, "__dict__") else None
        return found

    def __call__(self, *args, **kwargs):
        if self.input_signature is not None and not kwargs:
            args = self._signed(args)
        leaves = tree.flatten((args, kwargs))
        if eagerly or engine.current_step() is not None:
            return _as_tensors(self.python_function(*args, **kwargs))
        leaves = [convert_to_tensor(x) if _is_array(x) else x for x in leaves]
        key = (tuple(_type_of(x) for x in leaves), str(tree.map_structure(lambda _: 0, (args, kwargs))))
        if self.op_by_op or tape.is_recording() or any(isinstance(x, StringTensor) for x in leaves):
            return self._op_by_op(key, args, kwargs)
        made = self.programs.pop(key, None)
        if made is None or not made[0].is_current:
            printed = Prints()
            try:
                with printed:
                    made = self.trace((args, kwargs), leaves)
            except engine.NoValueYet as missing:
                self.op_by_op = not isinstance(missing, MadeInside)
                return self._op_by_op(key, args, kwargs)
            except BaseException:
                printed.show()
                raise
            if self._is_new(key):
                printed.show()
        self.programs[key] = made
        if len(self.programs) > MOST_PROGRAMS:
            self.programs.pop(next(iter(self.programs)))
        program, structure, outputs, _ = made
        results = program.run([x for x in leaves if isinstance(x, Tensor)])
        if results is None:  # another thread has moved its variables just now
            return self(*args, **kwargs)
        results = iter(results)
        flat = [next(results) if of_step else _as_tensor(x) for x, of_step in outputs]
        return tree.pack_sequence_as(structure, flat) if tree.is_nested(structure) else flat[0]

    def _is_new(self, key):
        """Whether this would be a trace in TensorFlow: the only call that Python's own prints are seen of."""
        key = "signature" if self.input_signature is not None else key
        new = key not in self.seen
        self.seen.add(key)
        return new

    def _op_by_op(self, key, args, kwargs):
        before, running.now = is_running(), True
        try:
            with contextlib.nullcontext() if self._is_new(key) else Prints():
                return _as_tensors(self.python_function(*args, **kwargs))
        finally:
            running.now = before

    def _signed(self, args):
        """As tensors of the signature's dtypes; what does not fit it is a TypeError."""
        specs = tuple(self.input_signature)
        if len(args) > len(specs):
            raise TypeError(f"{self.python_function.__name__}: too many positional arguments for input_signature {specs}")
        made = []
        for x, spec in zip(args, specs):
            if isinstance(spec, TensorSpec):
                given = to_tensor(x, None if isinstance(x, (Tensor, BackendVariable, StringTensor)) else spec.dtype)
                if given.dtype != spec.dtype or (spec.shape is not None and not spec.shape.is_compatible_with(given.shape)):
                    raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast TensorSpec(shape={given.shape}, dtype={given.dtype!r}, name=None) to {spec}`")
                x = given
            made.append(x)
        return tuple(made)

    def trace(self, call, leaves):
        step = engine.Step()
        symbolic = [step.input(x.dtype, x.shape) if isinstance(x, Tensor) else x for x in leaves]
        with engine.tracing(step):
            args, kwargs = tree.pack_sequence_as(call, symbolic)
            structure = self.python_function(*args, **kwargs)
            flat = [x.value if isinstance(x, BackendVariable) else x for x in tree.flatten(structure)]
        outputs = [(None if isinstance(x, Tensor) else x, isinstance(x, Tensor)) for x in flat]
        structure = tree.map_structure(lambda _: 0, structure)
        return step.compile([x for x in flat if isinstance(x, Tensor)]), structure, outputs, leaves  # leaves: ids stay taken

    def get_concrete_function(self, *args, **kwargs):
        return self

    def experimental_get_tracing_count(self):
        return len(self.seen)


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False, **options):
    if func is None:
        return lambda f: Function(f, input_signature)
    return Function(func, input_signature)


def run_functions_eagerly(on):
    global eagerly
    eagerly = bool(on)


def warn_no_effect(what, instead):
    warnings.warn(f"{what} has no effect on Plimsoll: {instead}", stacklevel=3)
