"""Oracles of softmax, losses, normalisation, attention, embedding, recurrent layers and optimizers."""
import numpy as np
from scipy import special

from oracles_elementwise import wide
from oracles_shape import wrap


def along(fn):
    return lambda inputs, attrs, out: fn(wide(inputs[0]), axis=attrs["axis"]) if inputs[0].size else wide(inputs[0])


def softmax_grad(inputs, attrs, out):
    y, dy = map(wide, inputs)
    return y * (dy - (y * dy).sum(attrs["axis"], keepdims=True))


def log_softmax_grad(inputs, attrs, out):
    y, dy = map(wide, inputs)
    return dy - np.exp(y) * dy.sum(attrs["axis"], keepdims=True)


def log_sum_exp(x):
    return special.logsumexp(x, axis=-1) if x.size else np.full(x.shape[:-1], -np.inf)


def labelled(logits, labels):
    """One where the label is, nothing where it is outside the classes."""
    return (labels.astype(np.int64)[..., None] == np.arange(logits.shape[-1])).astype(np.float64)


def sparse_softmax_cross_entropy(inputs, attrs, out):
    logits, labels = wide(inputs[0]), inputs[1]
    lse, hot = log_sum_exp(logits), labelled(logits, labels)
    return [np.where(hot.sum(-1) > 0, lse - (hot * logits).sum(-1), np.nan), lse]


def sparse_softmax_cross_entropy_grad(inputs, attrs, out):
    logits, labels, lse, dloss = wide(inputs[0]), inputs[1], wide(inputs[2]), wide(inputs[3])
    hot = labelled(logits, labels)
    p = np.exp(logits - lse[..., None])
    return np.where(hot.sum(-1, keepdims=True) > 0, (p - hot) * dloss[..., None], 0)


def softmax_cross_entropy(inputs, attrs, out):
    logits, targets = map(wide, inputs)
    lse = log_sum_exp(logits)
    return [(targets * (lse[..., None] - logits)).sum(-1), lse]


def softmax_cross_entropy_grad(inputs, attrs, out):
    logits, targets, lse, dloss = map(wide, inputs)
    p = np.exp(logits - lse[..., None])
    return (p * targets.sum(-1, keepdims=True) - targets) * dloss[..., None]


def layer_norm(inputs, attrs, out):
    x, gamma, beta = map(wide, inputs)
    mean = x.sum(-1, keepdims=True) / max(1, x.shape[-1])
    rstd = 1 / np.sqrt(((x - mean) ** 2).sum(-1, keepdims=True) / max(1, x.shape[-1]) + attrs["epsilon"])
    return [(x - mean) * rstd * gamma + beta, mean[..., 0], rstd[..., 0]]


def layer_norm_grad(inputs, attrs, out):
    x, gamma, mean, rstd, dy = map(wide, inputs)
    h, g = (x - mean[..., None]) * rstd[..., None], dy * gamma
    n = max(1, x.shape[-1])
    dx = rstd[..., None] * (g - g.sum(-1, keepdims=True) / n - h * (g * h).sum(-1, keepdims=True) / n)
    axes = tuple(range(x.ndim - 1))
    return [dx, (dy * h).sum(axes), dy.sum(axes)]


def scores(q, k, bias, attrs):
    """(batch, heads, queries, keys)"""
    s = np.einsum("bqhd,bkhd->bhqk", q, k) * attrs["scale"]
    s = s if bias is None else s + bias
    if attrs["causal"]:
        s = np.where(np.arange(s.shape[2])[:, None] >= np.arange(s.shape[3]), s, -np.inf)
    return s


def attention(inputs, attrs, out):
    q, k, v, *bias = map(wide, inputs)
    s = scores(q, k, bias[0] if bias else None, attrs)
    lse = special.logsumexp(s, axis=-1) if s.size else np.full(s.shape[:-1], -np.inf)
    return [np.einsum("bhqk,bkhd->bqhd", np.exp(s - lse[..., None]), v), lse]


