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


class Gate:
    def __init__(self, step, loss, trained=(), held=()):
        self.loss = self.all = knp.all(knp.isfinite(loss))
        for gradient in held:
            if gradient is not None:
                self.all = knp.logical_and(self.all, knp.all(knp.isfinite(gradient)))
        self.trained, self.finite, self.guards, self.inside = trained, self.all, bool(trained), False
        for storage, value in step.updates():
            step.now[storage] = knp.where(self.all, value, step.initial[storage])

    def own(self, value):
        """Whether what belongs to one update alone is finite."""
        finite = knp.all(knp.isfinite(value))
        self.finite = knp.logical_and(self.finite, finite)
        return knp.logical_and(self.all, finite)

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
