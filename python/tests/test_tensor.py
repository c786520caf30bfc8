"""The tensor as Python sees it: operators, indexing, conversion."""
import copy
import inspect
import operator
import pickle

import keras_plimsoll  # noqa: F401  (first: it chooses the backend)
import keras  # isort: skip
import numpy as np
import plimsoll
import pytest
from keras import ops
from keras.src import backend

from keras_plimsoll.src import engine

X = np.arange(24, dtype="float32").reshape(2, 3, 4)
MASK = X[:, :, 0] > 5

KEYS = [
    0, -1, (1, 2), (0, -1, 3), slice(1, None), slice(None, None, -1), (slice(None), slice(2, 0, -1)), (Ellipsis, 1), (0, Ellipsis, slice(1, 3)),
    None, (None, 0, None, slice(0, 4, 2)), (slice(5, 9),), (slice(2, 1),), (Ellipsis, None), (slice(-1, -5, -2), 1),
    [1, 0, 1], (slice(None), [2, 0]), ([0, 1], [2, 1]), ([0, 1], slice(None), [3, 2]), (0, [1, 2], [[0], [3]]), (slice(None), [0, 2], 1),
    (1, slice(None), [0, -1]), ([0, 1], None, [1, 1]), (slice(None), 2, [0, 1], None),
    np.array([[1, 0], [0, 0]]), MASK, (slice(None), MASK[0]), (MASK, 2), X > 7, (0, MASK[1], slice(1, 3)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_as_numpy(key):
    got = ops.convert_to_tensor(X)[key]
    np.testing.assert_array_equal(np.asarray(got), X[key])
    assert got.shape == X[key].shape


def test_indexing_with_tensors():
    x = ops.convert_to_tensor(X)
    np.testing.assert_array_equal(x[ops.convert_to_tensor(1)], X[1])
    np.testing.assert_array_equal(x[:, ops.convert_to_tensor([0, 2])], X[:, [0, 2]])
    np.testing.assert_array_equal(x[x > 7.0], X[X > 7])
    np.testing.assert_array_equal(x[0, 1 : ops.convert_to_tensor(3)], X[0, 1:3])


@pytest.mark.parametrize("key", [2, (0, 3), (0, 0, 0, 0), (Ellipsis, Ellipsis), 1.5, True])
def test_wrong_indices(key):
    with pytest.raises((IndexError, TypeError, AttributeError)):
        ops.convert_to_tensor(X)[key]


@pytest.mark.parametrize("take, bad", [
    (lambda x, i: x[i], 2), (lambda x, i: x[:, i], 3), (lambda x, i: x[i, ops.array([0, 1])], -3), (lambda x, i: x[ops.array([0, 1]), :, i], 4),
    (lambda x, i: ops.take(x, i, axis=1), -4), (lambda x, i: ops.take(x, i), 24), (lambda x, i: keras.layers.Embedding(5, 2)(i), 5),
    (lambda x, i: ops.take_along_axis(x, ops.reshape(i, (2, 1, 1)), axis=2), -5)])
def test_an_index_outside_of_its_axis_is_named(take, bad):
    x = ops.convert_to_tensor(X)
    with pytest.raises(IndexError, match=rf"expected indices from .* but the index at \[1(, 0, 0)?\] is {bad}"):
        take(x, ops.array([0, bad]))
    assert take(x, ops.array([0, -1 if bad < 0 else 1])).shape


def test_an_index_outside_of_its_axis_in_a_traced_step_takes_the_nearest_if_it_is_computed():
    got = plimsoll.function(lambda x, i: ops.take(x, i * 3, axis=2))(X, np.array([-3, 3]))
    np.testing.assert_array_equal(got, X[:, :, [0, 3]])
    with pytest.raises(IndexError, match=r"from -4 to 3 .* but input 1 of the step has -9 at \[0\]"):
        plimsoll.function(lambda x, i: ops.take(x, i, axis=2))(X, np.array([-9, 9]))


def test_a_label_that_is_not_there_is_not_in_the_top_k():
    predictions = np.array([[0.1, 0.2, 0.7]] * 4, "float32")
    assert np.asarray(ops.in_top_k(np.array([2, 3, -1, -9]), predictions, 1)).tolist() == [True, False, True, False]


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
          operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
A, B = np.array([[1.5, 2.0], [3.0, 4.5]], "float32"), np.array([2.0, 1.5], "float32")


@pytest.mark.parametrize("op", BINARY)
def test_operators_with_everything(op):
    a, b, v = ops.convert_to_tensor(A), ops.convert_to_tensor(B), keras.Variable(B)
    for left, right, want in [(a, b, op(A, B)), (a, B, op(A, B)), (A, b, op(A, B)), (a, 2, op(A, 2)), (2.5, b, op(2.5, B)),
                              (a, v, op(A, B)), (v, a, op(B, A)), (np.float32(2), b, op(np.float32(2), B)), (a, [2.0, 1.5], op(A, B))]:
        got = op(left, right)
        assert ops.is_tensor(got), (type(left), type(right))
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_operators_on_bits_and_matrices():
    i, j = np.array([1, 6, 12], "int32"), np.array([3, 5, 9], "int32")
    x, y = ops.convert_to_tensor(i), ops.convert_to_tensor(j)
    for op in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
        np.testing.assert_array_equal(op(x, y), op(i, j))
        np.testing.assert_array_equal(op(i, y), op(i, j))
    np.testing.assert_array_equal(~x, ~i)
    np.testing.assert_allclose(ops.convert_to_tensor(A) @ B, A @ B)
    np.testing.assert_allclose(A @ ops.convert_to_tensor(B), A @ B)
    np.testing.assert_allclose(-abs(round(ops.convert_to_tensor(A))), -abs(np.round(A)))


def test_numbers_take_the_dtype_of_the_tensor():
    half = ops.ones((2,), "float16")
    assert (half * 2.0).dtype == "float16" and (2 * half).dtype == "float16" and (half + True).dtype == "float16"
    assert (ops.ones((2,), "int8") + 1).dtype == "int8" and (ops.ones((2,), "int8") * 1.5).dtype == "float32"


def test_a_keras_tensor_takes_the_operator():
    spec = keras.KerasTensor((2, 2))
    assert isinstance(ops.convert_to_tensor(A) + spec, keras.KerasTensor)
    assert (ops.convert_to_tensor(A) == None) is False  # noqa: E711


def test_conversion():
    x = ops.convert_to_tensor(A)
    assert len(x) == 2 and [row.shape for row in x] == [(2,), (2,)] and x.T.shape == (2, 2)
    assert float(x[0, 0]) == 1.5 and int(ops.convert_to_tensor(3)) == 3 and bool(x[0, 0] > 1) and x[1, 1].item() == 4.5
    assert [10, 20, 30][ops.convert_to_tensor(1)] == 20 and f"{x[0, 0]:.2f}" == "1.50"
    assert np.asarray(x, dtype="float64").dtype == "float64" and x.astype("int32").dtype == "int32" and x.reshape(4).shape == (4,)
    assert x.numpy().tolist() == x.tolist() == A.tolist() and np.sqrt(x).tolist() == np.sqrt(A).tolist()
    np.testing.assert_array_equal(np.from_dlpack(x), A)
    for wrong in (lambda: bool(x), lambda: len(x[0, 0]), lambda: iter(x[0, 0]), lambda: [1][x[0, 0]], lambda: float(x)):
        with pytest.raises((TypeError, ValueError)):
            wrong()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_copies_are_whole(dtype):
    x = ops.cast(ops.convert_to_tensor(A), dtype)
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.dtype == dtype
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x))


