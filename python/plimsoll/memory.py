from collections import namedtuple

from plimsoll import _native

MemoryUse = namedtuple("MemoryUse", "engine engine_peak resident resident_peak limit")


def set_memory_limit(limit, micro_batch="never"):
    """Draws the line: "2GiB", "300MB", "60%" (of what this process could have), or bytes as a number. None: no line.

    micro_batch="auto": a batch that fits in no exact way is trained in parts inside the step, equal to rounding and not bit by bit.
    """
    if micro_batch not in ("auto", "never"):
        raise ValueError(f"[set_memory_limit] expected micro_batch 'auto' or 'never', got {micro_batch!r}")
    _native.set_memory_limit(None if limit is None else str(limit))
    _native.allow_parts(micro_batch == "auto")


def memory_use():
    """Bytes that the engine holds and held at most, that the process has resident and had at most, and the line (None: none)."""
    engine, engine_peak, resident, resident_peak, limit = _native.memory_use()
    return MemoryUse(engine, engine_peak, resident, resident_peak, None if limit == 2**63 - 1 else limit)
