"""Files as TensorFlow's functions name them: strings, bytes, paths and tensors of strings."""
import os

from plimsoll_tensorflow.tensor import StringTensor


def path_of(name):
    value = name.numpy() if isinstance(name, StringTensor) else name
    value = value.decode() if isinstance(value, bytes) else os.fspath(value)
    if "://" in value:
        raise NotImplementedError(f"[tf.io] expected a local file, got {value}: fetch it first, such as with keras.utils.get_file")
    return value


def read_file(filename, name=None):
    from plimsoll_tensorflow.api.errors import NotFoundError

    try:
        with open(path_of(filename), "rb") as file:
            return StringTensor(file.read())
    except FileNotFoundError as error:
        raise NotFoundError(f"{path_of(filename)}; No such file or directory") from error


def write_file(filename, contents, name=None):
    path = path_of(filename)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    data = contents.numpy() if isinstance(contents, StringTensor) else contents
    with open(path, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
