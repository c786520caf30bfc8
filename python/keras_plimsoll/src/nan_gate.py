"""What the NaN watch (plimsoll.on_nan) adds to a training step: variables get new values only if the step's numbers are finite."""
import contextlib

from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer

from keras_plimsoll.src import engine
from keras_plimsoll.src.ops import numpy as knp


def gate_step(loss, gradients, optimizer, trainable):
    """Before the update. Nothing if nobody watches the step that is being traced."""
    step = engine.current_step()
    if step is None or step.eager or not step.watching:
        return
    if isinstance(optimizer, LossScaleOptimizer):  # whose business infinite gradients are
        step.gate = Gate(step, loss)
    else:
        trained = {v._storage for v in [*trainable, *optimizer.variables]}
        step.gate = Gate(step, loss, trained, gradients if step.watching == "held" else [])


def _alone(flags):
    """Whether all are true, in nodes of its own: logical_and would be fused, and with it the guards of all updates into one node, so that
    each of these would wait for all gradients."""
    return knp.all(knp.concatenate([knp.reshape(flag, (1,)) for flag in flags]))


class Gate:
    def __init__(self, step, loss, trained=(), held=()):
        loss = knp.all(knp.isfinite(loss))
        self.loss, self.all = loss, _alone([loss, loss])
        if held:
            self.all = _alone([loss, *(knp.all(knp.isfinite(g)) for g in held if g is not None)])
        self.trained, self.flags, self.guards, self.inside = trained, [self.all], bool(trained), False
        for storage, value in step.updates():
            step.now[storage] = knp.where(self.all, value, step.initial[storage])

    def own(self, value):
        """Whether what belongs to one update alone is finite."""
        finite = knp.all(knp.isfinite(value))
        self.flags.append(finite)
        return knp.logical_and(self.all, finite)

    def finite(self):
        """Whether all of it is."""
        return _alone(self.flags)

    def guard(self, gradient, dtype):
        """Operands of an update of the engine that can leave itself out."""
        return [engine.full(1, dtype), self.own(gradient)]

    @contextlib.contextmanager
    def guarded(self):
        """Writes inside have been guarded."""
        self.inside = True
        try:
            yield
        finally:
            self.inside = False

    def let_through(self, storage, value, before):
        if self.inside:
            return value
        floats = "float" in value.dtype
        return knp.where(self.own(value) if floats and storage in self.trained else self.all, value, before)
