"""Indices that come with the data, such as the tokens of an Embedding: one outside of its axis is an error before the step runs, which would take
the nearest row instead. Only what reaches the op as it came is looked at, whole or in columns: what is computed may be clipped afterwards."""
import math

import numpy as np
from keras.src.backend.common.name_scope import current_path

from keras_plimsoll.src import engine
from plimsoll import _native

Error = IndexError  # plimsoll_tensorflow has one of its own
LARGEST_FILE = 1 << 30  # bytes of a numpy.memmap that is read for this before it is trained on


def note(indices, size, what, kind=None):
    """Of `indices` that a step takes from an axis of this size; not in branches and loops, which may not run. `kind`: of Range."""
    step = engine.current_step()
    if step is None or step.eager or step.depth > 0:
        return
    origin = _native.origin(indices)
    if origin is None:
        return
    place, moves = origin
    moves = _of_rows(moves, step.inputs[place].shape)
    if moves is not None:
        step.ranges.append((kind or Range)(place, moves, size, what, current_path()))


def _of_rows(moves, shape):
    """The moves, if they can be done to any number of rows; None if not. One after which rows are rows no more must be the last."""
    made, rows = [], shape[0] if shape else None
    for name, *numbers in moves:
        if made and made[-1] is None:
            if name == "slice":
                return None
        elif name == "slice":
            starts, limits, strides = numbers
            if rows is None or (starts[0], limits[0], strides[0]) != (0, rows, 1):
                return None
            made.append(tuple(slice(*cut) for cut in zip(starts[1:], limits[1:], strides[1:])))
        elif name == "reshape" and numbers[0][:1] == [rows]:
            made.append(list(numbers[0][1:]))
        elif name != "cast":
            made.append(None)
    return made


class Range:
    """`place`: of the input; `moves`: slices and shapes of its rows."""

    def __init__(self, place, moves, size, what, layer):
        self.place, self.moves, self.size, self.what, self.layer = place, moves, size, what, layer
        self.key = (type(self), place, repr(moves), size, layer)
        self.least = -size

    def check(self, array):
        if isinstance(array, np.memmap) and array.nbytes > LARGEST_FILE:
            return
        seen = self._seen(array)
        if seen.size == 0 or seen.dtype.kind == "b":
            return
        least, most = seen.min().item(), seen.max().item()
        if self.least - 1 < least and most < self.size:
            return
        wide = seen.astype("float64" if isinstance(most, float) else "int64")  # a fraction is cut off, as by the step
        bad = np.argwhere((wide <= self.least - 1) | (wide >= self.size))
        if len(bad):
            raise Error(self._complaint(wide, bad[0].tolist()))

    def _seen(self, array):
        for move in self.moves:
            if isinstance(move, tuple):
                array = array[(slice(None), *move)]
            elif move is not None:
                array = array.reshape(len(array), *move)
        return array

    def _complaint(self, seen, at):
        layer = f" in layer '{self.layer}'" if self.layer else ""
        most = np.nanmax(seen)
        room = f" The largest index is {int(most)}: it needs a size of at least {int(most) + 1}." if self.size <= most < math.inf else ""
        return (f"[{self.what}] expected indices from {-self.size} to {self.size - 1} for an axis of size {self.size}{layer}, "
                f"but input {self.place} of the step has {seen[tuple(at)].item():g} at {at}.{room}")


class Labels(Range):
    """Of classes, as TensorFlow has them: a label outside makes the loss NaN."""

    def __init__(self, *args):
        super().__init__(*args)
        self.least = 0

    def _complaint(self, seen, at):
        label = seen[tuple(at)].item()
        remedy = "Name one that is to be left out as ignore_class" if label < 0 else f"Count classes from 0, or give the last layer {int(np.nanmax(seen)) + 1} outputs"
        return (f"[{self.what}] expected labels from 0 to {self.size - 1} for {self.size} classes, but input {self.place} of the step has "
                f"{label:g} at {at}. {remedy}.")
