"""tf.data.experimental's CSV files: columns as dicts of batches, or records as tuples."""
import csv
import glob

import numpy as np

from plimsoll_tensorflow.dataset import Dataset
from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.files import path_of


def _paths(pattern):
    names = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    found = [path for name in names for path in sorted(glob.glob(path_of(name)))]
    if not found:
        raise ValueError(f"No files match {pattern}.")
    return found


def _rows(paths, field_delim, header, use_quote_delim=True):
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            rows = csv.reader(file, delimiter=field_delim, quoting=csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE)
            if header:
                next(rows, None)
            yield from rows


def _typed(cells, na_value):
    """int32, int64, float32 or strings, whichever all cells can be."""
    given = [cell for cell in cells if cell not in ("", na_value)]
    for kind, convert in (("int32", int), ("int64", int), ("float32", float)):
        try:
            values = [convert(cell) for cell in given]
            if kind == "float32" or all(abs(v) < 2 ** (31 if kind == "int32" else 63) for v in values):
                return as_dtype(kind), 0
        except ValueError:
            continue
    return as_dtype("string"), b""


def _column(cells, kind, default, na_value):
    convert = str.encode if kind == "string" else int if kind.is_integer else float
    made = np.empty(len(cells), object if kind == "string" else kind.as_numpy_dtype)
    made[:] = [default if cell in ("", na_value) else convert(cell) for cell in cells]
    return made


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None, field_delim=",",
                     use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     num_rows_for_inference=100, ignore_errors=False, **options):
    paths = _paths(file_pattern)
    if column_names is None:
        column_names = next(_rows(paths, field_delim, False))
    places = [column_names.index(name) for name in select_columns or column_names]
    names = [column_names[i] for i in places]
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns.")
    rows = [[row[i] for i in places] for row in _rows(paths, field_delim, header, use_quote_delim)]
    columns = {}
    for i, name in enumerate(names):
        cells = [row[i] for row in rows]
        kind, default = _typed(cells[:num_rows_for_inference], na_value) if column_defaults is None else (as_dtype(column_defaults[i]), 0)
        columns[name] = _column(cells, kind, b"" if kind == "string" else default, na_value)
    label = columns.pop(label_name, None)
    ds = Dataset.from_tensor_slices(columns if label is None else (columns, label))
    ds = ds.shuffle(shuffle_buffer_size, shuffle_seed) if shuffle else ds
    return ds.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None)


class CsvDataset(Dataset):
    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",", use_quote_delim=True,
                 na_value="", select_cols=None, exclude_cols=None):
        from plimsoll_tensorflow.ops import tensor

        if compression_type not in (None, "") or exclude_cols is not None:
            raise NotImplementedError("[CsvDataset] expected neither compression_type nor exclude_cols")
        paths = _paths(filenames)
        kinds = [(d, None) if hasattr(d, "as_numpy_dtype") else (tensor(d).dtype, np.asarray(tensor(d)).reshape(-1)[:1].tolist() or None)
                 for d in record_defaults]

        def element(row):
            cells = row if select_cols is None else [row[i] for i in select_cols]
            return tuple(_column([cell], kind, default[0] if default else 0, na_value)[0] for cell, (kind, default) in zip(cells, kinds))

        super().__init__(lambda: (element(row) for row in _rows(paths, field_delim, header, use_quote_delim)))
