"""Functions of keras.ops.numpy give in a traced step what they give at once, and both what NumPy gives."""
import keras_plimsoll  # noqa: F401  (first: it chooses the backend)
import numpy as np
import pytest
from keras.src import tree

from keras_plimsoll.src import engine
from keras_plimsoll.src.ops import core
from keras_plimsoll.src.ops import numpy as ours

rng = np.random.default_rng(7)
A = rng.standard_normal((3, 4)).astype("float32")
B = rng.standard_normal((3, 4)).astype("float32")
P = np.abs(A) + 0.1
INTS = rng.integers(1, 9, (3, 4)).astype("int32")
MORE = rng.integers(1, 9, (3, 4)).astype("int32")
HOLES = np.where(A > 0.5, np.float32("nan"), A)
LINE = np.sort(rng.standard_normal(9)).astype("float32")
CUBE = rng.standard_normal((2, 3, 3)).astype("float32")
Z = (A + 1j * B).astype("complex64")

# Names of functions that NumPy has under the same name, by what they are called with.
SAME = [
    ((A,), "abs absolute fabs negative sign signbit square exp exp2 expm1 sin cos tan sinh cosh tanh arctan arcsinh sinc deg2rad rad2deg "
           "ceil floor round trunc isfinite isinf isnan isneginf isposinf isreal real imag conj conjugate angle logical_not copy cbrt "
           "sum prod mean var std max min amax amin all any argmax argmin count_nonzero average median ptp trace diff ravel transpose "
           "squeeze flip fliplr flipud zeros_like ones_like tril triu diag diagflat diagonal sort argsort corrcoef nan_to_num i0 "
           "reciprocal rot90 cumsum cumprod trapezoid"),
    ((P,), "sqrt log log10 log1p log2"),
    ((A / 4,), "arcsin arccos arctanh"),
    ((P + 1,), "arccosh"),
    ((INTS,), "sum mean prod max argmax cumsum square sqrt bitwise_not"),
    ((HOLES,), "nansum nanprod nanmean nanvar nanstd nanmax nanmin nanargmax nanargmin nanmedian nancumsum nancumprod nan_to_num sort"),
    ((Z,), "real imag conj angle absolute exp sum mean"),
    ((A, B), "add subtract multiply divide true_divide maximum minimum fmax fmin hypot arctan2 logaddexp logaddexp2 mod fmod heaviside "
             "floor_divide equal not_equal greater greater_equal less less_equal isclose allclose logical_and logical_or logical_xor "
             "nextafter inner outer vdot kron isin append"),
    ((Z, Z[::-1].copy()), "add subtract multiply divide equal"),
    ((P, B), "power"),
    ((INTS, MORE), "gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide mod power ldexp"),
    ((A, B.T.copy()), "matmul dot"),
    ((CUBE, CUBE[::-1].copy()), "matmul cross"),
    ((LINE, LINE[:4].copy()), "correlate"),
    ((A, np.array(0.3, "float32")), "quantile nanquantile"),
    ((A, np.array([20.0, 75.0], "float32")), "percentile nanpercentile"),
    ((LINE, A), "searchsorted"),
    ((A, LINE), "digitize"),
    ((A > 0, A, B), "where"),
]
# (name, arguments, other arguments); the tensors among the arguments are traced.
WITH_MORE = [
    ("sum", (CUBE,), {"axis": (0, -1), "keepdims": True}),
    ("mean", (CUBE,), {"axis": 1}),
    ("var", (CUBE,), {"axis": (1, 2)}),
    ("max", (CUBE,), {"axis": 2, "initial": 0.5}),
    ("argmin", (CUBE,), {"axis": -2, "keepdims": True}),
    ("quantile", (CUBE, np.array([0.1, 0.8], "float32")), {"axis": (0, 2), "keepdims": True, "method": "midpoint"}),
    ("quantile", (A, np.array(0.6, "float32")), {"axis": 1, "method": "nearest"}),
    ("average", (A,), {"axis": 1, "weights": np.array([1, 2, 3, 4], "float32")}),
    ("cumsum", (CUBE,), {"axis": 1}),
    ("reshape", (CUBE, (3, -1)), {}),
    ("moveaxis", (CUBE, 0, -1), {}),
    ("swapaxes", (CUBE, 0, 2), {}),
    ("expand_dims", (A, (0, 2)), {}),
    ("broadcast_to", (A, (2, 3, 4)), {}),
    ("repeat", (A, 3), {"axis": 1}),
    ("repeat", (A, [1, 0, 2]), {"axis": 0}),
    ("tile", (A, (2, 1, 3)), {}),
    ("roll", (A, (1, -2)), {"axis": (0, 1)}),
    ("pad", (A, ((1, 2), (0, 3))), {}),
    ("pad", (A, 2), {"mode": "reflect"}),
    ("pad", (A, ((2, 1), (1, 1))), {"mode": "edge"}),
    ("take", (A, np.array([[0, -1], [2, 1]])), {"axis": 0}),
    ("take_along_axis", (A, np.argsort(A, 1)), {"axis": 1}),
    ("split", (A, 2), {"axis": 1}),
    ("array_split", (A, 3), {"axis": 1}),
    ("concatenate", ([A, B],), {"axis": -1}),
    ("stack", ([A, B],), {"axis": 1}),
    ("hstack", ([A, B],), {}),
    ("vstack", ([A, B],), {}),
    ("dstack", ([A, B],), {}),
    ("meshgrid", (LINE, LINE[:3].copy()), {"indexing": "ij"}),
    ("tensordot", (CUBE, CUBE), {"axes": ([1, 2], [1, 2])}),
    ("einsum", ("bij,bkj->bik", CUBE, CUBE), {}),
    ("einsum", ("...ij,jk,kl->...il", CUBE, SQUARE := CUBE[0].copy(), SQUARE), {}),
    ("einsum", ("bii->b", CUBE), {}),
    ("diagonal", (CUBE,), {"offset": 1, "axis1": 1, "axis2": 2}),
    ("diff", (A,), {"n": 2, "axis": 0}),
    ("linspace", (A, B), {"num": 5, "axis": 1}),
    ("logspace", (A, B), {"num": 4}),
    ("geomspace", (P, P + 2), {"num": 4}),
    ("vander", (LINE,), {"N": 4}),
    ("clip", (A, -0.5, 0.5), {}),
    ("select", ([A > 1, A > 0], [A, B]), {"default": 7.0}),
    ("unravel_index", (INTS, (4, 5)), {}),
    ("correlate", (LINE[:4].copy(), LINE), {"mode": "same"}),
    ("correlate", (LINE, LINE[:4].copy()), {"mode": "full"}),
    ("round", (A,), {"decimals": 2}),
    ("view", (A,), {"dtype": "int16"}),
]
EXPECTED = {
    "vander": lambda x, N: np.vander(x, N),
    "view": lambda x, dtype: x.view(dtype),
}
CASES = [(name, args, {}) for args, names in SAME for name in names.split()] + WITH_MORE


