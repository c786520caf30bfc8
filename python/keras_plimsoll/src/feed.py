"""Batches of NumPy arrays: shuffled as Keras does, cut and run natively, many of them in one call."""
import math
import time

import numpy as np
from keras.src.trainers.data_adapters import array_slicing
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter

from keras_plimsoll.src import engine
from keras_plimsoll.src.steps import flatten
from plimsoll import _native
from plimsoll.errors import MemoryLineError

DTYPES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64".split())
PANDAS = tuple(getattr(array_slicing, name) for name in ("PandasDataFrameSliceable", "PandasSeriesSliceable")
               if hasattr(array_slicing, name))


def feed_of(iterator):
    """For the data of an EpochIterator; None if it must be iterated over in Python."""
    adapter = iterator.data_adapter
    if type(adapter) is not ArrayDataAdapter or iterator.steps_per_epoch not in (None, adapter.num_batches):
        return None
    parts, spec = flatten(array_slicing.convert_to_sliceable(adapter._inputs, target_backend="jax"))
    arrays = [None if part is None else _rows_of(part) for part in parts]
    if any(a is None and part is not None for a, part in zip(arrays, parts)):
        return None
    return Feed(arrays, spec, adapter._num_samples, adapter._batch_size, adapter._shuffle)


def _rows_of(part):
    """The array, if the engine can cut rows from it."""
    if isinstance(part, PANDAS):
        array = np.asarray(part.convert_to_numpy(part.array))
    elif isinstance(part, array_slicing.NumpySliceable):
        array = part.array
    else:
        return None
    known = str(array.dtype) in DTYPES and array.ndim > 0
    return array if known and array[:1].flags.c_contiguous else None


def bytes_of(array):
    """As something with a buffer, which arrays of bfloat16 have not."""
    return array.view(np.uint16) if str(array.dtype) == "bfloat16" else array


class Feed:
    """`arrays` are the leaves of a structure, with `count` rows each; None for leaves that are None."""

    def __init__(self, arrays, spec, count, batch_size, shuffle):
        self.arrays, self.spec, self.count, self.batch_size, self.shuffle = arrays, spec, count, batch_size, shuffle
        self.full, self.rest = divmod(count, batch_size)
        self.batches = math.ceil(count / batch_size)
        self.most = min(batch_size, count)
        self.rows = _native.Rows([bytes_of(a) for a in arrays if a is not None])
        self.order, self.checked = None, set()

    def begin_epoch(self):
        """The same draws as Keras's own iterator over arrays makes."""
        if self.shuffle == "batch":
            starts = range(0, self.count, self.batch_size)
            parts = [np.random.permutation(min(self.batch_size, self.count - start)) + start for start in starts]
            self.order = np.concatenate(parts).astype(np.int64)
        elif self.shuffle:
            self.order = np.random.permutation(self.count).astype(np.int64, copy=False)

    def sample(self):
        return self.spec.unflatten([None if a is None else a[:self.batch_size] for a in self.arrays])

    def types(self, rows):
        return [None if a is None else (str(a.dtype), (rows, *a.shape[1:])) for a in self.arrays]

    def ready(self, steps, at):
        """What runs batch `at`."""
        made = steps.ready(self.types(self.batch_size if at < self.full else self.rest), self.spec, rows=True)
        for indices in made.ranges:
            if indices.key not in self.checked:
                indices.check([a for a in self.arrays if a is not None][indices.place])
                self.checked.add(indices.key)
        return made

    def run(self, steps, at, most, seconds, into=None):
        """Steps over at most so many batches from `at` on, for some seconds: (the batch to go on with, the last one's results)."""
        end, deadline, forgotten = min(at + most, self.batches), time.monotonic() + seconds, False
        while at < end:
            whole, made = at < self.full, None  # nobody but `steps` holds a Program, which may have to go for the next
            made = self.ready(steps, at)
            count = min(end, self.full) - at if whole else 1
            first = at * self.batch_size
            places = [bytes_of(a[first:first + count * self.batch_size]) for a in into or []]
            flag = len(made.types) + 1 if made.watched else -1
            try:
                done, last = made.program.run_rows(self.rows, self.order, first, count, max(deadline - time.monotonic(), 0), places, flag)
            except MemoryLineError:  # before the first step: what was planned for another batch has taken the room of this one
                made = None
                if forgotten or not steps.workshop.forget():
                    raise
                forgotten = True
                continue
            if done == 0:  # another thread has moved its variables just now
                continue
            again = made.is_bad(last) and steps.hit(made, None, last)
            at += done - again
            if time.monotonic() >= deadline:
                break
        return at, made.pack(last)

    def places_for(self, steps):
        """(arrays for the results of all rows, their structure); None if results are not rows as the inputs are."""
        sizes = [size for size in (min(self.batch_size, self.count), self.rest) if size]
        made = [steps.ready(self.types(size), self.spec) for size in sizes]
        kinds = [[(dtype, *shape[1:]) for dtype, shape in m.types] for m in made]
        by_row = all(shape[:1] == (size,) for m, size in zip(made, sizes) for _, shape in m.types)
        if any(m.fixed for m in made) or not by_row or any(k != kinds[0] for k in kinds):
            return None
        return [np.empty((self.count, *shape), engine.numpy_dtype(dtype)) for dtype, *shape in kinds[0]], made[0].spec
