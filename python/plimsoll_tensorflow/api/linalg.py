from collections import namedtuple as _namedtuple

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops

from plimsoll_tensorflow.api.math import l2_normalize  # noqa: F401
from plimsoll_tensorflow.linear_operators import (  # noqa: F401
    LinearOperatorDiag, LinearOperatorFullMatrix, LinearOperatorIdentity, LinearOperatorLowerTriangular)

_k, _tensor = _ops.k, _ops.tensor
_Lu = _namedtuple("Lu", "lu p")
_Qr, _SignAndLog = _namedtuple("Qr", "q r"), _namedtuple("LogMatrixDeterminant", "sign log_abs_determinant")
matmul, norm, eye, einsum, tensordot = _ops.matmul, _ops.norm, _ops.eye, _ops.einsum, _ops.tensordot
inv, det, cholesky = (_ops.unary(f) for f in (_k.inv, _k.det, _k.cholesky))
global_norm = _ops.global_norm


def solve(matrix, rhs, adjoint=False, name=None):
    a = _tensor(matrix)
    return _k.solve(_k.swapaxes(a, -1, -2) if adjoint else a, _tensor(rhs))


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    found = _k.svd(_tensor(tensor), full_matrices, compute_uv)
    return (found[1], found[0], _k.swapaxes(found[2], -1, -2)) if compute_uv else found


def qr(input, full_matrices=False, name=None):
    return _Qr(*_k.qr(_tensor(input), "complete" if full_matrices else "reduced"))


def eigh(tensor, name=None):
    return _k.eigh(_tensor(tensor))


def diag(diagonal, name="diag", k=0, **options):
    d, offset = _tensor(diagonal), _ops.static(k)
    square = _k.expand_dims(d, -1) * _k.eye(d.shape[-1], dtype=d.dtype.name)
    around = (max(-offset, 0), max(offset, 0)), (max(offset, 0), max(-offset, 0))
    return square if offset == 0 else _k.pad(square, [(0, 0)] * (square.ndim - 2) + [*around])


def diag_part(input, name="diag_part", k=0, **options):
    return _k.diagonal(_tensor(input), offset=_ops.static(k), axis1=-2, axis2=-1)


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


def logdet(matrix, name=None):
    """Of positive definite matrices, by Cholesky as in TensorFlow."""
    return 2.0 * _k.sum(_k.log(diag_part(_k.cholesky(_tensor(matrix)))), axis=-1)


def slogdet(input, name=None):
    return _SignAndLog(*_k.slogdet(_tensor(input)))


def lu(input, output_idx_type="int32", name=None):
    """Both triangles in one matrix, and the order of rows: input[p] = L @ U."""
    packed, pivots = _k.lu_factor(_tensor(input))
    swaps = _ops.np.asarray(pivots).reshape(-1, pivots.shape[-1])
    orders = []
    for row in swaps:
        order = list(range(packed.shape[-2]))
        for i, j in enumerate(row.tolist()):
            order[i], order[j] = order[j], order[i]
        orders.append(order)
    order = _ops.np.asarray(orders).reshape(*packed.shape[:-2], packed.shape[-2])
    return _Lu(packed, _ops.cast(_ops.to_tensor(order.astype("int32")), output_idx_type))


def _triangles(lower_upper):
    x = _tensor(lower_upper)
    return _k.tril(x, -1) + _k.eye(x.shape[-1], dtype=x.dtype.name), _k.triu(x)


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    low, high = _triangles(lower_upper)
    ordered = _ops.gather(rhs, perm, axis=-2, batch_dims=_tensor(perm).ndim - 1)
    return triangular_solve(high, triangular_solve(low, ordered), lower=False)


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    low, high = _triangles(lower_upper)
    back = _k.argsort(_tensor(perm), axis=-1)
    return _ops.gather(_k.matmul(low, high), back, axis=-2, batch_dims=back.ndim - 1)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    x = _tensor(lower_upper)
    return lu_solve(x, perm, _k.broadcast_to(_k.eye(x.shape[-1], dtype=x.dtype.name), x.shape))


def eig(tensor, name=None):
    return _k.eig(_tensor(tensor))


