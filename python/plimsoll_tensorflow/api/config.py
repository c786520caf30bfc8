"""tf.config: the machine as it is, and memory limits that become the line."""
from collections import namedtuple as _namedtuple

import plimsoll as _plimsoll

from plimsoll_tensorflow import function as _function
from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.function import run_functions_eagerly, warn_no_effect as _warn  # noqa: F401

PhysicalDevice = _namedtuple("PhysicalDevice", "name device_type")
LogicalDevice = _namedtuple("LogicalDevice", "name device_type")
_physical = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
_logical = [LogicalDevice("/device:CPU:0", "CPU")]


class LogicalDeviceConfiguration:
    """memory_limit in MB, as in TensorFlow: it becomes the memory line."""

    def __init__(self, memory_limit=None, experimental_priority=None, experimental_device_ordinal=None):
        self.memory_limit = memory_limit

    def __repr__(self):
        return f"LogicalDeviceConfiguration(memory_limit={self.memory_limit})"


_configurations = {}


def _of_type(devices, device_type):
    return [d for d in devices if device_type is None or d.device_type == str(device_type).upper()]


def list_physical_devices(device_type=None):
    return _of_type(_physical, device_type)


def list_logical_devices(device_type=None):
    return _of_type(_logical, device_type)


def get_visible_devices(device_type=None):
    return list_physical_devices(device_type)


def set_visible_devices(devices, device_type=None):
    """What is there is used: without devices of a type, none is hidden."""
    given = [] if devices is None else devices if isinstance(devices, (list, tuple)) else [devices]
    for device in given:
        if device not in _physical:
            raise ValueError(f"Unrecognized device: {device!r}")
    if device_type and str(device_type).upper() == "CPU" and not given:
        raise ValueError("The CPU cannot be hidden: the engine runs on it.")


def set_logical_device_configuration(device, logical_devices):
    configurations = list(logical_devices or [])
    limits = [c.memory_limit for c in configurations if c.memory_limit is not None]
    if limits:
        _plimsoll.set_memory_limit(f"{int(sum(limits))}MiB")
    _configurations[device] = configurations


def get_logical_device_configuration(device):
    return _configurations.get(device)


def get_soft_device_placement():
    return True


def set_soft_device_placement(enabled):
    pass


def functions_run_eagerly():
    return _function.eagerly


class optimizer:
    _jit = False

    @staticmethod
    def set_jit(enabled):
        optimizer._jit = bool(enabled)

    @staticmethod
    def get_jit():
        return "autoclustering" if optimizer._jit else ""

    @staticmethod
    def set_experimental_options(options):
        pass

    @staticmethod
    def get_experimental_options():
        return {}


class threading:
    _counts = {"intra": 0, "inter": 0}

    @staticmethod
    def set_intra_op_parallelism_threads(num_threads):
        threading._counts["intra"] = int(num_threads)
        _warn("tf.config.threading.set_intra_op_parallelism_threads", "limit the processors of the process (taskset, the container's CPU limit)")

    @staticmethod
    def set_inter_op_parallelism_threads(num_threads):
        threading._counts["inter"] = int(num_threads)
        _warn("tf.config.threading.set_inter_op_parallelism_threads", "steps run their ops one after the other")

    @staticmethod
    def get_intra_op_parallelism_threads():
        return threading._counts["intra"]

    @staticmethod
    def get_inter_op_parallelism_threads():
        return threading._counts["inter"]


def _check(device):
    name = getattr(device, "name", device)
    if "CPU" not in str(name).upper():
        raise ValueError(f"[tf.config] expected a device of this machine ({', '.join(d.name for d in _physical)}), got {name}")


class experimental:
    """The first names of what is above."""

    VirtualDeviceConfiguration = LogicalDeviceConfiguration
    list_physical_devices = staticmethod(list_physical_devices)
    list_logical_devices = staticmethod(list_logical_devices)
    set_visible_devices = staticmethod(set_visible_devices)
    get_visible_devices = staticmethod(get_visible_devices)
    set_virtual_device_configuration = staticmethod(set_logical_device_configuration)
    get_virtual_device_configuration = staticmethod(get_logical_device_configuration)
    _growth = {}

    @staticmethod
    def set_memory_growth(device, enable):
        """Memory is taken as it is needed here, always."""
        experimental._growth[device] = bool(enable)

    @staticmethod
    def get_memory_growth(device):
        return experimental._growth.get(device, True)

    @staticmethod
    def get_memory_info(device="CPU:0"):
        _check(device)
        use = _plimsoll.memory_use()
        return {"current": use.engine, "peak": use.engine_peak}

    @staticmethod
    def get_memory_usage(device="CPU:0"):
        return experimental.get_memory_info(device)["current"]

    @staticmethod
    def reset_memory_stats(device="CPU:0"):
        _warn("tf.config.experimental.reset_memory_stats", "the engine's peak is that of the process")

    @staticmethod
    def get_device_details(device):
        return {}

    @staticmethod
    def enable_tensor_float_32_execution(enabled):
        pass

    @staticmethod
    def enable_op_determinism():
        """Results depend on seeds alone here, always."""

    @staticmethod
    def set_synchronous_execution(enable):
        pass

    @staticmethod
    def get_synchronous_execution():
        return True


def experimental_run_functions_eagerly(on):
    run_functions_eagerly(on)


__getattr__ = _hints.getter("config")
