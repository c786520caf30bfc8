"""tf.print."""
import numpy as np
from keras_plimsoll.src import engine
from keras_plimsoll.src.tensors import Variable as BackendVariable
from plimsoll._native import Tensor

from plimsoll_tensorflow.tensor import StringTensor


def print_(*inputs, output_stream=None, summarize=3, sep=" ", end="\n", name=None):
    import sys

    def text(x):
        if isinstance(x, BackendVariable):
            x = x.value
        if isinstance(x, StringTensor):
            value = x.numpy()
            return value.decode() if isinstance(value, bytes) else "[" + " ".join(f'"{v.decode()}"' for v in value.ravel()) + "]"
        if isinstance(x, Tensor):
            return _summary(engine.to_numpy(x), summarize)
        if isinstance(x, (list, tuple)):
            inner = ", ".join(text(v) for v in x)
            return f"[{inner}]" if isinstance(x, list) else f"({inner})"
        if isinstance(x, dict):
            return "{" + ", ".join(f"'{key}': {text(v)}" for key, v in x.items()) + "}"
        return str(x)

    if str(output_stream).startswith("file://"):
        with open(str(output_stream)[7:], "a") as file:
            print(*[text(x) for x in inputs], sep=sep, end=end, file=file)
        return
    stream = output_stream if hasattr(output_stream, "write") else sys.stdout if str(output_stream).endswith("stdout") else sys.stderr
    print(*[text(x) for x in inputs], sep=sep, end=end, file=stream)


def _summary(array, edge):
    """[1 2 3 ... 8 9 10], numbers in their shortest form."""
    if array.ndim == 0:
        number = array[()]
        if array.dtype.kind == "b":
            return "1" if number else "0"
        if array.dtype.kind != "f":
            return str(number)
        text = f"{float(number):.9g}" if array.dtype == np.float64 else str(number)
        return text[:-2] if text.endswith(".0") else text
    rows = [_summary(row, edge) for row in array] if edge < 0 or len(array) <= 2 * edge else \
        [_summary(row, edge) for row in array[:edge]] + ["..."] + [_summary(row, edge) for row in array[-edge:]]
    return "[" + (" " if array.ndim == 1 else "\n ").join(row.replace("\n", "\n ") for row in rows) + "]"
