"""with plimsoll.trace("run.json"): what is run inside, for ui.perfetto.dev."""
import contextlib
import threading
import time

from plimsoll import _native

_local = threading.local()


@contextlib.contextmanager
def trace(path):
    """Kernels on their threads, memory by owner, epochs. Of each Program the first ten runs are recorded; at most 100,000 events."""
    if getattr(_local, "file", None) is not None:
        raise RuntimeError("[trace] one is being written already on this thread")
    _local.file = file = _native.TraceFile(str(path))
    try:
        yield
    finally:
        _local.file = None
        file.close()


@contextlib.contextmanager
def stretch(name):
    """A named stretch of time in the trace that is being written, if one is."""
    begin = time.monotonic()
    try:
        yield
    finally:
        file = getattr(_local, "file", None)
        if file is not None:
            file.add(name, begin, time.monotonic())
