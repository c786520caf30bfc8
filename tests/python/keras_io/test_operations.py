"""keras.ops inside of functional models: what a file calls gives Keras's numbers, types and masks."""
import pytest

np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")
L, ops = keras.layers, keras.ops

CONSTANT = np.linspace(-1, 1, 6).astype("float32")

# On (5, 4, 6) numbers.
OF_FLOATS = {
    "elementwise": lambda x: [f(x) for f in (ops.sign, ops.floor, ops.ceil, ops.round, ops.expm1, ops.tan, ops.arctan, ops.sinh, ops.arcsinh, ops.erf, ops.trunc)],
    "of positives": lambda x: [f(ops.abs(x) + 0.5) for f in (ops.log1p, ops.log2, ops.log10, ops.reciprocal)],
    "activations": lambda x: [f(x) for f in (ops.softsign, ops.celu, ops.log_sigmoid, ops.hard_tanh, ops.tanh_shrink, ops.soft_shrink, ops.squareplus, ops.glu)],
    "softmax": lambda x: [ops.softmax(x, axis=1), ops.log_softmax(x)],
    "reductions": lambda x: [ops.var(x, axis=1), ops.std(x, axis=-1, keepdims=True), ops.prod(x, axis=1), ops.logsumexp(x, axis=-1), ops.max(x, axis=1, initial=10.0),
                             ops.amax(x, axis=(1, 2)), ops.argmax(x, axis=-1), ops.argmin(x, axis=1), ops.count_nonzero(x, axis=1)],
    "order": lambda x: [ops.sort(x, axis=1), ops.argsort(x), *ops.top_k(x, 3), ops.cumsum(x, axis=1)],
    "several results": lambda x: [*ops.split(x, 2, axis=-1), *ops.split(x, [2, 5], axis=-1), *ops.unstack(x, axis=1)],
    "shapes": lambda x: [ops.stack([x, -x], axis=1), ops.swapaxes(x, 1, 2), ops.moveaxis(x, 1, -1), ops.repeat(x, 2, axis=1), ops.tile(x, (1, 2, 1)), ops.flip(x, axis=1),
                         ops.roll(x, 2, axis=1), ops.expand_dims(x, (1, -1)), ops.pad(x, ((0, 0), (1, 2), (0, 1))), ops.take(x, [2, -1], axis=-1)],
    "squeeze": lambda x: [ops.squeeze(x[:, :1, :, None]), ops.squeeze(x[:, :1, :, None], axis=(1, 3)), ops.squeeze(x[:, :1], axis=1)],
    "where": lambda x: [ops.where(x > 0, x, 0.1 * x), ops.where(x > 0, 1.0, -1.0), ops.cast(ops.logical_xor(x > 0, x > 1), "int32")],
    "products": lambda x: [ops.einsum("bij,bkj->bik", x, x), ops.einsum("bij->bj", x), ops.einsum("bij,j->b", x, CONSTANT), ops.dot(x, CONSTANT), ops.tensordot(x, CONSTANT[:, None], axes=1)],
    "constants": lambda x: [x - CONSTANT, x + ops.arange(6, dtype="float32"), ops.matmul(x, CONSTANT[:, None])],
    "likes": lambda x: [ops.concatenate([x, ops.zeros_like(x)], axis=1), ops.ones_like(x) + x, ops.full_like(x, 3.0) * x, ops.normalize(x, axis=-1)],
    "types": lambda x: [ops.cast(x > 0, "int32"), ops.one_hot(ops.cast(ops.abs(x), "int32"), 8), ops.cast(ops.isfinite(x), "float32")],
}
# On integers: Python's numbers beside them make what Keras makes of them.
OF_INTEGERS = {
    "floats": lambda i: [i * 0.5, i + 0.7, ops.power(ops.abs(i), 0.5), ops.maximum(i, 0.5), i * CONSTANT],
    "comparisons": lambda i: [ops.cast(ops.equal(i, 1.5), "float32"), ops.cast(i > 0.5, "float32")],
    "truth": lambda i: [ops.cast(c, "float32") for c in (ops.logical_and(i, i - 1), ops.logical_or(i, i * 0), ops.logical_not(i), ops.any(i, axis=1), ops.all(i, axis=1))],
    "integers": lambda i: [i // 2, i / 2, i**2, ops.mean(i, axis=1)],
    "bools": lambda i: [(i > 0) + 1, (i > 0) * 2.5],
}
# On (4, 9, 6) with a mask: results of functions have none.
MASKED = {
    "arithmetic": lambda e: L.LSTM(3)(e * 2.0),
    "function": lambda e: L.LSTM(3)(ops.relu(e)),
    "slice": lambda e: L.LSTM(3)(e[:, :7]),
    "residual": lambda e: L.GlobalAveragePooling1D()(L.LayerNormalization()(e + L.MultiHeadAttention(2, 3)(e, e))),
    "layer": lambda e: L.LSTM(3)(L.Add()([e, L.Dense(6)(e)])),
    "concatenated": lambda e: L.LSTM(3)(L.Concatenate()([e, L.Dense(2)(e)])),
    "attention": lambda e: L.GlobalAveragePooling1D()(L.Attention()([e, e])),
}


def compare(tool, model, x, path):
    model.save(path)
    wanted = [np.asarray(y) for y in keras.tree.flatten(model.predict_on_batch(x))]
    ours = tool.predict(path, [x])
    assert len(ours) == len(wanted)
    for i, (a, b) in enumerate(zip(ours, wanted)):
        assert a.dtype == b.dtype and a.shape == b.shape, i
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=str(i))


@pytest.mark.parametrize("name", OF_FLOATS)
def test_functions_of_floats(tool, tmp_path, name):
    x = keras.Input((4, 6))
    for kind in ("m.keras", "m.h5"):
        compare(tool, keras.Model(x, OF_FLOATS[name](x)), np.random.default_rng(0).normal(size=(5, 4, 6)).astype("float32"), tmp_path / kind)


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_functions_of_integers(tool, tmp_path, name):
    x = keras.Input((4, 6), dtype="int32")
    compare(tool, keras.Model(x, OF_INTEGERS[name](x)), np.random.default_rng(0).integers(-3, 5, (5, 4, 6)).astype("int32"), tmp_path / "m.keras")


@pytest.mark.parametrize("name", MASKED)
def test_a_function_passes_no_mask_on(tool, tmp_path, name):
    keras.utils.set_random_seed(1)
    words = np.random.default_rng(0).integers(1, 20, (4, 9)).astype("int32")
    words[0, 5:] = words[1, :3] = words[3, 3:6] = 0
    x = keras.Input((9,), dtype="int32")
    model = keras.Model(x, MASKED[name](L.Embedding(20, 6, mask_zero=True, embeddings_initializer="normal")(x)))
    for w in model.weights:
        w.assign(np.random.default_rng(1).normal(size=w.shape) * 0.5)
    compare(tool, model, words, tmp_path / "m.keras")


def test_what_keras_writes_by_another_name_than_it_exports(tool, tmp_path):
    x = keras.Input((5, 8))
    model = keras.Model(x, L.GroupQueryAttention(4, 4, 2)(x, x))
    compare(tool, model, np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32"), tmp_path / "m.h5")


def test_layers_that_cannot_be_trained_are_no_functions_in_old_files(tool, tmp_path):
    x = keras.Input((4,))
    compare(tool, keras.Model(x, L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5])(x)), np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4), tmp_path / "m.h5")
    x = keras.Input((5, 4))
    compare(tool, keras.Model(x, L.SpatialDropout1D(0.5)(x)), np.ones((3, 5, 4), "float32"), tmp_path / "m.h5")
