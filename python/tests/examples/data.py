"""Small synthetic data in the place of what the examples download. Made from a generator of its own: the same on every backend.

install() puts it where an example asks: keras.datasets, keras.utils.get_file, urlretrieve, pandas.read_csv and numpy.loadtxt of a URL,
tensorflow_datasets.load, and files that a shell command of the notebook would have fetched.
"""
import builtins
import os
import pathlib
import shutil
import sys
import types
import urllib.request

import files
import numpy as np

PRETRAINED = "pretrained.weights.h5"


def images(count, shape, classes, seed):
    """uint8 images of which each class has a pattern of its own, under noise."""
    random = np.random.default_rng(seed)
    patterns = random.integers(0, 156, (classes, *shape), dtype="uint8")
    labels = random.integers(0, classes, count)
    noise = random.integers(0, 100, (count, *shape), dtype="uint8")
    return patterns[labels] + noise, labels


def image_dataset(train, test, shape, classes, label_shape=(-1,)):
    def load_data(*args, **kwargs):
        (x, y), (u, v) = images(train, shape, classes, 1), images(test, shape, classes, 2)
        as_labels = lambda labels: labels.astype("uint8").reshape(label_shape)
        return (x, as_labels(y)), (u, as_labels(v))

    return load_data


def reviews(num_words=None, classes=2, count=400, **kwargs):
    random = np.random.default_rng(3)

    def part():
        lengths = random.integers(20, 240, count)
        texts = [random.integers(1, num_words or 20000, n).tolist() for n in lengths]
        return np.array(texts, dtype=object), random.integers(0, classes, count)

    return part(), part()


def table(rows, columns):
    random = np.random.default_rng(4)

    def load_data(*args, **kwargs):
        x = random.normal(size=(rows, columns)).astype("float32")
        y = (x.sum(axis=1) + 20.0).astype("float32")
        return (x[rows // 4:], y[rows // 4:]), (x[: rows // 4], y[: rows // 4])

    return load_data


# rows to train on, rows to test on, shape, classes, shape of the labels
IMAGES = {"mnist": (10400, 128, (28, 28), 10), "fashion_mnist": (10400, 128, (28, 28), 10),
          "cifar10": (1400, 128, (32, 32, 3), 10, (-1, 1)), "cifar100": (1000, 128, (32, 32, 3), 100, (-1, 1))}
DATASETS = {"imdb": reviews, "reuters": lambda **kw: reviews(classes=46, **kw), "california_housing": table(400, 8),
            "boston_housing": table(400, 13)}


def datasets(rows):
    """load_data() of each; `rows` has other sizes for some: name -> (to train on, to test on)"""
    return DATASETS | {name: image_dataset(*rows.get(name, known[:2]), *known[2:]) for name, known in IMAGES.items()}


class Folder:
    """Where the example runs: files appear in it when they are asked for."""

    def __init__(self, path):
        self.path, self.making = pathlib.Path(path), set()

    def find(self, name):
        """The local path for a URL or file name; None if it is not one that is known here."""
        name = str(name).split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        if name not in files.MAKERS or name in self.making:
            return None
        self.making.add(name)  # it is opened while it is made
        made = str(files.MAKERS[name](self.path))
        self.making.remove(name)
        return made

    def get_file(self, fname=None, origin=None, *args, **kwargs):
        for name in (fname, origin):
            found = name and self.find(name)
            if found:
                return found
        if str(fname or origin).endswith((".h5", ".keras")):
            return str(self.path / PRETRAINED)
        raise FileNotFoundError(f"no synthetic data for get_file({fname!r}, {origin!r})")

    def urlretrieve(self, url, filename=None, *args, **kwargs):
        path = self.find(url)
        if path is None:
            raise FileNotFoundError(f"no synthetic data for {url}")
        return (shutil.copy(path, filename) if filename else path), None

    def redirected(self, function):
        """A function of a path or URL, which finds our file if there is none."""

        def wrapped(path, *args, **kwargs):
            if isinstance(path, (str, os.PathLike)) and not os.path.exists(path):
                path = self.find(path) or path
            return function(path, *args, **kwargs)

        return wrapped


def install_pretrained(keras):
    """Models "with weights" keep those that they were made with: equal on both backends."""
    load_weights = keras.Model.load_weights

    def load(self, path, *args, **kwargs):
        if os.path.basename(str(path)) != PRETRAINED:
            return load_weights(self, path, *args, **kwargs)

    keras.Model.load_weights = load


def tensorflow_datasets():
    module = types.ModuleType("tensorflow_datasets")

    def one(as_supervised, seed, shape=(48, 48, 3), classes=5):
        import tensorflow as tf

        x, y = images(160, shape, classes, seed)
        pairs = (x, y.astype("int64"))
        return tf.data.Dataset.from_tensor_slices(pairs if as_supervised else dict(zip(("image", "label"), pairs)))

    def load(name, split=None, as_supervised=False, with_info=False, **kwargs):
        splits = split if isinstance(split, (list, tuple)) else [split]
        made = [one(as_supervised, i) for i in range(len(splits))]
        result = made if isinstance(split, (list, tuple)) else made[0]
        size = types.SimpleNamespace(num_examples=160)
        features = {"image": types.SimpleNamespace(shape=(48, 48, 3)), "label": types.SimpleNamespace(num_classes=5)}
        info = types.SimpleNamespace(features=features, splits={"train": size, "test": size})
        return (result, info) if with_info else result

    module.load, module.disable_progress_bar = load, lambda: None
    module.Split = types.SimpleNamespace(TRAIN="train", TEST="test")
    return module


def install(path, needed, rows):
    import keras
    import pandas
    from keras.src.utils import file_utils

    folder = Folder(path)
    for name, load_data in datasets(rows).items():
        getattr(keras.datasets, name).load_data = load_data
    keras.utils.get_file = file_utils.get_file = folder.get_file
    install_pretrained(keras)
    urllib.request.urlretrieve = folder.urlretrieve
    pandas.read_csv, np.loadtxt = folder.redirected(pandas.read_csv), folder.redirected(np.loadtxt)
    builtins.open = folder.redirected(builtins.open)
    sys.modules["tensorflow_datasets"] = tensorflow_datasets()
    for name in needed:
        files.MAKERS[name](folder.path)
