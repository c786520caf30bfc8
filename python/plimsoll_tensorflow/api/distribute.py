"""One process on one machine: strategies of one replica."""
import contextlib as _contextlib
import threading as _threading

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.tensor import to_tensor as _to_tensor


class ReduceOp:
    SUM, MEAN = "SUM", "MEAN"


class InputContext:
    """Of the one pipeline there is."""

    num_input_pipelines, input_pipeline_id, num_replicas_in_sync = 1, 0, 1

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        pass

    def get_per_replica_batch_size(self, global_batch_size):
        return global_batch_size


class ValueContext:
    num_replicas_in_sync, replica_id_in_sync_group = 1, 0


class ReplicaContext:
    """What a function given to Strategy.run asks for: the one replica has all there is."""

    num_replicas_in_sync, replica_id_in_sync_group = 1, 0

    def __init__(self, strategy, replica_id_in_sync_group=0):
        self.strategy = strategy

    def all_reduce(self, reduce_op, value, options=None):
        return value

    def all_gather(self, value, axis, options=None):
        return value

    def merge_call(self, merge_fn, args=(), kwargs=None):
        with _within(self.strategy, None):
            return merge_fn(self.strategy, *args, **(kwargs or {}))


class Strategy:
    num_replicas_in_sync = 1

    def __init__(self, *args, **kwargs):
        pass

    cluster_resolver = None

    @_contextlib.contextmanager
    def scope(self):
        with _within(self, None):
            yield self

    def run(self, fn, args=(), kwargs=None, options=None):
        with _within(self, ReplicaContext(self)):
            return fn(*args, **(kwargs or {}))

    @property
    def extended(self):
        return self

    def gather(self, value, axis):
        return _to_tensor(value)

    def reduce(self, reduce_op, value, axis=None):
        if axis is None:
            return value
        from plimsoll_tensorflow import ops

        return ops.REDUCTIONS["reduce_sum" if reduce_op == "SUM" else "reduce_mean"](_to_tensor(value), axis)

    def experimental_distribute_dataset(self, dataset, options=None):
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn):
        return value_fn(ValueContext())

    def experimental_local_results(self, value):
        return (value,)

    def colocate_vars_with(self, variable):
        return _contextlib.nullcontext()


class MirroredStrategy(Strategy):
    pass


class OneDeviceStrategy(Strategy):
    pass


class MultiWorkerMirroredStrategy(Strategy):
    """With this process as its only worker."""


class _Taken:
    """How replicas would talk to one another."""

    def __init__(self, *args, **kwargs):
        self.__dict__.update(kwargs)


class HierarchicalCopyAllReduce(_Taken):
    pass


class NcclAllReduce(_Taken):
    pass


class ReductionToOneDevice(_Taken):
    pass


class RunOptions(_Taken):
    pass


class InputOptions(_Taken):
    pass


class experimental:
    MultiWorkerMirroredStrategy = CentralStorageStrategy = MultiWorkerMirroredStrategy
    CommunicationOptions = _Taken


class cluster_resolver:
    """What the heads of notebooks ask for, to go on without a TPU."""

    class TPUClusterResolver:
        def __init__(self, tpu=None, *args, **kwargs):
            raise ValueError("Please provide a TPU Name to connect to." if not tpu else f"[tf.distribute] no TPU can be reached from here, got {tpu!r}")

        connect = classmethod(lambda cls, tpu=None, *args, **kwargs: cls(tpu))


_default = Strategy()
_scopes = _threading.local()


@_contextlib.contextmanager
def _within(strategy, context):
    """`context`: of the replica whose code runs, or None."""
    before = getattr(_scopes, "now", None)
    _scopes.now = (strategy, context)
    try:
        yield
    finally:
        _scopes.now = before


def _now():
    return getattr(_scopes, "now", None) or (_default, ReplicaContext(_default))


def get_strategy():
    return _now()[0]


def has_strategy():
    return get_strategy() is not _default


def get_replica_context():
    return _now()[1]


def in_cross_replica_context():
    return _now()[1] is None


__getattr__ = _hints.getter("distribute")
