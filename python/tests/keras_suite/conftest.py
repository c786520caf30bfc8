"""What Keras's tests import from the conftest.py at the root of its repository, which its wheel does not have."""
import pytest


def skip_if_backend(given_backend, reason):
    from keras.src import backend

    return pytest.mark.skipif(backend.backend() == given_backend, reason=reason)
