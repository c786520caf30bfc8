"""Functions of the user on elements."""
from plimsoll._native import Tensor

from plimsoll_tensorflow import tape
from plimsoll_tensorflow.dataset.structures import arrays_of, tensors_of
from plimsoll_tensorflow.function import Function
from plimsoll_tensorflow.tensor import StringTensor


class Traced:
    """A function of the user on elements: called with tensors, gives arrays."""

    def __init__(self, function):
        self.function = Function(function)

    def __call__(self, element):
        element = tensors_of(element)
        with tape.paused():
            result = self.function(*element) if type(element) is tuple else self.function(element)
        return arrays_of(tuple(result) if isinstance(result, list) and any(isinstance(r, (Tensor, StringTensor)) for r in result) else result)
