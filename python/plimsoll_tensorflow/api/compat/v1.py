"""Of TensorFlow 1 only what scripts of TensorFlow 2 still call: the log, and the memory settings of sessions."""
import logging as _logging
import types as _types

import keras as _keras
import plimsoll as _plimsoll

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api import math as _math
from plimsoll_tensorflow.api import nn as _nn


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


def random_normal_initializer(mean=0.0, stddev=1.0, seed=None, dtype="float32"):
    return _keras.initializers.RandomNormal(mean, stddev, seed)


def random_uniform_initializer(minval=0.0, maxval=None, seed=None, dtype="float32"):
    return _keras.initializers.RandomUniform(minval, 1.0 if maxval is None else maxval, seed)


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
where, gather, gather_nd, cond, pad, boolean_mask, map_fn, scan, while_loop = (
    _ops.where, _ops.gather, _ops.gather_nd, _ops.cond, _ops.pad, _ops.boolean_mask, _ops.map_fn, _ops.scan, _ops.while_loop)
foldl, foldr = _ops.SAME["foldl"], _ops.SAME["foldr"]


def _in_top_k(predictions, targets, k, name=None):
    return _math.in_top_k(targets, predictions, k)


math = _types.SimpleNamespace(**{name: f for name, f in vars(_math).items() if not name.startswith("_")} | {"in_top_k": _in_top_k})


class nn:
    max_pool, avg_pool = _nn.max_pool, _nn.avg_pool

    @staticmethod
    def convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None):
        return _nn.convolution(input, filter, strides, padding, data_format, dilation_rate)

    @staticmethod
    def conv2d_transpose(value, filter, output_shape, strides, padding="SAME", data_format="NHWC", name=None):
        return _nn.conv2d_transpose(value, filter, output_shape, strides, padding)

    @staticmethod
    def ctc_loss(labels, inputs, sequence_length, preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False,
                 time_major=True, logits=None):
        """Of sparse labels; the last class is blank."""
        from plimsoll_tensorflow.sparse_tensor import to_dense

        counts = _ops.np.bincount(_ops.np.asarray(labels.indices)[:, 0], minlength=labels.shape[0]).astype("int32")
        return _nn.ctc_loss(to_dense(labels), inputs, counts, sequence_length, time_major, blank_index=-1)


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
