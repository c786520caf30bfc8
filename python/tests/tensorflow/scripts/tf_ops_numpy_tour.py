import numpy as np
import tensorflow as tf

x = tf.reshape(tf.range(12, dtype=tf.float32), [3, 4])
print(x[1:, ::2].numpy(), x[..., -1].numpy(), x[tf.newaxis].shape, tf.transpose(x, perm=[1, 0]).shape, x[:, 1:3][0].numpy())
print(tf.reduce_prod(x + 1, axis=0).numpy(), tf.reduce_any(x > 10).numpy(), tf.reduce_logsumexp(x, 1).numpy().round(3), tf.math.count_nonzero(x).numpy(), tf.math.reduce_std(x, 0).numpy().round(3))
print(tf.where(x > 5, x, tf.zeros_like(x)).numpy().sum(), tf.where(x > 9).numpy().tolist(), tf.boolean_mask(x, x % 2 == 0).numpy(), tf.gather_nd(x, [[0, 1], [2, 3]]).numpy(), tf.gather(x, [2, 0], axis=1).shape)
print(tf.scatter_nd([[1], [3]], [9, 8], [5]).numpy(), tf.tensor_scatter_nd_update(x, [[0, 0]], [99.0]).numpy()[0], tf.tensor_scatter_nd_add(tf.ones(3), [[1]], [5.0]).numpy())
a, b = tf.split(x, [1, 3], axis=1)
print(a.shape, b.shape, [t.shape for t in tf.unstack(x)], tf.stack([x, x], axis=-1).shape, tf.concat([x, x], 0).shape, tf.pad(x, [[1, 1], [0, 0]], constant_values=7).numpy()[0], tf.tile([1, 2], [2]).numpy(), tf.repeat([1, 2], [2, 1]).numpy())
print(tf.math.floormod(-7, 3).numpy(), tf.math.truediv(7, 2).numpy(), (7 // tf.constant(2)).numpy(), tf.pow(2, 3).numpy(), tf.math.log1p(0.5).numpy().round(4), tf.atan2(1.0, 2.0).numpy().round(4), tf.round([0.5, 1.5, 2.5]).numpy(), tf.sign([-2, 0]).numpy(), tf.math.is_nan([np.nan, 1]).numpy(), tf.cast(3.9, tf.int32).numpy(), tf.cast([True], tf.float32).numpy())
print(tf.sequence_mask([1, 3], 4).numpy().astype(int).tolist(), tf.one_hot([0, 2], 3, on_value=5, off_value=1).numpy().tolist(), tf.eye(2, 3).numpy().tolist(), tf.linspace(0.0, 1.0, 3).numpy(), tf.meshgrid([1, 2], [3, 4])[1].numpy().tolist(), tf.fill([2], "a").numpy())
print(tf.einsum("ij,kj->ik", x, x).numpy()[0], tf.tensordot(x, x, [[0, 1], [0, 1]]).numpy(), tf.matmul(x, x, transpose_b=True).shape, tf.cumsum(x, 1, reverse=True).numpy()[0], tf.math.cumprod([1, 2, 3], exclusive=True).numpy())
print(tf.sets.intersection([[1, 2, 3]], [[2, 3, 9]]).values.numpy(), tf.bitwise.bitwise_xor(5, 3).numpy(), tf.bitwise.left_shift(1, 4).numpy(), tf.math.segment_max([1, 5, 2], [0, 0, 1]).numpy(), tf.nn.top_k([1.0, 9.0], 1).values.numpy())
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
v.assign_add(tf.ones_like(v))
v[0, 1].assign(10.0)
print(v.numpy().tolist(), v.shape.rank, v.dtype, v.trainable, tf.shape(v).numpy(), v.name)
print(tf.constant([1, 2], shape=(2, 1)).shape, tf.constant(5.0, shape=(2,)).numpy(), tf.zeros([2], tf.int32).dtype, tf.ones((1,)).ndim, tf.TensorShape([None, 3]).as_list(), tf.TensorShape([2, 3]).num_elements(), tf.rank(x).numpy(), tf.size(x).numpy())
try:
    tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
except tf.errors.InvalidArgumentError:
    print("matmul refused")
print(tf.nest.map_structure(lambda t: t + 1, {"a": [1, 2]}), tf.nest.flatten({"b": 1, "a": [2, 3]}), tf.nest.pack_sequence_as({"a": 0, "b": [0]}, [1, 2]))
with tf.device("/CPU:0"), tf.name_scope("scope"):
    print(tf.add(1, 2).device.split(":")[-2], tf.identity(3).numpy())
g = tf.random.Generator.from_seed(3)
print(g.normal((2,)).shape, g.uniform((2,), 0, 5, dtype=tf.int32).dtype.name, tf.random.stateless_uniform((2,), seed=(1, 2)).shape, tf.random.shuffle(tf.range(5)).numpy().sum(), tf.random.poisson((2,), 3.0).shape)
print(tf.strings.join(["a", "b"], separator="-").numpy(), tf.io.decode_base64(tf.io.encode_base64("hi")).numpy(), tf.version.VERSION[:1], tf.dtypes.as_dtype("float32").size, tf.float32.max > 1e38, tf.int32.min, tf.bool.is_bool, tf.as_dtype(np.float64).name)