def attention_grad(inputs, attrs, out):
    """The formula, because the cases need not give y and lse of q, k and v."""
    q, k, v, *more = map(wide, inputs)
    bias = more.pop(0) if attrs["bias"] else None
    y, lse, dy = more
    p = np.exp(scores(q, k, bias, attrs) - lse[..., None])
    dp = np.einsum("bqhd,bkhd->bhqk", dy, v)
    ds = p * (dp - np.einsum("bqhd,bqhd->bhq", dy, y)[..., None])
    grads = [np.einsum("bhqk,bkhd->bqhd", ds, k) * attrs["scale"], np.einsum("bhqk,bqhd->bkhd", ds, q) * attrs["scale"],
             np.einsum("bhqk,bqhd->bkhd", p, dy)]
    return grads + ([ds] if attrs["dbias"] else [])


def embedding(inputs, attrs, out):
    table, indices = wide(inputs[0]), inputs[1]
    return table[wrap(indices, table.shape[0])] if indices.size else np.zeros(indices.shape + table.shape[1:])


def embedding_grad(inputs, attrs, out):
    indices, dy = inputs[0], wide(inputs[1])
    table = np.zeros((attrs["rows"], dy.shape[-1]))
    np.add.at(table, wrap(indices, attrs["rows"]).reshape(-1), dy.reshape(-1, dy.shape[-1]))
    return table


def adam_step(w, g, m, v, rate, step, attrs):
    b1, b2, t = attrs["beta_1"], attrs["beta_2"], float(step) + 1
    alpha = rate * np.sqrt(1 - b2**t) / (1 - b1**t)
    m = m + (g - m) * (1 - b1)
    v = v + (g * g - v) * (1 - b2)
    w = w - w * attrs["weight_decay"] * rate
    return [w - m * alpha / (np.sqrt(v) + attrs["epsilon"]), m, v]


def guarded(update, plain, gradient, kept):
    """An update with a scale and whether it applies behind its plain(attrs) operands, or without."""

    def run(inputs, attrs, out):
        n = plain(attrs)
        operands = [x if x.dtype.kind in "iu" else wide(x) for x in inputs[:n]]
        if len(inputs) > n:
            operands[gradient] = operands[gradient] / wide(inputs[n])
        results = update(*operands, attrs=attrs)
        if len(inputs) > n and not inputs[n + 1]:
            results = [wide(inputs[i]) for i in kept][: len(results)]
        return results if len(results) > 1 else results[0]

    return run




def adam_rows_step(w, indices, rows, m, v, rate, step, attrs):
    grad = embedding_grad([indices, rows], {"rows": w.shape[0]}, None)
    return adam_step(w, grad, m, v, rate, step, attrs)


def sgd_step(w, g, rate, *velocity, attrs):
    if attrs["momentum"] == 0:
        return [w - rate * g]
    v = attrs["momentum"] * velocity[0] - rate * g
    return [w + attrs["momentum"] * v - rate * g if attrs["nesterov"] else w + v, v]


def rmsprop_step(w, g, velocity, rate, *momentum, attrs):
    velocity = attrs["rho"] * velocity + (1 - attrs["rho"]) * g * g
    move = rate * g / np.sqrt(velocity + attrs["epsilon"])
    if attrs["momentum"] == 0:
        return [w - move, velocity]
    move = attrs["momentum"] * momentum[0] + move
    return [w - move, velocity, move]


ORACLES = {
    "softmax": along(special.softmax),
    "log_softmax": along(special.log_softmax),
    "softmax_grad": softmax_grad,
    "log_softmax_grad": log_softmax_grad,
    "sparse_softmax_cross_entropy": sparse_softmax_cross_entropy,
    "sparse_softmax_cross_entropy_grad": sparse_softmax_cross_entropy_grad,
    "softmax_cross_entropy": softmax_cross_entropy,
    "softmax_cross_entropy_grad": softmax_cross_entropy_grad,
    "layer_norm": layer_norm,
    "layer_norm_grad": layer_norm_grad,
    "attention": attention,
    "attention_grad": attention_grad,
    "embedding": embedding,
    "embedding_grad": embedding_grad,
    "adam_update": guarded(adam_step, lambda attrs: 6, 1, [0, 2, 3]),
    "adam_update_rows": guarded(adam_rows_step, lambda attrs: 7, 2, [0, 3, 4]),
    "sgd_update": guarded(sgd_step, lambda attrs: 3 + (attrs["momentum"] != 0), 1, [0, 3]),
    "rmsprop_update": guarded(rmsprop_step, lambda attrs: 4 + (attrs["momentum"] > 0), 1, [0, 2, 4]),
}
