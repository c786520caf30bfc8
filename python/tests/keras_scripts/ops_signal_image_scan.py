"""keras.ops: control flow, images, signals, segments, linear algebra, and what nn has."""
import keras
import numpy as np
from keras import ops

np.set_printoptions(precision=4, suppress=True)
a = ops.convert_to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
print(ops.shape(a), a.dtype, keras.backend.standardize_dtype(a.dtype), ops.is_tensor(a), ops.ndim(a), ops.size(a))
carry, ys = ops.scan(lambda c, x: (c + x, c * x), ops.array(0.0), ops.array([1.0, 2.0, 3.0]))
print(ops.convert_to_numpy(carry), ops.convert_to_numpy(ys))
print(ops.convert_to_numpy(ops.associative_scan(lambda x, y: x + y, ops.arange(5))), ops.convert_to_numpy(ops.associative_scan(ops.maximum, ops.array([[1, 5], [3, 2], [2, 9]]), reverse=True)))
print([int(v) for v in ops.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t * 2), (0, 1))], ops.convert_to_numpy(ops.fori_loop(0, 4, lambda i, x: x + i, ops.array(10))))
print(ops.convert_to_numpy(ops.cond(ops.array(True), lambda: ops.array(1), lambda: ops.array(2))), ops.convert_to_numpy(ops.switch(ops.array(2), [lambda x: x, lambda x: x * 2, lambda x: x * 3], ops.array(7))))
print(ops.convert_to_numpy(ops.map(lambda x: x ** 2, ops.arange(4))), ops.convert_to_numpy(ops.vectorized_map(lambda x: ops.sum(x), a)), ops.convert_to_numpy(ops.vectorize(lambda x, y: x * y + 1)(ops.arange(3), ops.arange(3))))
print(ops.convert_to_numpy(ops.scatter(np.array([[0], [2]]), np.array([5.0, 7.0], "float32"), (4,))), ops.convert_to_numpy(ops.scatter_update(ops.zeros((3, 2)), np.array([[1, 0], [2, 1]]), np.array([1.0, 2.0], "float32"))), ops.convert_to_numpy(ops.slice(a, [0, 1], [2, 2])), ops.convert_to_numpy(ops.slice_update(a, [1, 1], ops.ones((1, 2)) * 9)))
print([ops.convert_to_numpy(u) for u in ops.unstack(a, axis=1)], ops.convert_to_numpy(ops.stop_gradient(a)).shape, ops.cast("3" if False else 3.7, "int32"), ops.saturate_cast(ops.array([300.0, -4.0]), "uint8"), ops.custom_gradient is not None)
print(ops.dtype(a) if hasattr(ops, "dtype") else a.dtype, ops.broadcast_to(ops.array([1, 2]), (2, 2)).shape, ops.convert_to_numpy(ops.rearrange(a, "h w -> w h")) if hasattr(ops, "rearrange") else "")

image = ops.convert_to_tensor(np.random.default_rng(0).random((1, 6, 8, 3)).astype("float32"))
for name in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"):
    print(name, ops.convert_to_numpy(ops.image.resize(image, (3, 5), interpolation=name))[0, 1, 2])
print(ops.convert_to_numpy(ops.image.resize(image, (12, 3), antialias=True))[0, 2, 1], ops.image.resize(image, (4, 4), pad_to_aspect_ratio=True).shape, ops.image.resize(image, (4, 4), crop_to_aspect_ratio=True).shape)
print(ops.convert_to_numpy(ops.image.rgb_to_grayscale(image))[0, 0, 0], ops.convert_to_numpy(ops.image.rgb_to_hsv(image))[0, 0, 0], ops.convert_to_numpy(ops.image.hsv_to_rgb(ops.image.rgb_to_hsv(image)))[0, 0, 0])
print(ops.convert_to_numpy(ops.image.affine_transform(image, [1.0, 0.1, 0.5, 0.0, 1.0, -0.5, 0.0, 0.0], fill_mode="reflect"))[0, 2, 3], ops.image.extract_patches(image, (2, 2)).shape, ops.convert_to_numpy(ops.image.map_coordinates(image[0, :, :, 0], ops.array([[0.5, 1.5], [1.0, 2.0]]), order=1)))
print(ops.image.pad_images(image, 1, 1, target_height=9, target_width=10).shape, ops.image.crop_images(image, 1, 1, target_height=3, target_width=4).shape, ops.convert_to_numpy(ops.image.gaussian_blur(image, (3, 3), (1.0, 1.0), data_format="channels_last"))[0, 1, 1], ops.convert_to_numpy(ops.image.elastic_transform(image, seed=1)).shape)
start, end = ops.array([[[0.0, 0.0], [7.0, 0.0], [0.0, 5.0], [7.0, 5.0]]]), ops.array([[[1.0, 0.0], [7.0, 0.0], [0.0, 5.0], [7.0, 5.0]]])
print(ops.convert_to_numpy(ops.image.perspective_transform(image, start, end))[0, 3, 3])

