"""TensorFlow's names for scripts written for tensorflow.keras, on Keras 3 with the backend "plimsoll".

`api` is what `import tensorflow` gives once install() has run; `tensorflow.a.b` is plimsoll_tensorflow.api.a.b, and `tensorflow.keras.a`
is keras._tf_keras.keras.a, as in TensorFlow itself. What is not there is an AttributeError that says what to use instead (hints.py).
docs/tensorflow.md has the table.
"""
import importlib.util
import os
import sys

from plimsoll_tensorflow import finder


def installed_tensorflow():
    """Where the real TensorFlow is, or None."""
    if "tensorflow" in sys.modules:
        module = sys.modules["tensorflow"]
        return None if finder.is_ours(module) else getattr(module, "__file__", "tensorflow")
    with finder.paused():
        spec = importlib.util.find_spec("tensorflow")
    return None if spec is None else spec.origin


def install(shadow=False):
    """From here on `import tensorflow` gives ours. A TensorFlow that is installed is only shadowed if asked."""
    if finder.is_ours(sys.modules.get("tensorflow")):
        return
    real = installed_tensorflow()
    if "tensorflow" in sys.modules and real is not None:
        raise ImportError("[install_tensorflow] expected to be called before the first `import tensorflow`; "
                          f"{real} is imported already. Restart the process (the kernel) and call it first.")
    if real is not None and not shadow:
        raise ImportError(f"[install_tensorflow] TensorFlow is installed here ({real}) and would be shadowed. To run on Plimsoll all the "
                          "same: plimsoll.install_tensorflow(shadow=True), or plimsoll run --shadow.")
    prepare()


def offer():
    """Ours, where no TensorFlow is installed, from the first `import tensorflow` on; until then nothing is imported or changed."""
    finder.offer()


def withdraw():
    """No offer any more; what was imported stays."""
    finder.withdraw()


def prepare():
    """The finder and Keras's TensorFlow names, with no look at what else is installed."""
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "plimsoll"
    import keras

    if keras.backend.backend() != "plimsoll":
        raise ImportError(f"[install_tensorflow] expected Keras with the backend plimsoll, got {keras.backend.backend()}: keras was imported "
                          "first. Restart the process (the kernel) and call plimsoll.install_tensorflow() before `import keras`.")
    finder.install()
