from plimsoll import MemoryLineError as _MemoryLineError


class OpError(Exception):
    @property
    def message(self):
        return str(self)


class InvalidArgumentError(OpError, ValueError):
    pass


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


ResourceExhaustedError = _MemoryLineError  # what crossing the line raises
