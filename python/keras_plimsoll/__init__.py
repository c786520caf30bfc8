"""The engine of Plimsoll as a backend of Keras 3: `KERAS_BACKEND=plimsoll`, or `import keras_plimsoll` before `keras`."""
import os as _os
import sys as _sys

import keras_plimsoll_bootstrap as _bootstrap  # noqa: F401

if "keras" not in _sys.modules:
    _os.environ.setdefault("KERAS_BACKEND", "plimsoll")
    import keras as _keras  # noqa: F401
