from plimsoll import _native


class MemoryLineError(MemoryError):
    """A plan or a request would cross the memory line. Nothing was changed: lower the batch or the model, and go on."""


_native._set_line_error(MemoryLineError)