def eigvals(tensor, name=None):
    return _k.eig(_tensor(tensor))[0]


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None, partial_pivoting=True, perturb_singular=False):
    """`diagonals`: the upper one, the middle and the lower one, by rows."""
    if diagonals_format != "compact":
        raise NotImplementedError(f"[tf.linalg.tridiagonal_solve] expected diagonals_format='compact', got {diagonals_format!r}")
    d, b = _ops.pair(diagonals, rhs)
    matrix = diag(d[..., 1, :]) + diag(d[..., 0, :-1], k=1) + diag(d[..., 2, 1:], k=-1)
    return matvec(_k.inv(matrix), b) if b.ndim < matrix.ndim else _k.solve(matrix, b)


def eigvalsh(tensor, name=None):
    return _k.eigh(_tensor(tensor))[0]


def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    a = _tensor(matrix)
    return _k.solve_triangular(_k.swapaxes(a, -1, -2) if adjoint else a, _tensor(rhs), lower=lower != adjoint)


def cholesky_solve(chol, rhs, name=None):
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """By the normal equations, which `fast` means in TensorFlow too."""
    a, b = _tensor(matrix), _tensor(rhs)
    turned = _k.swapaxes(a, -1, -2)
    return _k.solve(_k.matmul(turned, a) + l2_regularizer * _k.eye(a.shape[-1], dtype=a.dtype.name), _k.matmul(turned, b))


def pinv(a, rcond=None, validate_args=False, name=None):
    x = _tensor(a)
    u, s, v = _k.svd(x, full_matrices=False)
    small = (10.0 * max(x.shape[-2:]) * float(_ops.np.finfo(x.dtype.as_numpy_dtype).eps) if rcond is None else rcond) * _k.max(s, -1, keepdims=True)
    inverse = _k.where(s > small, 1.0 / _k.where(s > small, s, 1.0), 0.0)
    return _k.matmul(_k.swapaxes(v, -1, -2) * _k.expand_dims(inverse, -2), _k.swapaxes(u, -1, -2))


def matrix_rank(a, tol=None, validate_args=False, name=None):
    x = _tensor(a)
    s = _k.svd(x, compute_uv=False)
    small = float(_ops.np.finfo(x.dtype.as_numpy_dtype).eps) * max(x.shape[-2:]) * _k.max(s, -1, keepdims=True) if tol is None else tol
    return _ops.cast(_k.sum(_k.cast(s > small, "int32"), -1), "int32")


def cross(a, b, name=None):
    return _k.cross(*_ops.pair(a, b))


def adjoint(matrix, name=None):
    return _k.conj(_k.swapaxes(_tensor(matrix), -1, -2))


def set_diag(input, diagonal, name="set_diag", **options):
    x, d = _ops.pair(input, diagonal)
    return _k.where(_ops.to_tensor(_ops.np.eye(*x.shape[-2:], dtype=bool)), _k.expand_dims(d, -1) if x.shape[-2] == d.shape[-1] else _k.expand_dims(d, -2), x)


def tensor_diag(diagonal, name=None):
    return _k.diag(_tensor(diagonal))


def tensor_diag_part(input, name=None):
    return _k.diagonal(_tensor(input))


def expm(input, name=None):
    """Scaling and squaring with a Taylor series, whose rest is below float64's last digit."""
    x = _tensor(input)
    squarings = max(0, int(_ops.np.ceil(_ops.np.log2(max(float(_k.max(_k.sum(_k.abs(x), -1))), 1e-30)))) + 1)
    x = x / 2.0**squarings
    term = total = _k.broadcast_to(_k.eye(x.shape[-1], dtype=x.dtype.name), x.shape)
    for i in range(1, 19):
        term = _k.matmul(term, x) / float(i)
        total = total + term
    for _ in range(squarings):
        total = _k.matmul(total, total)
    return total


def sqrtm(input, name=None):
    """Of symmetric matrices."""
    values, vectors = _k.eigh(_tensor(input))
    return _k.matmul(vectors * _k.expand_dims(_k.sqrt(values), -2), _k.swapaxes(vectors, -1, -2))


__getattr__ = _hints.getter("linalg")
