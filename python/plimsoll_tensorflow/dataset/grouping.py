"""What TensorFlow's datasets do beyond a map: groups by key, buckets by length, running states, choices, files of elements."""
import itertools
import json
import os

import numpy as np
from keras import tree

from plimsoll_tensorflow.dataset import seeds
from plimsoll_tensorflow.dataset.structures import INFINITE, UNKNOWN, arrays_of, leaves_of, map_arrays, tensors_of
from plimsoll_tensorflow.dataset.sources import made
from plimsoll_tensorflow.dataset.traced import Traced
from plimsoll_tensorflow.dtypes import TensorSpec, as_dtype
from plimsoll_tensorflow.tensor import to_tensor


def _called(function, element):
    element = tensors_of(element)
    return function(*element) if type(element) is tuple else function(element)


def write_rows(path, rows):
    leaves = (np.asarray(leaf) for row in rows for leaf in leaves_of(row))
    arrays = {f"{i}{part}": a for i, leaf in enumerate(leaves) for part, a in _plain(leaf).items()}
    with open(path, "wb") as file:
        np.savez(file, structure=json.dumps(_skeleton(rows[0]) if rows else []), count=len(rows), **arrays)


def read_rows(path):
    with np.load(path, allow_pickle=False) as stored:
        kept = {key: stored[key] for key in stored.files}
    count, structure = int(kept["count"]), _structure(json.loads(str(kept["structure"])))
    numbers = itertools.count()
    return [map_arrays(lambda _: _restored(kept, str(next(numbers))), structure) for _ in range(count)]


