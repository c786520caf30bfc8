"""Plimsoll: trains Keras models under a hard memory line.

Imported before keras it is Keras's backend, as with KERAS_BACKEND=plimsoll; later only the functions below are there.
"""
import os as _os
import sys as _sys

import keras_plimsoll_bootstrap as _bootstrap  # noqa: F401

if "keras" not in _sys.modules:
    _os.environ.setdefault("KERAS_BACKEND", "plimsoll")

from plimsoll import _native
from plimsoll._native import Tensor, memory_text
from plimsoll.errors import MemoryLineError
from plimsoll.memory import memory_use, set_memory_limit
from plimsoll.plan import plan

__all__ = ["MemoryLineError", "Tensor", "memory_text", "memory_use", "plan", "set_memory_limit"]


def load_ipython_extension(shell):
    from plimsoll import magics
    magics.load_ipython_extension(shell)


def unload_ipython_extension(shell):
    from plimsoll import magics
    magics.unload_ipython_extension(shell)
