"""Loops of one's own: plimsoll.value_and_grad and plimsoll.function, beside JAX."""
import jax
import jax.numpy as jnp
import keras
import numpy as np
import plimsoll
import pytest
from keras import layers, ops


def test_gradients_of_an_argument_are_those_of_jax():
    x, w = np.random.default_rng(0).random((2, 4, 3)).astype("float32")
    value, grads = plimsoll.value_and_grad(lambda p, y: ops.sum(ops.tanh(p["w"] * p["x"]) * y))({"w": w, "x": x}, 2.0)
    expected, theirs = jax.value_and_grad(lambda p, y: jnp.sum(jnp.tanh(p["w"] * p["x"]) * y))({"w": w, "x": x}, 2.0)
    assert float(value) == pytest.approx(float(expected), rel=1e-5)
    for name in ("w", "x"):
        np.testing.assert_allclose(grads[name], theirs[name], rtol=1e-4, atol=1e-6)


def test_gradients_of_gradients():
    def twice(value_and_grad, numpy):
        first = value_and_grad(lambda x: numpy.sum(x ** 3))
        return value_and_grad(lambda x: numpy.sum(first(x)[1] ** 2))

    x = np.array([1.0, 2.0], "float32")
    np.testing.assert_allclose(twice(plimsoll.value_and_grad, ops)(ops.array(x))[1], twice(jax.value_and_grad, jnp)(x)[1], rtol=1e-5)


def test_the_function_sees_values_and_others_come_back():
    seen = []

    def loss(x):
        seen.append(float(ops.max(x)))
        y = x * 2 if seen[-1] > 1 else x
        return ops.sum(y * y), {"y": y}

    (value, aux), grad = plimsoll.value_and_grad(loss, has_aux=True)(ops.array([1.0, 3.0]))
    assert (float(value), aux["y"].tolist(), grad.tolist(), seen) == (40.0, [2.0, 6.0], [8.0, 24.0], [3.0])


def test_what_the_loss_does_not_depend_on_has_zeros():
    used, unused = keras.Variable([1.0, 2.0]), keras.Variable([3.0])
    _, grads = plimsoll.value_and_grad(lambda: ops.sum(used * used), [used, unused])()
    assert [g.tolist() for g in grads] == [[2.0, 4.0], [0.0]]
    _, grads = plimsoll.value_and_grad(lambda: ops.sum(ops.ones(2)), [used])()
    assert grads[0].tolist() == [0.0, 0.0]


def regression(seed):
    keras.utils.set_random_seed(seed)
    return keras.Sequential([layers.Input((4,)), layers.Dense(8, "tanh"), layers.BatchNormalization(), layers.Dense(1)])


@pytest.mark.parametrize("compiled", [True, False])
def test_a_loop_of_ones_own_learns_as_fit_does(compiled):
    rng = np.random.default_rng(2)
    x, y = rng.random((40, 4)).astype("float32"), rng.random((40, 1)).astype("float32")
    fitted, model = regression(1), regression(1)
    fitted.compile(keras.optimizers.Adam(0.01), "mse")
    fitted.fit(x, y, batch_size=10, epochs=2, shuffle=False, verbose=0)
    optimizer, traced = keras.optimizers.Adam(0.01), []
    optimizer.build(model.trainable_variables)

    def step(xb, yb):
        traced.append(1)
        loss, grads = plimsoll.value_and_grad(lambda: ops.mean(ops.square(model(xb, training=True) - yb)), model.trainable_variables)()
        optimizer.apply(grads, model.trainable_variables)
        return loss

    step = plimsoll.function(step) if compiled else step
    losses = [float(step(x[i:i + 10], y[i:i + 10])) for _ in range(2) for i in range(0, 40, 10)]
    assert len(traced) == (1 if compiled else 8)
    assert np.mean(losses[4:]) == pytest.approx(fitted.history.history["loss"][1], rel=1e-4)
    for ours, theirs in zip(model.get_weights(), fitted.get_weights()):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_functions_are_traced_once_for_each_type_of_arguments():
    traced = []

    @plimsoll.function
    def f(x, scale=1):
        traced.append(x.shape)
        return {"y": x * scale, "kind": "sum"}

    assert f(np.ones(3, "float32"))["y"].tolist() == [1, 1, 1]
    assert f(np.zeros(3, "float32"))["kind"] == "sum"
    assert f(np.ones(2, "float32"), scale=3)["y"].tolist() == [3, 3]
    assert traced == [(3,), (2,)]


