"""tf.data.Dataset: a chain of Python iterators over structures of NumPy arrays. Functions given to map, filter and the like get tensors and are
traced once per signature (function.py). What a shuffle or a cache holds is NumPy's memory, beside the engine's."""
import collections
import itertools
import math
import queue
import threading

import numpy as np
from keras import tree
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from plimsoll._native import Tensor

from plimsoll_tensorflow import tape
from plimsoll_tensorflow.dtypes import TensorShape, TensorSpec, as_dtype
from plimsoll_tensorflow.function import Function
from plimsoll_tensorflow.tensor import StringTensor, to_tensor, value_of

AUTOTUNE, INFINITE, UNKNOWN = -1, -1, -2

generator = np.random.default_rng()  # of shuffles without a seed; tf.random.set_seed starts it anew


def set_seed(seed):
    global generator
    generator = np.random.default_rng(seed)


def _as_array(x):
    if isinstance(x, BackendVariable):
        x = x.value
    if isinstance(x, Tensor):
        return engine.to_numpy(x)
    if isinstance(x, StringTensor):
        return x.array
    if isinstance(x, np.ndarray) and x.dtype.kind not in "SUO":
        return x
    if hasattr(x, "to_numpy"):
        x = x.to_numpy()
    x = to_tensor(x)
    return x.array if isinstance(x, StringTensor) else engine.to_numpy(x)


def _arrays(structure):
    """Lists are one tensor; tuples and dicts are structures, as in TensorFlow."""
    if isinstance(structure, Dataset):
        return structure
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*[_arrays(x) for x in structure])
    if isinstance(structure, tuple):
        return tuple(_arrays(x) for x in structure)
    if isinstance(structure, dict) or type(structure).__name__ == "DataFrame":
        return {key: _arrays(structure[key]) for key in structure}
    return None if structure is None else _as_array(structure)


def _map_arrays(function, *structures):
    first = structures[0]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[_map_arrays(function, *parts) for parts in zip(*structures)])
    if isinstance(first, tuple):
        return tuple(_map_arrays(function, *parts) for parts in zip(*structures))
    if isinstance(first, dict):
        return {key: _map_arrays(function, *[s[key] for s in structures]) for key in first}
    return None if first is None else function(*structures)


def _leaves(structure):
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in _leaves(part)]
    if isinstance(structure, dict):
        return [leaf for part in structure.values() for leaf in _leaves(part)]
    return [structure]


def _tensors(element):
    return _map_arrays(lambda x: x if isinstance(x, Dataset) else StringTensor(x) if np.asarray(x).dtype.kind == "O" else to_tensor(x), element)


def _stacked(parts):
    if isinstance(parts[0], Dataset):
        raise TypeError("Datasets cannot be batched: use flat_map or interleave.")
    return np.stack([np.asarray(p, object) if isinstance(p, bytes) else p for p in parts])


class _Traced:
    """A function of the user on elements: called with tensors, gives arrays."""

    def __init__(self, function):
        self.function = Function(function)

    def __call__(self, element):
        element = _tensors(element)
        with tape.paused():
            result = self.function(*element) if type(element) is tuple else self.function(element)
        return _arrays(tuple(result) if isinstance(result, list) and any(isinstance(r, (Tensor, StringTensor)) for r in result) else result)


