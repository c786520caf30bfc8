"""Matrices as objects: those of tf.linalg's LinearOperators that people use, over dense matrices."""
from keras import ops as k

from plimsoll_tensorflow.dtypes import TensorShape
from plimsoll_tensorflow.ops import matmul, tensor


class LinearOperatorFullMatrix:
    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        self._matrix = tensor(matrix)
        self.is_non_singular, self.is_self_adjoint, self.is_positive_definite = is_non_singular, is_self_adjoint, is_positive_definite

    shape = property(lambda self: TensorShape(self._matrix.shape))
    dtype = property(lambda self: self._matrix.dtype)

    def to_dense(self, name=None):
        return self._matrix

    def matmul(self, x, adjoint=False, adjoint_arg=False, name=None):
        return matmul(self._matrix, x.to_dense() if isinstance(x, LinearOperatorFullMatrix) else x, transpose_a=adjoint, transpose_b=adjoint_arg)

    __matmul__ = matmul

    def matvec(self, x, adjoint=False, name=None):
        return k.squeeze(self.matmul(k.expand_dims(tensor(x), -1), adjoint), -1)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name=None):
        from plimsoll_tensorflow.api import linalg

        rhs = tensor(rhs)
        return linalg.solve(self._matrix, k.swapaxes(rhs, -1, -2) if adjoint_arg else rhs, adjoint)

    def solvevec(self, rhs, adjoint=False, name=None):
        return k.squeeze(self.solve(k.expand_dims(tensor(rhs), -1), adjoint), -1)

    def inverse(self, name=None):
        return LinearOperatorFullMatrix(k.inv(self._matrix))

    def adjoint(self, name=None):
        return LinearOperatorFullMatrix(k.swapaxes(self._matrix, -1, -2))

    def cholesky(self, name=None):
        return LinearOperatorLowerTriangular(k.cholesky(self._matrix))

    def determinant(self, name=None):
        return k.det(self._matrix)

    def log_abs_determinant(self, name=None):
        return k.slogdet(self._matrix)[1]

    def trace(self, name=None):
        return k.trace(self._matrix, axis1=-2, axis2=-1)

    def diag_part(self, name=None):
        return k.diagonal(self._matrix, axis1=-2, axis2=-1)


class LinearOperatorDiag(LinearOperatorFullMatrix):
    def __init__(self, diag, *flags, **options):
        from plimsoll_tensorflow.api import linalg

        super().__init__(linalg.diag(diag), *flags, **options)
        self.diag = tensor(diag)


class LinearOperatorIdentity(LinearOperatorFullMatrix):
    def __init__(self, num_rows, batch_shape=None, dtype="float32", *flags, **options):
        from plimsoll_tensorflow.ops import eye

        super().__init__(eye(num_rows, batch_shape=batch_shape, dtype=dtype or "float32"), **options)


class LinearOperatorLowerTriangular(LinearOperatorFullMatrix):
    def __init__(self, tril, *flags, **options):
        super().__init__(k.tril(tensor(tril)), *flags, **options)
