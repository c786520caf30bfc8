"""Control flow in a traced step: bodies that change variables, gradients through them, and gradients of one's own."""
import keras
import numpy as np
import plimsoll
import pytest
from keras import ops

from keras_plimsoll.src import engine
from keras_plimsoll.src.ops import linalg
from plimsoll import _native


def traced(function, *arrays):
    """function's results, from a step that was traced and compiled; variables have changed as it says."""
    tensors = [ops.convert_to_tensor(a) for a in arrays]
    step = engine.Step()
    inputs = [step.input(t.dtype, t.shape) for t in tensors]
    with engine.tracing(step):
        results = function(*inputs)
        results = [ops.convert_to_tensor(r) for r in (results if isinstance(results, (list, tuple)) else [results])]
    return [ops.convert_to_numpy(r) for r in step.compile(results).run(tensors)]


def gradient(function, *arrays):
    """Of the sum of its result, by each of the arrays."""
    return traced(lambda *xs: _native.gradients([ops.sum(function(*xs))], list(xs), []), *arrays)


def test_only_the_branch_taken_changes_variables():
    a, b = keras.Variable(1.0), keras.Variable(10.0)

    def step(x):
        return ops.cond(x > 0, lambda: a.assign_add(x) + b, lambda: b.assign_add(1.0) + a)

    np.testing.assert_allclose(traced(step, 2.0)[0], 13.0)
    assert (float(a), float(b)) == (3.0, 10.0)
    np.testing.assert_allclose(traced(step, -2.0)[0], 14.0)
    assert (float(a), float(b)) == (3.0, 11.0)


def test_branches_without_results_and_branches_in_branches():
    v = keras.Variable(0.0)

    def step(x):
        inner = lambda: ops.cond(x > 5, lambda: (v.assign(50.0), None)[1], lambda: (v.assign(5.0), None)[1])
        ops.cond(x > 0, inner, lambda: None)
        return v + 0.0

    for x, after in ((7.0, 50.0), (2.0, 5.0), (-1.0, 5.0)):
        assert traced(step, x)[0] == after and float(v) == after


def test_switch_takes_the_first_and_the_last_for_indices_outside():
    branches = [lambda x: x + 1.0, lambda x: x * 10.0, lambda x: -x]
    for index, expected in ((-3, 3.0), (0, 3.0), (1, 20.0), (2, -2.0), (9, -2.0)):
        assert traced(lambda i, x: ops.switch(i, branches, x), np.int32(index), np.float32(2.0))[0] == expected


def test_loops_change_variables_in_every_round():
    count, total = keras.Variable(0, dtype="int32"), keras.Variable(0.0)

    def body(i, x):
        count.assign_add(1)
        total.assign_add(x)
        return i + 1, x * 2.0

    i, x = traced(lambda n, x: ops.while_loop(lambda i, x: i < n, body, (0, x)), np.int32(4), np.float32(1.0))
    assert (int(i), float(x), int(count), float(total)) == (4, 16.0, 4, 15.0)

    def round_of(carry, item):
        count.assign_add(1)
        return carry + item, carry

    carry, seen = traced(lambda xs: ops.scan(round_of, ops.zeros(()), xs), np.arange(5, dtype="float32"))
    assert float(carry) == 10.0 and seen.tolist() == [0, 0, 1, 3, 6] and int(count) == 9


def test_scopes_of_keras_see_what_a_branch_assigned():
    v = keras.Variable(1.0)

    def step(x):
        with keras.StatelessScope([(v, x)]) as scope:
            ops.cond(x > 0, lambda: (v.assign(v + 1.0), None)[1], lambda: None)
        return scope.get_current_value(v)

    assert traced(step, 3.0)[0] == 4.0 and traced(step, -3.0)[0] == -3.0 and float(v) == 1.0