class Dataset:
    def __init__(self, make, size=UNKNOWN, spec=None, batched=False, kind="Dataset"):
        """make() gives an iterator of elements; `batched`: the first size of elements may differ; `kind`: as it is printed."""
        self._make, self._size, self._spec, self._batched, self._kind = make, size, spec, batched, kind

    # where they come from

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        arrays = _arrays(tensors)
        leaves = _leaves(arrays)
        counts = {len(x) if x.ndim else None for x in leaves}
        if None in counts or len(counts) != 1:
            raise ValueError(f"[from_tensor_slices] expected arrays of one length, got shapes {[x.shape for x in leaves]}")
        count = counts.pop()
        spec = _map_arrays(lambda x: TensorSpec(x.shape[1:], _dtype(x)), arrays)
        return Dataset(lambda: (_map_arrays(lambda x: x[i], arrays) for i in range(count)), count, spec, kind="TensorSliceDataset")

    @staticmethod
    def from_tensors(tensors, name=None):
        arrays = _arrays(tensors)
        return Dataset(lambda: iter([arrays]), 1, _map_arrays(lambda x: TensorSpec(x.shape, _dtype(x)), arrays), kind="TensorDataset")

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        spec = output_signature
        if spec is None and output_types is not None:
            shapes = output_shapes if output_shapes is not None else _map_arrays(lambda _: None, _tupled(output_types))
            spec = _map_arrays(lambda t, s: TensorSpec(s, t), _tupled(output_types), _tupled(shapes, _tupled(output_types)))
        spec = None if spec is None else _tupled(spec)

        def typed(element):
            if spec is None:
                return _arrays(element)
            return _map_arrays(lambda s, x: _checked(x, s), spec, tuple(element) if isinstance(spec, tuple) and isinstance(element, list) else element)

        given = [value_of(to_tensor(a)) for a in args or ()]
        return Dataset(lambda: (typed(element) for element in generator(*given)), UNKNOWN, spec, kind="FlatMapDataset")

    @staticmethod
    def range(*args, output_type="int64", name=None):
        numbers = range(*[int(np.asarray(a)) for a in args])
        kind = as_dtype(output_type).as_numpy_dtype
        return Dataset(lambda: (np.asarray(i, kind) for i in numbers), len(numbers), TensorSpec((), output_type), kind="RangeDataset")

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        import glob

        patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
        names = sorted(path for p in patterns for path in glob.glob(p.numpy().decode() if isinstance(p, StringTensor) else str(p)))
        if not names:
            raise ValueError(f"No files matched pattern: {file_pattern}")
        files = Dataset.from_tensor_slices(names)
        return files if shuffle is False else files.shuffle(len(names), seed)

    @staticmethod
    def zip(*datasets, name=None):
        structure = datasets[0] if len(datasets) == 1 and not isinstance(datasets[0], Dataset) else datasets
        parts = _leaves(structure)
        sizes = [d._size for d in parts if d._size != INFINITE]
        size = UNKNOWN if UNKNOWN in sizes else min(sizes, default=INFINITE)

        def make():
            for row in zip(*[d._make() for d in parts]):
                found = iter(row)
                yield _map_arrays(lambda _: next(found), structure)

        return Dataset(make, size, batched=any(d._batched for d in parts), kind="ZipDataset")

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None):
        def make():
            numbers = np.random.default_rng(seed if seed is not None else generator.integers(2**31))
            open_, p = [d._make() for d in datasets], np.asarray(weights if weights is not None else [1.0] * len(datasets), float)
            while p.sum() > 0:
                i = numbers.choice(len(open_), p=p / p.sum())
                try:
                    yield next(open_[i])
                except StopIteration:
                    if stop_on_empty_dataset:
                        return
                    p[i] = 0

        return Dataset(make)

    def concatenate(self, dataset, name=None):
        size = INFINITE if INFINITE in (self._size, dataset._size) else UNKNOWN if UNKNOWN in (self._size, dataset._size) else self._size + dataset._size
        return Dataset(lambda: itertools.chain(self._make(), dataset._make()), size, self._spec, self._batched, "ConcatenateDataset")

    # what is done to them

    def _then(self, kind, iterate, size=None, keep_spec=True, batched=None):
        return Dataset(lambda: iterate(self._make()), self._size if size is None else size, self._spec if keep_spec else None,
                       self._batched if batched is None else batched, kind)

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False, name=None):
        traced = _Traced(map_func)
        return self._then("MapDataset", lambda it: (traced(x) for x in it), keep_spec=False)

    def filter(self, predicate, name=None):
        traced = _Traced(predicate)
        return self._then("FilterDataset", lambda it: (x for x in it if bool(traced(x))), UNKNOWN)

    def flat_map(self, map_func, name=None):
        def iterate(it):
            for x in it:
                element = _tensors(x)
                yield from (map_func(*element) if type(element) is tuple else map_func(element))._make()

        return self._then("FlatMapDataset", iterate, UNKNOWN, keep_spec=False)

    def interleave(self, map_func, cycle_length=None, block_length=1, num_parallel_calls=None, deterministic=None, name=None):
        def iterate(it):
            opened, width = collections.deque(), cycle_length if cycle_length not in (None, AUTOTUNE) else 4
            more = True
            while more or opened:
                while more and len(opened) < width:
                    try:
                        element = _tensors(next(it))
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
        return self._rows(batch_size, drop_remainder, lambda rows: _map_arrays(lambda *parts: _stacked(parts), *rows))

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        def padded(shape, value, *parts):
            most = [max(p.shape[a] for p in parts) for a in range(parts[0].ndim)]
            sizes = [m if shape is None or shape[a] in (None, -1) else shape[a] for a, m in enumerate(most)]
            out = np.full((len(parts), *sizes), b"" if parts[0].dtype == object and value is None else 0 if value is None else value, parts[0].dtype)
            for row, p in zip(out, parts):
                row[tuple(slice(0, n) for n in p.shape)] = p
            return out

        def make(rows):
            rows = [_map_arrays(np.asarray, r) for r in rows]
            shapes = _map_arrays(lambda _: None, rows[0]) if padded_shapes is None else padded_shapes
            values = padding_values if isinstance(padding_values, (tuple, dict)) else _map_arrays(lambda _: padding_values, rows[0])
            return _padded(padded, shapes, values, rows)

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
                count = len(_leaves(batch)[0])
                yield from (_map_arrays(lambda x: x[i], batch) for i in range(count))

        return self._then("UnbatchDataset", iterate, UNKNOWN, keep_spec=False, batched=False)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        shift = shift or size

        def iterate(it):
            rows = list(it)
            for start in range(0, len(rows), shift):
                part = rows[start : start + (size - 1) * stride + 1 : stride]
                if len(part) == size or not drop_remainder:
                    yield _map_arrays(lambda *leaves: Dataset(lambda: iter(leaves), len(leaves)), *part)

        return self._then("WindowDataset", iterate, UNKNOWN, keep_spec=False)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        buffer_size = int(buffer_size)
        own = None if seed is None else np.random.default_rng(int(seed))

        def iterate(it):
            numbers = own if own is not None and reshuffle_each_iteration in (None, True) else np.random.default_rng(seed) if seed is not None else generator
            held = list(itertools.islice(it, buffer_size))
            for x in it:
                i = int(numbers.integers(len(held)))
                held[i], x = x, held[i]
                yield x
            for i in numbers.permutation(len(held)):
                yield held[i]

        if seed is None and reshuffle_each_iteration is False:
            seed = int(generator.integers(2**31))
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
        traced = _Traced(predicate)
        return self._then("TakeWhileDataset", lambda it: itertools.takewhile(lambda x: bool(traced(x)), it), UNKNOWN)

    def enumerate(self, start=0, name=None):
        return self._then("EnumerateDataset", lambda it: ((np.asarray(i, "int64"), x) for i, x in enumerate(it, start)), keep_spec=False)

    def cache(self, filename="", name=None):
        kept = []

        def make():
            if kept:
                return iter(kept[0])

            def iterate():
                rows = []
                for x in self._make():
                    rows.append(x)
                    yield x
                kept.append(rows)

            return iterate()

        return Dataset(make, self._size, self._spec, self._batched, "CacheDataset")

    def prefetch(self, buffer_size, name=None):
        return self._then("PrefetchDataset", lambda it: _ahead(it, 2 if buffer_size in (None, AUTOTUNE) else max(int(buffer_size), 1)))

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
        return (_map_arrays(lambda x: x[()] if isinstance(x, np.ndarray) else x, element) for element in self._make())

    def get_single_element(self, name=None):
        rows = list(itertools.islice(self._make(), 2))
        if len(rows) != 1:
            raise ValueError(f"[get_single_element] expected a dataset of one element, got {len(rows) or 'an empty one'}{' or more' if rows else ''}")
        return _tensors(rows[0])

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
            self._spec = _map_arrays(lambda x: DatasetSpec(x.element_spec) if isinstance(x, Dataset) else TensorSpec(
                (None, *np.shape(x)[1:]) if self._batched and np.ndim(x) else np.shape(x), _dtype(np.asarray(x))), first)
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
        self._dataset, self._rows = dataset, iter(dataset._make())

    element_spec = property(lambda self: self._dataset.element_spec)

    def __iter__(self):
        return self

    def __next__(self):
        return _tensors(next(self._rows))

    def get_next(self):
        try:
            return next(self)
        except StopIteration:
            from plimsoll_tensorflow.api.errors import OutOfRangeError

            raise OutOfRangeError("End of sequence") from None


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


