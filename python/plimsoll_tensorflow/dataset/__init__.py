"""tf.data.Dataset: a chain of Python iterators over structures of NumPy arrays. Functions given to map, filter and the like get tensors and are
traced once per signature (function.py). What a shuffle or a cache holds is NumPy's memory, beside the engine's."""
import collections
import itertools
import math
import os

import numpy as np
from keras import tree

from plimsoll_tensorflow.dataset import seeds
from plimsoll_tensorflow.dataset.grouping import Grouping, read_rows, write_rows
from plimsoll_tensorflow.dataset.prefetch import ahead
from plimsoll_tensorflow.dataset.sources import Sources
from plimsoll_tensorflow.dataset.structures import (
    INFINITE, UNKNOWN, dtype_of, leaves_of, map_arrays, padded_rows, stacked, tensors_of)
from plimsoll_tensorflow.dataset.traced import Traced
from plimsoll_tensorflow.dtypes import TensorSpec
from plimsoll_tensorflow.tensor import to_tensor

AUTOTUNE = -1


class Dataset(Sources, Grouping):
    def __init__(self, make, size=UNKNOWN, spec=None, batched=False, kind="Dataset"):
        """make() gives an iterator of elements; `batched`: the first size of elements may differ; `kind`: as it is printed."""
        self._make, self._size, self._spec, self._batched, self._kind = make, size, spec, batched, kind

    def concatenate(self, dataset, name=None):
        size = INFINITE if INFINITE in (self._size, dataset._size) else UNKNOWN if UNKNOWN in (self._size, dataset._size) else self._size + dataset._size
        return Dataset(lambda: itertools.chain(self._make(), dataset._make()), size, self._spec, self._batched, "ConcatenateDataset")

    # what is done to them

    def _then(self, kind, iterate, size=None, keep_spec=True, batched=None):
        return Dataset(lambda: iterate(self._make()), self._size if size is None else size, self._spec if keep_spec else None,
                       self._batched if batched is None else batched, kind)

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False, name=None):
        traced = Traced(map_func)
        return self._then("MapDataset", lambda it: map(traced, it), keep_spec=False)

    def filter(self, predicate, name=None):
        traced = Traced(predicate)
        return self._then("FilterDataset", lambda it: (x for x in it if bool(traced(x))), UNKNOWN)

    def flat_map(self, map_func, name=None):
        def iterate(it):
            for x in it:
                element = tensors_of(x)
                yield from (map_func(*element) if type(element) is tuple else map_func(element))._make()

        return self._then("FlatMapDataset", iterate, UNKNOWN, keep_spec=False)

    def interleave(self, map_func, cycle_length=None, block_length=1, num_parallel_calls=None, deterministic=None, name=None):
        def iterate(it):
            opened, width = collections.deque(), cycle_length if cycle_length not in (None, AUTOTUNE) else 4
            more = True
            while more or opened:
                while more and len(opened) < width:
                    try:
                        element = tensors_of(next(it))
                        opened.append((map_func(*element) if type(element) is tuple else map_func(element))._make())
                    except StopIteration:
                        more = False
                if not opened:
                    return
                one = opened.popleft()
                block = list(itertools.islice(one, block_length))
                yield from block
                if len(block) == block_length:
                    opened.append(one)

        return self._then("InterleaveDataset", lambda it: iterate(iter(it)), UNKNOWN, keep_spec=False)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        batch_size = int(batch_size)
        return self._rows(batch_size, drop_remainder, lambda rows: map_arrays(lambda *parts: stacked(parts), *rows))

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        def padded(shape, value, *parts):
            most = [max(p.shape[a] for p in parts) for a in range(parts[0].ndim)]
            sizes = [m if shape is None or shape[a] in (None, -1) else shape[a] for a, m in enumerate(most)]
            out = np.full((len(parts), *sizes), b"" if parts[0].dtype == object and value is None else 0 if value is None else value, parts[0].dtype)
            for i, p in enumerate(parts):
                out[(i, *(slice(0, n) for n in p.shape))] = p[()]
            return out

        def make(rows):
            rows = [map_arrays(np.asarray, r) for r in rows]
            shapes = map_arrays(lambda _: None, rows[0]) if padded_shapes is None else padded_shapes
            values = padding_values if isinstance(padding_values, (tuple, dict)) else map_arrays(lambda _: padding_values, rows[0])
            return padded_rows(padded, shapes, values, rows)

        return self._rows(int(batch_size), drop_remainder, make)

    def _rows(self, count, drop_remainder, make):
        def iterate(it):
            while rows := list(itertools.islice(it, count)):
                if len(rows) == count or not drop_remainder:
                    yield make(rows)

        size = self._size if self._size < 0 else self._size // count if drop_remainder else math.ceil(self._size / count)
        return self._then("BatchDataset", lambda it: iterate(iter(it)), size, keep_spec=False, batched=not drop_remainder)

    def unbatch(self, name=None):
        def iterate(it):
            for batch in it:
                count = len(leaves_of(batch)[0])
                yield from (map_arrays(lambda x: x[i], batch) for i in range(count))

        return self._then("UnbatchDataset", iterate, UNKNOWN, keep_spec=False, batched=False)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        shift = shift or size

        def iterate(it):
            rows = list(it)
            for start in range(0, len(rows), shift):
                part = rows[start : start + (size - 1) * stride + 1 : stride]
                if len(part) == size or not drop_remainder:
                    yield map_arrays(lambda *leaves: Dataset(lambda: iter(leaves), len(leaves)), *part)

        return self._then("WindowDataset", iterate, UNKNOWN, keep_spec=False)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        buffer_size = int(buffer_size)
        own = None if seed is None else np.random.default_rng(int(seed))

        def iterate(it):
            numbers = own if own is not None and reshuffle_each_iteration in (None, True) else np.random.default_rng(seed) if seed is not None else seeds.generator
            held = list(itertools.islice(it, buffer_size))
            for x in it:
                i = int(numbers.integers(len(held)))
                held[i], x = x, held[i]
                yield x
            for i in numbers.permutation(len(held)):
                yield held[i]

        if seed is None and reshuffle_each_iteration is False:
            seed = int(seeds.generator.integers(2**31))
            return self.shuffle(buffer_size, seed, False)
        return self._then("ShuffleDataset", lambda it: iterate(iter(it)))

    def repeat(self, count=None, name=None):
        def make():
            for _ in itertools.count() if count in (None, -1) else range(int(count)):
                empty = True
                for x in self._make():
                    empty = False
                    yield x
                if empty:
                    return

        size = INFINITE if count in (None, -1) else self._size if self._size < 0 else self._size * int(count)
        return Dataset(make, size, self._spec, self._batched, "RepeatDataset")

    def take(self, count, name=None):
        count = int(count)
        if count < 0:
            return self
        size = self._size if self._size == UNKNOWN else count if self._size == INFINITE else min(count, self._size)
        return self._then("TakeDataset", lambda it: itertools.islice(it, count), size)

    def skip(self, count, name=None):
        count = int(count)
        size = self._size if self._size < 0 else max(self._size - count, 0)
        return self._then("SkipDataset", lambda it: itertools.islice(it, count, None), size)

    def shard(self, num_shards, index, name=None):
        size = self._size if self._size < 0 else len(range(index, self._size, num_shards))
        return self._then("ShardDataset", lambda it: itertools.islice(it, index, None, num_shards), size)

    def take_while(self, predicate, name=None):
        traced = Traced(predicate)
        return self._then("TakeWhileDataset", lambda it: itertools.takewhile(lambda x: bool(traced(x)), it), UNKNOWN)

    def enumerate(self, start=0, name=None):
        return self._then("EnumerateDataset", lambda it: ((np.asarray(i, "int64"), x) for i, x in enumerate(it, start)), keep_spec=False)

    def cache(self, filename="", name=None):
        """A file holds what the first whole pass gave, for later programs too; `.index` is there once it is complete, as TensorFlow's."""
        kept, path = [], os.fspath(filename if isinstance(filename, (str, os.PathLike)) else to_tensor(filename).numpy().decode())
        data, index = path + ".data-00000-of-00001", path + ".index"

        def make():
            if path and not kept and os.path.exists(index):
                kept.append(read_rows(data))
            if kept:
                return iter(kept[0])

            def iterate():
                rows = []
                for x in self._make():
                    rows.append(x)
                    yield x
                kept.append(rows)
                if path:
                    write_rows(data, rows)
                    open(index, "wb").close()

            return iterate()

        return Dataset(make, self._size, self._spec, self._batched, "CacheDataset")

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        return self.unbatch().batch(batch_size, drop_remainder)

    def prefetch(self, buffer_size, name=None):
        return self._then("PrefetchDataset", lambda it: ahead(it, 2 if buffer_size in (None, AUTOTUNE) else max(int(buffer_size), 1)))

    def with_options(self, options, name=None):
        return self

    def options(self):
        return Options()

    def apply(self, transformation_func):
        return transformation_func(self)

    def reduce(self, initial_state, reduce_func, name=None):
        state = tree.map_structure(to_tensor, initial_state)
        for x in self:
            state = reduce_func(state, x)
        return state

    # what they give

    def __iter__(self):
        return Iterator(self)

    def as_numpy_iterator(self):
        return NumpyIterator(self)

    def get_single_element(self, name=None):
        rows = list(itertools.islice(self._make(), 2))
        if len(rows) != 1:
            raise ValueError(f"[get_single_element] expected a dataset of one element, got {len(rows) or 'an empty one'}{' or more' if rows else ''}")
        return tensors_of(rows[0])

    def cardinality(self, name=None):
        return to_tensor(np.asarray(self._size, "int64"))

    def __len__(self):
        if self._size == INFINITE:
            raise TypeError("The dataset is infinite.")
        if self._size == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return self._size

    def __bool__(self):
        return True

    @property
    def element_spec(self):
        if self._spec is None:
            first = next(iter(self._make()), None)
            if first is None:
                raise ValueError("[element_spec] expected a dataset with elements, got an empty one")
            self._spec = map_arrays(lambda x: DatasetSpec(x.element_spec) if isinstance(x, Dataset) else TensorSpec(
                (None, *np.shape(x)[1:]) if self._batched and np.ndim(x) else np.shape(x), dtype_of(np.asarray(x))), first)
        return self._spec

    def __repr__(self):
        return f"<_{self._kind} element_spec={self.element_spec!r}>"