def test_fori_loop_and_scan_have_gradients():
    x = np.array([0.5, 2.0], "float32")
    power = lambda x: ops.fori_loop(0, 4, lambda i, y: y * x, ops.ones_like(x))
    np.testing.assert_allclose(gradient(power, x)[0], 4 * x**3, rtol=1e-6)


def geometric(x, w, n):
    """Sum of x w^i for i < n, as a loop whose number of rounds only the step knows; w is captured."""
    return ops.while_loop(lambda i, p, s: i < n, lambda i, p, s: (i + 1, p * w, s + p), (0, x, ops.zeros_like(x)))[2]


@pytest.mark.parametrize("rounds", [0, 1, 2, 31, 32, 33, 70, 200])
def test_a_while_loop_has_a_gradient_whatever_its_rounds(rounds):
    x, w, i = np.array([0.5, 2.0]), np.array([0.9, -0.95]), np.arange(rounds)[:, None]
    value, dx, dw = plimsoll.function(lambda n: derivatives(lambda x, w: geometric(x, w, n), x, w))(np.int32(rounds))
    np.testing.assert_allclose(value, (x * w**i).sum(), rtol=1e-5)
    np.testing.assert_allclose(dx, (w**i).sum(0), rtol=1e-5)
    np.testing.assert_allclose(dw, (x * i * w ** np.maximum(i - 1, 0)).sum(0), rtol=1e-5, atol=1e-6)


def derivatives(fn, *args):
    value, d = plimsoll.value_and_grad(lambda args: ops.sum(fn(*args)))([ops.convert_to_tensor(a, "float32") for a in args])
    return value, *d


def test_a_while_loop_that_ends_by_what_it_computes_is_trained_through():
    inputs = keras.Input((3,))
    halved = Halved()(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(halved))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = np.array([[9.0, 3.0, 1.0], [40.0, 8.0, 0.5]], "float32")
    scale = lambda: model.layers[1].scale.numpy().copy()
    before = scale()
    model.fit(x, np.zeros((2, 1), "float32"), verbose=0)
    rounds = np.ceil(np.log(x.sum()) / np.log(2))  # the sum of all is halved until it is at most 1
    y = (x * before / 2**rounds).sum(1, keepdims=True)
    expected = before - 0.1 * (2 * y / 2 * x / 2**rounds).sum(0)
    np.testing.assert_allclose(scale(), expected, rtol=1e-5)


class Halved(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return ops.while_loop(lambda x: ops.sum(x) > 1.0, lambda x: (x / 2.0,), (x * self.scale,))[0]


def test_a_while_loop_has_second_derivatives():
    def slope(x, n):
        return plimsoll.value_and_grad(lambda x: ops.sum(ops.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, ops.ones_like(x)))[1]))(x)[1]

    d = plimsoll.function(lambda x, n: plimsoll.value_and_grad(lambda x: ops.sum(slope(x, n)))(x)[1])
    np.testing.assert_allclose(d(np.array([0.5, 2.0], "float32"), np.int32(4)), 12 * np.array([0.25, 4.0]), rtol=1e-5)


def test_a_while_loop_in_a_branch_of_a_scan_has_a_gradient():
    def step(x, n):
        grow = lambda c: ops.while_loop(lambda i, c: i < n, lambda i, c: (i + 1, c * x), (0, c))[1]
        return ops.scan(lambda c, k: (ops.cond(k > 0, lambda: grow(c), lambda: c), None), ops.ones_like(x), np.arange(3))[0]

    x = np.array([0.5, 2.0], "float32")
    d = plimsoll.function(lambda x, n: derivatives(lambda x: step(x, n), x)[1])(x, np.int32(3))
    np.testing.assert_allclose(d, 6 * x**5, rtol=1e-5)  # two branches of three rounds


