import enum as _enum

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.dataset import AUTOTUNE, Dataset, DatasetSpec, Iterator, Optional, Options  # noqa: F401
from plimsoll_tensorflow.dataset.csv import CsvDataset as _CsvDataset
from plimsoll_tensorflow.dataset.csv import make_csv_dataset as _make_csv_dataset
from plimsoll_tensorflow.dataset.structures import INFINITE as INFINITE_CARDINALITY  # noqa: F401
from plimsoll_tensorflow.dataset.structures import UNKNOWN as UNKNOWN_CARDINALITY  # noqa: F401
from plimsoll_tensorflow.records import TFRecordDataset  # noqa: F401


def _as_function(name):
    """What is a method now, as a function for Dataset.apply."""
    return staticmethod(lambda *args, **kwargs: lambda dataset: getattr(dataset, name)(*args, **kwargs))


class _AutoShardPolicy(_enum.Enum):
    OFF, AUTO, FILE, DATA, HINT = -1, 0, 1, 2, 3


class experimental:
    AutoShardPolicy, DistributeOptions = _AutoShardPolicy, Options
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
    CsvDataset, make_csv_dataset = _CsvDataset, staticmethod(_make_csv_dataset)

    Optional, Counter, RandomDataset = Optional, staticmethod(Dataset.counter), staticmethod(Dataset.random)
    sample_from_datasets, choose_from_datasets = staticmethod(Dataset.sample_from_datasets), staticmethod(Dataset.choose_from_datasets)
    bucket_by_sequence_length, group_by_window, scan, unique, unbatch, take_while, snapshot, rejection_resample = map(_as_function, (
        "bucket_by_sequence_length", "group_by_window", "scan", "unique", "unbatch", "take_while", "snapshot", "rejection_resample"))
    enumerate_dataset, dense_to_ragged_batch, parallel_interleave = map(_as_function, ("enumerate", "ragged_batch", "interleave"))
    load, get_single_element = staticmethod(Dataset.load), staticmethod(lambda dataset, name=None: dataset.get_single_element())
    get_next_as_optional = staticmethod(lambda iterator: iterator.get_next_as_optional())
    get_structure = staticmethod(lambda dataset: dataset.element_spec)

    @staticmethod
    def save(dataset, path, compression=None, shard_func=None):
        dataset.save(path)

    @staticmethod
    def ignore_errors(log_warning=False):
        return lambda dataset: dataset.ignore_errors(log_warning)

    @staticmethod
    def shuffle_and_repeat(buffer_size, count=None, seed=None):
        return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)

    @staticmethod
    def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
        return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)

    @staticmethod
    def cardinality(dataset):
        return dataset.cardinality()

    @staticmethod
    def assert_cardinality(expected_cardinality):
        return lambda dataset: Dataset(dataset._make, int(expected_cardinality), dataset._spec, dataset._batched)


class TextLineDataset(Dataset):
    def __init__(self, filenames, *args, **kwargs):
        names = [f.decode() if isinstance(f, bytes) else str(f) for f in ([filenames] if isinstance(filenames, str) else _names(filenames))]

        def make():
            for name in names:
                with open(name, "rb") as file:
                    for line in file:
                        yield _np.asarray(line.rstrip(b"\r\n"), object)

        super().__init__(make)


def _names(filenames):
    found = filenames.numpy() if hasattr(filenames, "numpy") else filenames
    return [found] if isinstance(found, (bytes, str)) else list(found)


import numpy as _np  # noqa: E402

__getattr__ = _hints.getter("data")
