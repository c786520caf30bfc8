"""tf.Module and scopes that mean something in TensorFlow's graphs only."""
import contextlib

import keras
from keras_plimsoll.src.tensors import Variable as BackendVariable

from plimsoll_tensorflow.tensor import scopes


class Module:
    """Finds the variables of its attributes."""

    def __init__(self, name=None):
        self._name = name or type(self).__name__.lower()

    @property
    def name(self):
        return self._name

    @property
    def name_scope(self):
        return name_scope(self._name)

    @property
    def variables(self):
        return tuple(_variables_of(vars(self), set()))

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self):
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self):
        return tuple(x for x in keras.tree.flatten(vars(self)) if isinstance(x, (Module, keras.layers.Layer)))

    @classmethod
    def with_name_scope(cls, method):
        return method


def _variables_of(x, seen):
    if id(x) in seen:
        return
    seen.add(id(x))
    if isinstance(x, BackendVariable):
        yield x
    elif isinstance(x, keras.layers.Layer):
        yield from x.variables
    elif isinstance(x, Module):
        yield from _variables_of(vars(x), seen)
    elif isinstance(x, dict):
        for key in sorted(x, key=str):
            yield from _variables_of(x[key], seen)
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from _variables_of(part, seen)


@contextlib.contextmanager
def _nothing(*args, **kwargs):
    yield


class name_scope:
    """Goes before the names of variables that are made inside."""

    def __init__(self, name, *args, **kwargs):
        self.name = name

    def __enter__(self):
        scopes.append(self.name)
        return "/".join(scopes) + "/"

    def __exit__(self, *error):
        scopes.pop()


device = control_dependencies = init_scope = _nothing