def _ahead(iterator, count):
    """The iterator's elements, made by a thread up to `count` ahead. It ends when the reader does."""
    ready, stop = queue.Queue(count), threading.Event()
    end = object()

    def put(item):
        while not stop.is_set():
            try:
                return ready.put(item, timeout=0.1)
            except queue.Full:
                continue

    def work():
        try:
            for x in iterator:
                put((x, None))
                if stop.is_set():
                    return
            put((end, None))
        except BaseException as error:  # noqa: BLE001  it is raised where the element would have been read
            put((end, error))

    threading.Thread(target=work, daemon=True, name="dataset-prefetch").start()
    try:
        while True:
            x, error = ready.get()
            if error is not None:
                raise error
            if x is end:
                return
            yield x
    finally:
        stop.set()


def _dtype(array):
    return as_dtype("string" if array.dtype == object else array.dtype)


def _tupled(spec, like=None):
    """Lists of specs are tuples; a list of sizes is a shape."""
    if isinstance(like, (TensorSpec, str)) or spec is None:
        return spec
    if isinstance(spec, (list, tuple)) and not isinstance(spec, TensorShape):
        if like is not None and not isinstance(like, (tuple, dict)):
            return TensorShape(spec)
        return tuple(_tupled(s, like[i] if isinstance(like, tuple) else None) for i, s in enumerate(spec))
    if isinstance(spec, dict):
        return {key: _tupled(s, like[key] if isinstance(like, dict) else None) for key, s in spec.items()}
    return spec if isinstance(spec, (TensorSpec, TensorShape)) else as_dtype(spec) if like is None else spec


