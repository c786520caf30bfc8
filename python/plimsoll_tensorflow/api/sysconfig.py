from plimsoll_tensorflow import hints as _hints


def get_build_info():
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


__getattr__ = _hints.getter("sysconfig")
