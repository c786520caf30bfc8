"""tf.GradientTape, op by op and inside of a tf.function, beside gradients by hand and finite differences."""
import keras
import numpy as np
import pytest
import tensorflow as tf
from plimsoll_tensorflow import tape as tapes


def numeric(f, x, eps=1e-3):
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(up) - f(down)) / (2 * eps)
    return out


def loss_of(layer, x):
    return tf.reduce_sum(tf.square(layer(x)))


LAYERS = {
    "dense": (lambda: keras.layers.Dense(3, "tanh"), (2, 4)), "conv": (lambda: keras.layers.Conv2D(2, 3, padding="same"), (1, 4, 4, 2)),
    "lstm": (lambda: keras.layers.LSTM(3), (2, 4, 2)), "gru": (lambda: keras.layers.GRU(3, reset_after=False), (2, 3, 2)),
    "norm": (lambda: keras.layers.LayerNormalization(), (2, 5)), "attention": (lambda: keras.layers.MultiHeadAttention(1, 2), (1, 3, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("traced", [False, True])
def test_gradients_of_layers_are_those_of_differences(name, traced):
    make, shape = LAYERS[name]
    layer, x = make(), np.random.default_rng(0).normal(size=shape).astype("float32")
    call = (lambda t: layer(t, t)) if name == "attention" else layer
    call(x)

    def gradient(t):
        with tf.GradientTape() as tape:
            tape.watch(t)
            loss = loss_of(call, t)
        return tape.gradient(loss, [t, *layer.trainable_variables])

    found = (tf.function(gradient) if traced else gradient)(tf.constant(x))
    np.testing.assert_allclose(found[0], numeric(lambda v: float(loss_of(call, v)), x), rtol=2e-2, atol=2e-2)
    assert [tuple(g.shape) for g in found[1:]] == [tuple(v.shape) for v in layer.trainable_variables]


def test_what_was_computed_before_the_tape_is_a_constant():
    v = tf.Variable(3.0)

    def step():
        before = v * 2.0
        with tf.GradientTape() as tape:
            y = v * before
        return tape.gradient(y, v)

    assert float(step()) == float(tf.function(step)()) == 6.0


def test_gradients_of_gradients_inside_of_a_function():
    @tf.function
    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x ** 3
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    assert float(second(tf.constant(2.0))) == 12.0


def test_a_loop_traces_its_gradient_once():
    w, x = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    tapes._programs.clear()
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w - x) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
    assert len(tapes._programs) == 1


def test_a_tape_keeps_no_results_alive():
    import weakref

    w = tf.Variable([1.0])
    with tf.GradientTape(persistent=True) as tape:
        y = w * 2.0
        z = y * y
    ref = weakref.ref(y)
    del y
    assert ref() is None and float(tape.gradient(z, w)[0]) == 8.0


def test_an_assignment_later_does_not_change_the_gradient():
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = w * w
    w.assign(100.0)
    assert float(tape.gradient(y, w)) == 6.0


def test_tapes_of_threads_are_their_own():
    import threading

    w, seen = tf.Variable(2.0), []
    with tf.GradientTape() as tape:
        thread = threading.Thread(target=lambda: seen.append(w * 5.0))
        thread.start()
        thread.join()
        y = w * 3.0
    assert tape.gradient(y, w) is not None and len(tape._entries) == 0 and len(seen) == 1


def test_integers_have_no_gradient():
    x = tf.constant([1, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2
    assert tape.gradient(y, x) is None


def test_a_constant_that_is_watched_inside_of_a_function_has_a_gradient():
    x, scale = tf.constant([1.0, 2.0, 3.0]), tf.Variable(2.0)

    @tf.function
    def derivatives():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = scale * x**3
            first = tape.gradient(y, x)
        return first, tape.gradient(first, x)

    first, second = derivatives()
    np.testing.assert_allclose(first, 6 * np.array([1.0, 4.0, 9.0]), rtol=1e-6)
    np.testing.assert_allclose(second, 12 * np.array([1.0, 2.0, 3.0]), rtol=1e-6)
