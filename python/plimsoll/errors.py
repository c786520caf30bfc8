from plimsoll import _native


class MemoryLineError(MemoryError):
    """A plan or a request would cross the memory line. Nothing was changed: lower the batch or the model, and go on."""


class NonFiniteError(FloatingPointError):
    """A loss or a gradient is NaN or infinite (plimsoll.on_nan). The message names the operation it comes from."""


class StallError(TimeoutError):
    """Training did not come on (plimsoll.on_stall). Raised when what hung has come back."""


_native._set_line_error(MemoryLineError)
_native._set_stall_error(StallError)
