"""Elements of datasets: NumPy arrays in tuples and dicts; strings are arrays of bytes."""
import numpy as np
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from plimsoll._native import Tensor

from plimsoll_tensorflow.dtypes import TensorShape, TensorSpec, as_dtype
from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor


INFINITE, UNKNOWN = -1, -2  # how many elements


def is_dataset(x):
    """An element of a dataset of windows is a dataset."""
    return hasattr(x, "_make")


def as_array(x):
    if isinstance(x, RaggedTensor):
        return x
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


def arrays_of(structure):
    """Lists and DataFrames are one tensor; tuples and dicts are structures, as in TensorFlow."""
    if is_dataset(structure):
        return structure
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*[arrays_of(x) for x in structure])
    if isinstance(structure, tuple):
        return tuple(arrays_of(x) for x in structure)
    if isinstance(structure, dict):
        return {key: arrays_of(structure[key]) for key in structure}
    return None if structure is None else as_array(structure)


def map_arrays(function, *structures):
    first = structures[0]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[map_arrays(function, *parts) for parts in zip(*structures)])
    if isinstance(first, tuple):
        return tuple(map_arrays(function, *parts) for parts in zip(*structures))
    if isinstance(first, dict):
        return {key: map_arrays(function, *[s[key] for s in structures]) for key in first}
    return None if first is None else function(*structures)


def leaves_of(structure):
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in leaves_of(part)]
    if isinstance(structure, dict):
        return [leaf for part in structure.values() for leaf in leaves_of(part)]
    return [structure]


def tensors_of(element):
    return map_arrays(lambda x: x if is_dataset(x) or isinstance(x, RaggedTensor) else StringTensor(x) if np.asarray(x).dtype.kind == "O" else to_tensor(x), element)


def stacked(parts):
    if is_dataset(parts[0]):
        raise TypeError("Datasets cannot be batched: use flat_map or interleave.")
    return np.stack([np.asarray(p, object) if isinstance(p, bytes) else p for p in parts])


def dtype_of(array):
    return as_dtype("string" if array.dtype == object else array.dtype)


def tupled(spec, like=None):
    """Lists of specs are tuples; a list of sizes is a shape."""
    if isinstance(like, (TensorSpec, str)) or spec is None:
        return spec
    if isinstance(spec, (list, tuple)) and not isinstance(spec, TensorShape):
        if like is not None and not isinstance(like, (tuple, dict)):
            return TensorShape(spec)
        return tuple(tupled(s, like[i] if isinstance(like, tuple) else None) for i, s in enumerate(spec))
    if isinstance(spec, dict):
        return {key: tupled(s, like[key] if isinstance(like, dict) else None) for key, s in spec.items()}
    return spec if isinstance(spec, (TensorSpec, TensorShape)) else as_dtype(spec) if like is None else spec


def checked(x, spec):
    made = to_tensor(np.asarray(x).astype(spec.dtype.as_numpy_dtype) if spec.dtype != "string" else x, spec.dtype)
    array = made.array if isinstance(made, StringTensor) else engine.to_numpy(made)
    if spec.shape is not None and not spec.shape.is_compatible_with(array.shape):
        raise TypeError(f"`generator` yielded an element of shape {array.shape} where an element of shape {spec.shape} was expected.")
    return array


def padded_rows(make, shapes, values, rows):
    if isinstance(rows[0], tuple):
        return tuple(padded_rows(make, shapes[i], values[i], [r[i] for r in rows]) for i in range(len(rows[0])))
    if isinstance(rows[0], dict):
        return {key: padded_rows(make, shapes[key], values[key], [r[key] for r in rows]) for key in rows[0]}
    value = values.numpy() if hasattr(values, "numpy") else values
    return make(shapes, value, *rows)