def _checked(x, spec):
    made = to_tensor(np.asarray(x).astype(spec.dtype.as_numpy_dtype) if spec.dtype != "string" else x, spec.dtype)
    array = made.array if isinstance(made, StringTensor) else engine.to_numpy(made)
    if spec.shape is not None and not spec.shape.is_compatible_with(array.shape):
        raise TypeError(f"`generator` yielded an element of shape {array.shape} where an element of shape {spec.shape} was expected.")
    return array


def _padded(make, shapes, values, rows):
    if isinstance(rows[0], tuple):
        return tuple(_padded(make, shapes[i], values[i], [r[i] for r in rows]) for i in range(len(rows[0])))
    if isinstance(rows[0], dict):
        return {key: _padded(make, shapes[key], values[key], [r[key] for r in rows]) for key in rows[0]}
    value = values.numpy() if hasattr(values, "numpy") else values
    return make(shapes, value, *rows)


class _Adapter(DataAdapter):
    """A Dataset as Keras's fit reads it."""

    num_batches = property(lambda self: None if self.dataset._size < 0 else self.dataset._size)
    batch_size = has_partial_batch = partial_batch_size = None

    def __init__(self, dataset, class_weight=None):
        self.dataset, self.class_weight = dataset, class_weight

    def get_numpy_iterator(self):
        for batch in self.dataset._make():
            if any(np.asarray(leaf).dtype == object for leaf in _leaves(batch) if leaf is not None):
                raise ValueError("The dataset gives strings, which a model cannot be trained on here: map them to numbers first, such as "
                                 "dataset.map(lambda text, label: (vectorize_layer(text), label)).")
            if self.class_weight is not None:
                x, y, weight = data_adapter_utils.unpack_x_y_sample_weight(batch)
                batch = (x, y, np.asarray(data_adapter_utils.class_weight_to_sample_weights(y, self.class_weight)) if weight is None else weight)
            yield batch


def install(data_adapters):
    """Keras's fit, evaluate and predict take our datasets as they take TensorFlow's."""
    choose = data_adapters.get_data_adapter

    def get_data_adapter(x, y=None, sample_weight=None, batch_size=None, steps_per_epoch=None, shuffle=False, class_weight=None):
        if not isinstance(x, Dataset):
            return choose(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        if y is not None or sample_weight is not None:
            data_adapters.raise_unsupported_arg("y" if y is not None else "sample_weight", "the targets and weights", "tf.data.Dataset")
        return _Adapter(x, class_weight)

    data_adapters.get_data_adapter = get_data_adapter