class DatasetSpec:
    def __init__(self, element_spec):
        self.element_spec = element_spec

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r})"


class Iterator:
    def __init__(self, dataset):
        self._dataset, self._rows, self.taken = dataset, iter(dataset._make()), 0

    element_spec = property(lambda self: self._dataset.element_spec)

    def __iter__(self):
        return self

    def __next__(self):
        found = tensors_of(next(self._rows))
        self.taken += 1
        return found

    def start_at(self, taken):
        """From the start again, behind as many elements: what a checkpoint has of an iterator."""
        self._rows, self.taken = iter(self._dataset._make()), taken
        collections.deque(itertools.islice(self._rows, taken), 0)

    def next(self):
        return self.__next__()

    def get_next(self):
        try:
            return next(self)
        except StopIteration:
            from plimsoll_tensorflow.api.errors import OutOfRangeError

            raise OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self):
        return Optional(next(self, Optional.NOTHING))


class NumpyIterator(Iterator):
    """Elements as arrays: not to be written to, as they may be views of what the dataset was made from."""

    def __next__(self):
        found = map_arrays(_read_only, next(self._rows))
        self.taken += 1
        return found


def _read_only(x):
    if not isinstance(x, np.ndarray):
        return x
    x = x.view()
    x.flags.writeable = False
    return x[()]


class Optional:
    """An element, or that there is none."""

    NOTHING = object()

    def __init__(self, value=NOTHING):
        self._value = value

    from_value = classmethod(lambda cls, value: cls(value))
    empty = classmethod(lambda cls, element_spec=None: cls())

    def has_value(self, name=None):
        return to_tensor(self._value is not Optional.NOTHING)

    def get_value(self, name=None):
        if self._value is Optional.NOTHING:
            from plimsoll_tensorflow.api.errors import InvalidArgumentError

            raise InvalidArgumentError("The given optional does not have a value.")
        return self._value


class Options:
    """Taken and without effect: all options of TensorFlow's are about how it runs a pipeline."""

    def __init__(self):
        self.__dict__["_values"] = {}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._values.setdefault(name, Options())

    def __setattr__(self, name, value):
        self._values[name] = value
