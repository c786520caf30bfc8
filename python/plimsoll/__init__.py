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
from plimsoll.errors import MemoryLineError, NonFiniteError, StallError
from plimsoll.memory import memory_use, set_memory_limit
from plimsoll.plan import plan
from plimsoll.tracing import trace
from plimsoll.watch import on_nan, on_stall

_OF_KERAS = {"forecast": "planner", "MemoryForecast": "planner", "function": "functions", "gradients": "functions",
             "value_and_grad": "functions", "MemoryMonitor": "monitor"}
__all__ = ["MemoryLineError", "NonFiniteError", "StallError", "Tensor", "install_tensorflow", "memory_text", "memory_use", "on_nan", "on_stall",
           "plan", "set_memory_limit", "trace", *_OF_KERAS]


def __getattr__(name):
    """What stands on Keras is imported with it, not before."""
    if name not in _OF_KERAS:
        raise AttributeError(f"module 'plimsoll' has no attribute {name!r}")
    import importlib

    import keras

    if keras.backend.backend() != "plimsoll":
        raise RuntimeError(f"plimsoll.{name} needs Keras on the backend plimsoll, and it was imported with {keras.backend.backend()}: "
                           "set KERAS_BACKEND=plimsoll, or import plimsoll before keras")
    return getattr(importlib.import_module(f"keras_plimsoll.src.{_OF_KERAS[name]}"), name)


def load_ipython_extension(shell):
    from plimsoll import magics
    magics.load_ipython_extension(shell)


def unload_ipython_extension(shell):
    from plimsoll import magics
    magics.unload_ipython_extension(shell)


def install_tensorflow(shadow=False):
    """From here on `import tensorflow` gives Plimsoll's (docs/tensorflow.md). A TensorFlow that is installed is shadowed only if asked."""
    import plimsoll_tensorflow

    plimsoll_tensorflow.install(shadow)
