"""tf.io.parse_single_example and its kin, and tensors as bytes (TensorProto of TensorFlow: {1: dtype, 2: {2: {1: size}}, 4: content})."""
import collections

import numpy as np

from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.example_proto import Example, SequenceExample, _field, _varint, fields
from plimsoll_tensorflow.ops import shape_list, tensor
from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.sparse_tensor import SparseTensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor

FixedLenFeature = collections.namedtuple("FixedLenFeature", "shape dtype default_value", defaults=(None,))
FixedLenSequenceFeature = collections.namedtuple("FixedLenSequenceFeature", "shape dtype allow_missing default_value", defaults=(False, None))
VarLenFeature = collections.namedtuple("VarLenFeature", "dtype")
RaggedFeature = collections.namedtuple("RaggedFeature", "dtype value_key partitions row_splits_dtype validate", defaults=(None, (), "int32", False))
OF_ANY_LENGTH = (VarLenFeature, RaggedFeature)
LISTS = {"string": "bytes_list", "float32": "float_list", "int64": "int64_list"}


def _bytes(x):
    return x.numpy() if isinstance(x, StringTensor) else x


def _array(feature, wanted, name):
    from plimsoll_tensorflow.api.errors import InvalidArgumentError

    if not isinstance(wanted, (FixedLenFeature, FixedLenSequenceFeature, *OF_ANY_LENGTH)):
        raise NotImplementedError(f"[tf.io.parse_example] expected tf.io.FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or RaggedFeature for "
                                  f"{name!r}, got {type(wanted).__name__}")
    if getattr(wanted, "partitions", ()):
        raise NotImplementedError(f"[tf.io.parse_example] expected a tf.io.RaggedFeature without partitions for {name!r}")
    kind, shape = as_dtype(wanted.dtype), tuple(shape_list(getattr(wanted, "shape", ())))
    if kind.name not in LISTS:
        raise ValueError(f"[tf.io.parse_example] expected a dtype of {list(LISTS)} for {name!r}, got {kind.name}")
    values = getattr(feature, LISTS[kind.name]).value if feature is not None else []
    if isinstance(wanted, OF_ANY_LENGTH):
        shape = (len(values),)
    elif isinstance(wanted, FixedLenSequenceFeature):
        if feature is None and not wanted.allow_missing:
            raise InvalidArgumentError(f"Key: {name}. Feature is required but could not be found, and allow_missing is False.")
        shape = (len(values) // max(1, int(np.prod(shape))), *shape)
    elif not values and wanted.default_value is not None:
        values = np.broadcast_to(np.asarray(wanted.default_value, object if kind == "string" else None), shape).reshape(-1).tolist()
    if len(values) != int(np.prod(shape)):
        raise InvalidArgumentError(f"Key: {name}. Can't parse serialized Example: expected {int(np.prod(shape))} values of {kind.name}, got {len(values)}")
    made = np.empty(len(values), object if kind == "string" else kind.as_numpy_dtype)
    made[:] = values
    return made.reshape(shape)


def _example(serialized, features):
    return _arrays(Example.FromString(_bytes(serialized)).features.feature, features)


def _arrays(found, features):
    return {name: _array(found.get(getattr(wanted, "value_key", None) or name), wanted, name) for name, wanted in features.items()}


def _tensor(array):
    return StringTensor(array) if array.dtype == object else to_tensor(array)


def parse_single_example(serialized, features, example_names=None, name=None):
    return {key: _single(array, features[key]) for key, array in _example(serialized, features).items()}


def _single(array, wanted):
    if not isinstance(wanted, VarLenFeature):
        return _tensor(array)
    return SparseTensor(np.arange(len(array), dtype="int64")[:, None], _tensor(array), [len(array)])


def _batch(arrays, wanted):
    if isinstance(wanted, RaggedFeature):
        return RaggedTensor(arrays)
    return RaggedTensor(arrays).to_sparse() if isinstance(wanted, VarLenFeature) else _tensor(np.stack(_of_one_length(arrays, wanted)))


def _sequence(serialized, context_features, sequence_features):
    """(arrays of the context, for each sequence the arrays of its steps)"""
    from plimsoll_tensorflow.api.errors import InvalidArgumentError

    found = SequenceExample.FromString(_bytes(serialized))
    lists, steps = found.feature_lists.feature_list, {}
    for name, wanted in (sequence_features or {}).items():
        if name not in lists and not getattr(wanted, "allow_missing", True):
            raise InvalidArgumentError(f"Name: <unknown>, Feature list '{name}' is required but could not be found.")
        one = wanted if isinstance(wanted, OF_ANY_LENGTH) else FixedLenFeature(wanted.shape, wanted.dtype)
        steps[name] = [_array(step, one, name) for step in lists[name].feature] if name in lists else []
    return _arrays(found.context.feature, context_features or {}), steps


def _of_steps(steps, wanted):
    kind = as_dtype(wanted.dtype)
    if not isinstance(wanted, OF_ANY_LENGTH):
        empty = np.zeros((0, *shape_list(wanted.shape)), object if kind == "string" else kind.as_numpy_dtype)
        return _tensor(np.stack(steps) if steps else empty)
    return RaggedTensor(steps) if isinstance(wanted, RaggedFeature) else RaggedTensor(steps).to_sparse()


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    context, sequences = _sequence(serialized, context_features, sequence_features)
    return ({key: _single(array, context_features[key]) for key, array in context.items()},
            {key: _of_steps(steps, sequence_features[key]) for key, steps in sequences.items()})


def parse_example(serialized, features, example_names=None, name=None):
    rows = [_example(record, features) for record in StringTensor(serialized).array.reshape(-1)]
    return {key: _batch([row[key] for row in rows], features[key]) for key in features}


def _of_one_length(arrays, wanted):
    """Sequences are filled up to the longest of the batch."""
    if not isinstance(wanted, FixedLenSequenceFeature):
        return arrays
    most = max((len(a) for a in arrays), default=0)
    empty = b"" if as_dtype(wanted.dtype) == "string" else 0
    fill = empty if wanted.default_value is None else wanted.default_value
    return [np.concatenate([a, np.full((most - len(a), *a.shape[1:]), fill, a.dtype)]) for a in arrays]


NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8, "int64": 9, "bool": 10,
           "bfloat16": 14, "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23}


def serialize_tensor(tensor_, name=None):
    x = tensor(tensor_)
    sizes = b"".join(_field(2, _varint(1 << 3) + _varint(n)) for n in x.shape)
    content = b"".join(_field(8, v) for v in x.array.reshape(-1)) if isinstance(x, StringTensor) else _field(4, np.asarray(x).tobytes())
    return StringTensor(_varint(1 << 3) + _varint(NUMBERS[x.dtype.name]) + _field(2, sizes) + content)


def parse_tensor(serialized, out_type, name=None):
    from plimsoll_tensorflow.api.errors import InvalidArgumentError

    number, shape, content, texts = None, [], None, []
    for key, _, value in fields(_bytes(serialized)):
        if key == 1:
            number = value
        elif key == 2:
            shape = [next((n for k, _, n in fields(dim) if k == 1), 0) for k, _, dim in fields(value) if k == 2]
        elif key == 4:
            content = value
        elif key == 8:
            texts.append(value)
    kind = as_dtype(out_type)
    if number != NUMBERS.get(kind.name):
        raise InvalidArgumentError(f"Type mismatch between parsed tensor and dtype ({kind.name})")
    count = int(np.prod(shape))
    if kind == "string":
        found = np.array([*texts, None], object)[:-1]
    elif content is None:
        raise InvalidArgumentError("[tf.io.parse_tensor] expected a tensor that tf.io.serialize_tensor wrote")
    else:
        found = np.frombuffer(content, kind.as_numpy_dtype)
    if found.size != count:
        raise InvalidArgumentError(f"[tf.io.parse_tensor] expected {count} values, got {found.size}")
    return _tensor(found.reshape(shape).copy())


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    return to_tensor(np.frombuffer(_bytes(input_bytes), as_dtype(out_type).as_numpy_dtype).copy())


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None):
    import csv

    from plimsoll_tensorflow.api.errors import InvalidArgumentError

    lines = StringTensor(records).array
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    rows = list(csv.reader([line.decode() for line in lines.reshape(-1)], delimiter=field_delim, quoting=quoting))
    columns = []
    for place, default in zip(select_cols or range(len(record_defaults)), record_defaults):
        default = tensor(default) if not hasattr(default, "as_numpy_dtype") else default
        kind = default if hasattr(default, "as_numpy_dtype") else default.dtype
        fallback = None if default is kind or not np.size(np.asarray(default)) else np.asarray(default).reshape(-1)[0]
        cells = [row[place] if place < len(row) else "" for row in rows]
        if any(cell == na_value and fallback is None for cell in cells):
            raise InvalidArgumentError(f"Field {place} is required but missing in record!")
        convert = str.encode if kind == "string" else int if kind.is_integer else float
        made = np.empty(len(cells), object if kind == "string" else kind.as_numpy_dtype)
        made[:] = [fallback if cell == na_value else convert(cell) for cell in cells]
        columns.append(_tensor(made.reshape(lines.shape)))
    return columns
