import numpy as np
from keras.src import tree
from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type

from keras_plimsoll.src import engine as _engine
from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.ops import numpy as _knp
from keras_plimsoll.src.ops.core import cast, convert_to_numpy, convert_to_tensor
from plimsoll import _native


def _to_float(x):
    """What LAPACK computes in; Keras's rules make float32 of float64 too."""
    return cast(x, "float32")


def _in_float(function):
    """The result in the dtype that went in, where that has fractions."""

    def wrapped(x, *args):
        x = convert_to_tensor(x)
        dtype = config.floatx() if x.dtype == "int64" else result_type(x.dtype, float)
        return tree.map_structure(lambda y: cast(y, dtype) if y.dtype == "float32" else y, function(_to_float(x), *args))

    return wrapped


def _matrix_transpose(x):
    return _knp.swapaxes(x, -1, -2)


def _eye_like(x):
    return _knp.eye(x.shape[-1], dtype=x.dtype)


def _diagonal(x):
    return _knp.diagonal(x, axis1=-2, axis2=-1)


def _require_matrix(x):
    x = convert_to_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {x.shape}.")
    return x


def cholesky(a, upper=False):
    factor = _in_float(lambda x: _call("cholesky", x))(a)
    if not factor.is_symbolic and np.isnan(convert_to_numpy(factor)).any():
        raise ValueError("Cholesky decomposition failed. The input might not be a valid positive definite matrix.")
    return _matrix_transpose(factor) if upper else factor


def cholesky_inverse(a, upper=False):
    a = convert_to_tensor(a)
    inverse = solve_triangular(a, _eye_like(a), lower=not upper)
    left, right = (inverse, _matrix_transpose(inverse)) if upper else (_matrix_transpose(inverse), inverse)
    return _knp.matmul(left, right)


def _sign_of(pivots):
    """1, or -1 for an odd number of exchanges of rows."""
    moved = _knp.not_equal(pivots, _knp.arange(pivots.shape[-1], dtype=pivots.dtype))
    odd = _knp.mod(_knp.sum(cast(moved, "int32"), axis=-1), 2)
    return _knp.subtract(1, _knp.multiply(2, odd))


def det(a):
    def of(x):
        lu, pivots, _ = _call("lu", x)
        return _knp.multiply(_knp.prod(_diagonal(lu), axis=-1), cast(_sign_of(pivots), x.dtype))

    return _in_float(of)(a)


def _slogdet(a):
    def of(x):
        lu, pivots, _ = _call("lu", x)
        diagonal = _diagonal(lu)
        sign = _knp.multiply(_knp.prod(_knp.sign(diagonal), axis=-1), cast(_sign_of(pivots), x.dtype))
        return sign, _knp.sum(_knp.log(_knp.absolute(diagonal)), axis=-1)

    return _in_float(of)(a)


def eig(x):
    """By LAPACK on the host: only outside of a step."""
    x = convert_to_tensor(x)
    if x.is_symbolic:
        return _symbolic_eig(x)
    values, vectors = np.linalg.eig(convert_to_numpy(cast(x, result_type(x.dtype, float))))
    return convert_to_tensor(values.astype("complex64")), convert_to_tensor(vectors.astype("complex64"))


def _symbolic_eig(x):
    raise NotImplementedError("`eig` has no form inside of a step that is being traced; `eigh`, for symmetric matrices, has.")


def eigh(x):
    return _in_float(lambda a: _call("eigh", a))(x)


def inv(a):
    return _in_float(lambda x: _solve(x, _knp.broadcast_to(_eye_like(x), x.shape)))(a)


def lu_factor(x):
    return _in_float(lambda a: _call("lu", a)[:2])(x)


def _solve(a, b):
    lu, _, permutation = _call("lu", a)
    lower = _knp.add(_knp.tril(lu, -1), _eye_like(lu))
    b = _knp.take_along_axis(b, _knp.broadcast_to(_knp.expand_dims(permutation, -1), b.shape), axis=-2)
    return _triangular(lu, _triangular(lower, b, True), False)


def _triangular(a, b, lower):
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (_knp.broadcast_to(m, (*batch, *m.shape[-2:])) for m in (a, b))
    return _call("triangular_solve", a, b, lower=lower)


