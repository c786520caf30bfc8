"""Gradients where a function bends or several elements are equal: as Keras has them on JAX and on TensorFlow, where these agree.

Where they do not (maximum and minimum of equals, clip at its bounds, absolute of 0, leaky_relu of 0), ours are TensorFlow's or JAX's:
docs/decisions/0044.
"""
import importlib

import keras_plimsoll  # noqa: F401  (first: it chooses the backend)
import jax
import numpy as np
import pytest

from keras_plimsoll.src import engine
from keras_plimsoll.src.ops import core, math, nn
from keras_plimsoll.src.ops import numpy as knp
from plimsoll import _native

OURS = {"math": math, "nn": nn, "numpy": knp}
ENDS = np.float32([0, 6, -3, 3, -1, 1, 2, -7, 7])
TIES = np.float32([[2, 2, 1], [0, 0, 0]])
ROWS = np.float32([[1, 5], [1, 2], [3, 2], [3, 2], [9, 9]])

# module, function, differentiated arguments, further arguments
AGREED = [
    ("nn", "relu", (ENDS,), {}), ("nn", "relu6", (ENDS,), {}), ("nn", "hard_sigmoid", (ENDS,), {}), ("nn", "hard_silu", (ENDS,), {}),
    ("nn", "elu", (ENDS,), {}), ("nn", "softplus", (ENDS,), {}), ("nn", "sparse_plus", (ENDS,), {}),
    ("nn", "soft_shrink", (ENDS,), {"threshold": 1.0}), ("nn", "hard_shrink", (ENDS,), {"threshold": 1.0}),
    ("nn", "threshold", (ENDS,), {"threshold": 0.0, "default_value": 0.0}), ("nn", "softmax", (TIES,), {}),
    ("numpy", "max", (TIES,), {"axis": -1}), ("numpy", "min", (TIES,), {"axis": -1}), ("numpy", "max", (TIES,), {}),
    ("numpy", "prod", (TIES,), {"axis": -1}), ("numpy", "sort", (TIES,), {"axis": -1}), ("numpy", "sqrt", (np.float32([0, 4]),), {}),
    ("numpy", "divide_no_nan", (TIES, np.float32([[0, 1, 0], [2, 0, 4]])), {}), ("numpy", "var", (TIES,), {"axis": -1}),
    ("math", "logsumexp", (TIES,), {"axis": -1}), ("math", "segment_max", (ROWS,), {"segment_ids": [0, 0, 1, 1, 0], "num_segments": 3}),
    ("math", "segment_min", (ROWS,), {"segment_ids": [0, 0, 1, 1, 0], "num_segments": 2}),
    ("math", "segment_max", (ROWS,), {"segment_ids": [0, -1, 1, 1, 5], "num_segments": 2}),
]


def our_gradients(module, name, args, kwargs):
    step = engine.Step()
    with engine.tracing(step):
        xs = [step.input("float32", x.shape) for x in args]
        total = knp.sum(getattr(OURS[module], name)(*xs, **kwargs))
        gradients = [core.convert_to_tensor(g) for g in _native.gradients([total], xs, [])]
    return [engine.to_numpy(g) for g in step.compile(gradients).run([engine.from_numpy(x) for x in args])]


def jax_gradients(module, name, args, kwargs):
    function = getattr(importlib.import_module(f"keras.src.backend.jax.{module}"), name)
    if "segment_ids" in kwargs:
        kwargs = kwargs | {"segment_ids": np.array(kwargs["segment_ids"])}
    total = lambda *xs: jax.numpy.where(jax.numpy.isfinite(y := function(*xs, **kwargs)), y, 0).sum()
    return jax.grad(total, argnums=tuple(range(len(args))))(*args)


@pytest.mark.parametrize("case", AGREED, ids=[f"{i}-{c[1]}" for i, c in enumerate(AGREED)])
def test_as_jax_and_tensorflow(case):
    for ours, theirs in zip(our_gradients(*case), jax_gradients(*case)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name, of_first", [("maximum", [1, 0, 1]), ("minimum", [1, 1, 0])])
def test_the_first_of_equals_has_the_gradient_as_in_tensorflow(name, of_first):
    a, b = np.float32([1, 2, 3]), np.float32([1, 3, 2])
    first, second = our_gradients("numpy", name, (a, b), {})
    np.testing.assert_array_equal(first, of_first)
    np.testing.assert_array_equal(second, 1 - np.array(of_first))
