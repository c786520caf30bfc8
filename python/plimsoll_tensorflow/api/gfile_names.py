"""tf.io.gfile: local files."""
import glob as _glob
import os as _os
import shutil as _shutil

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.api.errors import AlreadyExistsError as _Exists
from plimsoll_tensorflow.files import path_of as _path


def exists(path):
    return _os.path.exists(_path(path))


def isdir(path):
    return _os.path.isdir(_path(path))


def listdir(path):
    return _os.listdir(_path(path))


def glob(pattern):
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return sorted(found for p in patterns for found in _glob.glob(_path(p)))


def makedirs(path):
    _os.makedirs(_path(path), exist_ok=True)


def mkdir(path):
    _os.mkdir(_path(path))


def remove(path):
    _os.remove(_path(path))


def rmtree(path):
    _shutil.rmtree(_path(path))


def rename(src, dst, overwrite=False):
    if not overwrite and exists(dst):
        raise _Exists(f"file already exists: {dst}")
    _os.replace(_path(src), _path(dst))


def copy(src, dst, overwrite=False):
    if not overwrite and exists(dst):
        raise _Exists(f"file already exists: {dst}")
    _shutil.copyfile(_path(src), _path(dst))


def join(path, *paths):
    return _os.path.join(_path(path), *map(_path, paths))


def walk(top, topdown=True, onerror=None):
    return _os.walk(_path(top), topdown, onerror)


class _Stat:
    def __init__(self, path):
        found = _os.stat(_path(path))
        self.length, self.mtime_nsec, self.is_directory = found.st_size, found.st_mtime_ns, isdir(path)


def stat(path):
    return _Stat(path)


def GFile(name, mode="r"):
    return open(_path(name), mode, encoding=None if "b" in mode else "utf-8")


__getattr__ = _hints.getter("io.gfile")
