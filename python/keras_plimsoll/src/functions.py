"""plimsoll.function and plimsoll.value_and_grad: steps of one's own, outside of fit()."""
import contextlib
import functools

import numpy as np

from keras_plimsoll.src import engine
from keras_plimsoll.src.ops.core import convert_to_tensor
from keras_plimsoll.src.steps import Steps, flatten, is_array
from plimsoll import _native


def function(fn):
    """`fn` as a Program: called once for arguments of given types to record what it does, then run natively. Variables that it assigns
    (weights, metrics) are written. Python code in it, such as print(), runs while it is recorded only."""
    steps = Steps(lambda arguments: fn(*arguments[0], **arguments[1]))

    @functools.wraps(fn)
    def call(*args, **kwargs):
        return steps((args, kwargs)) if engine.current_step() is None else fn(*args, **kwargs)

    call.steps = steps
    return call


def value_and_grad(fn, variables=None, has_aux=False):
    """g(*args) = (fn(*args), its gradients), with respect to `variables`, or to the first argument, a tensor or a structure of them.

    fn returns a number, with has_aux=True (number, anything else). Alone it runs op by op; inside of plimsoll.function or a train_step
    it is a part of that Program.
    """

    @functools.wraps(fn)
    def call(*args, **kwargs):
        with _step() as step:
            leaves, spec = ([], None) if variables is not None else flatten(args[0])
            watched = [_watched(step, leaf) for leaf in leaves]
            if spec is not None:
                args = (spec.unflatten(watched), *args[1:])
            out = fn(*args, **kwargs)
            loss = convert_to_tensor(out[0] if has_aux else out)
            if variables is not None:
                return out, gradients(loss, variables)
            return out, spec.unflatten(_to_tensors(loss, watched))

    return call


def gradients(loss, variables):
    """d loss / d variable for each, inside of a step, at the values they had when the loss was computed; zeros for those that the loss does
    not depend on."""
    step = engine.current_step()
    if step is None:
        raise RuntimeError("gradients() works inside of a step: a train_step, or a function given to plimsoll.value_and_grad")
    found = {v._storage: step.value_for(v._storage, loss) for v in variables if v._storage in step.initial}
    grads = dict(zip(found, _to_tensors(loss, list(found.values()))))
    return [grads[v._storage] if v._storage in grads else convert_to_tensor(np.zeros(v.shape), v.dtype) for v in variables]


def _to_tensors(loss, tensors):
    """A loss that depends on nothing was computed at once and is in no graph."""
    if not tensors or not _native.is_recorded(loss):
        return [convert_to_tensor(np.zeros(t.shape), t.dtype) for t in tensors]
    return _native.gradients([loss], tensors, [])


def _watched(step, leaf):
    leaf = convert_to_tensor(leaf) if is_array(leaf) or isinstance(leaf, float) else leaf
    if not isinstance(leaf, engine.Tensor):
        raise TypeError(f"[value_and_grad] expected tensors as the first argument, got {type(leaf).__name__}")
    if _native.is_recorded(leaf):
        return leaf
    return step.trace.watched(leaf) if step.eager else _native.recorded(leaf)


@contextlib.contextmanager
def _step():
    step = engine.current_step()
    if step is not None:
        yield step
        return
    step = engine.Step(eager=True)
    with engine.tracing(step):
        yield step
    step.finish()
