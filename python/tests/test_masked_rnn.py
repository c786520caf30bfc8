"""LSTM and GRU with masks of all kinds on the engine's ops, against the formulas written out in JAX: values, states and gradients."""
import keras_plimsoll  # noqa: F401  (first: it chooses the backend)
import jax
import keras
import numpy as np
import pytest

from keras_plimsoll.src import engine, rnn_masked
from plimsoll import _native

jnp = jax.numpy
BATCH, TIME, FEATURES, UNITS = 3, 5, 4, 2
MASKS = {
    "end": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]], "beginning": [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]],
    "both": [[0, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], "holes": [[1, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 1, 1, 1, 1]],
}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def lstm(x, h, c, mask, kernel, recurrent, bias):
    outputs = []
    for t in range(TIME):
        i, f, g, o = jnp.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        new_c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        new_h = jax.nn.sigmoid(o) * jnp.tanh(new_c)
        h, c = (jnp.where(mask[:, t, None], new, old) for new, old in ((new_h, h), (new_c, c)))
        outputs.append(h)
    return jnp.stack(outputs, 1), h, c


def gru(x, h, mask, kernel, recurrent, bias):
    outputs = []
    for t in range(TIME):
        z, r, g = jnp.split(x[:, t] @ kernel + bias[0], 3, axis=1)
        hz, hr, hg = jnp.split(h @ recurrent + bias[1], 3, axis=1)
        z, r = jax.nn.sigmoid(z + hz), jax.nn.sigmoid(r + hr)
        h = jnp.where(mask[:, t, None], z * h + (1 - z) * jnp.tanh(g + r * hg), h)
        outputs.append(h)
    return jnp.stack(outputs, 1), h


def backward(formula):
    return lambda x, *rest: formula(x[:, ::-1], *[m[:, ::-1] if m.shape == (BATCH, TIME) else m for m in rest])


def ours(layer, x, states, mask, weights):
    """All of what the layer returns, and the gradients of a weighed sum of it by its inputs and weights, from one Program."""
    step = engine.Step()
    with engine.tracing(step):
        inputs = [step.input("float32", a.shape) for a in (x, *states, *weights)]
        layer.cell.kernel, layer.cell.recurrent_kernel, layer.cell.bias = inputs[1 + len(states):]
        results = layer(inputs[0], initial_state=inputs[1 : 1 + len(states)], mask=keras.ops.convert_to_tensor(mask))
        loss = sum(keras.ops.sum(r * numbers(*r.shape, seed=i)) for i, r in enumerate(results))
        out = [*results, *_native.gradients([loss], inputs, [])]
    return [engine.to_numpy(t) for t in step.compile(out).run([engine.from_numpy(a) for a in (x, *states, *weights)])]


def theirs(formula, x, states, mask, weights):
    def loss(x, states, weights):
        results = formula(x, *states, mask, *weights)
        return sum((r * numbers(*r.shape, seed=i)).sum() for i, r in enumerate(results))

    dx, dstates, dweights = jax.grad(loss, argnums=(0, 1, 2))(x, states, weights)
    return [*formula(x, *states, mask, *weights), dx, *dstates, *dweights]


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("make, formula, gates", [(keras.layers.LSTM, lstm, 4), (keras.layers.GRU, gru, 3)])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_as_the_formulas(kind, make, formula, gates, go_backwards, monkeypatch):
    layer = make(UNITS, return_sequences=True, return_state=True, go_backwards=go_backwards)
    layer.build((BATCH, TIME, FEATURES))
    states = [numbers(BATCH, UNITS, seed=7 + i) for i in range(gates - 2)]
    bias = numbers(4 * UNITS, seed=5) if gates == 4 else numbers(2, 3 * UNITS, seed=5)
    weights = [numbers(FEATURES, gates * UNITS, seed=3), numbers(UNITS, gates * UNITS, seed=4), bias]
    x, mask = numbers(BATCH, TIME, FEATURES), np.array(MASKS[kind], bool)
    cell = layer.cell
    assert rnn_masked.cell_of(step_of(layer)) is cell
    monkeypatch.setattr(rnn_masked, "cell_of", lambda step: cell)
    cell.__class__ = type("Free", (type(cell),), {"__setattr__": object.__setattr__})  # takes tensors where it has variables
    expected = theirs(backward(formula) if go_backwards else formula, x, states, mask, weights)
    for a, b in zip(ours(layer, x, states, mask, weights), expected):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def step_of(layer):
    """The function that the layer gives to rnn()."""
    from keras.src import backend

    caught, rnn = [], backend.rnn
    backend.rnn = lambda step, *args, **kwargs: caught.append(step)
    try:
        keras.layers.RNN.inner_loop(layer, np.zeros((1, 2, FEATURES), "float32"), [], None)
    finally:
        backend.rnn = rnn
    return caught[0]
