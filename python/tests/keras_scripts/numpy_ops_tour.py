# keras.ops as a NumPy replacement
import keras
import numpy as np
from keras import ops

rng = np.random.default_rng(7)
a = ops.convert_to_tensor(rng.normal(size=(4, 5)).astype("float32"))
print(a.shape, a.dtype, keras.backend.standardize_dtype(a.dtype), ops.is_tensor(a))


def show(*values):
    print(*[np.round(ops.convert_to_numpy(v).astype("float64"), 4).tolist() for v in values])


show(ops.mean(a, axis=0), ops.std(a), ops.var(a, axis=1), ops.median(a, axis=-1), ops.quantile(a, 0.3, axis=0))
show(ops.einsum("ij,kj->ik", a, a)[0], ops.tensordot(a, a, axes=[[1], [1]])[1], ops.dot(a, ops.transpose(a))[2])
show(*ops.top_k(a, 2), ops.argsort(a, axis=1), ops.sort(a, axis=0)[0])
show(ops.where(a > 0, a, ops.zeros_like(a))[0], ops.clip(a, -0.5, 0.5)[0], ops.cumsum(a, axis=1)[0])
show(ops.one_hot([0, 2, 1], 3), ops.segment_sum(ops.arange(6.0), ops.array([0, 0, 1, 1, 2, 2]), 3))
show(ops.logsumexp(a, axis=1), ops.softmax(a[0]), ops.log_softmax(a[0]), ops.gelu(a[0]), ops.silu(a[0]), ops.hard_sigmoid(a[0]))
show(*ops.meshgrid(ops.arange(3), ops.arange(2)), ops.linspace(0, 1, 5), ops.roll(ops.arange(5), 2), ops.flip(ops.arange(3)))
show(ops.pad(a[:2, :2], [[1, 0], [0, 1]]), ops.repeat(ops.arange(3), 2), ops.tile(ops.arange(2), 3), ops.stack([a[0], a[1]], axis=1)[0])
m = ops.matmul(a, ops.transpose(a)) + 4.0 * ops.eye(4)
show(ops.linalg.det(m), ops.linalg.inv(m)[0], ops.linalg.cholesky(m)[3], ops.linalg.norm(a), ops.linalg.solve(m, a[:, :1])[:, 0])
u, s, vh = ops.svd(a, full_matrices=False)
show(s, ops.abs(ops.sum(ops.matmul(u * s, vh) - a)) < 1e-4)
w, _ = ops.eigh(m)
show(w)
show(ops.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t * 1.5), (0, ops.ones(2)))[1])
carry, ys = ops.scan(lambda c, x: (c + x, c * x), ops.array(0.0), ops.arange(1.0, 5.0))
show(carry, ys)
show(ops.vectorized_map(lambda row: ops.sum(row * row), a), ops.fori_loop(0, 4, lambda i, x: x + i, 0), ops.cond(ops.array(True), lambda: a[0, 0], lambda: a[0, 1]))
show(ops.scatter(ops.array([[0], [2]]), ops.array([1.0, 5.0]), (4,)), ops.slice(a, (1, 1), (2, 2)), ops.take(a, [0, 3], axis=1)[0], ops.take_along_axis(a, ops.argmax(a, axis=1, keepdims=True), axis=1))
img = ops.reshape(ops.arange(48.0), (1, 4, 4, 3))
show(ops.image.resize(img, (2, 2))[0, 0], ops.image.rgb_to_grayscale(img)[0, 0, 0], ops.image.pad_images(img, top_padding=1, left_padding=1, target_height=6, target_width=6)[0, 1, 1])
re, im = ops.fft((a[:1], ops.zeros_like(a[:1])))
show(re, im, ops.rfft(a[0])[0], ops.erf(a[0]), ops.unravel_index(ops.array([7]), (4, 5)))
show(ops.max_pool(img, (2, 2), strides=2)[0, 0], ops.average_pool(img, (2, 2), strides=1)[0, 0, 0], ops.conv(img, ops.ones((3, 3, 3, 1)))[0, :, :, 0])
b = keras.Variable(rng.normal(size=(3,)), dtype="float32")
b.assign_add([1.0, 1.0, 1.0])
show(b, b * 2, b @ b, 1.0 - b, b[::2], -b, abs(b), b > 0)
print(float(b[0]) == b.numpy()[0], repr(b.shape), b.dtype)
print(ops.shape(a), ops.size(a), ops.ndim(a), ops.cast(a, "int32").dtype, (a > 0).dtype, (ops.array([1, 2]) / 2).dtype, ops.sum(ops.array([True, False, True])))
show(keras.utils.normalize(np.array([[3.0, 4.0]])), keras.utils.to_categorical([0, 2], 3), keras.activations.get("mish")(a[0]))
x = keras.KerasTensor((None, 3))
print(ops.matmul(x, ops.ones((3, 2))).shape, ops.concatenate([x, x], axis=-1).shape)
for bad in (lambda: ops.matmul(a, a), lambda: ops.reshape(a, (3, 3)), lambda: ops.concatenate([a, ops.ones((2, 2))], axis=0)):
    try:
        bad()
        print("no error")
    except Exception:
        print("an error")
