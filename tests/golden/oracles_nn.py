"""Oracles of contractions, convolutions, pooling, batch normalisation and random numbers."""
import itertools

import numpy as np
from scipy import special

from oracles_elementwise import wide

ACTIVATIONS = {
    "linear": lambda x: x, "relu": lambda x: np.maximum(x, 0), "sigmoid": special.expit, "tanh": np.tanh,
    "gelu": lambda x: 0.5 * x * (1 + special.erf(x / np.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * special.expit(x),
}


def gelu(inputs, attrs, out):
    return ACTIVATIONS["gelu_tanh" if attrs["approximate"] else "gelu"](wide(inputs[0]))


def gelu_grad(inputs, attrs, out):
    x, dy = map(wide, inputs)
    if not attrs["approximate"]:
        return dy * (special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x))


def dot_general(inputs, attrs, out):
    a, b = (wide(x) if x.dtype.kind not in "bu" else x.astype(np.uint64) for x in inputs)
    ac, bc, ab, bb = ([i % x.ndim for i in attrs[name]] for name, x in
                      (("a_contract", a), ("b_contract", b), ("a_batch", a), ("b_batch", b)))
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    a_axes, b_axes = [None] * a.ndim, [None] * b.ndim
    for i, j in list(zip(ab, bb)) + list(zip(ac, bc)):
        a_axes[i] = b_axes[j] = next(letters)
    a_axes = [x or next(letters) for x in a_axes]
    b_axes = [x or next(letters) for x in b_axes]
    result = [a_axes[i] for i in ab]
    result += [x for i, x in enumerate(a_axes) if i not in ab + ac]
    result += [x for i, x in enumerate(b_axes) if i not in bb + bc]
    return np.einsum(f"{''.join(a_axes)},{''.join(b_axes)}->{''.join(result)}", a, b)


def dense(inputs, attrs, out):
    x, kernel, bias = map(wide, inputs)
    return ACTIVATIONS[attrs["activation"]](x @ kernel + bias)


class Conv:
    """A convolution of (N, spatial..., C) by (spatial..., C / groups, filters) as a sum over the points of its window."""

    def __init__(self, x_shape, kernel_shape, attrs):
        of = lambda name, fallback: attrs[name] or [fallback] * (len(x_shape) - 2)
        self.strides, self.low, self.high = of("strides", 1), of("pad_low", 0), of("pad_high", 0)
        self.spread, self.dilation, self.groups = of("lhs_dilation", 1), of("rhs_dilation", 1), attrs["groups"]
        self.x_shape, self.kernel_shape, self.window = x_shape, kernel_shape, kernel_shape[:-2]
        self.wide = [max(0, (n - 1) * d + 1) for n, d in zip(x_shape[1:-1], self.spread)]
        self.padded = [n + a + b for n, a, b in zip(self.wide, self.low, self.high)]
        self.out = [max(0, (n - (w - 1) * d - 1) // s + 1)
                    for n, w, d, s in zip(self.padded, self.window, self.dilation, self.strides)]

    def inner(self):
        """Where x lies in the padded, spread array."""
        return (slice(None),) + tuple(slice(a, a + n, d) for a, n, d in zip(self.low, self.wide, self.spread))

    def taps(self):
        """Each point of the window, and the slice of the padded array it meets."""
        for point in itertools.product(*map(range, self.window)):
            yield point, (slice(None),) + tuple(slice(p * d, p * d + n * s, s) for p, d, n, s in
                                                zip(point, self.dilation, self.out, self.strides))

    def pad(self, x):
        padded = np.zeros([self.x_shape[0], *self.padded, self.x_shape[-1]])
        padded[self.inner()] = x
        return padded

    def grouped(self, t):
        return t.reshape(*t.shape[:-1], self.groups, t.shape[-1] // self.groups)

    def patch(self, padded, at):
        cut = padded[at]
        return self.grouped(cut[tuple(slice(n) for n in [cut.shape[0], *self.out])])


def conv(inputs, attrs, out):
    x, kernel = map(wide, inputs)
    c = Conv(x.shape, kernel.shape, attrs)
    y, padded, k = np.zeros([x.shape[0], *c.out, kernel.shape[-1]]), c.pad(x), c.grouped(kernel)
    for point, at in c.taps() if y.size else ():
        y += np.einsum("...gc,cgf->...gf", c.patch(padded, at), k[point]).reshape(y.shape)
    return y


def conv_grad_input(inputs, attrs, out):
    dy, kernel = map(wide, inputs)
    c = Conv(attrs["input_shape"], kernel.shape, attrs)
    padded, k = np.zeros([c.x_shape[0], *c.padded, c.x_shape[-1]]), c.grouped(kernel)
    for point, at in c.taps() if dy.size else ():
        padded[at] += np.einsum("...gf,cgf->...gc", c.grouped(dy), k[point]).reshape(*dy.shape[:-1], c.x_shape[-1])
    return padded[c.inner()]


def conv_grad_filter(inputs, attrs, out):
    x, dy = map(wide, inputs)
    c = Conv(x.shape, attrs["kernel_shape"], attrs)
    dk, padded = np.zeros(attrs["kernel_shape"]), c.pad(x)
    for point, at in c.taps() if dy.size else ():
        dk[point] = np.einsum("ngc,ngf->cgf", c.patch(padded, at).reshape(-1, c.groups, c.kernel_shape[-2]),
                              c.grouped(dy).reshape(-1, c.groups, dy.shape[-1] // c.groups)).reshape(dk[point].shape)
    return [dk] + ([dy.sum(tuple(range(dy.ndim - 1)))] if attrs["bias"] else [])


def conv_bias(inputs, attrs, out):
    x, kernel, bias, *more = map(wide, inputs)
    y = conv([x, kernel], attrs, out)
    if attrs["scale"]:
        y = y * more.pop(0)
    y = y + bias
    if attrs["residual"]:
        y = y + more.pop(0)
    return ACTIVATIONS[attrs["activation"]](y)


def pool_windows(shape, attrs):
    """Per point of the result: its index and, in order, the points of its window as (number, place or None)."""
    rank = len(shape) - 2
    sizes = [max(0, (n + a + b - w) // s + 1) for n, w, s, a, b in
             zip(shape[1:-1], attrs["window"], attrs["strides"], attrs["pad_low"], attrs["pad_high"])]
    points = list(itertools.product(*map(range, attrs["window"])))
    for at in itertools.product(*map(range, sizes)):
        places = [tuple(i * s - a + p for i, s, a, p in zip(at, attrs["strides"], attrs["pad_low"], point))
                  for point in points]
        yield at, [(k, p) for k, p in enumerate(places) if all(0 <= p[i] < shape[1 + i] for i in range(rank))]


def everywhere(place):
    return (slice(None),) + tuple(place) + (slice(None),)


def pool_shape(shape, attrs):
    return (shape[0],) + tuple(max(0, (n + a + b - w) // s + 1) for n, w, s, a, b in zip(
        shape[1:-1], attrs["window"], attrs["strides"], attrs["pad_low"], attrs["pad_high"])) + (shape[-1],)


def max_pool(inputs, attrs, out):
    x = wide(inputs[0])
    y, index = np.zeros(pool_shape(x.shape, attrs)), np.zeros(pool_shape(x.shape, attrs), np.uint8)
    for at, window in pool_windows(x.shape, attrs):
        values = np.stack([x[everywhere(p)] for _, p in window])
        y[everywhere(at)] = values.max(0)
        index[everywhere(at)] = np.array([k for k, _ in window], np.uint8)[values.argmax(0)]
    return [y, index] if attrs["index"] else y


def max_pool_grad(inputs, attrs, out):
    dy, index = wide(inputs[0]), inputs[1]
    dx = np.zeros(attrs["input_shape"])
    for at, window in pool_windows(dx.shape, attrs):
        for k, place in window:
            dx[everywhere(place)] += np.where(index[everywhere(at)] == k, dy[everywhere(at)], 0)
    return dx


def max_pool_take(inputs, attrs, out):
    x, index = wide(inputs[0]), inputs[1]
    y = np.zeros(index.shape)
    for at, window in pool_windows(x.shape, attrs):
        for k, place in window:
            y[everywhere(at)] = np.where(index[everywhere(at)] == k, x[everywhere(place)], y[everywhere(at)])
    return y


def average_pool(inputs, attrs, out):
    x = wide(inputs[0])
    y = np.zeros(pool_shape(x.shape, attrs))
    for at, window in pool_windows(x.shape, attrs):
        y[everywhere(at)] = np.mean([x[everywhere(p)] for _, p in window], 0)
    return y


def average_pool_grad(inputs, attrs, out):
    dy = wide(inputs[0])
    dx = np.zeros(attrs["input_shape"])
    for at, window in pool_windows(dx.shape, attrs):
        for _, place in window:
            dx[everywhere(place)] += dy[everywhere(at)] / len(window)
    return dx


def batch_norm(inputs, attrs, out):
    x, gamma, beta, *residual = map(wide, inputs)
    axes = tuple(range(x.ndim - 1))
    count = max(1, x.size // x.shape[-1])
    mean = x.sum(axes) / count
    variance = ((x - mean) ** 2).sum(axes) / count
    y = (x - mean) / np.sqrt(variance + attrs["epsilon"]) * gamma + beta
    y = y + residual[0] if attrs["residual"] else y
    return [ACTIVATIONS[attrs["activation"]](y), mean, variance]


def batch_norm_grad(inputs, attrs, out):
    """The formula, because the cases need not give the statistics of x."""
    dy, x, gamma, mean, variance, *y = map(wide, inputs)
    axes = tuple(range(x.ndim - 1))
    count = max(1, x.size // x.shape[-1])
    dy = np.where(y[0] > 0, dy, 0) if attrs["activation"] == "relu" else dy
    root = np.sqrt(variance + attrs["epsilon"])
    xhat = (x - mean) / root
    dgamma, dbeta = (dy * xhat).sum(axes), dy.sum(axes)
    dx = gamma / root * (dy - dbeta / count - xhat * dgamma / count)
    dx = np.where(x > 0, dx, 0) if attrs["input_relu"] else dx
    return [dx, dgamma, dbeta] + ([dy] if len(out) > 3 else [])



def philox(key, blocks):
    """Words of Philox 4x32-10 for counters (block, 0, 0)."""
    c = [blocks & 0xFFFFFFFF, blocks >> 32, np.zeros_like(blocks), np.zeros_like(blocks)]
    k = [int(key[0]), int(key[1])]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), q & np.uint64(0xFFFFFFFF),
             (p >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), p & np.uint64(0xFFFFFFFF)]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, -1).reshape(-1)


def words(key, count):
    return philox(key, np.arange((count + 3) // 4 + 1, dtype=np.uint64))[:count]


def random_uniform(inputs, attrs, out):
    shape, dtype, low, high = attrs["shape"], out[0], attrs["low"], attrs["high"]
    n = int(np.prod(shape))
    two = words(inputs[0], 2 * n).reshape(-1, 2)
    if dtype.kind in "iu":
        if dtype.itemsize == 8:
            bits = [(int(a) << 32) + int(b) for a, b in two]
            offsets = [(b * int(high - low)) >> 64 for b in bits]
        else:
            offsets = [(int(w) * int(high - low)) >> 32 for w in words(inputs[0], n)]
        return np.array([int(low) + o for o in offsets], object).astype(dtype).reshape(shape)
    if dtype == np.float64:
        u = ((two[:, 0] << np.uint64(21)) + (two[:, 1] >> np.uint64(11))) * 2.0**-53
    else:
        bits = {"float16": 11, "bfloat16": 8, "float32": 24}[dtype.name]
        u = (words(inputs[0], n) >> np.uint64(32 - bits)) * 2.0**-bits
    return (low + (high - low) * u).reshape(shape)


def random_normal(inputs, attrs, out):
    shape = attrs["shape"]
    n = int(np.prod(shape))
    pairs = (n + 1) // 2
    if out[0] == np.float64:
        w = words(inputs[0], 4 * pairs).reshape(-1, 4)
        u = ((w[:, 0] << np.uint64(21)) + (w[:, 1] >> np.uint64(11)) + np.uint64(1)) * 2.0**-53
        v = ((w[:, 2] << np.uint64(21)) + (w[:, 3] >> np.uint64(11))) * 2.0**-53
    else:
        w = words(inputs[0], 2 * pairs).reshape(-1, 2)
        u, v = ((w[:, 0] >> np.uint64(8)) + np.uint64(1)) * 2.0**-24, (w[:, 1] >> np.uint64(8)) * 2.0**-24
    radius = np.sqrt(-2 * np.log(u))
    both = np.stack([radius * np.cos(2 * np.pi * v), radius * np.sin(2 * np.pi * v)], -1).reshape(-1)[:n]
    return (attrs["mean"] + attrs["stddev"] * both).reshape(shape)


def random_bits(inputs, attrs, out):
    return words(inputs[0], int(np.prod(attrs["shape"]))).reshape(attrs["shape"])


def from_first(oracle):
    """The elements from number `first` on, of a longer tensor."""
    def run(inputs, attrs, out):
        end = attrs["first"] + int(np.prod(attrs["shape"]))
        return oracle(inputs, {**attrs, "shape": [end]}, out)[attrs["first"]:].reshape(attrs["shape"])
    return run


def fold_in(inputs, attrs, out):
    return philox(inputs[0], np.array([inputs[1]], np.uint64).reshape(1))[:2]


ORACLES = {
    "gelu": gelu,
    "gelu_grad": gelu_grad,
    "dot_general": dot_general,
    "dense": dense,
    "conv": conv,
    "conv_bias": conv_bias,
    "conv_grad_input": conv_grad_input,
    "conv_grad_filter": conv_grad_filter,
    "max_pool": max_pool,
    "max_pool_grad": max_pool_grad,
    "max_pool_take": max_pool_take,
    "average_pool": average_pool,
    "average_pool_grad": average_pool_grad,
    "batch_norm": batch_norm,
    "batch_norm_grad": batch_norm_grad,
    "random_bits": random_bits,
    "random_bits_at": from_first(random_bits),
    "random_uniform_at": from_first(random_uniform),
    "random_normal_at": from_first(random_normal),
    "random_uniform": random_uniform,
    "random_normal": random_normal,
    "fold_in": fold_in,
}
