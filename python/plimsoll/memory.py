import os
from collections import namedtuple

from plimsoll import _native

MemoryUse = namedtuple("MemoryUse", "engine engine_peak resident resident_peak limit")

_line = (None, "never", "")
followers = []  # called when the line has moved
movers = []  # called with a folder: state of optimizers is to lie in files there


def set_memory_limit(limit, micro_batch="never", spill=None):
    """Draws the line: "2GiB", "300MB", "60%" (of what this process could have), or bytes as a number. None: no line.

    micro_batch="auto": a batch that fits in no exact way is trained in parts inside the step, equal to rounding and not bit by bit.
    spill="/a/folder": what optimizers keep (Adam: twice the weights) lies in files there, on a disk, and is in memory only while its
    weight is updated. The same weights bit by bit, slower steps. What has moved there stays until its optimizer goes.
    """
    if micro_batch not in ("auto", "never"):
        raise ValueError(f"[set_memory_limit] expected micro_batch 'auto' or 'never', got {micro_batch!r}")
    global _line
    folder = "" if spill is None else os.path.abspath(spill)
    if folder:
        _native.check_spill(folder)
        for move in movers:
            move(folder)
    _native.set_memory_limit(None if limit is None else str(limit))
    _native.allow_parts(micro_batch == "auto")
    before, _line = _line, (memory_use().limit, micro_batch, folder)
    if _line != before:
        for follow in followers:
            follow()


def spill_folder():
    """Where state of optimizers that is made from now on goes; empty: into memory."""
    return _line[2]


def is_drawn():
    """Whether there is a line. Measures nothing, as memory_use() does."""
    return _line[0] is not None or bool(os.environ.get("PLIMSOLL_MEMORY"))


def is_over():
    """Whether the engine, measured now, holds more than the line allows."""
    _native.measure_memory()
    use = memory_use()
    return use.limit is not None and use.engine > use.limit


def memory_use():
    """Bytes that the engine holds and held at most, that the process has resident and had at most, and the line (None: none)."""
    engine, engine_peak, resident, resident_peak, limit = _native.memory_use()
    return MemoryUse(engine, engine_peak, resident, resident_peak, None if limit == 2**63 - 1 else limit)
