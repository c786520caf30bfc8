"""keras.ops inside of functional models: what a file calls gives Keras's numbers, types and masks."""
import json
import pathlib

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
    "equations": lambda x: [ops.einsum("...ij,...kj->...ik", x, x), ops.einsum("bij,j", x, CONSTANT), ops.einsum("bij,bkj,bkl->bil", x, x, x), ops.einsum("...j->...", x),
                            ops.einsum("bij,j,b->i", x, CONSTANT, x[:, 0, 0]), ops.einsum("i...,...->...i", x, CONSTANT[:4, None] * CONSTANT)],
    "constants": lambda x: [x - CONSTANT, x + ops.arange(6, dtype="float32"), ops.matmul(x, CONSTANT[:, None])],
    "likes": lambda x: [ops.concatenate([x, ops.zeros_like(x)], axis=1), ops.ones_like(x) + x, ops.full_like(x, 3.0) * x, ops.normalize(x, axis=-1)],
    "types": lambda x: [ops.cast(x > 0, "int32"), ops.one_hot(ops.cast(ops.abs(x), "int32"), 8), ops.cast(ops.isfinite(x), "float32")],
}
TABLE = np.random.default_rng(7).normal(size=(4, 6)).astype("float32")
OF_FLOATS |= {
    "averages": lambda x: [ops.average(x, axis=1), ops.average(x, axis=-1, weights=np.arange(1, 7, dtype="float32")), ops.median(x, axis=1), ops.median(x, axis=(1, 2), keepdims=True),
                           ops.diff(x), ops.diff(x, n=2, axis=1), ops.ptp(x, axis=1)],
    "not a number": lambda x: [f(ops.log(x)) for f in (ops.nan_to_num, lambda y: ops.nan_to_num(y, nan=2.0, posinf=3.0, neginf=4.0), lambda y: ops.nansum(y, axis=1), lambda y: ops.nanmax(y, axis=2),
                               lambda y: ops.nanmean(y, axis=1), lambda y: ops.median(y, axis=1), lambda y: ops.cast(ops.isneginf(y), "int32"))],
    "close": lambda x: [ops.cast(ops.isclose(x, ops.round(x), rtol=0.1, atol=0.1), "int32"), ops.divide_no_nan(x, ops.relu(x)), ops.logaddexp(x, -x), ops.hypot(x, x + 1), ops.fmod(x, 0.7)],
    "rounded": lambda x: [ops.round(x, 2), ops.round(x * 100, -1)],
    "activations with arguments": lambda x: [ops.celu(x, 0.4), ops.squareplus(x, 2.0), ops.soft_shrink(x, 0.3), ops.hard_shrink(x, 0.9), ops.threshold(x, 0.2, -1.0), ops.sparsemax(x)],
    "put together": lambda x: [ops.hstack([x, -x]), ops.vstack([x, x + 1]), ops.dstack([x, x]), ops.append(x, x, axis=1), *ops.array_split(x, 4, axis=-1), *ops.hsplit(x, 2), *ops.dsplit(x, [1, 3])],
    "broadcast": lambda x: [x + ops.broadcast_to(CONSTANT, (4, 6)), *ops.meshgrid(x[:, 0, 0], CONSTANT), *ops.meshgrid(x[:, 0, 0], CONSTANT, indexing="ij"),
                            ops.linspace(x[:, 0], x[:, 1], num=5, axis=1), ops.linspace(0.0, x[:, 0], num=3, endpoint=False, axis=-1)],
    "diagonals": lambda x: [ops.diagonal(x, axis1=1, axis2=2), ops.diagonal(x, offset=-2, axis1=1, axis2=2), ops.trace(x, axis1=1, axis2=2), ops.tril(x), ops.triu(x, k=1), ops.rot90(x, axes=(1, 2)),
                            ops.rot90(x, k=3, axes=(1, 2)), ops.fliplr(x), ops.take_along_axis(x, ops.argsort(x, axis=1), axis=1)],
    "padding": lambda x: [ops.pad(x, ((0, 0), (2, 3), (1, 4)), mode) for mode in ("reflect", "symmetric")] + [ops.pad(x, ((0, 0), (1, 1), (0, 0)), constant_values=2.0)],
    "matrices": lambda x: [ops.outer(x[:, 0, 0], CONSTANT), ops.inner(x, TABLE), ops.cross(x[:, :, :3], x[:, :, 3:]), ops.det(x[:, :, :4]), ops.inv(x[:, :, :4] + 3 * np.eye(4, dtype="float32"))],
    "normalized": lambda x: [ops.layer_normalization(x), ops.layer_normalization(x, gamma=CONSTANT, beta=CONSTANT + 1, epsilon=1e-3), ops.layer_normalization(x, axis=(1, 2)), ops.rms_normalization(x),
                             ops.rms_normalization(x, scale=CONSTANT), ops.batch_normalization(x, mean=CONSTANT, variance=CONSTANT**2 + 0.1, axis=-1, scale=CONSTANT + 2)],
    "convolved": lambda x: [ops.conv(x, np.stack([TABLE, TABLE[::-1]], -1)[:3], padding="same"), ops.conv(x, np.stack([TABLE, -TABLE], -1)[:2], strides=2), ops.depthwise_conv(x, TABLE[:2, :, None]),
                            ops.max_pool(x, 2, strides=2, padding="same"), ops.average_pool(x, 2, strides=1)],
    "attention": lambda x: [ops.dot_product_attention(q, k, k, is_causal=causal, scale=scale) for q, k in [(ops.reshape(x, (-1, 4, 2, 3)), ops.reshape(-x, (-1, 4, 2, 3)))]
                            for causal, scale in ((False, None), (True, 0.3))],
    "multi hot": lambda x: [ops.multi_hot(ops.cast(ops.abs(x) * 3, "int32"), 8)],
}
OF_FLOATS |= {
    "rare": lambda x: [ops.heaviside(x, x * 0 + 0.5), ops.logaddexp2(x, -x), ops.sinc(x), ops.cast(ops.signbit(x), "int32"), ops.fmax(x, ops.log(x)), ops.fmin(x, ops.log(x)), ops.ldexp(x, ops.cast(x * 2, "int32")),
                       ops.vander(x[0, 0], N=3), ops.trapezoid(x, dx=0.5), ops.nextafter(x, x + 1), ops.cast(ops.saturate_cast(x * 200, "uint8"), "int32"), ops.i0(x)],
    "searched": lambda x: [ops.argmax(ops.in_top_k(ops.argmax(x[:, 0], axis=-1), x[:, 1], 2)),
                           ops.cast(ops.digitize(x, CONSTANT), "int32"), ops.select([x > 1, x > 0], [x, x * 2], -1.0)],
    "not a number, rare": lambda x: [f(ops.log(x)) for f in (lambda y: ops.nancumsum(y, axis=1), lambda y: ops.nancumprod(y, axis=2), lambda y: ops.nanvar(y, axis=(1, 2)), lambda y: ops.nanstd(y, axis=2, keepdims=True),
                                                               lambda y: ops.nanargmax(ops.where(ops.isnan(y), y, y)[:, :1] * 0 + x[:, :1], axis=2))],
    "cross-entropies": lambda x: [ops.binary_crossentropy(ops.sigmoid(x), ops.sigmoid(-x)), ops.binary_crossentropy(ops.sigmoid(x), x, from_logits=True), ops.categorical_crossentropy(ops.softmax(x), ops.softmax(-x)),
                                  ops.categorical_crossentropy(ops.softmax(x), x, from_logits=True), ops.sparse_categorical_crossentropy(ops.argmax(x, axis=-1), x, from_logits=True), ops.psnr(x, x + 0.5, 2.0)],
    "moments": lambda x: [*ops.moments(x, axes=[1]), *ops.moments(x, axes=[0, 2], keepdims=True), ops.diag(x[0, 0]), ops.diag(x[0], k=1), ops.diagflat(x[:, 0, :2], k=-1)],
    "matrices, rare": lambda x: [(lambda s: [ops.cholesky(s), ops.solve(s, x), ops.solve(s, x[:, :, 0]), ops.solve_triangular(ops.tril(s), x, lower=True), ops.eigh(s)[0], ops.slogdet(s)[1], ops.logdet(s), ops.abs(ops.qr(s)[1])])
                                 (ops.matmul(x, ops.swapaxes(x, 1, 2)) + 4 * np.eye(4, dtype="float32"))[i] for i in range(8)] + [ops.svd(x, compute_uv=False)],
    "waves": lambda x: [*ops.rfft(x), *ops.rfft(x, 8), *ops.fft((x, -x)), *ops.fft2((x, x * 0.5)), *ops.ifft2((x, x * 0.5)), ops.irfft(ops.rfft(x), 6), ops.extract_sequences(x, 3, 2), *ops.stft(x, 4, 2, 4)],
    "parts that change": lambda x: [ops.slice_update(x, (0, 1, 2), x[:, :2, :2]), ops.segment_sum(ops.transpose(x, (1, 0, 2)), np.array([0, 2, 2, 1], "int32"), 4),
                                    ops.segment_max(ops.transpose(x, (1, 0, 2)), np.array([0, 2, 2, 1], "int32"), 3)],
    "norms": lambda x: [ops.norm(x, ord=1, axis=(1, 2)), ops.normalize(x, axis=-1, order=1), ops.normalize(x, axis=-1, order=3)],
}
# On (2, 6, 8, 3) numbers from 0 to 1.
OF_IMAGES = {
    "colours": lambda x: [ops.image.rgb_to_grayscale(x), ops.image.rgb_to_hsv(x), ops.image.hsv_to_rgb(x)],
    "sizes": lambda x: [ops.image.resize(x, (3, 5)), ops.image.resize(x, (12, 9), interpolation="nearest"), ops.image.resize(x, (4, 4), interpolation="bicubic", antialias=True, crop_to_aspect_ratio=True)],
    "frames": lambda x: [ops.image.pad_images(x, 1, 2, 3, 0), ops.image.pad_images(x, top_padding=1, left_padding=2, target_height=9, target_width=12), ops.image.crop_images(x, 1, 2, 1, 3),
                         ops.image.crop_images(x, bottom_cropping=1, left_cropping=2, target_height=3, target_width=4)],
    "patches": lambda x: [ops.image.extract_patches(x, (2, 4)), ops.image.extract_patches(x, 3, strides=2, padding="same"), ops.image.extract_patches(x, 2, strides=1, dilation_rate=2)],
    "filters": lambda x: [ops.image.gaussian_blur(x, (5, 5), (1.0, 1.0)), ops.nn.unfold(ops.transpose(x, (0, 3, 1, 2)), (2, 3), dilation=1, padding=1, stride=2)],
    "depth": lambda x: [ops.nn.space_to_depth(x, 2), ops.nn.depth_to_space(ops.concatenate([x, x, x, 2 * x], -1), 2)],
    "pools": lambda x: [ops.max_pool(x, (2, 3), strides=1), ops.average_pool(x, (3, 3), strides=2, padding="same"), ops.adaptive_average_pool(x, (3, 2))],
    "separable": lambda x: [ops.separable_conv(x, np.ones((2, 2, 3, 2), "float32"), np.linspace(-1, 1, 24, dtype="float32").reshape(1, 1, 6, 4))],
}
# On integers: Python's numbers beside them make what Keras makes of them.
OF_INTEGERS = {
    "floats": lambda i: [i * 0.5, i + 0.7, ops.power(ops.abs(i), 0.5), ops.maximum(i, 0.5), i * CONSTANT],
    "comparisons": lambda i: [ops.cast(ops.equal(i, 1.5), "float32"), ops.cast(i > 0.5, "float32")],
    "truth": lambda i: [ops.cast(c, "float32") for c in (ops.logical_and(i, i - 1), ops.logical_or(i, i * 0), ops.logical_not(i), ops.any(i, axis=1), ops.all(i, axis=1))],
    "integers": lambda i: [i // 2, i / 2, i**2, ops.mean(i, axis=1)],
    "averages": lambda i: [ops.average(i, axis=1), ops.median(i, axis=2), ops.diff(i), ops.round(i * 10, -2), ops.linspace(i[:, 0], i[:, 1], num=4, axis=1)],
    "divisors": lambda i: [ops.gcd(i, 6), ops.lcm(i, 4), ops.gcd(i, i + 3)],
    "bits": lambda i: [ops.bitwise_and(i, i - 1), ops.bitwise_xor(i, i + 1), ops.bitwise_not(i), ops.left_shift(i, ops.abs(i))],
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


@pytest.mark.parametrize("name", OF_IMAGES)
def test_functions_of_images(tool, tmp_path, name):
    x = keras.Input((6, 8, 3))
    compare(tool, keras.Model(x, OF_IMAGES[name](x)), np.random.default_rng(0).random((2, 6, 8, 3)).astype("float32"), tmp_path / "m.keras")


# Keras on JAX refuses lists of axes here, on TensorFlow these paddings and diagonals; on other backends it writes the same files.
def test_functions_that_keras_itself_cannot_run_everywhere(tool, tmp_path):
    x = keras.Input((4, 6))
    outputs = [ops.quantile(x, 0.3, axis=2), ops.quantile(x, [0.1, 0.9], axis=1, method="nearest"), ops.norm(x, axis=-1), ops.norm(x, ord=1, axis=1, keepdims=True), ops.norm(x, ord=np.inf, axis=1)]
    outputs += [ops.pad(x, ((0, 0), (2, 3), (1, 4)), mode) for mode in ("edge", "wrap")] + [ops.trace(x, offset=1, axis1=1, axis2=2)]
    keras.Model(x, outputs).save(tmp_path / "m.keras")
    n = np.random.default_rng(0).normal(size=(2, 4, 6)).astype("float32")
    wanted = [np.quantile(n, 0.3, axis=2), np.quantile(n, [0.1, 0.9], axis=1, method="nearest"), np.linalg.norm(n, axis=-1), np.abs(n).sum(1, keepdims=True), np.abs(n).max(1)]
    wanted += [np.pad(n, ((0, 0), (2, 3), (1, 4)), mode=mode) for mode in ("edge", "wrap")] + [np.trace(n, offset=1, axis1=1, axis2=2)]
    for i, (ours, theirs) in enumerate(zip(tool.predict(tmp_path / "m.keras", [n]), wanted)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=str(i))


def test_a_function_there_is_not_is_refused_by_name(tool, tmp_path):
    x = keras.Input((4,))
    keras.Model(x, ops.histogram(x)[0]).save(tmp_path / "m.keras")
    with pytest.raises(tool.Error, match="Histogram is not known.*cut the model before it"):
        tool.predict(tmp_path / "m.keras", [np.ones((2, 4), "float32")])


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


GOLDENS = pathlib.Path(__file__).parents[2] / "golden" / "keras_files"


def test_functions_of_tensorflow_become_functions_of_keras(tool, tmp_path):
    """As a file of Keras 2 has them; the numbers against Keras 2 are in tests/keras_io/golden_test.cpp."""
    with np.load(GOLDENS / "tf_keras_functions.npz") as golden:
        tool.run("convert", GOLDENS / "tf_keras_functions.h5", tmp_path / "m.keras")
        theirs = keras.models.load_model(tmp_path / "m.keras").predict([golden["x0"], golden["x1"]], verbose=0)
        np.testing.assert_allclose(theirs, golden["y0"], rtol=1e-5, atol=1e-5)


def old_functional(function, arguments):
    """A Keras 2 model of one call of a TensorFlow function on 4 x 4 numbers."""
    layers = [{"class_name": "InputLayer", "config": {"batch_input_shape": [None, 4, 4], "dtype": "float32", "name": "i"}, "name": "i", "inbound_nodes": []},
              {"class_name": "TFOpLambda", "config": {"name": "m", "dtype": "float32", "function": function}, "name": "m", "inbound_nodes": [["i", 0, 0, arguments]]}]
    return json.dumps({"class_name": "Functional", "config": {"name": "f", "layers": layers, "input_layers": [["i", 0, 0]], "output_layers": [["m", 0, 0]]}, "keras_version": "2.15.0"})


@pytest.mark.parametrize("function, arguments, said", [("math.cumsum", {"axis": 1, "exclusive": True}, "'exclusive'"), ("gather", {"indices": [0], "axis": 1, "batch_dims": 1}, "'batch_dims'"),
                                                       ("linalg.diag", {}, "linalg.diag, which is not known"), ("math.add", {}, "without its argument 'y'")])
def test_an_argument_without_counterpart_is_refused_by_name(tool, tmp_path, function, arguments, said):
    """Left out, it would give other numbers."""
    (tmp_path / "m.json").write_text(old_functional(function, arguments))
    with pytest.raises(tool.Error, match=said):
        tool.predict(tmp_path / "m.json", [np.ones((2, 4, 4), "float32")])


def test_a_product_with_one_side_turned_is_no_plain_product(tool, tmp_path):
    x = np.random.default_rng(0).normal(size=(2, 4, 4)).astype("float32")
    (tmp_path / "m.json").write_text(old_functional("linalg.matmul", {"b": ["i", 0, 0], "transpose_b": True}))
    np.testing.assert_allclose(tool.predict(tmp_path / "m.json", [x])[0], x @ x.transpose(0, 2, 1), rtol=1e-5, atol=1e-6)


def test_functions_in_old_files_open_in_keras(tool, tmp_path):
    """Keras 3 leaves their modules out of an .h5, and finds a class in its own module alone."""
    x = keras.Input((4, 6))
    y = ops.concatenate([ops.softmax(x), ops.cast(ops.rsqrt(ops.abs(x) + 1.0), "float32"), ops.top_k(x, 6)[0], ops.one_hot(ops.argmax(x, axis=-1), 6)], axis=1)
    model = keras.Model(x, y)
    model.save(tmp_path / "m.h5")
    tool.run("convert", tmp_path / "m.h5", tmp_path / "n.keras")
    data = np.random.default_rng(0).normal(size=(2, 4, 6)).astype("float32")
    np.testing.assert_allclose(keras.models.load_model(tmp_path / "n.keras").predict(data, verbose=0), model.predict(data, verbose=0), rtol=1e-5, atol=1e-6)


def test_the_thresholded_relu_of_keras_2(tool, tmp_path):
    layers = [{"class_name": "InputLayer", "config": {"batch_input_shape": [None, 5], "dtype": "float32", "name": "i"}}, {"class_name": "ThresholdedReLU", "config": {"name": "t", "theta": 0.3}}]
    (tmp_path / "m.json").write_text(json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": layers}, "keras_version": "2.15.0"}))
    x = np.array([[-1, 0.2, 0.3, 0.31, 2]], "float32")
    np.testing.assert_array_equal(tool.predict(tmp_path / "m.json", [x])[0], np.where(x > 0.3, x, 0))


def test_what_keras_writes_by_another_name_than_it_exports(tool, tmp_path):
    x = keras.Input((5, 8))
    model = keras.Model(x, L.GroupQueryAttention(4, 4, 2)(x, x))
    compare(tool, model, np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32"), tmp_path / "m.h5")


def test_layers_that_cannot_be_trained_are_no_functions_in_old_files(tool, tmp_path):
    x = keras.Input((4,))
    compare(tool, keras.Model(x, L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5])(x)), np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4), tmp_path / "m.h5")
    x = keras.Input((5, 4))
    compare(tool, keras.Model(x, L.SpatialDropout1D(0.5)(x)), np.ones((3, 5, 4), "float32"), tmp_path / "m.h5")
