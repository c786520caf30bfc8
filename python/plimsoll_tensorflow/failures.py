"""TensorFlow's names of errors. Each is also what Python calls such an error, so that either is caught."""
import functools

from keras_plimsoll.src import engine, ranges
from plimsoll import MemoryLineError


class OpError(Exception):
    @property
    def message(self):
        return str(self)


class InvalidArgumentError(OpError, ValueError):
    pass


class _BadIndex(InvalidArgumentError, IndexError):
    """What TensorFlow has the one name for; Python's own code knows it as the other."""


_BadIndex.__name__ = "InvalidArgumentError"
ranges.Error = _BadIndex


class OutOfRangeError(OpError, IndexError):
    pass


class NotFoundError(OpError, FileNotFoundError):
    pass


class AlreadyExistsError(OpError, FileExistsError):
    pass


class FailedPreconditionError(OpError):
    pass


class UnimplementedError(OpError, NotImplementedError):
    pass


class InternalError(OpError):
    pass


class AbortedError(OpError):
    pass


class UnavailableError(OpError):
    pass


class DataLossError(OpError):
    pass


class PermissionDeniedError(OpError, PermissionError):
    pass


ResourceExhaustedError = MemoryLineError  # what crossing the line raises
CancelledError = type("CancelledError", (OpError,), {})
DeadlineExceededError = type("DeadlineExceededError", (OpError,), {})
UnauthenticatedError = type("UnauthenticatedError", (OpError,), {})
UnknownError = type("UnknownError", (OpError,), {})
OperatorNotAllowedInGraphError = type("OperatorNotAllowedInGraphError", (TypeError,), {})


def typed(function):
    """What cannot be done with values is an InvalidArgumentError, as in TensorFlow; while a step is traced it is a ValueError there too."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (ValueError, IndexError) as error:
            if isinstance(error, OpError) or engine.current_step() is not None:
                raise
            raise (_BadIndex if isinstance(error, IndexError) else InvalidArgumentError)(str(error)) from None

    return call
