"""tf.data beyond map and batch."""
import collections
import os
import tempfile

import numpy as np
import tensorflow as tf

ds = tf.data.Dataset.range(10)
for window in ds.window(5, shift=2, stride=1, drop_remainder=True):
    print([int(x) for x in window])
print(list(ds.window(4, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(4)).map(lambda w: (w[:-1], w[-1])).take(2).as_numpy_iterator()))

interleaved = tf.data.Dataset.range(1, 4).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2, num_parallel_calls=tf.data.AUTOTUNE)
print([int(v) for v in interleaved])
print(list(ds.group_by_window(key_func=lambda x: x % 2, reduce_func=lambda key, window: window.batch(5), window_size=5).as_numpy_iterator()))
print([int(v) for v in ds.scan(initial_state=tf.constant(0, tf.int64), scan_func=lambda s, x: (s + x, s + x))])
print([int(v) for v in ds.take_while(lambda x: x < 4)])
print([int(v) for v in tf.data.Dataset.from_tensor_slices([1, 2, 2, 1, 3]).unique()])
print(ds.reduce(np.int64(0), lambda state, value: state + value).numpy())
print([tuple(int(i) for i in p) for p in ds.take(2).enumerate(start=7)])

elements = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
bucketed = tf.data.Dataset.from_generator(lambda: elements, tf.int64, output_shapes=[None])
bucketed = bucketed.bucket_by_sequence_length(element_length_func=lambda elem: tf.shape(elem)[0], bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2])
for elem in bucketed.as_numpy_iterator():
    print(elem)

a, b = tf.data.Dataset.from_tensors('a').repeat(4), tf.data.Dataset.from_tensors('b').repeat(4)
choice = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0, 1], 'int64'))
print([v.numpy().decode() for v in tf.data.Dataset.choose_from_datasets([a, b], choice)])
mixed = tf.data.Dataset.sample_from_datasets([a.repeat(), b.repeat()], weights=[0.9, 0.1], seed=1).take(200)
counts = collections.Counter(v.numpy().decode() for v in mixed)
print('mostly a:', counts['a'] > 150, sum(counts.values()))


def count_up(stop):
    i = 0
    while i < stop:
        yield i, {'name': f'item {i}', 'values': np.arange(i, dtype='float32')}
        i += 1


signature = (tf.TensorSpec(shape=(), dtype=tf.int32), {'name': tf.TensorSpec(shape=(), dtype=tf.string), 'values': tf.TensorSpec(shape=(None,), dtype=tf.float32)})
generated = tf.data.Dataset.from_generator(count_up, args=[4], output_signature=signature)
print(generated.element_spec)
for number, d in generated.padded_batch(3, padding_values=(-1, {'name': '', 'values': 9.0})):
    print(number.numpy(), d['name'].numpy(), d['values'].numpy().tolist())

d = tf.data.Dataset.from_tensor_slices({'a': [1, 2], 'b': ([3, 4], [5, 6])})
for e in d:
    print(sorted(e), e['a'].numpy(), [x.numpy() for x in e['b']])
z = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)))
print(z, z.cardinality().numpy(), len(z))
z2 = tf.data.Dataset.zip(tf.data.Dataset.range(1), tf.data.Dataset.range(1))
print(z2.element_spec)
print(tf.data.Dataset.range(3).repeat().cardinality() == tf.data.INFINITE_CARDINALITY, generated.cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY)
try:
    len(generated)
except TypeError as error:
    print('TypeError', error)

lines = os.path.join(tempfile.mkdtemp(), 'lines.txt')
with open(lines, 'w') as f:
    f.write('title\nfirst,1\nsecond,2\n\nlast,3\n')
text = tf.data.TextLineDataset(lines).skip(1).filter(lambda line: tf.strings.length(line) > 0)
parts = text.map(lambda line: tf.io.decode_csv(line, record_defaults=['', 0]))
for name, number in parts:
    print(name.numpy().decode(), number.numpy())
split = text.map(lambda line: tf.strings.split(line, ','))
print([x.numpy().tolist() for x in split])
print(text.map(lambda l: tf.strings.to_number(tf.strings.split(l, ',')[1])).batch(3).get_single_element())


def numpy_function(x):
    return np.flip(x)


py = tf.data.Dataset.from_tensor_slices(np.arange(6).reshape(2, 3)).map(lambda x: tf.py_function(numpy_function, [x], tf.int64))
print([x.numpy().tolist() for x in py])
fixed = py.map(lambda x: tf.ensure_shape(x, [3]))
print(fixed.element_spec)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
options.deterministic = True
print(ds.with_options(options).shard(num_shards=3, index=1).map(lambda x: x * 10, num_parallel_calls=4, deterministic=True).apply(lambda d: d.batch(2)).unbatch().take(3).cache().reduce(tf.constant(0, tf.int64), tf.add))

it = iter(ds.shuffle(10, seed=3, reshuffle_each_iteration=False))
first = [int(next(it)) for _ in range(10)]
print(sorted(first), it.get_next_as_optional().has_value().numpy())
rejected = tf.data.Dataset.from_tensor_slices([0] * 90 + [1] * 10).repeat(4).rejection_resample(class_func=lambda x: x, target_dist=[0.5, 0.5], initial_dist=[0.9, 0.1], seed=2).map(lambda extra, x: x)
values = np.array([int(v) for v in rejected])
print('balanced:', 0.3 < values.mean() < 0.7)
folder = tempfile.mkdtemp()
ds.map(lambda x: {'x': x, 'y': x * x}).save(folder)
print([int(e['y']) for e in tf.data.Dataset.load(folder)])
train, test = tf.keras.utils.split_dataset(tf.data.Dataset.range(10), left_size=0.8)
print(len(train), len(test))
features = tf.data.Dataset.from_tensor_slices((np.ones((8, 2), 'float32'), np.ones((8, 1), 'float32'), np.linspace(0, 1, 8).astype('float32')))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer='zeros', input_shape=(2,))])
model.compile('sgd', 'mse')
print(round(model.fit(features.batch(4, drop_remainder=True).repeat(), steps_per_epoch=3, epochs=1, verbose=0).history['loss'][0], 4))
