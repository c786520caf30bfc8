"""tf.train.Checkpoint and its manager: the variables of what is given, in one .npz per checkpoint (not TensorFlow's own format)."""
import os
import re

import keras
import numpy as np

from keras_plimsoll.src.tensors import Variable as BackendVariable

from plimsoll_tensorflow.dataset import Iterator
from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.module import Module
from plimsoll_tensorflow.tensor import Variable


class _Status:
    """What restore() returns: all is restored, or it has raised."""

    def assert_consumed(self):
        return self

    assert_existing_objects_matched = expect_partial = assert_consumed


def _saved(thing, path="", inside=()):
    """(path, variable or iterator) of all that `thing` holds, by the names of attributes, keys and places."""
    if id(thing) in inside:
        return
    inside = (*inside, id(thing))
    under = lambda name: f"{path}/{name}" if path else str(name)
    if isinstance(thing, (BackendVariable, Iterator)):
        yield path, thing
    elif isinstance(thing, (keras.optimizers.Optimizer, keras.layers.Layer)):
        yield from ((under(i), v) for i, v in enumerate(thing.variables))
    elif isinstance(thing, dict):
        for key in thing:
            yield from _saved(thing[key], under(key), inside)
    elif isinstance(thing, (list, tuple)):
        for i, part in enumerate(thing):
            yield from _saved(part, under(i), inside)
    elif isinstance(thing, (Checkpoint, Module)):
        for name in sorted(vars(thing)):
            if not name.startswith("_"):
                yield from _saved(vars(thing)[name], under(name), inside)


class Checkpoint:
    """What it was given and what was set on it since."""

    def __init__(self, root=None, **kwargs):
        if root is not None:
            self.root = root
        for name, part in kwargs.items():
            setattr(self, name, part)
        self._counter = Variable(np.int64(0), trainable=False, name="save_counter")

    save_counter = property(lambda self: self._counter)

    def write(self, file_prefix, options=None):
        prefix = os.fspath(file_prefix)
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        arrays = {path: np.asarray(v.taken if isinstance(v, Iterator) else v) for path, v in _saved(self)}
        np.savez(prefix + ".tmp.npz", **arrays)
        os.replace(prefix + ".tmp.npz", prefix + ".npz")
        return prefix

    def save(self, file_prefix, options=None):
        self._counter.assign(self._counter + 1)
        path = self.write(f"{os.fspath(file_prefix)}-{int(self._counter)}")
        _note_latest(os.path.dirname(path) or ".", os.path.basename(path))
        return path

    def read(self, save_path, options=None):
        with _opened(save_path) as arrays:
            self._assign(arrays, save_path)
        return _Status()

    def restore(self, save_path, options=None):
        if save_path is None:
            return _Status()
        found = re.search(r"-(\d+)$", os.fspath(save_path))
        status = self.read(save_path)
        if found:
            self._counter.assign(int(found.group(1)))
        return status

    def _assign(self, arrays, path):
        models = [p for p in vars(self).values() if isinstance(p, (keras.layers.Layer, Module))]
        for name, part in sorted(vars(self).items()):
            stored = sum(key.startswith(f"{name}/") for key in arrays.files)
            if isinstance(part, keras.optimizers.Optimizer) and not part.built and stored > len(part.variables):
                part.build([v for model in models for v in model.trainable_variables])
        for key, held in _saved(self):
            if key not in arrays.files:
                continue
            if isinstance(held, Iterator):
                held.start_at(int(arrays[key]))
            elif arrays[key].shape != tuple(held.shape):
                raise ValueError(f"[Checkpoint] {path}: expected shape {tuple(held.shape)} for '{key}', got {arrays[key].shape}")
            else:
                held.assign(arrays[key])


def _opened(save_path):
    path = os.fspath(save_path) + ".npz"
    if not os.path.exists(path):
        from plimsoll_tensorflow.api.errors import NotFoundError

        raise NotFoundError(f"Unsuccessful restore: no checkpoint {save_path} (expected {path})")
    return np.load(path)


ATTRIBUTE = "/.ATTRIBUTES/VARIABLE_VALUE"  # as TensorFlow ends the names of variables in its checkpoints


class CheckpointReader:
    def __init__(self, path):
        with _opened(latest_checkpoint(path) or path if os.path.isdir(os.fspath(path)) else path) as arrays:
            self._arrays = {key + ATTRIBUTE: arrays[key] for key in arrays.files}

    def get_variable_to_shape_map(self):
        return {key: list(a.shape) for key, a in self._arrays.items()}

    def get_variable_to_dtype_map(self):
        return {key: as_dtype(a.dtype) for key, a in self._arrays.items()}

    def has_tensor(self, name):
        return name in self._arrays

    def get_tensor(self, name):
        return self._arrays[name]


def load_checkpoint(ckpt_dir_or_file):
    return CheckpointReader(ckpt_dir_or_file)


def list_variables(ckpt_dir_or_file):
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name):
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


def _note_latest(folder, name, kept=None):
    with open(os.path.join(folder, "checkpoint"), "w", encoding="utf-8") as file:
        file.write(f'model_checkpoint_path: "{name}"\n' + "".join(f'all_model_checkpoint_paths: "{k}"\n' for k in kept or [name]))


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    try:
        with open(os.path.join(os.fspath(checkpoint_dir), latest_filename or "checkpoint"), encoding="utf-8") as file:
            found = re.search(r'^model_checkpoint_path: "(.*)"', file.read())
    except FileNotFoundError:
        return None
    return os.path.join(os.fspath(checkpoint_dir), found.group(1)) if found else None


class CheckpointManager:
    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt", **options):
        self.checkpoint, self.directory, self.max_to_keep, self.name = checkpoint, os.fspath(directory), max_to_keep, checkpoint_name
        self.checkpoints = []
        path = os.path.join(self.directory, "checkpoint")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.checkpoints = [os.path.join(self.directory, name) for name in re.findall(r'all_model_checkpoint_paths: "(.*)"', file.read())]

    @property
    def latest_checkpoint(self):
        return self.checkpoints[-1] if self.checkpoints else None

    def save(self, checkpoint_number=None, **options):
        prefix = os.path.join(self.directory, self.name)
        if checkpoint_number is None:
            path = self.checkpoint.save(prefix)
        else:
            path = self.checkpoint.write(f"{prefix}-{int(np.asarray(checkpoint_number))}")
        self.checkpoints = [p for p in self.checkpoints if p != path] + [path]
        while self.max_to_keep and len(self.checkpoints) > self.max_to_keep:
            old = self.checkpoints.pop(0) + ".npz"
            if os.path.exists(old):
                os.remove(old)
        _note_latest(self.directory, os.path.basename(path), [os.path.basename(p) for p in self.checkpoints])
        return path

    def restore_or_initialize(self):
        if self.latest_checkpoint:
            self.checkpoint.restore(self.latest_checkpoint)
        return self.latest_checkpoint