def _of_columns(solver, a, b):
    """b may be a vector for each matrix."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    dtype = result_type(a.dtype, b.dtype, float)
    is_vector = b.ndim == a.ndim - 1
    columns = _knp.expand_dims(b, -1) if is_vector else b
    result = cast(solver(_to_float(a), _to_float(columns)), dtype)
    return _knp.squeeze(result, -1) if is_vector else result


def solve(a, b):
    return _of_columns(_solve, a, b)


def solve_triangular(a, b, lower=False):
    return _of_columns(lambda x, y: _triangular(x, y, lower), a, b)


def _singular_values(x):
    return _call("svd", _to_float(x))[1]


def norm(x, ord=None, axis=None, keepdims=False):
    x = convert_to_tensor(x)
    x = cast(x, config.floatx() if x.dtype == "int64" else result_type(x.dtype, float))
    if axis is None and (ord is None or x.ndim not in (1, 2)):
        if ord is not None and x.ndim > 2:
            raise ValueError(f"Expected an input of rank 1 or 2 for ord={ord} without an axis. Received: x.shape={x.shape}")
        root = _knp.sqrt(_knp.sum(_knp.square(x)))
        return _knp.reshape(root, [1] * x.ndim) if keepdims else root
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, "fro" if ord is None else ord, [a % x.ndim for a in axes], keepdims)
    raise ValueError(f"Invalid axis values. Expected one or two axes. Received: axis={axis}")


def _vector_norm(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    if ord == 0:
        return cast(_knp.sum(cast(_knp.not_equal(x, 0), x.dtype), axis=axis, keepdims=keepdims), x.dtype)
    if ord == 2:
        return _knp.sqrt(_knp.sum(_knp.square(x), axis=axis, keepdims=keepdims))
    size = _knp.absolute(x)
    if ord in (np.inf, -np.inf):
        return (_knp.max if ord > 0 else _knp.min)(size, axis=axis, keepdims=keepdims)
    if ord == 1:
        return _knp.sum(size, axis=axis, keepdims=keepdims)
    return _knp.power(_knp.sum(_knp.power(size, ord), axis=axis, keepdims=keepdims), 1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    if axes[0] == axes[1]:
        raise ValueError(f"Duplicate axes given. Received: axis={tuple(axes)}")
    if ord == "fro":
        return _knp.sqrt(_knp.sum(_knp.square(x), axis=tuple(axes), keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        summed, kept = axes if abs(ord) == 1 else axes[::-1]
        sums = _knp.sum(_knp.absolute(x), axis=summed, keepdims=True)
        result = (_knp.max if ord > 0 else _knp.min)(sums, axis=kept, keepdims=True)
    elif ord in (2, -2, "nuc"):
        values = cast(_singular_values(_knp.moveaxis(x, axes, (-2, -1))), x.dtype)
        result = {2: _knp.max, -2: _knp.min, "nuc": _knp.sum}[ord](values, axis=-1)
        for axis in sorted(axes):
            result = _knp.expand_dims(result, axis)
    else:
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    return result if keepdims else _knp.squeeze(result, tuple(axes))


def qr(x, mode="reduced"):
    if mode not in ("reduced", "complete"):
        raise ValueError(
            f"`mode` argument value not supported. Expected one of {{'reduced', 'complete'}}. Received: mode={mode}")
    return _in_float(lambda a: _call("qr", a, complete=mode == "complete"))(x)


def svd(x, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return _in_float(_singular_values)(x)
    return _in_float(lambda a: _call("svd", a, full=full_matrices))(x)


def _pseudo_inverse(a, relative):
    u, values, vt = _call("svd", a)
    largest = _knp.max(values, axis=-1, keepdims=True)
    kept = _knp.greater(values, _knp.multiply(largest, relative))
    inverse = _knp.where(kept, _knp.divide(1.0, _knp.where(kept, values, _knp.ones_like(values))), _knp.zeros_like(values))
    return _knp.matmul(_knp.multiply(_matrix_transpose(vt), _knp.expand_dims(inverse, -2)), _matrix_transpose(u))


def _epsilon(x):
    return float(np.finfo(x.dtype).eps)


def lstsq(a, b, rcond=None):
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"Expected a matrix and as many rows beside it. Received: a.shape={a.shape}, b.shape={b.shape}")

    def solver(x, y):
        return _knp.matmul(_pseudo_inverse(x, _epsilon(x) * max(x.shape) if rcond is None else rcond), y)

    return _of_columns(solver, a, b)


def matrix_rank(x, tol=None):
    values = _singular_values(_require_matrix(x))
    if tol is None:
        rows, columns = x.shape[-2:]
        tol = _knp.multiply(_knp.max(values, axis=-1, keepdims=True), max(rows, columns) * _epsilon(values))
    return _knp.sum(cast(_knp.greater(values, tol), "int32"), axis=-1)


def pinv(x, rcond=None):
    x = _require_matrix(x)
    return _in_float(lambda a: _pseudo_inverse(a, 10 * max(a.shape[-2:]) * _epsilon(a) if rcond is None else rcond))(x)


def matrix_power(x, n):
    x = _require_matrix(x)
    if n < 0:
        x, n = inv(x), -n
    result = None
    while n:
        if n % 2:
            result = x if result is None else _knp.matmul(result, x)
        n //= 2
        x = _knp.matmul(x, x) if n else x
    return _knp.broadcast_to(_eye_like(x), x.shape) if result is None else result


def jvp(fun, primals, tangents, has_aux=False):
    """Forward mode by reverse mode twice: the gradient of <vjp(u), tangents> by u."""
    primals, tangents = ([convert_to_tensor(x) for x in xs] for xs in (primals, tangents))
    if _native.is_tracing():
        return _traced_jvp(fun, primals, tangents, has_aux)
    step = _engine.Step()
    inputs = [step.input(x.dtype, x.shape) for x in primals + tangents]
    with _engine.tracing(step):
        structure = _traced_jvp(fun, inputs[: len(primals)], inputs[len(primals) :], has_aux)
        flat = [convert_to_tensor(x) for x in tree.flatten(structure)]
    return tree.pack_sequence_as(structure, step.compile(flat).run(primals + tangents))


def _traced_jvp(fun, primals, tangents, has_aux):
    xs = [_call("stop_gradient", x) for x in primals]  # nodes of their own: one may have come from another
    result = fun(*xs)
    result, aux = result if has_aux else (result, None)
    ys = [convert_to_tensor(y) for y in tree.flatten(result)]
    us = [_knp.multiply(_call("stop_gradient", y), 0) for y in ys]
    pulled = _native.gradients(ys, xs, us)
    total = sum((_knp.sum(_knp.multiply(g, convert_to_tensor(t, g.dtype))) for g, t in zip(pulled, tangents)), start=0.0)
    pushed = _native.gradients([convert_to_tensor(total)], us, [])
    pushed = tree.pack_sequence_as(result, pushed) if tree.is_nested(result) else pushed[0]
    return (result, pushed, aux) if has_aux else (result, pushed)