def test_text_and_hash():
    x = ops.convert_to_tensor(A)
    assert "shape=(2, 2)" in repr(x) and "4.5" in repr(x) and "4.5" in str(x)
    assert len({x, x}) == 1 and hash(x) != hash(ops.convert_to_tensor(A))


def test_traced_tensors_say_that_they_have_no_value():
    step = engine.Step()
    with engine.tracing(step):
        x = step.input("float32", [2])
        assert "traced" in repr(x) and x[0].shape == () and x[::-1].shape == (2,) and (x @ x).is_symbolic
        for read in (bool, float, int, np.asarray, lambda t: [1, 2][t], lambda t: t[t > 0]):
            with pytest.raises((TypeError, ValueError), match="trac|integer"):
                read(x[0] if read in (bool, float, int) else x)


def test_comparisons_are_exact():
    big = ops.convert_to_tensor(np.array([2**40, 2**40 + 1, 5], "int64"), dtype="int64")
    assert (big > 5).tolist() == [True, True, False] and (big == 2**40).tolist() == [True, False, False]
    assert (big > ops.convert_to_tensor(7, "int32")).tolist() == [True, True, False]
    small = ops.convert_to_tensor(np.array([0, 255], "uint8"))
    assert (small > -1).tolist() == [True, True] and (small < 256).tolist() == [True, True] and (small == 255).tolist() == [False, True]
    wide = ops.convert_to_tensor(np.array([1 + 2**-40], "float64"), dtype="float64")
    assert (wide > 1.0).tolist() == [True] and (wide > 1).tolist() == [True] and (wide > ops.ones((1,))).tolist() == [True]