def run_traced(function, args, kwargs):
    """The function in a program of its own, compiled with its tensors as inputs."""
    step, arrays = engine.Step(), []

    def symbolic(x):
        if not isinstance(x, np.ndarray):
            return x
        arrays.append(x)
        return step.input(str(x.dtype), x.shape)

    with engine.tracing(step):
        results = function(*tree.map_structure(symbolic, args), **tree.map_structure(symbolic, kwargs))
        flat = [core.convert_to_tensor(x) for x in tree.flatten(results)]
    return [engine.to_numpy(x) for x in step.compile(flat).run([engine.from_numpy(x) for x in arrays])]


@pytest.mark.parametrize("name, args, kwargs", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_traced_and_at_once_as_numpy(name, args, kwargs):
    expected = EXPECTED.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        expected = [np.asarray(x) for x in tree.flatten(expected(*args, **kwargs))]
    at_once = [np.asarray(x) for x in tree.flatten(getattr(ours, name)(*args, **kwargs))]
    traced = run_traced(getattr(ours, name), args, kwargs)
    assert len(traced) == len(at_once) == len(expected)
    for a, b, want in zip(at_once, traced, expected):
        assert a.dtype == b.dtype and a.shape == b.shape == want.shape
        np.testing.assert_allclose(b, a, rtol=2e-6, atol=1e-6)
        np.testing.assert_allclose(a.astype(want.dtype), want, rtol=1e-4, atol=1e-5)


def test_slogdet_traced():
    sign, log = run_traced(ours.slogdet, (CUBE,), {})
    want = np.linalg.slogdet(CUBE)
    np.testing.assert_allclose(sign, want[0])
    np.testing.assert_allclose(log, want[1], rtol=1e-4)


def test_counts_traced():
    x = np.array([[1, 3, 3], [0, 2, 9]], "int32")
    (counts,) = run_traced(ours.bincount, (x,), {"minlength": 5})
    assert counts.tolist() == [[0, 1, 0, 2, 0], [1, 0, 1, 0, 0]]  # the 9 is outside
    counts, edges = run_traced(ours.histogram, (A,), {"bins": 6})
    want = np.histogram(A, 6)
    assert counts.tolist() == want[0].tolist()
    np.testing.assert_allclose(edges, want[1], rtol=1e-5)


def test_unique_of_a_size_traced():
    x = np.array([[5, 1, 5], [2, 1, 9]], "int32")
    options = {"return_index": True, "return_inverse": True, "return_counts": True}
    values, index, inverse, counts = run_traced(ours.unique, (x,), {"size": 6, "fill_value": -1, **options})
    at_once = [np.asarray(r) for r in ours.unique(x, size=6, fill_value=-1, **options)]
    assert values.tolist() == [1, 2, 5, 9, -1, -1] and counts.tolist() == [2, 1, 2, 1, 0, 0]
    assert values[inverse].tolist() == x.tolist() and x.ravel()[index[:4]].tolist() == [1, 2, 5, 9]
    for a, b in zip(at_once, (values, index, inverse, counts)):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("function", [ours.nonzero, ours.unique, ours.bincount, ours.hanning])
def test_what_needs_values_says_so_in_a_step(function):
    with pytest.raises(ValueError, match="traced"):
        run_traced(function, (INTS[0] if function is not ours.hanning else np.array(3),), {})
