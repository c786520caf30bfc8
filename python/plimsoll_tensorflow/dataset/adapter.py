"""Datasets as Keras's fit, evaluate and predict read them."""
import types

import numpy as np
from keras import tree
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.data_adapters.py_dataset_adapter import PyDataset

from plimsoll_tensorflow.dataset import Dataset
from plimsoll_tensorflow.dataset.structures import map_arrays
from plimsoll_tensorflow.tensor import StringTensor, is_text


class Adapter(DataAdapter):
    """A Dataset as Keras's fit reads it."""

    num_batches = property(lambda self: None if self.dataset._size < 0 else self.dataset._size)
    batch_size = has_partial_batch = partial_batch_size = None

    def __init__(self, dataset, class_weight=None):
        self.dataset, self.class_weight = dataset, class_weight

    def get_numpy_iterator(self):
        for batch in self.dataset._make():
            if self.class_weight is not None:
                x, y, weight = data_adapter_utils.unpack_x_y_sample_weight(batch)
                batch = (x, y, np.asarray(data_adapter_utils.class_weight_to_sample_weights(y, self.class_weight)) if weight is None else weight)
            yield map_arrays(lambda x: StringTensor(x) if getattr(x, "dtype", None) == object else x, batch)


def _sliced(x, y, sample_weight, batch_size):
    """Arrays with strings among them, which Keras's own adapters do not take, as a dataset."""
    tupled = lambda part: tuple(part) if isinstance(part, list) and part and not isinstance(part[0], (str, bytes)) else part
    parts = (x, y, sample_weight) if sample_weight is not None else (x, y) if y is not None else (x,)
    return Dataset.from_tensor_slices(tuple(map(tupled, parts))).batch(batch_size or 32)


def _has_text(x):
    return any(is_text(leaf) for leaf in tree.flatten(x))


def install(data_adapters):
    """Keras's fit, evaluate and predict take our datasets as they take TensorFlow's."""
    choose = data_adapters.get_data_adapter

    def get_data_adapter(x, y=None, sample_weight=None, batch_size=None, steps_per_epoch=None, shuffle=False, class_weight=None):
        if not isinstance(x, Dataset) and not isinstance(x, (types.GeneratorType, PyDataset)) and _has_text(x):
            x, y, sample_weight = _sliced(x, y, sample_weight, batch_size), None, None
        if not isinstance(x, Dataset):
            return choose(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        if y is not None or sample_weight is not None:
            data_adapters.raise_unsupported_arg("y" if y is not None else "sample_weight", "the targets and weights", "tf.data.Dataset")
        return Adapter(x, class_weight)

    data_adapters.get_data_adapter = get_data_adapter
