"""nn and random against JAX, where Keras's own tests do not look: transposed convolutions of all kinds, gradients, distributions."""
import itertools

import keras_plimsoll_bootstrap  # noqa: F401
import keras
import numpy as np
import pytest
from keras import ops

from keras_plimsoll.src import engine
from plimsoll import _native

import jax  # noqa: E402
from keras.src.backend.jax import nn as of_jax  # noqa: E402


def noise(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def traced(function, *arrays):
    """The result of a function, and the gradients of its weighed sum by the arrays, from one Program."""
    step = engine.Step()
    inputs = [step.input(str(a.dtype), a.shape) for a in arrays]
    with engine.tracing(step):
        y = function(*inputs)
        loss = ops.sum(y * ops.convert_to_tensor(noise(*y.shape, seed=9)))
        outputs = [y, *_native.gradients([loss], inputs, [])]
    program = step.compile(outputs)
    return [ops.convert_to_numpy(t) for t in program.run([ops.convert_to_tensor(a) for a in arrays])]


def by_jax(function, *arrays):
    y = function(*arrays)
    weights = noise(*y.shape, seed=9)
    gradients = jax.grad(lambda *a: (function(*a) * weights).sum(), argnums=tuple(range(len(arrays))))(*arrays)
    return [np.asarray(t) for t in (y, *gradients)]


def same(ours, theirs, tolerance=2e-5):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("size, stride, dilation, more", [
    (s, t, d, m) for s, t, d, m in itertools.product((1, 2, 3, 4), (1, 2, 3), (1, 2), (None, 1)) if not (t > 1 and d > 1)
])
def test_conv_transpose(padding, size, stride, dilation, more):
    if more is not None and more >= stride:
        more = 0
    options = {"strides": stride, "padding": padding, "output_padding": more, "dilation_rate": dilation, "data_format": "channels_last"}
    x, kernel = noise(2, 5, 3), noise(size, 4, 3, seed=1)
    same(traced(lambda a, b: ops.conv_transpose(a, b, **options), x, kernel),
         by_jax(lambda a, b: of_jax.conv_transpose(a, b, **options), x, kernel))


@pytest.mark.parametrize("name", ["relu", "relu6", "softplus", "softsign", "silu", "squareplus", "log_sigmoid", "leaky_relu", "hard_sigmoid",
                                  "hard_silu", "elu", "selu", "celu", "gelu", "glu", "sparse_plus", "tanh_shrink", "log_softmax"])
def test_activations_and_their_gradients(name):
    x = noise(4, 6) * 3
    same(traced(getattr(ops, name), x), by_jax(getattr(of_jax, name), x))


@pytest.mark.parametrize("name", ["softplus", "silu", "log_sigmoid", "gelu", "squareplus"])
def test_gradients_at_zero(name):
    x = np.zeros((2, 3), "float32")
    same(traced(getattr(ops, name), x), by_jax(getattr(of_jax, name), x))


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("name", ["average_pool", "max_pool"])
def test_pools(name, data_format):
    for size, stride, padding in itertools.product((2, 3), (1, 2), ("valid", "same")):
        arguments = (size, stride, padding, data_format)
        x = noise(2, 7, 6, 5)
        same(traced(lambda a: getattr(ops, name)(a, *arguments), x), by_jax(lambda a: getattr(of_jax, name)(a, *arguments), x))


def test_a_pool_with_a_window_of_more_points_than_a_byte_counts():
    x = noise(1, 40, 40, 2)
    same(traced(lambda a: ops.max_pool(a, 20, 7), x), by_jax(lambda a: of_jax.max_pool(a, 20, 7), x))


@pytest.mark.parametrize("name, along", [("adaptive_average_pool", np.mean), ("adaptive_max_pool", np.max)])
@pytest.mark.parametrize("counts", [(3, 4), (7, 6), (1, 5), (7, 3)])
def test_adaptive_pools(name, along, counts):
    x = noise(2, 7, 6, 3)
    expected = x
    for axis, count in enumerate(counts, start=1):
        size = expected.shape[axis]
        windows = [range(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        expected = np.stack([along(expected.take(w, axis), axis) for w in windows], axis)
    np.testing.assert_allclose(ops.convert_to_numpy(getattr(ops, name)(x, counts, "channels_last")), expected, rtol=1e-5, atol=1e-6)


def test_gradients_of_adaptive_pools():
    for name in ("adaptive_average_pool", "adaptive_max_pool"):
        x = noise(2, 7, 6, 3)
        same(traced(lambda a: getattr(ops, name)(a, (3, 4), "channels_last"), x),
             by_jax(lambda a: getattr(of_jax, name)(a, (3, 4), "channels_last"), x))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("heads", [4, 2])
def test_attention(causal, masked, heads):
    q, k, v = noise(2, 5, 4, 8), noise(2, 6, heads, 8, seed=1), noise(2, 6, heads, 8, seed=2)
    mask = np.random.default_rng(3).random((2, 1, 5, 6)) > 0.3 if masked else None
    if masked:
        mask[..., 0] = True
    same(traced(lambda *a: ops.dot_product_attention(*a, mask=mask, is_causal=causal), q, k, v),
         by_jax(lambda *a: of_jax.dot_product_attention(*a, mask=mask, is_causal=causal), q, k, v))


def test_ctc_loss_and_its_gradient():
    logits, labels = noise(3, 9, 5), np.array([[1, 2, 2, 0], [3, 3, 3, 0], [4, 1, 0, 0]], "int32")
    lengths, times = np.array([3, 3, 2]), np.array([9, 8, 6])
    same(traced(lambda x: ops.ctc_loss(labels, x, lengths, times), logits),
         by_jax(lambda x: of_jax.ctc_loss(labels, x, lengths, times), logits), 1e-4)


@pytest.mark.parametrize("name", ["categorical_crossentropy", "binary_crossentropy"])
@pytest.mark.parametrize("from_logits", [False, True])
def test_crossentropies(name, from_logits):
    target = np.random.default_rng(1).dirichlet(np.ones(4), 5).astype("float32")
    output = noise(5, 4) if from_logits else np.random.default_rng(2).dirichlet(np.ones(4), 5).astype("float32")
    same(traced(lambda x: getattr(ops, name)(target, x, from_logits), output),
         by_jax(lambda x: getattr(of_jax, name)(target, x, from_logits), output))


def test_the_loss_of_a_softmax_is_that_of_its_logits():
    logits, labels = np.array([[200.0, 0.0, -100.0]], "float32"), np.array([1])
    loss = ops.sparse_categorical_crossentropy(labels, keras.activations.softmax(ops.convert_to_tensor(logits)))
    np.testing.assert_allclose(ops.convert_to_numpy(loss), [200.0], rtol=1e-6)  # clipped probabilities end at 16.1


@pytest.mark.parametrize("draw, mean, variance", [
    (lambda n: keras.random.gamma((n,), 0.4, seed=1), 0.4, 0.4),
    (lambda n: keras.random.gamma((n,), 7.5, seed=2), 7.5, 7.5),
    (lambda n: keras.random.beta((n,), 0.5, 2.0, seed=3), 0.2, 0.5 * 2.0 / (2.5**2 * 3.5)),
    (lambda n: keras.random.binomial((n,), 12, 0.3, seed=4), 3.6, 12 * 0.3 * 0.7),
    (lambda n: keras.random.binomial((n,), 1000, 0.7, seed=5), 700.0, 210.0),
    (lambda n: keras.random.binomial((n,), 5, 0.0, seed=5), 0.0, 0.0),
    (lambda n: keras.random.binomial((n,), 5, 1.0, seed=5), 5.0, 0.0),
    (lambda n: keras.random.truncated_normal((n,), seed=6), 0.0, 0.7737),
    (lambda n: keras.random.randint((n,), 0, 10, seed=7), 4.5, 8.25),
])
def test_distributions(draw, mean, variance):
    x = np.asarray(ops.convert_to_numpy(draw(20000)), "float64")
    assert x.mean() == pytest.approx(mean, abs=5 * np.sqrt(max(variance, 1e-9) / 20000) + 1e-9)
    assert x.var() == pytest.approx(variance, rel=0.08, abs=1e-9)


@pytest.mark.parametrize("name, arguments", [("normal", ()), ("uniform", ()), ("gamma", (2.0,)), ("binomial", (30, 0.5)), ("beta", (2.0, 3.0)),
                                             ("truncated_normal", ()), ("randint", (0, 9))])
def test_a_traced_step_draws_what_an_eager_call_draws(name, arguments):
    draw = lambda: getattr(keras.random, name)((3, 100), *arguments, seed=5)  # noqa: E731
    step = engine.Step()
    with engine.tracing(step):
        y = draw()
    (result,) = step.compile([y]).run([])
    np.testing.assert_array_equal(ops.convert_to_numpy(result), ops.convert_to_numpy(draw()))


def test_dropout_keeps_the_mean_and_its_share():
    x = ops.ones((200, 100))
    y = ops.convert_to_numpy(keras.random.dropout(x, 0.3, seed=1))
    assert (y == 0).mean() == pytest.approx(0.3, abs=0.01) and y.mean() == pytest.approx(1.0, abs=0.02)
    rows = ops.convert_to_numpy(keras.random.dropout(x, 0.3, noise_shape=(None, 1), seed=1))
    assert all(len(set(row)) == 1 for row in rows)


def test_shuffle_is_a_permutation_of_rows():
    x = np.arange(60).reshape(20, 3)
    y = ops.convert_to_numpy(keras.random.shuffle(x, seed=1))
    assert not (x == y).all() and sorted(map(tuple, y)) == sorted(map(tuple, x))
