"""Input pipelines of every kind people write: py_function, numpy_function, generators, dictionaries, Sequence, csv, zip, repeat."""
import math
import os
import tempfile

import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.RandomState(0)
folder = tempfile.mkdtemp()
for i in range(6):
    np.save(os.path.join(folder, 'sample_%d.npy' % i), np.full((4, 4), i, dtype=np.float32))
files = sorted(tf.io.gfile.glob(os.path.join(folder, '*.npy')))
print([os.path.basename(f) for f in files][:2])


def read_npy(path):
    data = np.load(path.decode())
    return data.astype(np.float32) / 10


def load(path, label):
    image = tf.numpy_function(read_npy, [path], tf.float32)
    image.set_shape([4, 4])
    return image, label


ds = tf.data.Dataset.from_tensor_slices((files, list(range(6)))).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(4)
print(ds.element_spec)
for x, y in ds:
    print(x.shape, y.numpy(), x.numpy()[:, 0, 0])


def rotate(image):
    return np.rot90(image.numpy()).copy()


def tf_rotate(image, label):
    im_shape = image.shape
    [image, ] = tf.py_function(rotate, [image], [tf.float32])
    image.set_shape(im_shape)
    return image, label


images = np.arange(16, dtype='float32').reshape(2, 2, 2, 2)
for image, label in tf.data.Dataset.from_tensor_slices((images, [0, 1])).map(tf_rotate):
    print(image.numpy().ravel(), int(label))


def gen():
    for i in range(5):
        yield np.full(3, i, dtype='float32'), i % 2


for signature in ({'output_signature': (tf.TensorSpec(shape=(3,), dtype=tf.float32), tf.TensorSpec(shape=(), dtype=tf.int32))},
                  {'output_types': (tf.float32, tf.int32), 'output_shapes': ((3,), ())},
                  {'output_types': (tf.float32, tf.int32)}):
    gds = tf.data.Dataset.from_generator(gen, **signature)
    print([int(y) for _, y in gds.repeat(2).batch(5).take(1).unbatch()], gds.element_spec[0])
counter = tf.data.Dataset.from_generator(lambda n: iter(range(n)), args=[4], output_types=tf.int64)
print(list(counter.as_numpy_iterator()))


class DataGenerator(tf.keras.utils.Sequence):
    def __init__(self, x, y, batch_size, shuffle=False, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size, self.shuffle = x, y, batch_size, shuffle
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, idx):
        batch = self.indexes[idx * self.batch_size:(idx + 1) * self.batch_size]
        return self.x[batch], self.y[batch]

    def on_epoch_end(self):
        self.indexes = np.arange(len(self.x))
        if self.shuffle:
            np.random.shuffle(self.indexes)


X, Y = rng.rand(50, 3).astype('float32'), rng.rand(50, 1).astype('float32')
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation='tanh', input_shape=(3,)), tf.keras.layers.Dense(1)])
model.set_weights([rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])
model.compile('sgd', 'mse')
training = DataGenerator(X, Y, 16)
history = model.fit(training, epochs=2, validation_data=DataGenerator(X[:10], Y[:10], 5), shuffle=False, verbose=0)
print(len(training), np.round(history.history['loss'], 3))
endless = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(10)
history = model.fit(endless, steps_per_epoch=5, epochs=2, verbose=0, validation_data=endless, validation_steps=2)
print(np.round(history.history['val_loss'], 3))


def python_generator():
    while True:
        for i in range(0, 50, 25):
            yield X[i:i + 25], Y[i:i + 25], np.ones(25)


print('%.3f' % model.fit(python_generator(), steps_per_epoch=2, verbose=0).history['loss'][0])
frame = pd.DataFrame({'a': [1.0, 2.0, 3.0], 'b': ['x', 'y', 'x'], 'target': [0, 1, 0]})
target = frame.pop('target')
for feat, targ in tf.data.Dataset.from_tensor_slices((frame.to_dict('list'), target.values)).take(1):
    print('Features:', {k: v.numpy() for k, v in feat.items()}, 'Target:', targ)
csv = os.path.join(folder, 'data.csv')
frame.to_csv(csv, index=False)
for line in tf.data.TextLineDataset(csv).skip(1).filter(lambda l: tf.strings.regex_full_match(l, '.*x')):
    a, b = tf.io.decode_csv(line, record_defaults=[0.0, 'none'])
    print(a.numpy(), b.numpy())
features = tf.data.Dataset.range(5).map(lambda i: {'id': i, 'square': tf.cast(i, tf.float32) ** 2})
ids = tf.data.Dataset.zip((features, tf.data.Dataset.from_tensors('tag').repeat())).map(lambda f, t: (f['square'], tf.strings.join([t, tf.strings.as_string(f['id'])], '-')))
print(list(ids.skip(3).as_numpy_iterator()), features.element_spec['id'])
table = tf.constant([10, 20, 30])
print([int(v) for v in tf.data.Dataset.from_tensor_slices([2, 0, 1]).map(lambda i: tf.gather(table, i))], int(tf.data.Dataset.range(10).reduce(tf.constant(0, tf.int64), lambda s, v: s + v)))
padded = tf.data.Dataset.from_generator(lambda: ([1] * n for n in (1, 3, 2)), output_signature=tf.TensorSpec([None], tf.int32)).padded_batch(3, padded_shapes=[None], padding_values=-1)
print(next(iter(padded)))
options = tf.data.Options()
options.experimental_deterministic = True
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
print(len(tf.data.Dataset.range(7).with_options(options).batch(2, drop_remainder=True)), tf.data.Dataset.range(3).cardinality() == 3, endless.cardinality() == tf.data.INFINITE_CARDINALITY, tf.data.experimental.UNKNOWN_CARDINALITY)
images = tf.data.Dataset.from_tensor_slices(np.arange(8)).interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(2), cycle_length=2, block_length=1)
print([int(v) for v in images.take(6)])
it = iter(tf.data.Dataset.range(2))
print(it.get_next(), next(it).numpy(), it.get_next_as_optional().has_value().numpy())
try:
    it.get_next()
except (StopIteration, tf.errors.OutOfRangeError) as error:
    print('end', type(error).__name__ in ('StopIteration', 'OutOfRangeError'))