signal = ops.convert_to_tensor(np.sin(np.arange(64) * 0.4).astype("float32")[None])
real, imag = ops.rfft(signal)
print(int(np.argmax(np.abs(ops.convert_to_numpy(real)) ** 2 + np.abs(ops.convert_to_numpy(imag)) ** 2)), ops.convert_to_numpy(ops.irfft((real, imag)))[0, :3])
s = ops.stft(signal, 16, 8, 16)
print(s[0].shape, np.allclose(ops.convert_to_numpy(ops.istft(s, 16, 8, 16))[0, 8:48], ops.convert_to_numpy(signal)[0, 8:48], atol=1e-4), ops.extract_sequences(signal, 16, 8).shape, ops.convert_to_numpy(ops.fft((signal, ops.zeros_like(signal)))[0])[0, :2], ops.fft2((a, a * 0))[0].shape)
print(ops.convert_to_numpy(ops.segment_sum(ops.array([1, 2, 3, 4]), ops.array([0, 0, 1, 1]), 3)), ops.convert_to_numpy(ops.segment_max(ops.array([1, 2, 9, 4]), ops.array([0, 0, 1, 1]), 2)), ops.convert_to_numpy(ops.in_top_k(ops.array([1, 0]), ops.array([[0.1, 0.9], [0.2, 0.8]]), 1)), [ops.convert_to_numpy(v) for v in ops.top_k(ops.array([3, 9, 1]), 2)])
print(ops.convert_to_numpy(ops.logsumexp(a, axis=1)), ops.convert_to_numpy(ops.erf(a))[1], ops.convert_to_numpy(ops.erfinv(ops.array(0.3))), ops.convert_to_numpy(ops.rsqrt(ops.array(4.0))))

m = np.array([[4.0, 1.0], [1.0, 3.0]], "float32")
for name in ("cholesky", "det", "inv", "eigh", "qr", "svd", "lu_factor"):
    r = getattr(ops, name)(m)
    print(name, [np.abs(ops.convert_to_numpy(v)).round(3).tolist() for v in (r if isinstance(r, (tuple, list)) else [r])])
print(ops.convert_to_numpy(ops.solve(m, np.ones((2, 1), "float32"))).ravel(), ops.convert_to_numpy(ops.solve_triangular(np.tril(m), np.ones((2, 1), "float32"), lower=True)).ravel(), ops.convert_to_numpy(ops.lstsq(m, np.ones(2, "float32"))), ops.convert_to_numpy(ops.norm(m, ord="fro")), ops.convert_to_numpy(ops.norm(m, ord=1, axis=0)), ops.convert_to_numpy(ops.cholesky_inverse(np.linalg.cholesky(m))), ops.convert_to_numpy(ops.jvp(lambda x: x ** 2, (ops.array(3.0),), (ops.array(1.0),))[1]))

x = ops.array([[-2.0, -0.5, 0.0, 1.0, 3.0]])
for name in ("relu6", "sigmoid", "silu", "log_sigmoid", "leaky_relu", "hard_sigmoid", "hard_silu", "elu", "selu", "gelu", "softplus", "softsign", "celu", "glu", "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink", "squareplus", "sparse_plus", "threshold", "sparsemax", "softmax", "log_softmax", "sparse_sigmoid"):
    f = getattr(ops, name)
    args = (x[:, :4],) if name == "glu" else (x, 0.2, 9.0) if name == "threshold" else (x,)
    print(name, ops.convert_to_numpy(f(*args)))
q = ops.convert_to_tensor(np.random.default_rng(1).normal(size=(1, 3, 2, 4)).astype("float32"))
print(ops.convert_to_numpy(ops.dot_product_attention(q, q, q, is_causal=True))[0, :, 0, 0], ops.convert_to_numpy(ops.rms_normalization(x)), ops.convert_to_numpy(ops.layer_normalization(x)), ops.convert_to_numpy(ops.normalize(x, order=1)), ops.convert_to_numpy(ops.polar(ops.array(1.0), ops.array(0.0))))
print([ops.convert_to_numpy(v) for v in ops.moments(a, axes=[0])], ops.convert_to_numpy(ops.one_hot([1, 3], 3)), ops.convert_to_numpy(ops.multi_hot([0, 2], 4)), ops.convert_to_numpy(ops.psnr(a, a + 0.1, 1.0)), ops.convert_to_numpy(ops.ctc_loss(np.array([[1, 2, 0]]), np.zeros((1, 5, 4), "float32"), np.array([2]), np.array([5]))), ops.unfold(image[:, :, :, 0][:, None], 2).shape)
decoded, scores = ops.ctc_decode(np.log(np.eye(4, dtype="float32")[[1, 1, 3, 2, 3]][None] + 0.01), np.array([5]), mask_index=3)
print(ops.convert_to_numpy(decoded)[0, 0], ops.convert_to_numpy(ops.conv(image, np.ones((2, 2, 3, 1), "float32"), strides=2, padding="same")).shape, ops.depthwise_conv(image, np.ones((2, 2, 3, 2), "float32")).shape, ops.conv_transpose(image, np.ones((2, 2, 4, 3), "float32"), strides=2).shape, ops.convert_to_numpy(ops.max_pool(image, (2, 2), strides=(2, 2)))[0, 0, 0], ops.convert_to_numpy(ops.average_pool(image, (3, 3), strides=(1, 1), padding="same"))[0, 0, 0])
spec = keras.KerasTensor((None, 4))
print(ops.matmul(spec, np.ones((4, 2))).shape, ops.compute_output_spec(lambda t: ops.sum(t, -1), spec).shape if hasattr(ops, "compute_output_spec") else "", ops.concatenate([spec, spec], axis=1).shape, ops.einsum("ij,kj->ik", spec, np.ones((3, 4))).shape)