def test_custom_gradient_is_taken_and_captures():
    @ops.custom_gradient
    def clipped(x, factor):
        def grad(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            return ops.clip(upstream, -1.0, 1.0) * factor, ops.zeros_like(factor)

        return x * factor, grad

    x, factor = np.array([1.0, 2.0], "float32"), np.float32(3.0)
    dx, dfactor = gradient(lambda x, factor: clipped(x, factor) * 100.0, x, factor)
    assert dx.tolist() == [3.0, 3.0] and dfactor == 0.0
    np.testing.assert_allclose(ops.convert_to_numpy(clipped(ops.convert_to_tensor(x), ops.convert_to_tensor(factor))), x * 3)


@pytest.mark.parametrize("eagerly", [False, True])
def test_custom_gradient_is_taken_in_every_kind_of_step(eagerly):
    @ops.custom_gradient
    def reversed_gradient(x):
        return x, lambda *args, upstream=None: -2.0 * (args[0] if upstream is None else upstream)

    @ops.custom_gradient
    def log1pexp(x):
        e = ops.exp(x)
        return ops.log(1 + e), lambda *args, upstream=None: (args[0] if upstream is None else upstream) * (1.0 - 1.0 / (1 + e))

    alone = plimsoll.value_and_grad(lambda x: ops.sum(reversed_gradient(x) * 5.0 + log1pexp(x)))
    x = np.array([0.0, 100.0], "float32")
    run = alone if eagerly else plimsoll.function(alone)
    np.testing.assert_allclose(ops.convert_to_numpy(run(x)[1]), [-9.5, -9.0], rtol=1e-6)

    class Reversed(keras.layers.Layer):
        def call(self, x):
            return reversed_gradient(x)

    dense = keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)
    model = keras.Sequential([keras.Input((1,)), dense, Reversed()])
    model.compile(keras.optimizers.SGD(0.25), "mse", run_eagerly=eagerly)
    model.fit(np.ones((1, 1)), np.zeros((1, 1)), verbose=0)
    assert float(dense.kernel[0, 0]) == 2.0  # 1 - 0.25 * 2 * -2


@pytest.mark.parametrize("eagerly", [False, True])
def test_bodies_have_gradients_by_what_they_capture(eagerly):
    x, rows = np.array([0.5, 2.0], "float32"), np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    v = keras.Variable(x)

    def by(loss, variables=None):
        alone = plimsoll.value_and_grad(loss, variables)
        grads = (alone if eagerly else plimsoll.function(alone))(x)[1]
        return ops.convert_to_numpy(grads if variables is None else grads[0]).tolist()

    carried = lambda w: ops.sum(ops.scan(lambda c, r: (c * w + r, c), ops.ones((2,)), rows)[0])  # w (w + r0) + r1
    assert by(carried) == [2.0, 6.0] and by(lambda _: carried(v), [v]) == [2.0, 6.0]
    assert by(lambda w: ops.sum(ops.map(lambda r: r * w, rows))) == [4.0, 6.0]

    def within(w):  # what the outer body is given is captured by the inner one, whose operands come from outside of both
        return ops.scan(lambda c, r: (c + ops.sum(ops.scan(lambda d, _: (d * w + r, d), w, rows)[0]), None), ops.sum(w), rows)[0]

    assert by(within) == [6.5, 31.0]
    branch = lambda w, r: ops.cond(ops.sum(w) > 0, lambda: ops.sum(r * w), lambda: ops.sum(r))
    assert by(lambda w: ops.scan(lambda c, r: (c + branch(w, r), None), ops.sum(w), rows)[0]) == [5.0, 7.0]
    again = lambda w, r: keras.src.backend.core.remat(lambda y: y * r)(w)
    assert by(lambda w: ops.sum(ops.scan(lambda c, r: (c + again(w, r), None), w, rows)[0])) == [5.0, 7.0]


def test_in_an_eager_step_a_body_can_look_at_what_it_captures():
    x = np.array([0.5, 2.0], "float32")

    def loss(x):
        return ops.sum(ops.map(lambda r: r * x * float(ops.sum(x * 2.0)), np.ones((3, 2), "float32")))

    assert ops.convert_to_numpy(plimsoll.value_and_grad(loss)(x)[1]).tolist() == [15.0, 15.0]


