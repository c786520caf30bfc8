import enum as _enum

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.dataset import AUTOTUNE, Dataset, DatasetSpec, Iterator, Options  # noqa: F401
from plimsoll_tensorflow.dataset.csv import CsvDataset as _CsvDataset
from plimsoll_tensorflow.dataset.csv import make_csv_dataset as _make_csv_dataset
from plimsoll_tensorflow.dataset.structures import INFINITE as INFINITE_CARDINALITY  # noqa: F401
from plimsoll_tensorflow.dataset.structures import UNKNOWN as UNKNOWN_CARDINALITY  # noqa: F401
from plimsoll_tensorflow.records import TFRecordDataset  # noqa: F401


class _AutoShardPolicy(_enum.Enum):
    OFF, AUTO, FILE, DATA, HINT = -1, 0, 1, 2, 3


class experimental:
    AutoShardPolicy, DistributeOptions = _AutoShardPolicy, Options
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
    CsvDataset, make_csv_dataset = _CsvDataset, staticmethod(_make_csv_dataset)

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
