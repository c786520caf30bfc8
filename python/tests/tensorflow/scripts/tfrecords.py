# Write data as TFRecords, read them back, train
import os
import tempfile

import numpy as np
import tensorflow as tf


def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


print(_bytes_feature(b'test_string').bytes_list.value, _int64_feature(7).int64_list.value, _float_feature([0.5]).float_list.value)


def serialize_example(image, label, weight):
    feature = {
        'image': _bytes_feature(tf.io.serialize_tensor(image)),
        'label': _int64_feature(label),
        'weights': _float_feature(weight),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


rng = np.random.default_rng(0)
x = rng.uniform(size=(40, 6, 6, 1)).astype("float32")
y = (x.mean(axis=(1, 2, 3)) > 0.5).astype("int64")
path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for image, label in zip(x, y):
        writer.write(serialize_example(image, int(label), [0.25, 0.75]))
print(os.path.exists(path))

feature_description = {
    'image': tf.io.FixedLenFeature([], tf.string),
    'label': tf.io.FixedLenFeature([], tf.int64, default_value=0),
    'weights': tf.io.FixedLenFeature([2], tf.float32),
}


def _parse_function(example_proto):
    parsed = tf.io.parse_single_example(example_proto, feature_description)
    image = tf.io.parse_tensor(parsed['image'], out_type=tf.float32)
    image = tf.reshape(image, (6, 6, 1))
    return image, parsed['label']


raw_dataset = tf.data.TFRecordDataset([path])
for raw in raw_dataset.take(1):
    example = tf.train.Example()
    example.ParseFromString(raw.numpy())
    print(sorted(example.features.feature), example.features.feature['label'].int64_list.value[0])
    parsed = tf.io.parse_single_example(raw, feature_description)
    print(parsed['weights'].numpy(), parsed['label'].dtype)
dataset = raw_dataset.map(_parse_function, num_parallel_calls=tf.data.AUTOTUNE).batch(10)
images, labels = next(iter(dataset))
print(images.shape, images.dtype, labels.numpy(), np.allclose(images, x[:10]))
print(sum(1 for _ in tf.data.TFRecordDataset(path)))

model = tf.keras.Sequential([tf.keras.layers.Input((6, 6, 1)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation="sigmoid")])
model.set_weights([np.full(w.shape, 0.01) for w in model.get_weights()])
model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
h = model.fit(dataset, epochs=2, verbose=2, shuffle=False)
print({k: np.round(v, 4).tolist() for k, v in h.history.items()})
