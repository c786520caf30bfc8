from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops

from plimsoll_tensorflow.api.math import l2_normalize  # noqa: F401

_k, _tensor = _ops.k, _ops.tensor
matmul, norm, eye, einsum, tensordot = _ops.matmul, _ops.norm, _ops.eye, _ops.einsum, _ops.tensordot
inv, det, cholesky = (_ops.unary(f) for f in (_k.inv, _k.det, _k.cholesky))
global_norm = _ops.global_norm


def solve(matrix, rhs, adjoint=False, name=None):
    return _k.solve(_tensor(matrix), _tensor(rhs))


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    found = _k.svd(_tensor(tensor), full_matrices, compute_uv)
    return (found[1], found[0], _k.swapaxes(found[2], -1, -2)) if compute_uv else found


def qr(input, full_matrices=False, name=None):
    return _k.qr(_tensor(input), "complete" if full_matrices else "reduced")


def eigh(tensor, name=None):
    return _k.eigh(_tensor(tensor))


def diag(diagonal, name="diag", **options):
    return _k.diag(_tensor(diagonal))


def diag_part(input, name="diag_part", **options):
    return _k.diagonal(_tensor(input), axis1=-2, axis2=-1)


def trace(x, name=None):
    return _k.trace(_tensor(x), axis1=-2, axis2=-1)


def matvec(a, b, transpose_a=False, name=None, **options):
    return _ops.squeeze(_ops.matmul(a, _ops.expand_dims(_tensor(b), -1), transpose_a=transpose_a), -1)


def band_part(input, num_lower, num_upper, name=None):
    x = _tensor(input)
    rows, columns = _ops.np.indices(tuple(x.shape[-2:]))
    low, high = _ops.static(num_lower), _ops.static(num_upper)
    keep = ((low < 0) | (rows - columns <= low)) & ((high < 0) | (columns - rows <= high))
    return _k.where(_ops.to_tensor(keep), x, _k.zeros_like(x))


def matrix_transpose(a, name=None, conjugate=False):
    return _k.swapaxes(_tensor(a), -1, -2)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    length = _ops.norm(tensor, ord, axis, keepdims=True)
    return _tensor(tensor) / length, length


__getattr__ = _hints.getter("linalg")