class Grouping:
    """Methods of Dataset; what is given is of that class."""

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        traced = Traced(key_func)

        def windows(it):
            held, wanted = {}, {}
            for x in it:
                key = int(traced(x))
                if key not in wanted:
                    wanted[key] = int(np.asarray(window_size_func(to_tensor(np.int64(key))) if window_size is None else window_size))
                held.setdefault(key, []).append(x)
                if len(held[key]) == wanted[key]:
                    yield key, held.pop(key)
            yield from held.items()

        def iterate(it):
            for key, rows in windows(it):
                yield from reduce_func(to_tensor(np.int64(key)), made(lambda rows=rows: iter(rows), len(rows)))._make()

        return self._then("GroupByWindowDataset", iterate, UNKNOWN, keep_spec=False)

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
                                  pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False, name=None):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but len(bucket_batch_sizes)={len(bucket_batch_sizes)} "
                             f"and len(bucket_boundaries)={len(bucket_boundaries)}")
        ends = np.asarray(bucket_boundaries)

        def batch(key, window):
            size = int(bucket_batch_sizes[int(key)])
            if no_padding:
                return window.batch(size, drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary and int(key) < len(ends):
                fill = lambda x: [int(ends[int(key)]) - 1 if n is None else n for n in (None, *np.shape(x)[1:])] if np.ndim(x) else []
                shapes = map_arrays(fill, next(iter(window._make())))
            return window.padded_batch(size, shapes, padding_values, drop_remainder)

        key = lambda *x: to_tensor(np.int64(np.searchsorted(ends, int(np.asarray(element_length_func(*x))), "right")))
        return self.group_by_window(key, batch, window_size_func=lambda key: bucket_batch_sizes[int(key)])

    def scan(self, initial_state, scan_func, name=None):
        def iterate(it):
            state = tree.map_structure(to_tensor, initial_state)
            for x in it:
                state, out = scan_func(state, tensors_of(x))
                yield arrays_of(out)

        return self._then("ScanDataset", iterate, keep_spec=False)

    def unique(self, name=None):
        def iterate(it):
            seen = set()
            for x in it:
                key = np.asarray(x).tolist() if np.ndim(x) == 0 else (np.shape(x), tuple(np.ravel(x).tolist()))
                if key not in seen:
                    seen.add(key)
                    yield x

        return self._then("UniqueDataset", iterate, UNKNOWN)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        target = np.asarray(target_dist, float)

        def iterate(it):
            numbers = np.random.default_rng(seed if seed is not None else seeds.generator.integers(2**31))
            counts = np.zeros(len(target))
            for x in it:
                kind = int(np.asarray(_called(class_func, x)))
                counts[kind] += 1
                now = np.asarray(initial_dist, float) if initial_dist is not None else (counts + 1) / (counts + 1).sum()
                ratio = np.divide(target, now, out=np.zeros(len(target)), where=now > 0)
                if numbers.random() < ratio[kind] / ratio.max():
                    yield np.asarray(kind, "int64"), x

        return self._then("RejectionResampleDataset", iterate, UNKNOWN, keep_spec=False)

    def ignore_errors(self, log_warning=False, name=None):
        def iterate(it):
            it = iter(it)
            while True:
                try:
                    yield next(it)
                except StopIteration:
                    return
                except Exception:  # noqa: BLE001  (a generator that has raised is over: only sources that go on do)
                    continue

        return self._then("IgnoreErrorsDataset", iterate, UNKNOWN)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=None, name=None):
        from plimsoll_tensorflow.ragged import RaggedTensor

        return self._rows(int(batch_size), drop_remainder, lambda rows: map_arrays(lambda *parts: RaggedTensor.of_rows(parts), *rows))

    def sparse_batch(self, *args, **kwargs):
        raise NotImplementedError("[tf.data] sparse batches are not made here: use padded_batch or ragged_batch")

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Written by the first whole pass, read by the later ones."""
        def make():
            if os.path.exists(os.path.join(path, FILE)):
                return self.load(path)._make()
            self.save(path)
            return self.load(path)._make()

        return made(make, self._size, self._spec, self._batched)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        path = os.fspath(path)
        os.makedirs(path, exist_ok=True)
        write_rows(os.path.join(path, FILE), list(self._make()))

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None):
        rows = read_rows(os.path.join(os.fspath(path), FILE))
        return made(lambda: iter(rows), len(rows))

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        kind = as_dtype(dtype).as_numpy_dtype
        return made(lambda: (np.asarray(i, kind) for i in itertools.count(start, step)), INFINITE, TensorSpec((), dtype), kind="CounterDataset")

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        def make():
            numbers = np.random.default_rng(seed)
            while True:
                yield np.asarray(numbers.integers(2**32), "int64")

        return made(make, INFINITE, kind="RandomDataset")

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        def make():
            opened = [d._make() for d in datasets]
            for choice in choice_dataset._make():
                try:
                    yield next(opened[int(choice)])
                except StopIteration:
                    if stop_on_empty_dataset:
                        return

        return made(make, spec=datasets[0]._spec, kind="DirectedInterleaveDataset")


FILE = "elements.npz"  # leaf after leaf; strings as bytes behind their lengths, so that nothing has to be unpickled


def _skeleton(element):
    """The structure as JSON: a tuple is a list, a leaf is null or "text"."""
    if isinstance(element, tuple):
        return [_skeleton(x) for x in element]
    if isinstance(element, dict):
        return {key: _skeleton(x) for key, x in element.items()}
    return "text" if np.asarray(element).dtype == object else None


def _structure(skeleton):
    if isinstance(skeleton, list):
        return tuple(_structure(x) for x in skeleton)
    if isinstance(skeleton, dict):
        return {key: _structure(x) for key, x in skeleton.items()}
    return skeleton or "number"


def _plain(array):
    if array.dtype != object:
        return {"": array}
    flat = [v if isinstance(v, bytes) else str(v).encode() for v in array.ravel()]
    return {"": np.frombuffer(b"".join(flat), "uint8"), "/ends": np.cumsum([len(v) for v in flat]).reshape(array.shape).astype("int64")}


def _restored(kept, key):
    if key + "/ends" not in kept:
        return kept[key]
    ends, data = kept[key + "/ends"], kept[key].tobytes()
    out = np.empty(ends.shape, object)
    out.reshape(-1)[:] = [data[start:end] for start, end in zip([0, *ends.ravel()[:-1]], ends.ravel())]
    return out