def test_gradients_outside_of_a_step_are_refused():
    with pytest.raises(RuntimeError, match="value_and_grad"):
        plimsoll.gradients(ops.ones(()), [])


def test_a_tensor_of_an_eager_step_lives_on():
    kept = []
    plimsoll.value_and_grad(lambda x: kept.append(x * 2) or ops.sum(x))(ops.array([1.0, 2.0]))
    assert (kept[0] + 1).tolist() == [3.0, 5.0]


def two_losses(v, x):
    """(the second loss, gradients of both): between them the variable goes along the first gradient"""
    loss = lambda: ops.sum(ops.square(v * x - 1.0) * v)
    first = plimsoll.gradients(loss(), [v])[0]
    v.assign_add(0.1 * first)
    second = loss()
    found = plimsoll.gradients(second, [v])[0]
    v.assign(np.array([3.0, 4.0], "float32"))
    third = plimsoll.gradients(loss(), [v])[0]
    late = plimsoll.gradients(second, [v])[0]  # of a loss from before the assignment
    return second, first, found, third, late


@pytest.mark.parametrize("traced", [False, True])
def test_an_assignment_is_no_function_that_gradients_go_through(traced):
    x = np.array([2.0, 0.5], "float32")
    derivative = lambda v: 3 * x**2 * v**2 - 4 * x * v + 1  # of sum((v x - 1)^2 v)
    v = keras.Variable(np.array([1.5, -0.5], "float32"))
    if traced:
        _, first, found, third, late = plimsoll.function(lambda x: two_losses(v, x))(x)
    else:
        seen = []
        plimsoll.value_and_grad(lambda: seen.append(two_losses(v, ops.convert_to_tensor(x))) or seen[0][0], [v])()
        _, first, found, third, late = seen[0]
    at = np.array([1.5, -0.5])
    np.testing.assert_allclose(first, derivative(at), rtol=1e-5)
    np.testing.assert_allclose(found, derivative(at + 0.1 * derivative(at)), rtol=1e-5)
    np.testing.assert_allclose(third, derivative(np.array([3.0, 4.0])), rtol=1e-5)
    np.testing.assert_allclose(late, found, rtol=1e-6)
    np.testing.assert_allclose(v.numpy(), [3.0, 4.0])


@pytest.mark.parametrize("traced", [False, True])
def test_an_update_of_other_variables_is_a_constant_for_the_next_loss(traced):
    """As of a GAN: the critic learns from what the generator makes, and then the generator from the critic."""
    maker, critic = keras.Variable([2.0]), keras.Variable([0.5])

    def both(x):
        critic.assign_sub(0.1 * plimsoll.gradients(ops.sum(ops.square(critic * maker * x)), [critic])[0])
        loss = ops.sum(critic * maker * x)
        return loss, plimsoll.gradients(loss, [maker])[0]

    x = np.array([3.0], "float32")
    if traced:
        _, found = plimsoll.function(both)(x)
    else:
        (_, found), _ = plimsoll.value_and_grad(lambda x: both(x), [maker], has_aux=True)(x)
    np.testing.assert_allclose(found, critic.numpy() * x, rtol=1e-6)


@pytest.mark.parametrize("traced", [False, True])
def test_what_a_layer_keeps_is_a_constant_for_its_loss(traced):
    """As with TensorFlow and PyTorch; on JAX a gradient goes through an assignment of the same call."""
    w, kept = keras.Variable([2.0]), keras.Variable([1.0], trainable=False)

    def loss(x):
        kept.assign(w * x)
        return ops.sum(w * kept)

    run = lambda x: plimsoll.value_and_grad(loss, [w])(x)[1][0]
    np.testing.assert_allclose((plimsoll.function(run) if traced else run)(np.array([3.0], "float32")), kept.numpy(), rtol=1e-6)
