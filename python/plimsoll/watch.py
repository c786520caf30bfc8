"""plimsoll.on_nan() and plimsoll.on_stall(): what training does about numbers that are not finite, and about nothing going on."""
import contextlib
import warnings

from plimsoll import _native
from plimsoll.errors import NonFiniteError

POLICIES = ("raise", "skip", "warn")

_setting = (None, False)
_stalls = None


def on_nan(policy, hold_updates=False):
    """For every `fit` and `train_on_batch` from now on, with Keras's own `train_step`:

    "raise": NonFiniteError names the first operation whose results are not finite, its layer and what it read.
    "skip": the step is left out, with its metrics. "warn": it is said once, then all is as without a watch.
    None, the default: nothing, as on every other backend.

    A step whose loss is not finite changes nothing. Where only a gradient is not, its own update is left out and those made before it
    stand, unless `hold_updates` holds all of them back until the last gradient is there, which takes the memory of all gradients. A
    LossScaleOptimizer deals with gradients that are not finite itself.
    """
    global _setting
    if policy is not None and policy not in POLICIES:
        raise ValueError(f"[on_nan] expected one of {POLICIES} or None, got {policy!r}")
    if hold_updates and policy is None:
        raise ValueError("[on_nan] hold_updates needs a policy")
    _setting = (policy, bool(hold_updates))


def begin():
    """The watch of one `fit`; None: nobody watches."""
    return Watch(*_setting) if _setting[0] else None


class Watch:
    def __init__(self, policy, hold):
        self.policy, self.hold, self.left_out, self.over = policy, hold, 0, False

    @property
    def key(self):
        """What of it is part of a traced step."""
        return None if self.over else "held" if self.hold else "each"

    def hit(self, program, inputs, loss_is_finite):
        """After a step that was not finite: whether it is to be run once more, as without a watch. `inputs` None: those of the last row."""
        self.left_out += 1
        message = "a gradient is not finite, though the loss is" if loss_is_finite else "the loss is not finite"
        if loss_is_finite and not self.hold:
            message += " (updates made before it stand; hold_updates=True holds all of them back)"
        if self.policy == "raise":
            raise NonFiniteError(f"{message}; {program.find_nonfinite(inputs)}")
        if self.left_out == 1:
            words = "; the step is left out" if self.policy == "skip" else ""
            warnings.warn(f"{message}{words}; {program.find_nonfinite(inputs)}", RuntimeWarning, stacklevel=2)
        if self.policy == "skip":
            return False
        self.over = True
        return self.hold or not loss_is_finite


def on_stall(policy, after=60.0):
    """For every `fit` from now on: if nothing goes on for `after` seconds (longer where more is usual, and not while the machine is busy with
    others), "warn" writes to the log what it waits for, the operation, its threads and memory; "raise" raises StallError as well, once
    what hung is back. None, the default: nobody watches; in a notebook the guard does."""
    global _stalls
    if policy not in ("warn", "raise", None):
        raise ValueError(f"[on_stall] expected 'warn', 'raise' or None, got {policy!r}")
    if after <= 0:
        raise ValueError(f"[on_stall] expected after > 0, got {after!r}")
    _stalls = None if policy is None else (float(after), 0.0, policy == "raise")


@contextlib.contextmanager
def stall_guard():
    """The watch of one epoch. It ends with the block: an exception may keep what it was raised in for long."""
    guard = Unwatched() if _stalls is None else _native.StallGuard(*_stalls)
    try:
        yield guard
    finally:
        guard.close()


class Unwatched:
    def data(self):
        pass

    step = callbacks = close = data


def waited_for(batches, guard):
    """The batches, each of them waited for under the guard's eyes."""
    batches = iter(batches)
    while True:
        guard.data()
        try:
            batch = next(batches)
        except StopIteration:
            return
        guard.callbacks()
        yield batch
