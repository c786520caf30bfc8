"""One process on one machine: strategies of one replica."""
import contextlib as _contextlib

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.tensor import to_tensor as _to_tensor


class ReduceOp:
    SUM, MEAN = "SUM", "MEAN"


class Strategy:
    num_replicas_in_sync = 1

    def __init__(self, *args, **kwargs):
        pass

    def scope(self):
        return _contextlib.nullcontext()

    def run(self, fn, args=(), kwargs=None, options=None):
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis=None):
        if axis is None:
            return value
        from plimsoll_tensorflow import ops

        return ops.REDUCTIONS["reduce_sum" if reduce_op == "SUM" else "reduce_mean"](_to_tensor(value), axis)

    def experimental_distribute_dataset(self, dataset, options=None):
        return dataset

    def experimental_local_results(self, value):
        return (value,)


class MirroredStrategy(Strategy):
    pass


class OneDeviceStrategy(Strategy):
    pass


class cluster_resolver:
    """What the heads of notebooks ask for, to go on without a TPU."""

    class TPUClusterResolver:
        def __init__(self, tpu=None, *args, **kwargs):
            raise ValueError("Please provide a TPU Name to connect to." if not tpu else f"[tf.distribute] no TPU can be reached from here, got {tpu!r}")

        connect = classmethod(lambda cls, tpu=None, *args, **kwargs: cls(tpu))


_default = Strategy()


def get_strategy():
    return _default


def has_strategy():
    return False


__getattr__ = _hints.getter("distribute")
