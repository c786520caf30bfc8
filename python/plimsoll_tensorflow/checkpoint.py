"""tf.train.Checkpoint and its manager: the variables of what is given, in one .npz per checkpoint (not TensorFlow's own format)."""
import os
import re

import keras
import numpy as np

from plimsoll_tensorflow.module import _variables_of


class _Status:
    """What restore() returns: all is restored, or it has raised."""

    def assert_consumed(self):
        return self

    assert_existing_objects_matched = expect_partial = assert_consumed


def _variables(thing):
    if isinstance(thing, (keras.optimizers.Optimizer, keras.layers.Layer)):
        return list(thing.variables)
    return list(_variables_of(thing, set()))


class Checkpoint:
    def __init__(self, root=None, **kwargs):
        self._parts = ({"root": root} if root is not None else {}) | kwargs
        self._count = 0
        for name, part in kwargs.items():
            setattr(self, name, part)

    def write(self, file_prefix, options=None):
        prefix = os.fspath(file_prefix)
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        arrays = {f"{name}/{i}": np.asarray(v) for name, part in self._parts.items() for i, v in enumerate(_variables(part))}
        np.savez(prefix + ".tmp.npz", **arrays)
        os.replace(prefix + ".tmp.npz", prefix + ".npz")
        return prefix

    def save(self, file_prefix, options=None):
        self._count += 1
        path = self.write(f"{os.fspath(file_prefix)}-{self._count}")
        _note_latest(os.path.dirname(path) or ".", os.path.basename(path))
        return path

    def read(self, save_path, options=None):
        path = os.fspath(save_path) + ".npz"
        if not os.path.exists(path):
            from plimsoll_tensorflow.api.errors import NotFoundError

            raise NotFoundError(f"Unsuccessful restore: no checkpoint {save_path} (expected {path})")
        with np.load(path) as arrays:
            self._assign(arrays, save_path)
        return _Status()

    def restore(self, save_path, options=None):
        if save_path is None:
            return _Status()
        found = re.search(r"-(\d+)$", os.fspath(save_path))
        status = self.read(save_path)
        self._count = int(found.group(1)) if found else self._count
        return status

    def _assign(self, arrays, path):
        for name, part in self._parts.items():
            stored = [key for key in arrays.files if key.startswith(f"{name}/")]
            if isinstance(part, keras.optimizers.Optimizer) and not part.built and len(stored) > len(part.variables):
                models = [v for p in self._parts.values() if not isinstance(p, keras.optimizers.Optimizer) for v in _variables(p) if v.trainable]
                part.build(models)
            for i, variable in enumerate(_variables(part)):
                key = f"{name}/{i}"
                if key in arrays.files and arrays[key].shape == tuple(variable.shape):
                    variable.assign(arrays[key])
                elif key in arrays.files:
                    raise ValueError(f"[Checkpoint] {path}: expected shape {tuple(variable.shape)} for variable {i} of '{name}', got {arrays[key].shape}")


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
