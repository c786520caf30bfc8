"""Oracles of ops on matrices, and of Fourier transforms."""
import numpy as np
import scipy.linalg

from oracles_elementwise import wide


def symmetric(x):
    return (wide(x) + np.swapaxes(wide(x), -1, -2)) / 2


def signs(vectors):
    """1 or -1 per column: that of its largest element."""
    at = np.argmax(np.abs(vectors), axis=-2, keepdims=True)
    return np.where(np.take_along_axis(vectors, at, -2) < 0, -1, 1)


def eigh(inputs, attrs, out):
    values, vectors = np.linalg.eigh(symmetric(inputs[0]))
    return [values, vectors * signs(vectors)]


def svd(inputs, attrs, out):
    u, s, vt = np.linalg.svd(wide(inputs[0]), full_matrices=False)
    sign = signs(u)
    return [u * sign, s, vt * np.swapaxes(sign, -1, -2)]


def triangular_solve(inputs, attrs, out):
    a, b = map(wide, inputs)
    a = np.tril(a) if attrs["lower"] else np.triu(a)
    return np.linalg.solve(np.swapaxes(a, -1, -2) if attrs["transposed"] else a, b)


def lu(inputs, attrs, out):
    a = wide(inputs[0])
    rows, columns = a.shape[-2:]
    lead = a.shape[:-2]
    made = [np.zeros(a.shape), np.zeros(lead + (min(rows, columns),), int), np.zeros(lead + (rows,), int)]
    for at in np.ndindex(lead):
        made[0][at], made[1][at] = scipy.linalg.lu_factor(a[at])
        order = np.arange(rows)
        for i, j in enumerate(made[1][at]):
            order[[i, j]] = order[[j, i]]
        made[2][at] = order
    return made


def pair(z):
    return [z.real, z.imag]


def fft(inputs, attrs, out):
    z = wide(inputs[0]) + 1j * wide(inputs[1])
    return pair(np.fft.ifft(z) if attrs["inverse"] else np.fft.fft(z))


ORACLES = {
    "cholesky": lambda inputs, attrs, out: np.linalg.cholesky(symmetric(inputs[0])),
    "triangular_solve": triangular_solve,
    "lu": lu,
    "qr": lambda inputs, attrs, out: list(np.linalg.qr(wide(inputs[0]), "complete" if attrs["complete"] else "reduced")),
    "eigh": eigh,
    "svd": svd,
    "fft": fft,
    "rfft": lambda inputs, attrs, out: pair(np.fft.rfft(wide(inputs[0]))),
    "irfft": lambda inputs, attrs, out: np.fft.irfft(wide(inputs[0]) + 1j * wide(inputs[1]), attrs["length"]),
}
