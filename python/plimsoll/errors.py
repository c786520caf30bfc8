from plimsoll import _native


class MemoryLineError(MemoryError):
    """A plan or a request would cross the memory line. Nothing was changed: lower the batch or the model, and go on.

    Of a step: `line` is what is allowed, `need` what it would take without a line, `least` the least line that would do, `batch` the one
    asked for, `largest_batch` the largest that fits, `parts` in how many parts the batch would fit with micro_batch="auto", `layers` the
    heaviest, as pairs of name and bytes. 0 or empty: not known, or none.
    """

    line = need = least = batch = largest_batch = parts = 0
    layers = ()


class NonFiniteError(FloatingPointError):
    """A loss or a gradient is NaN or infinite (plimsoll.on_nan). The message names the operation it comes from."""


class StallError(TimeoutError):
    """Training did not come on (plimsoll.on_stall). Raised when what hung has come back."""


_native._set_line_error(MemoryLineError)
_native._set_stall_error(StallError)