def test_numbers_out_of_range_wrap():
    assert ops.full((2,), -1, "uint8").tolist() == [255, 255] and ops.full((1,), 2**62 + 1, "int64").tolist() == [2**62 + 1]


@pytest.mark.parametrize("start", [0, 2, 9])
def test_a_slice_of_known_length_may_begin_where_a_step_says(start):
    x = np.arange(5 * 6 * 2).reshape(5, 6, 2).astype("float32")
    seen = []

    @plimsoll.function
    def cut(x, i, j):
        seen.append(i)
        return x[i : i + 2, :, None], x[:, j : j + 3, 1], x[i : i + 2, j : j + 3]

    parts = cut(ops.convert_to_tensor(x), ops.convert_to_tensor(start), ops.convert_to_tensor(1))
    assert seen[0].is_symbolic
    i = min(start, 3)  # as JAX's dynamic_slice: what would reach beyond the end begins earlier
    for ours, numpys in zip(parts, (x[i : i + 2, :, None], x[:, 1:4, 1], x[i : i + 2, 1:4])):
        np.testing.assert_array_equal(ours, numpys)


def test_random_crop_inside_of_a_model_that_trains():
    model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.RandomCrop(4, 4), keras.layers.GlobalAveragePooling2D(),
                              keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).random((16, 8, 8, 3), "float32")
    losses = model.fit(x, x.mean(axis=(1, 2, 3)), epochs=4, batch_size=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0] and np.isfinite(losses).all()


TWO = ["add", "subtract", "multiply", "maximum", "minimum", "power", "floor_divide", "mod", "fmod", "divide", "arctan2", "equal", "less"]
ONE = ["exp", "sqrt", "floor", "tanh", "reciprocal", "absolute", "negative", "sign", "square"]


@pytest.mark.parametrize("name", TWO + ONE)
def test_past_the_rules_of_promotion_comes_what_comes_with_them(name):
    function = getattr(backend.numpy, name)
    rules = inspect.unwrap(function)
    assert rules is not function
    for dtype in ["bool", "uint8", "int8", "int16", "uint32", "int32", "float16", "bfloat16", "float32", "float64", "int64", "complex64"]:
        operands = [ops.convert_to_tensor([3, 1, 2], dtype)] * (2 if name in TWO else 1)
        results = []
        for run in (function, rules):
            try:
                y = run(*operands)
                results.append((y.dtype, ops.convert_to_numpy(y).tolist()))
            except (ValueError, NotImplementedError, TypeError) as error:
                results.append(type(error))
        assert results[0] == results[1], dtype
