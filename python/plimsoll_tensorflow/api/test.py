import unittest as _unittest

import numpy as _np

from plimsoll_tensorflow import hints as _hints


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    from plimsoll_tensorflow.api.config import list_physical_devices

    return bool(list_physical_devices("GPU"))


def gpu_device_name():
    return ""


def is_built_with_cuda():
    return False


is_built_with_rocm = is_built_with_gpu_support = is_built_with_xla = is_built_with_cuda


class TestCase(_unittest.TestCase):
    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        _np.testing.assert_allclose(_np.asarray(a), _np.asarray(b), rtol=rtol, atol=atol, err_msg=msg or "")

    def assertAllEqual(self, a, b, msg=None):
        _np.testing.assert_array_equal(_np.asarray(a), _np.asarray(b), err_msg=msg or "")


def main(argv=None):
    _unittest.main(argv=argv)


__getattr__ = _hints.getter("test")