@pytest.mark.parametrize("layer", ["SimpleRNN", "LSTM", "GRU"])
def test_recurrent_layers_learn_the_same_eagerly(layer):
    keras.utils.set_random_seed(1)
    x, y = np.random.default_rng(0).normal(size=(4, 5, 2)).astype("float32"), np.ones((4, 3), "float32")
    model = keras.Sequential([keras.Input((5, 2)), getattr(keras.layers, layer)(3)])
    first, after = model.get_weights(), []
    for eagerly in (False, True):
        model.set_weights(first)
        model.compile(keras.optimizers.SGD(1.0), "mse", run_eagerly=eagerly)
        model.fit(x, y, verbose=0)
        after.append(model.get_weights())
    for traced_one, eager_one, before in zip(*after, first):
        np.testing.assert_allclose(eager_one, traced_one, rtol=1e-5, atol=1e-6)
        assert np.abs(eager_one - before).max() > 1e-3


@pytest.mark.parametrize("eagerly", [False, True])
def test_custom_gradient_has_second_derivatives(eagerly):
    @ops.custom_gradient
    def log1pexp(x):
        e = ops.exp(x)
        return ops.log(1 + e), lambda *args, upstream=None: (args[0] if upstream is None else upstream) * (1.0 - 1.0 / (1 + e))

    slope = plimsoll.value_and_grad(lambda x: ops.sum(log1pexp(x)))
    twice = plimsoll.value_and_grad(lambda x: ops.sum(slope(x)[1]))
    x = np.array([0.5, 2.0], "float32")
    run = twice if eagerly else plimsoll.function(twice)
    np.testing.assert_allclose(ops.convert_to_numpy(run(x)[1]), np.exp(x) / (1 + np.exp(x)) ** 2, rtol=1e-5)


def test_remat_gives_the_same_and_lets_variables_change():
    v = keras.Variable(0.0)
    x = np.linspace(-1, 1, 7, dtype="float32")

    def f(x, scale=1.0):
        v.assign_add(1.0)
        return ops.tanh(ops.sin(x) * scale)

    again = keras.src.backend.core.remat(f)
    np.testing.assert_allclose(gradient(lambda x: again(x, scale=2.0), x)[0], gradient(lambda x: f(x, scale=2.0), x)[0], rtol=1e-6)
    assert float(v) == 2.0


def test_stop_gradient():
    x = np.array([3.0], "float32")
    assert gradient(lambda x: x * ops.stop_gradient(x), x)[0].tolist() == [3.0]


def test_jvp_is_the_derivative_along_the_tangent():
    x, t = np.array([0.3, -0.7], "float32"), np.array([1.0, 2.0], "float32")
    for run in (lambda f: f(x, t), lambda f: traced(f, x, t)):
        value, slope = run(lambda x, t: linalg.jvp(lambda x: ops.sin(x) * x, (x,), (t,)))
        np.testing.assert_allclose(ops.convert_to_numpy(value), np.sin(x) * x, rtol=1e-6)
        np.testing.assert_allclose(ops.convert_to_numpy(slope), (np.cos(x) * x + np.sin(x)) * t, rtol=1e-5)


def test_variables_are_copied_and_pickled_by_value():
    import copy
    import pickle

    v = keras.Variable([1.0, 2.0], name="v")
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        v_before = np.array(v)
        other.assign([5.0, 6.0])
        np.testing.assert_array_equal(v, v_before)
        assert other.name == "v"


def test_a_layer_that_is_built_while_its_model_is_knows_its_shapes():
    class Head(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.head = keras.layers.Dense(10)

        def call(self, x):
            return {"head": self.head(x)}

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.heads = keras.layers.Dense(32), Head()

        def call(self, x):
            return self.heads(self.dense(x))

    model = Model()
    model(np.zeros((1, 16), "float32"))
    assert model.heads._build_shapes_dict
