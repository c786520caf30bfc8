"""Of TensorFlow 1 only what scripts of TensorFlow 2 still call: the log, and the memory settings of sessions."""
import logging as _logging

import plimsoll as _plimsoll

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops


class GPUOptions:
    def __init__(self, per_process_gpu_memory_fraction=None, allow_growth=None, **options):
        self.per_process_gpu_memory_fraction, self.allow_growth = per_process_gpu_memory_fraction, allow_growth


class ConfigProto:
    def __init__(self, gpu_options=None, **options):
        self.gpu_options = gpu_options or GPUOptions()
        self.__dict__.update(options)


class Session:
    """Holds settings: a fraction of memory becomes the line. It runs nothing."""

    def __init__(self, target="", graph=None, config=None):
        fraction = config.gpu_options.per_process_gpu_memory_fraction if config is not None else None
        if fraction:
            _plimsoll.set_memory_limit(f"{100 * fraction:g}%")

    def run(self, *args, **kwargs):
        raise AttributeError(f"tf.compat.v1.Session.run is not covered by Plimsoll's tensorflow. {_hints.HINTS['Session']}")

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


InteractiveSession = Session


class SummaryMetadata:
    """What Keras's TensorBoard callback fills in."""

    class PluginData:
        plugin_name, content = "", b""

    def __init__(self):
        self.plugin_data = SummaryMetadata.PluginData()


class logging:
    DEBUG, INFO, WARN, ERROR, FATAL = _logging.DEBUG, _logging.INFO, _logging.WARNING, _logging.ERROR, _logging.CRITICAL

    @staticmethod
    def set_verbosity(level):
        _logging.getLogger("tensorflow").setLevel(level)


def enable_eager_execution(*args, **kwargs):
    pass


enable_v2_behavior = enable_eager_execution


def set_random_seed(seed):
    from plimsoll_tensorflow.api.random import set_seed

    set_seed(seed)


def assign(ref, value, *args, **kwargs):
    return ref.assign(value)


def assign_add(ref, value, *args, **kwargs):
    return ref.assign_add(value)


def assign_sub(ref, value, *args, **kwargs):
    return ref.assign_sub(value)


# What Keras's old backend calls by the names of TensorFlow 1.
where, gather, gather_nd, cond, pad, boolean_mask, map_fn, scan = (
    _ops.where, _ops.gather, _ops.gather_nd, _ops.cond, _ops.pad, _ops.boolean_mask, _ops.map_fn, _ops.scan)


class keras:
    class backend:
        @staticmethod
        def set_session(session):
            pass

        @staticmethod
        def clear_session():
            import keras as real

            real.backend.clear_session()


__getattr__ = _hints.getter("compat.v1")
