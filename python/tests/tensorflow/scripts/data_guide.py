import numpy as np
import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
for elem in dataset:
    print(elem.numpy())
it = iter(dataset)
print(next(it).numpy())
print(dataset.reduce(0, lambda state, value: state + value).numpy())
dataset1 = tf.data.Dataset.from_tensor_slices(np.ones((4, 10), "float32"))
print(dataset1.element_spec)
dataset2 = tf.data.Dataset.from_tensor_slices((np.zeros(4, "float32"), np.zeros((4, 100), "int32")))
print(dataset2.element_spec)
dataset3 = tf.data.Dataset.zip((dataset1, dataset2))
for a, (b, c) in dataset3.take(1):
    print('shapes: {a.shape}, {b.shape}, {c.shape}'.format(a=a, b=b, c=c))

inc_dataset = tf.data.Dataset.range(100)
dec_dataset = tf.data.Dataset.range(0, -100, -1)
batched_dataset = tf.data.Dataset.zip((inc_dataset, dec_dataset)).batch(4)
for batch in batched_dataset.take(2):
    print([arr.numpy() for arr in batch])
print(tf.data.Dataset.range(10).batch(7, drop_remainder=True).element_spec, len(tf.data.Dataset.range(10).batch(3)))
dataset = tf.data.Dataset.range(8).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(4, padded_shapes=(None,))
for batch in dataset.take(2):
    print(batch.numpy(), batch.shape)
print(list(tf.data.Dataset.range(5).map(lambda x: x ** 2).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).as_numpy_iterator()))
print(list(tf.data.Dataset.range(3).repeat(2).as_numpy_iterator()), list(tf.data.Dataset.range(10).skip(7).as_numpy_iterator()))
print(sorted(tf.data.Dataset.range(6).shuffle(6, seed=1).as_numpy_iterator()), tf.data.Dataset.range(6).shuffle(3).cardinality().numpy())
print(list(tf.data.Dataset.range(10).shard(3, 1).as_numpy_iterator()), list(tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(2)).as_numpy_iterator()))
print([x.numpy().tolist() for x in tf.data.Dataset.from_tensors([[1, 2], [3, 4]])], tf.data.Dataset.range(3).repeat().cardinality().numpy())
for i, x in tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate():
    print(i.numpy(), x.numpy())
for d in tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]}):
    print(sorted(d), d["a"].numpy(), d["b"].numpy())
for window in tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True):
    print([int(x) for x in window])
print(list(tf.data.Dataset.range(1, 4).flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(2)).as_numpy_iterator()))
print(list(tf.data.Dataset.range(1, 4).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2).as_numpy_iterator()))
calls = []
cached = tf.data.Dataset.range(3).map(lambda x: x + 1).cache().prefetch(tf.data.AUTOTUNE)
print([int(x) for x in cached], [int(x) for x in cached], [x.numpy() for x in tf.data.Dataset.range(4).batch(2).unbatch()])


def py(x):
    return np.float32(x * 0.5)


mapped = tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda t: t.numpy() * 0.5, [x], tf.float32))
print([float(x) for x in mapped])
mapped = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(py, [x], tf.float32), num_parallel_calls=tf.data.AUTOTUNE)
print([float(x) for x in mapped])


@tf.function
def total(ds):
    return ds


images = tf.random.uniform([8, 6, 6, 3])


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.resize(image, [4, 4])
    image = tf.image.random_brightness(image, 0.1)
    return tf.clip_by_value(image, 0.0, 1.0), tf.one_hot(label, 3)


ds = tf.data.Dataset.from_tensor_slices((images, tf.range(8) % 3)).map(augment).batch(4)
for x, y in ds:
    print(x.shape, y.shape, x.dtype)
print(ds.element_spec[1].dtype, tf.data.experimental.cardinality(ds).numpy(), tf.data.AUTOTUNE == tf.data.experimental.AUTOTUNE)
options = tf.data.Options()
options.experimental_deterministic = False
print(len(list(ds.with_options(options))))
