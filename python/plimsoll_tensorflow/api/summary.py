"""tf.summary: scalars, histograms, images and texts in TensorBoard's event files. Graphs and profiles are not written."""
import contextlib as _contextlib
import threading as _threading

import numpy as _np

from plimsoll_tensorflow import events as _events
from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.ops import tensor as _tensor
from plimsoll_tensorflow.tensor import StringTensor as _StringTensor

_local = _threading.local()


def _now(name, default=None):
    return getattr(_local, name, default)


@_contextlib.contextmanager
def _set(**values):
    before = {name: _now(name) for name in values}
    _local.__dict__.update(values)
    try:
        yield
    finally:
        _local.__dict__.update(before)


class SummaryWriter:
    def __init__(self, logdir=None, suffix=""):
        self._file = None if logdir is None else _events.EventFile(logdir, suffix or "")

    def set_as_default(self, step=None):
        _local.writer, _local.step = self, _now("step") if step is None else step

    @_contextlib.contextmanager
    def as_default(self, step=None):
        with _set(writer=self, step=_now("step") if step is None else step):
            yield self
        self.flush()

    def _write(self, event):
        if self._file is not None:
            self._file.write(event)

    def flush(self):
        if self._file is not None:
            self._file.flush()

    def close(self):
        if self._file is not None:
            self._file.close()

    def init(self):
        pass


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None, experimental_trackable=False):
    return SummaryWriter(logdir, filename_suffix)


def create_noop_writer():
    return SummaryWriter()


def should_record_summaries():
    condition = _now("condition", True)
    condition = condition() if callable(condition) else True if condition is None else condition
    return _now("writer") is not None and bool(_np.asarray(condition))


def record_if(condition):
    return _set(condition=condition)


def _put(name, plugin, data_class, step, make, description=None, content=b"", whole=False):
    if not should_record_summaries():
        return False
    step = _now("step") if step is None else step
    if step is None:
        raise ValueError("No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()")
    tag = name if whole else "/".join([*(_now("scopes") or ()), name])
    _now("writer")._write(_events.summary_event(tag, make(), _events.metadata_proto(plugin, data_class, description or "", content), int(_np.asarray(step))))
    return True


def scalar(name, data, step=None, description=None):
    def make():
        value = _np.asarray(_tensor(data), "float32")
        if value.ndim:
            raise ValueError(f"[tf.summary.scalar] expected one number for {name!r}, got shape {value.shape}")
        return value

    return _put(name, "scalars", _events.SCALAR, step, make, description)


def histogram(name, data, step=None, buckets=None, description=None):
    return _put(name, "histograms", _events.TENSOR, step, lambda: _events.histogram(_tensor(data), buckets or 30), description)


def image(name, data, step=None, max_outputs=3, description=None):
    def make():
        pictures = _np.asarray(_tensor(data))
        if pictures.ndim != 4:
            raise ValueError(f"[tf.summary.image] expected images of shape (count, height, width, channels), got {pictures.shape}")
        sizes = [str(pictures.shape[2]).encode(), str(pictures.shape[1]).encode()]
        return _np.array([*sizes, *[_events.png(p) for p in pictures[:max_outputs]]], object)

    return _put(name, "images", _events.BLOBS, step, make, description)


def text(name, data, step=None, description=None):
    return _put(name, "text", _events.TENSOR, step, lambda: _StringTensor(_tensor(data)).array, description)


def write(tag, tensor, step=None, metadata=None, name=None):
    plugin = getattr(getattr(metadata, "plugin_data", None), "plugin_name", "") or "scalars"
    content = getattr(getattr(metadata, "plugin_data", None), "content", b"") or b""

    def make():
        x = _tensor(tensor)
        return x.array if isinstance(x, _StringTensor) else _np.asarray(x, "float32")

    return _put(tag, plugin, _events.TENSOR, step, make, content=content, whole=True)


def graph(graph_data):
    return False


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    pass


def trace_export(name, step=None, profiler_outdir=None):
    pass


def trace_off():
    pass


def flush(writer=None, name=None):
    writer = writer or _now("writer")
    if writer is not None:
        writer.flush()


class experimental:
    @staticmethod
    def get_step():
        return _now("step")

    @staticmethod
    def set_step(step):
        _local.step = step

    @staticmethod
    @_contextlib.contextmanager
    def summary_scope(name, default_name="summary", values=None):
        name = name or default_name
        tag = "/".join([*(_now("scopes") or ()), name])
        with _set(scopes=(*(_now("scopes") or ()), name)):
            yield tag, name


__getattr__ = _hints.getter("summary")
