"""What Keras composes of small ops for every backend, and the engine has whole: layer normalisation and the updates of optimizers.

The bootstrap calls install() when Keras has imported a module of MODULES. Each function takes the one of Keras and returns what stands
in its place, which gives back to Keras's own whatever the engine's op does not cover.
"""
import contextlib

from keras.src.backend.config import epsilon as default_epsilon

from keras_plimsoll.src.engine import call, current_step
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops import nn
from keras_plimsoll.src.ops.core import convert_to_tensor


def layer_normalization(composed):
    def _layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, rms_scaling=False):
        y = None
        if not rms_scaling:
            y = nn.layer_normalization(x, gamma, beta, axis, default_epsilon() if epsilon is None else epsilon)
        return composed(x, gamma, beta, axis, epsilon, rms_scaling) if y is None else y

    return _layer_normalization


def _fits(variable, gradient, *numbers):
    return variable.dtype in f.FLOATS and gradient.shape == variable.shape and all(isinstance(n, (int, float)) for n in numbers)


def _run(optimizer, op, variable, gradient, operands, slots, **attrs):
    """An update of the engine on (weight, gradient, operands...), whose results are the new weight and slots, in this order."""
    values = [convert_to_tensor(t, None if "int" in getattr(t, "dtype", "") else variable.dtype) for t in operands]
    gradient = convert_to_tensor(gradient, variable.dtype)
    step = current_step()
    gate = step.gate if step is not None and step.depth == 0 and step.gate is not None and step.gate.guards else None
    values += gate.guard(gradient, variable.dtype) if gate else []
    results = call(op, variable.value, gradient, *values, **attrs)
    with gate.guarded() if gate else contextlib.nullcontext():
        for target, value in zip([variable, *slots], results if slots else [results]):
            optimizer.assign(target, value)


def adam(composed):
    def update_step(self, gradient, variable, learning_rate):
        if self.amsgrad or not _fits(variable, gradient, self.beta_1, self.beta_2, self.epsilon):
            return composed(self, gradient, variable, learning_rate)
        i = self._get_variable_index(variable)
        m, v = self._momentums[i], self._velocities[i]
        _run(self, "adam_update", variable, gradient, [m, v, learning_rate, self.iterations], [m, v], beta_1=self.beta_1,
             beta_2=self.beta_2, epsilon=self.epsilon)

    return update_step


def sgd(composed):
    def update_step(self, gradient, variable, learning_rate):
        if not _fits(variable, gradient, self.momentum):
            return composed(self, gradient, variable, learning_rate)
        slots = [self.momentums[self._get_variable_index(variable)]] if self.momentum != 0 else []
        _run(self, "sgd_update", variable, gradient, [learning_rate, *slots], slots, momentum=self.momentum, nesterov=self.nesterov)

    return update_step


def rmsprop(composed):
    def update_step(self, gradient, variable, learning_rate):
        if self.centered or not _fits(variable, gradient, self.rho, self.momentum, self.epsilon):
            return composed(self, gradient, variable, learning_rate)
        i = self._get_variable_index(variable)
        velocity, moving = self._velocities[i], [self._momentums[i]] if self.momentum > 0 else []
        _run(self, "rmsprop_update", variable, gradient, [velocity, learning_rate, *moving], [velocity, *moving], rho=self.rho,
             momentum=self.momentum, epsilon=self.epsilon)

    return update_step


MODULES = {
    "keras.src.ops.nn": (None, "_layer_normalization", layer_normalization),
    "keras.src.optimizers.adam": ("Adam", "update_step", adam),
    "keras.src.optimizers.sgd": ("SGD", "update_step", sgd),
    "keras.src.optimizers.rmsprop": ("RMSprop", "update_step", rmsprop),
}


def install(module):
    owner, name, whole = MODULES[module.__name__]
    owner = module if owner is None else getattr(module, owner, None)
    composed = getattr(owner, name, None)
    if composed is not None:
        setattr(owner, name, whole(composed))
