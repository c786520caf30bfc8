"""TFRecord shards: writing, interleaving, parsing with VarLen alternatives, augmenting, caching to a file, options, statistics."""
import os

import numpy as np
import tensorflow as tf

AUTO = tf.data.experimental.AUTOTUNE
rng = np.random.default_rng(0)
os.makedirs("shards", exist_ok=True)
CLASSES = ["daisy", "rose", "tulip"]


def _bytestring_feature(list_of_bytestrings):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=list_of_bytestrings))


def _int_feature(list_of_ints):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=list_of_ints))


def _float_feature(list_of_floats):
    return tf.train.Feature(float_list=tf.train.FloatList(value=list_of_floats))


for shard in range(3):
    with tf.io.TFRecordWriter(os.path.join("shards", "flowers{:02d}-{}.tfrec".format(shard, 6))) as out_file:
        for i in range(6):
            label = (shard + i) % 3
            img = np.full((10 + shard, 12, 3), 40 * label + 20, "uint8")
            img[i, i] = 255
            feature = {"image": _bytestring_feature([tf.io.encode_png(img).numpy()]), "class": _int_feature([label]), "label": _bytestring_feature([CLASSES[label].encode()]),
                       "size": _int_feature([img.shape[0], img.shape[1]]), "one_hot_class": _float_feature(tf.one_hot(label, 3).numpy().tolist())}
            out_file.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def read_tfrecord(example):
    features = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.FixedLenFeature([], tf.string),
                "size": tf.io.FixedLenFeature([2], tf.int64), "one_hot_class": tf.io.FixedLenFeature([3], tf.float32)}
    example = tf.io.parse_single_example(example, features)
    image = tf.image.decode_png(example["image"], channels=3)
    image = tf.reshape(image, tf.concat([tf.cast(example["size"], tf.int32), [3]], 0))
    return image, example["class"], example["one_hot_class"], example["label"]


option_no_order = tf.data.Options()
option_no_order.deterministic = True
option_no_order.experimental_deterministic = True
filenames = tf.io.gfile.glob("shards/*.tfrec")
filenames = sorted(filenames)
print(len(filenames), os.path.basename(filenames[0]))
n = np.sum([int(os.path.basename(f).split("-")[1].split(".")[0]) for f in filenames])
print(n)
dataset = tf.data.Dataset.from_tensor_slices(filenames).with_options(option_no_order)
dataset = dataset.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1, num_parallel_calls=AUTO)
dataset = dataset.map(read_tfrecord, num_parallel_calls=AUTO)
for image, klass, hot, label in dataset.take(3):
    print(image.shape, klass.numpy(), hot.numpy(), label.numpy().decode("utf8"), image.dtype)


def resize_and_crop(image, klass, hot, label):
    shape = tf.shape(image)
    w, h = tf.cast(shape[0], tf.float32), tf.cast(shape[1], tf.float32)
    image = tf.cond(w > h, lambda: tf.image.resize(image, [8, tf.cast(8 * h / w, tf.int32)]), lambda: tf.image.resize(image, [tf.cast(8 * w / h, tf.int32), 8]))
    image = tf.image.resize_with_crop_or_pad(image, 8, 8)
    return tf.cast(image, tf.float32) / 255.0, klass


ds = dataset.map(resize_and_crop).cache("cachefile").batch(6)
for _ in range(2):
    print([tuple(b[0].shape) for b in ds], float(sum(tf.reduce_mean(b[0]) for b in ds)).__round__(3))
print(any(f.startswith("cachefile") for f in os.listdir(".")))
print(ds.element_spec[0].shape, tf.data.experimental.cardinality(ds).numpy(), ds.apply(tf.data.experimental.assert_cardinality(3)).cardinality().numpy())
print(tf.data.Dataset.range(5).repeat().cardinality().numpy() == tf.data.INFINITE_CARDINALITY, tf.data.Dataset.range(5).filter(lambda x: x > 2).cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY)
counts = dataset.map(lambda i, k, h, l: k).reduce(tf.zeros(3, tf.int64), lambda s, k: s + tf.one_hot(k, 3, dtype=tf.int64))
print(counts.numpy())
model = tf.keras.Sequential([tf.keras.layers.InputLayer(shape=(8, 8, 3)), tf.keras.layers.Conv2D(4, 3, activation="relu"), tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(3, activation="softmax")])
model.set_weights([rng.normal(0, 0.4, w.shape) for w in model.get_weights()])
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["sparse_categorical_accuracy"], steps_per_execution=2)
h = model.fit(ds.repeat(), steps_per_epoch=3, epochs=2, verbose=0, validation_data=ds.take(1), validation_steps=1)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
print(model.predict(ds.map(lambda i, l: i), verbose=0).shape)
opts = tf.io.TFRecordOptions(compression_type="GZIP")
with tf.io.TFRecordWriter("z.tfrec", options=opts) as w:
    seq = tf.train.SequenceExample(context=tf.train.Features(feature={"n": _int_feature([2])}), feature_lists=tf.train.FeatureLists(feature_list={"tok": tf.train.FeatureList(feature=[_int_feature([3]), _int_feature([4])])}))
    w.write(seq.SerializeToString())
for raw in tf.data.TFRecordDataset("z.tfrec", compression_type="GZIP"):
    ctx, lists = tf.io.parse_single_sequence_example(raw, context_features={"n": tf.io.FixedLenFeature([], tf.int64)}, sequence_features={"tok": tf.io.FixedLenSequenceFeature([], tf.int64)})
    print(ctx["n"].numpy(), lists["tok"].numpy())
    print(tf.train.SequenceExample.FromString(raw.numpy()).context.feature["n"].int64_list.value[0])
t = tf.io.serialize_tensor(tf.constant([[1.5, 2.5]]))
print(tf.io.parse_tensor(t, out_type=tf.float32).numpy(), tf.io.decode_raw(tf.constant(b"\x01\x02"), tf.uint8).numpy(), tf.io.gfile.exists("z.tfrec"), tf.io.gfile.isdir("shards"))
bad = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "error"))
print([round(float(v), 2) for v in bad.apply(tf.data.experimental.ignore_errors())])
a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
print(list(tf.data.Dataset.zip((a, b)).as_numpy_iterator()), list(tf.data.Dataset.sample_from_datasets([a, b], weights=[1.0, 0.0]).as_numpy_iterator())[:3], list(a.concatenate(b).shard(2, 1).as_numpy_iterator()))
print([w.numpy().tolist() for w in tf.data.Dataset.range(6).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))], list(tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).take_while(lambda x: x < 4).as_numpy_iterator()), list(tf.data.Dataset.range(3).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2, block_length=2).as_numpy_iterator()))
it = iter(tf.data.Dataset.range(3))
print(next(it).numpy(), it.get_next().numpy(), it.get_next_as_optional().has_value().numpy(), tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(7)).numpy())
