"""Where datasets come from: arrays, generators, numbers, files, other datasets."""
import numpy as np

from plimsoll_tensorflow.dataset import seeds
from plimsoll_tensorflow.dataset.structures import INFINITE, UNKNOWN, arrays_of, checked, dtype_of, is_dataset, leaves_of, map_arrays, tupled
from plimsoll_tensorflow.dtypes import TensorSpec, as_dtype
from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor, value_of


def made(*args, **kwargs):
    from plimsoll_tensorflow.dataset import Dataset  # which has Sources as its base

    return Dataset(*args, **kwargs)


class Sources:
    @staticmethod
    def from_tensor_slices(tensors, name=None):
        arrays = arrays_of(tensors)
        leaves = leaves_of(arrays)
        counts = {len(x) if len(x.shape) else None for x in leaves}
        if None in counts or len(counts) != 1:
            raise ValueError(f"[from_tensor_slices] expected arrays of one length, got shapes {[x.shape for x in leaves]}")
        count = counts.pop()
        spec = map_arrays(lambda x: TensorSpec(x.shape[1:], dtype_of(x)), arrays)
        row = lambda x, i: x.rows[i] if isinstance(x, RaggedTensor) else x[i]
        return made(lambda: (map_arrays(lambda x: row(x, i), arrays) for i in range(count)), count, spec, kind="TensorSliceDataset")

    @staticmethod
    def from_tensors(tensors, name=None):
        arrays = arrays_of(tensors)
        return made(lambda: iter([arrays]), 1, map_arrays(lambda x: TensorSpec(x.shape, dtype_of(x)), arrays), kind="TensorDataset")

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        spec = output_signature
        if spec is None and output_types is not None:
            shapes = output_shapes if output_shapes is not None else map_arrays(lambda _: None, tupled(output_types))
            spec = map_arrays(lambda t, s: TensorSpec(s, t), tupled(output_types), tupled(shapes, tupled(output_types)))
        spec = None if spec is None else tupled(spec)

        def typed(element):
            if spec is None:
                return arrays_of(element)
            return map_arrays(lambda s, x: checked(x, s), spec, tuple(element) if isinstance(spec, tuple) and isinstance(element, list) else element)

        given = [value_of(to_tensor(a)) for a in args or ()]
        return made(lambda: (typed(element) for element in generator(*given)), UNKNOWN, spec, kind="FlatMapDataset")

    @staticmethod
    def range(*args, output_type="int64", name=None):
        numbers = range(*[int(np.asarray(a)) for a in args])
        kind = as_dtype(output_type).as_numpy_dtype
        return made(lambda: (np.asarray(i, kind) for i in numbers), len(numbers), TensorSpec((), output_type), kind="RangeDataset")

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        import glob

        patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
        names = sorted(path for p in patterns for path in glob.glob(p.numpy().decode() if isinstance(p, StringTensor) else str(p)))
        if not names:
            raise ValueError(f"No files matched pattern: {file_pattern}")
        files = Sources.from_tensor_slices(names)
        return files if shuffle is False else files.shuffle(len(names), seed)

    @staticmethod
    def zip(*datasets, name=None):
        structure = datasets[0] if len(datasets) == 1 and not is_dataset(datasets[0]) else datasets
        parts = leaves_of(structure)
        sizes = [d._size for d in parts if d._size != INFINITE]
        size = UNKNOWN if UNKNOWN in sizes else min(sizes, default=INFINITE)

        def make():
            for row in zip(*[d._make() for d in parts]):
                found = iter(row)
                yield map_arrays(lambda _: next(found), structure)

        return made(make, size, batched=any(d._batched for d in parts), kind="ZipDataset")

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None):
        def make():
            numbers = np.random.default_rng(seed if seed is not None else seeds.generator.integers(2**31))
            open_, p = [d._make() for d in datasets], np.asarray(weights if weights is not None else [1.0] * len(datasets), float)
            while p.sum() > 0:
                i = numbers.choice(len(open_), p=p / p.sum())
                try:
                    yield next(open_[i])
                except StopIteration:
                    if stop_on_empty_dataset:
                        return
                    p[i] = 0

        return made(make)
