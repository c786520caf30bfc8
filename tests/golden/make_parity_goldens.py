"""Loss curves of 20 Adam steps in PyTorch, from the weights and batches that tests/models make in C++:

  python tests/golden/make_parity_goldens.py [FIRST_BATCH_SEED] > tests/golden/parity.json

The optimizer is written out because Keras adds epsilon to the uncorrected root and PyTorch's to the corrected one.
"""
import json
import sys

import numpy as np
import torch
import torch.nn.functional as F

from inputs import fill, hash_at, hash_text

STEPS = 20
BATCHES = 4  # in turn, so that the loss falls
WEIGHTS_SEED = 1
FIRST_BATCH_SEED = 1000


class Weights:
    """Keras-named weights, made when first asked for, as models::Weights does."""

    def __init__(self):
        self.all = {}

    def uniform(self, name, shape, limit):
        if name not in self.all:
            values = fill("float32", shape, -limit, limit, int(hash_at(WEIGHTS_SEED, hash_text(name))))
            self.all[name] = torch.tensor(values, requires_grad=True)
        return self.all[name]

    def glorot(self, name, shape, fan_in, fan_out):
        return self.uniform(name, shape, float(np.sqrt(6.0 / (fan_in + fan_out))))

    def full(self, name, shape, value):
        if name not in self.all:
            self.all[name] = torch.full(shape, float(value), requires_grad=True)
        return self.all[name]

    def dense(self, layer, x, units):
        n = x.shape[-1]
        return x @ self.glorot(f"{layer}/kernel", (n, units), n, units) + self.full(f"{layer}/bias", (units,), 0)


def mlp(w, x):
    x = torch.relu(w.dense("dense", x, 64))
    return w.dense("dense_2", torch.relu(w.dense("dense_1", x, 32)), 1)


def conv_norm_pool(w, index, x, filters):
    suffix = f"_{index}" if index else ""
    c = x.shape[1]
    kernel = w.glorot(f"conv2d{suffix}/kernel", (3, 3, c, filters), 9 * c, 9 * filters)
    x = F.conv2d(x, kernel.permute(3, 2, 0, 1), w.full(f"conv2d{suffix}/bias", (filters,), 0))
    gamma = w.full(f"batch_normalization{suffix}/gamma", (filters,), 1)
    beta = w.full(f"batch_normalization{suffix}/beta", (filters,), 0)
    return F.max_pool2d(F.batch_norm(torch.relu(x), None, None, gamma, beta, training=True, eps=1e-3), 2)


def cnn(w, x):
    x = conv_norm_pool(w, 1, conv_norm_pool(w, 0, x.permute(0, 3, 1, 2), 8), 16)
    return w.dense("dense", x.permute(0, 2, 3, 1).flatten(1), 10)


def lstm(w, x):
    x = F.embedding(x, w.uniform("embedding/embeddings", (50, 16), 0.05))
    u = 16
    kernel = w.glorot("lstm/kernel", (u, 4 * u), u, 4 * u)
    recurrent = w.glorot("lstm/recurrent_kernel", (u, 4 * u), u, 4 * u)
    bias = w.full("lstm/bias", (4 * u,), 0)
    h = c = torch.zeros(x.shape[0], u)
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ kernel + h @ recurrent + bias).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return w.dense("dense", h, 1)


def layer_norm(w, layer, x):
    n = x.shape[-1]
    return F.layer_norm(x, (n,), w.full(f"{layer}/gamma", (n,), 1), w.full(f"{layer}/beta", (n,), 0), 1e-3)


def transformer(w, x, heads=4):
    x = F.embedding(x, w.uniform("embedding/embeddings", (50, 32), 0.05))
    n, t, width = x.shape
    q, k, v = (w.dense(f"multi_head_attention/{part}", x, width).view(n, t, heads, -1).transpose(1, 2)
               for part in ("query", "key", "value"))
    weights = torch.softmax(q @ k.transpose(-1, -2) / np.sqrt(q.shape[-1]), -1)  # torch 1.13 has no function for it
    mixed = (weights @ v).transpose(1, 2).reshape(n, t, width)
    x = layer_norm(w, "layer_normalization", x + w.dense("multi_head_attention/output", mixed, width))
    hidden = F.gelu(w.dense("dense", x, 4 * width))
    x = layer_norm(w, "layer_normalization_1", x + w.dense("dense_1", hidden, width))
    return w.dense("dense_2", x.mean(1), 10)


# name: (model, shape of an example, batch, classes, vocabulary)
MODELS = {
    "parity_mlp": (mlp, (10,), 32, 1, 0),
    "parity_cnn": (cnn, (14, 14, 3), 16, 10, 0),
    "parity_lstm": (lstm, (12,), 16, 1, 50),
    "parity_transformer": (transformer, (12,), 16, 10, 50),
}


def batch_of(shape, batch, classes, vocabulary, seed):
    if vocabulary:
        x = torch.tensor(fill("int32", (batch,) + shape, 0, vocabulary - 1, seed)).long()
    else:
        x = torch.tensor(fill("float32", (batch,) + shape, 0, 1, seed))
    if classes == 1:
        return x, torch.tensor(fill("int32", (batch, 1), 0, 1, seed + 1)).float()
    return x, torch.tensor(fill("int32", (batch,), 0, classes - 1, seed + 1)).long()


def adam(w, m, v, step, rate=1e-3, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    alpha = rate * np.sqrt(1 - beta_2 ** (step + 1)) / (1 - beta_1 ** (step + 1))
    m += (w.grad - m) * (1 - beta_1)
    v += (w.grad.square() - v) * (1 - beta_2)
    w -= alpha * m / (v.sqrt() + epsilon)
    w.grad = None


def curve(name, first_seed):
    model, shape, batch, classes, vocabulary = MODELS[name]
    weights, slots, losses = Weights(), {}, []
    for step in range(STEPS):
        x, y = batch_of(shape, batch, classes, vocabulary, first_seed + 10 * (step % BATCHES))
        logits = model(weights, x)
        loss = F.binary_cross_entropy_with_logits(logits, y) if classes == 1 else F.cross_entropy(logits, y)
        loss.backward()
        with torch.no_grad():
            for key, w in weights.all.items():
                m, v = slots.setdefault(key, (torch.zeros_like(w), torch.zeros_like(w)))
                adam(w, m, v, step)
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.set_num_threads(1)
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else FIRST_BATCH_SEED
    json.dump({"first_batch_seed": seed, "losses": {name: curve(name, seed) for name in MODELS}}, sys.stdout, indent=1)
    print()
