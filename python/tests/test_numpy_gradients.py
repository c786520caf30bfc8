"""Gradients of the functions of keras.ops.numpy that are made of several ops, against JAX's."""
import keras_plimsoll  # noqa: F401  (first: it chooses the backend)
import numpy as np
import pytest
from keras.src import tree

from keras_plimsoll.src import engine
from keras_plimsoll.src.ops import core
from keras_plimsoll.src.ops import numpy as ours
from plimsoll import _native

import jax  # noqa: E402
jnp = jax.numpy

rng = np.random.default_rng(3)
A = rng.standard_normal((3, 4)).astype("float32")
B = rng.standard_normal((3, 4)).astype("float32")
P = np.abs(A) + 0.2
ZEROS = np.zeros((2, 3), "float32")
HOLES = np.where(A > 0.8, np.float32("nan"), A)
CUBE = rng.standard_normal((2, 3, 3)).astype("float32")
LINE = rng.standard_normal(7).astype("float32")
AT = np.array([[0, -1], [2, 1]])

# (name, float arguments that are differentiated, further arguments)
CASES = [
    ("sinc", (A,), {}), ("sinc", (ZEROS,), {}), ("exp2", (A,), {}), ("log2", (P,), {}), ("log10", (P,), {}), ("i0", (A,), {}),
    ("deg2rad", (A,), {}), ("cbrt", (P,), {}), ("hypot", (A, B), {}), ("logaddexp", (A, B), {}), ("logaddexp", (A, A), {}),
    ("logaddexp2", (A, B), {}), ("arctan2", (A, B), {}), ("fmod", (P, P + 1), {}), ("mod", (A, P), {}), ("power", (P, B), {}),
    ("mean", (CUBE,), {"axis": (0, 2)}), ("var", (CUBE,), {"axis": 1}), ("std", (CUBE,), {"axis": 1}), ("prod", (A,), {"axis": 1}),
    ("max", (A,), {"axis": 1}), ("median", (A,), {"axis": 1}), ("quantile", (A, np.float32(0.3)), {"axis": 0}), ("ptp", (A,), {"axis": 1}),
    ("nanmean", (HOLES,), {"axis": 1}), ("nansum", (HOLES,), {}), ("nanvar", (HOLES,), {"axis": 0}), ("nanmax", (HOLES,), {"axis": 1}),
    ("cumsum", (A,), {"axis": 1}), ("cumprod", (A,), {"axis": 1}), ("trapezoid", (A,), {}), ("diff", (A,), {"n": 2}),
    ("sort", (A,), {"axis": 0}), ("roll", (A,), {"shift": 2, "axis": 1}), ("tile", (A,), {"reps": (2, 3)}), ("flip", (A,), {}),
    ("pad", (A,), {"pad_width": 2, "mode": "reflect"}), ("repeat", (A,), {"repeats": 3, "axis": 0}),
    ("take", (A,), {"indices": AT, "axis": 0}), ("take", (A,), {"indices": AT, "axis": 1}), ("diagonal", (CUBE,), {"axis1": 1, "axis2": 2}),
    ("take_along_axis", (A,), {"indices": np.argsort(A, 1), "axis": 1}), ("tril", (CUBE,), {}), ("diag", (LINE,), {"k": 1}),
    ("matmul", (CUBE, CUBE[::-1].copy()), {}), ("kron", (A, B), {}), ("cross", (CUBE, CUBE[::-1].copy()), {}), ("outer", (LINE, LINE), {}),
    ("correlate", (LINE, LINE[:3].copy()), {"mode": "same"}), ("corrcoef", (A,), {}), ("vander", (LINE,), {"N": 3}),
    ("linspace", (A, B), {"num": 4}), ("nan_to_num", (HOLES,), {}), ("average", (A,), {"axis": 0, "weights": np.float32([1, 2, 3])}),
    ("clip", (A, np.float32(-0.5), np.float32(0.5)), {}),
]
OTHER_NAMES = {"reps": "repeats"}  # Keras's name for it


def our_gradients(name, args, kwargs, weights):
    kwargs = {OTHER_NAMES.get(k, k): v for k, v in kwargs.items()}
    step = engine.Step()
    with engine.tracing(step):
        xs = [step.input("float32", np.shape(x)) for x in args]
        y = getattr(ours, name)(*xs, **kwargs)
        loss = ours.sum(ours.multiply(y, weights))
        gradients = [core.convert_to_tensor(g) for g in _native.gradients([loss], xs, [])]
    inputs = [engine.from_numpy(np.asarray(x)) for x in args]
    return [engine.to_numpy(g) for g in step.compile(gradients).run(inputs)]


@pytest.mark.parametrize("name, args, kwargs", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_gradient_as_jax(name, args, kwargs):
    function = getattr(jnp, name)
    shape = function(*args, **kwargs).shape
    weights = rng.standard_normal(shape).astype("float32")
    want = jax.grad(lambda *xs: (function(*xs, **kwargs) * weights).sum(), argnums=tuple(range(len(args))))(*args)
    got = our_gradients(name, args, kwargs, weights)
    for a, b in zip(got, tree.flatten(want)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
