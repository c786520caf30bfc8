"""JAX as a peer, without Keras: the models as functions of their parameters, and a jitted step whose state is donated."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Net:
    """Gives a model its parameters and states in the order in which it asks for them. With none yet, notes what it asks for."""

    def __init__(self, values=None, states=None, key=None):
        self.values, self.states, self.key = values and iter(values), states and iter(states), key
        self.shapes, self.new_states = [], []

    @property
    def training(self):
        return self.key is not None

    def param(self, *shape, fill=None):
        if self.values is None:
            self.shapes.append((shape, fill))
            return jnp.zeros(shape)
        return next(self.values)

    def dense(self, x, n, act=lambda x: x):
        return act(x @ self.param(x.shape[-1], n) + self.param(n, fill=0))

    def conv(self, x, n, size=3, stride=1, pad=0, bias=True):
        y = lax.conv_general_dilated(x, self.param(size, size, x.shape[-1], n), (stride, stride), [(pad, pad)] * 2,
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return y + self.param(n, fill=0) if bias else y

    def pool(self, x, size=2, stride=2, pad=0):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), [(0, 0), (pad, pad), (pad, pad), (0, 0)])

    def batch_norm(self, x, epsilon=1e-3):
        n = x.shape[-1]
        gamma, beta = self.param(n, fill=1), self.param(n, fill=0)
        means, variances = (next(self.states), next(self.states)) if self.states else (jnp.zeros(n), jnp.ones(n))
        mean, variance = means, variances
        if self.training:
            wide = x.astype(jnp.float32)
            mean, variance = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
        self.new_states += [means * 0.99 + mean * 0.01, variances * 0.99 + variance * 0.01]
        return ((x - mean) * (gamma * lax.rsqrt(variance + epsilon)) + beta).astype(x.dtype)

    def layer_norm(self, x, epsilon=1e-3):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + epsilon) * self.param(x.shape[-1], fill=1) + self.param(x.shape[-1], fill=0)

    def dropout(self, x):
        return jnp.where(jax.random.bernoulli(self.key, 0.5, x.shape), x * 2, 0) if self.training else x

    def lstm(self, x, n, sequence=False):
        """The product with the inputs stands in the loop: it is the faster form in XLA."""
        kernel, recurrent, bias = self.param(x.shape[-1], 4 * n), self.param(n, 4 * n), self.param(4 * n, fill=0)

        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ kernel + h @ recurrent + bias, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h if sequence else None

        zeros = jnp.zeros((x.shape[0], n), x.dtype)
        (last, _), all_steps = lax.scan(step, (zeros, zeros), x.swapaxes(0, 1))
        return all_steps.swapaxes(0, 1) if sequence else last

    def attention(self, x, heads):
        split = x.shape[:2] + (heads, x.shape[-1] // heads)
        q, k, v = (self.dense(x, x.shape[-1]).reshape(split) for _ in range(3))
        return self.dense(jax.nn.dot_product_attention(q, k, v).reshape(x.shape), x.shape[-1])


def resnet50(net, x):
    def normed(x, n, size, stride):
        return net.batch_norm(net.conv(x, n, size, stride, size // 2, bias=False), 1e-5)

    x = net.pool(jax.nn.relu(normed(x, 64, 7, 2)), 3, 2, 1)
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(blocks):
            stride = 2 if i == 0 and filters > 64 else 1
            y = jax.nn.relu(normed(jax.nn.relu(normed(x, filters, 1, 1)), filters, 3, stride))
            y = normed(y, 4 * filters, 1, 1)
            x = jax.nn.relu(y + (normed(x, 4 * filters, 1, stride) if i == 0 else x))
    return net.dense(x.mean((1, 2)), 10)


def transformer(net, x, vocabulary=8000, width=256, heads=8, blocks=4):
    x = net.param(vocabulary, width)[x]
    for _ in range(blocks):
        x = net.layer_norm(x + net.attention(x, heads))
        x = net.layer_norm(x + net.dense(net.dense(x, 4 * width, lambda x: jax.nn.gelu(x, approximate=False)), width))
    return net.dense(x.mean(1), 10)


def logits_of(net, model, x):
    relu = jax.nn.relu

    def flat(x):
        return x.reshape(len(x), -1)

    if model.startswith("mlp10_"):
        return net.dense(net.dense(net.dense(x, 64, relu), 32, relu), 1)
    if model == "mlp100_b32":
        return net.dense(net.dense(x, 64, relu), 1)
    if model in ("mnist_b128", "cnn100_b512"):
        x = flat(net.pool(relu(net.conv(net.pool(relu(net.conv(x, 32))), 64))))
        return net.dense(net.dropout(x) if model == "mnist_b128" else net.dense(x, 128, relu), 10)
    if model == "cnn64bn_b32":
        for n in (32, 64, 128):
            x = net.pool(net.batch_norm(relu(net.conv(x, n))))
        return net.dense(net.dropout(net.dense(flat(x), 128, relu)), 10)
    if model == "lstm_b32":
        return net.dense(net.lstm(net.param(20000, 128)[x], 128), 1)
    if model == "lstm512_b64":
        return net.dense(net.lstm(net.lstm(x, 512, sequence=True), 512), 10)
    if model == "bert_b32":
        return transformer(net, x, 30522, 768, 12, 12)
    return (transformer if model == "transformer_b16" else resnet50)(net, x)


def initial(row, x):
    """Parameters and states, drawn with NumPy."""
    net, rng = Net(key=jax.random.key(0)), np.random.default_rng(0)
    jax.eval_shape(lambda x: logits_of(net, row.model, x), x)
    params = [jnp.full(shape, fill, jnp.float32) if fill is not None
              else jnp.asarray(rng.normal(0, 1 / math.sqrt(math.prod(shape[:-1])), shape), jnp.float32) for shape, fill in net.shapes]
    return params, [jnp.asarray(np.full(s.shape, i % 2), jnp.float32) for i, s in enumerate(net.new_states)]


def loss_and_states(row, params, states, x, y, key):
    if row.bf16:
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
        x = x.astype(jnp.bfloat16) if x.dtype == jnp.float32 else x
    net = Net(params, states, key)
    logits = logits_of(net, row.model, x).astype(jnp.float32)
    if row.binary:
        loss = (jax.nn.softplus(logits) - logits * y).mean()
    else:
        loss = -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()
    return loss, net.new_states


def adam(params, grads, moments, t):
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], grads)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), params, m, v), (m, v)


def make_round(row):
    x, y = row.data()
    batches = [(jnp.asarray(x[at]), jnp.asarray(y[at])) for at in row.batches()]
    params, states = initial(row, batches[0][0])
    if row.predict:
        def forward(params, states, x):
            if row.bf16:
                params, x = jax.tree.map(lambda v: v.astype(jnp.bfloat16) if v.dtype == jnp.float32 else v, (params, x))
            logits = logits_of(Net(params, states), row.model, x)
            return jax.nn.sigmoid(logits) if row.binary else jax.nn.softmax(logits)

        forward = jax.jit(forward)
        read = np.asarray if row.waits else lambda y: y.block_until_ready()
        return lambda: [read(forward(params, states, xb)) for xb, _ in batches]

    def step(state, x, y):
        params, states, moments, t = state
        key = jax.random.fold_in(jax.random.key(0), t)
        gradient = jax.value_and_grad(lambda p: loss_and_states(row, p, states, x, y, key), has_aux=True)
        (loss, states), grads = gradient(params)
        t = t + 1
        params, moments = adam(params, grads, moments, t.astype(jnp.float32))
        return loss, (params, states, moments, t)

    zeros = lambda: [jnp.zeros(p.shape) for p in params]
    held = [(params, states, (zeros(), zeros()), jnp.zeros((), jnp.int32))]
    step = jax.jit(step, donate_argnums=0)

    def train():
        for xb, yb in batches:
            loss, held[0] = step(held[0], xb, yb)
        return float(loss)

    return train
