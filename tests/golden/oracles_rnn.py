"""Oracles of the recurrent layers: loops over time, and back from the saved gates (the cases of the gradients need not
give what a forward pass would have saved)."""
import numpy as np
from scipy.special import expit

from oracles_elementwise import wide


def steps(count, reverse):
    return list(range(count))[::-1 if reverse else 1]


def lstm(inputs, attrs, out):
    x, h, c, kernel, recurrent, bias = map(wide, inputs)
    n, time, u = x.shape[0], x.shape[1], h.shape[1]
    y, gates, cells = np.zeros((n, time, u)), np.zeros((n, time, 4 * u)), np.zeros((n, time, u))
    for t in steps(time, attrs["reverse"]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, 1)
        i, f, g, o = expit(i), expit(f), np.tanh(g), expit(o)
        c = f * c + i * g
        h = o * np.tanh(c)
        y[:, t], gates[:, t], cells[:, t] = h, np.concatenate([i, f, g, o], 1), c
    return [y, h, c, gates, cells]


def given_or_zero(more, given, bit, shape):
    return more.pop(0) if given & bit else np.zeros(shape)


def before(first, states, t, reverse):
    last = t + 1 if reverse else t - 1
    return states[:, last] if 0 <= last < states.shape[1] else first


def lstm_grad(inputs, attrs, out):
    x, h0, c0, kernel, recurrent, y, gates, cells, *more = map(wide, inputs)
    n, time, u = y.shape
    dy = given_or_zero(more, attrs["given"], 1, y.shape)
    dh = given_or_zero(more, attrs["given"], 2, h0.shape)
    dc = given_or_zero(more, attrs["given"], 4, h0.shape)
    dz, h_before = np.zeros_like(gates), np.zeros_like(y)
    for t in steps(time, not attrs["reverse"]):
        i, f, g, o = np.split(gates[:, t], 4, 1)
        up, squashed = dh + dy[:, t], np.tanh(cells[:, t])
        dc = dc + up * o * (1 - squashed**2)
        dz[:, t] = np.concatenate([dc * g * i * (1 - i), dc * before(c0, cells, t, attrs["reverse"]) * f * (1 - f),
                                   dc * i * (1 - g**2), up * squashed * o * (1 - o)], 1)
        h_before[:, t] = before(h0, y, t, attrs["reverse"])
        dh, dc = dz[:, t] @ recurrent.T, dc * f
    grads = [dh, dc, np.einsum("ntf,ntz->fz", x, dz), np.einsum("ntu,ntz->uz", h_before, dz), dz.sum((0, 1))]
    return grads + ([dz @ kernel.T] if attrs["dx"] else [])


def gru(inputs, attrs, out):
    x, h, kernel, recurrent, bias = map(wide, inputs)
    n, time, u = x.shape[0], x.shape[1], h.shape[1]
    y, gates, inner = np.zeros((n, time, u)), np.zeros((n, time, 3 * u)), np.zeros((n, time, u))
    for t in steps(time, attrs["reverse"]):
        xz, xr, xh = np.split(x[:, t] @ kernel + bias[0], 3, 1)
        hz, hr, hh = np.split(h @ recurrent + bias[1], 3, 1)
        z, r = expit(xz + hz), expit(xr + hr)
        candidate = np.tanh(xh + r * hh)
        h = z * h + (1 - z) * candidate
        y[:, t], gates[:, t], inner[:, t] = h, np.concatenate([z, r, candidate], 1), hh
    return [y, h, gates, inner]


def gru_grad(inputs, attrs, out):
    x, h0, kernel, recurrent, y, gates, inner, *more = map(wide, inputs)
    n, time, u = y.shape
    dy = given_or_zero(more, attrs["given"], 1, y.shape)
    dh = given_or_zero(more, attrs["given"], 2, h0.shape)
    dx_part, dh_part, h_before = np.zeros_like(gates), np.zeros_like(gates), np.zeros_like(y)
    for t in steps(time, not attrs["reverse"]):
        z, r, candidate = np.split(gates[:, t], 3, 1)
        h_before[:, t] = before(h0, y, t, attrs["reverse"])
        up = dh + dy[:, t]
        dz = up * (h_before[:, t] - candidate) * z * (1 - z)
        dcandidate = up * (1 - z) * (1 - candidate**2)
        dr = dcandidate * inner[:, t] * r * (1 - r)
        dx_part[:, t] = np.concatenate([dz, dr, dcandidate], 1)
        dh_part[:, t] = np.concatenate([dz, dr, dcandidate * r], 1)
        dh = up * z + dh_part[:, t] @ recurrent.T
    grads = [dh, np.einsum("ntf,ntz->fz", x, dx_part), np.einsum("ntu,ntz->uz", h_before, dh_part),
             np.stack([dx_part.sum((0, 1)), dh_part.sum((0, 1))])]
    return grads + ([dx_part @ kernel.T] if attrs["dx"] else [])


ORACLES = {"lstm": lstm, "lstm_grad": lstm_grad, "gru": gru, "gru_grad": gru_grad}
