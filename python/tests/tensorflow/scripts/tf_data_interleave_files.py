# tf.data in anger: sharded TFRecord files, interleave, options, padded batches, save/load, cardinality, windows
import os
import tempfile

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
folder = tempfile.mkdtemp()
rng = np.random.default_rng(0)


def _bytes(v):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[v]))


def _ints(v):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=v))


def _floats(v):
    return tf.train.Feature(float_list=tf.train.FloatList(value=v))


for shard in range(3):
    with tf.io.TFRecordWriter(os.path.join(folder, f"part-{shard:05d}-of-00003.tfrecord"), options=tf.io.TFRecordOptions(compression_type="GZIP")) as w:
        for i in range(8):
            image = (np.arange(48) + shard * 8 + i).astype("uint8").reshape(4, 4, 3)
            ex = tf.train.Example(features=tf.train.Features(feature={
                "image": _bytes(tf.io.encode_png(image).numpy()), "raw": _bytes(tf.io.serialize_tensor(tf.constant(image, tf.float32)).numpy()), "label": _ints([(shard + i) % 3]),
                "box": _floats([0.1 * i, 0.2, 0.3, 0.4]), "tokens": _ints(list(range(i + 1))), "name": _bytes(f"img_{shard}_{i}".encode())}))
            w.write(ex.SerializeToString())

spec = {"image": tf.io.FixedLenFeature([], tf.string), "raw": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64), "box": tf.io.FixedLenFeature([4], tf.float32),
        "name": tf.io.FixedLenFeature([], tf.string, default_value=""), "tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}


def parse(record):
    ex = tf.io.parse_single_example(record, spec)
    image = tf.io.decode_png(ex["image"], channels=3)
    image = tf.ensure_shape(image, [4, 4, 3])
    image = tf.cast(image, tf.float32) / 255.0
    return {"image": image, "tokens": ex["tokens"], "name": ex["name"], "box": ex["box"]}, tf.one_hot(ex["label"], 3)


files = tf.data.Dataset.list_files(os.path.join(folder, "*.tfrecord"), shuffle=False)
ds = files.interleave(lambda f: tf.data.TFRecordDataset(f, compression_type="GZIP"), cycle_length=3, block_length=2, num_parallel_calls=AUTOTUNE, deterministic=True)
opts = tf.data.Options()
opts.deterministic = True
ds = ds.with_options(opts).map(parse, num_parallel_calls=AUTOTUNE)
print(ds.element_spec[1], [e[0]["name"].numpy().decode() for e in ds.take(5)])
batched = ds.padded_batch(4, padded_shapes=({"image": [4, 4, 3], "tokens": [None], "name": [], "box": [4]}, [3]), drop_remainder=True)
for feats, label in batched.take(2):
    print({k: tuple(v.shape) for k, v in feats.items()}, label.shape, feats["tokens"].numpy().tolist()[0])
print(sum(1 for _ in batched), int(batched.cardinality()) == tf.data.UNKNOWN_CARDINALITY, int(tf.data.Dataset.range(10).batch(3).cardinality()), int(tf.data.Dataset.range(3).repeat().cardinality()) == tf.data.INFINITE_CARDINALITY)
train = ds.map(lambda f, y: (f["image"], y)).cache().shuffle(64, seed=1, reshuffle_each_iteration=True).batch(8).prefetch(AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((4, 4, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation="softmax", kernel_initializer="zeros")])
model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
print(f"{model.fit(train, epochs=1, verbose=0).history['loss'][0]:.3f}", f"{model.evaluate(train, verbose=0)[1]:.3f}" != "")

saved = os.path.join(folder, "saved")
small = tf.data.Dataset.range(7).map(lambda x: (x, tf.cast(x, tf.float32) * 0.5))
small.save(saved)
print([(int(a), float(b)) for a, b in tf.data.Dataset.load(saved)])
print(list(tf.data.Dataset.range(10).window(4, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(4)).as_numpy_iterator()))
print(list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.from_tensors(0).repeat(3)], weights=[1.0]).as_numpy_iterator()), list(tf.data.Dataset.choose_from_datasets([tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)], tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0], "int64"))).as_numpy_iterator()))
print(list(tf.data.Dataset.range(20).apply(lambda d: d.filter(lambda x: x % 3 == 0)).take_while(lambda x: x < 13).as_numpy_iterator()), tf.data.Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b).numpy())
lists = tf.data.Dataset.from_generator(lambda: (([i] * (i + 1), i) for i in range(4)), output_signature=(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)))
for a, b in lists.padded_batch(2, padding_values=(-1, 0)):
    print(a.numpy().tolist(), b.numpy())
old = tf.data.Dataset.from_generator(lambda: iter([(1, 2.0), (3, 4.0)]), (tf.int64, tf.float32), (tf.TensorShape([]), tf.TensorShape([])))
print([(int(a), float(b)) for a, b in old])
it = iter(tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [[1, 2], [3, 4]]}))
print({k: v.numpy().tolist() for k, v in next(it).items()}, it.get_next()["a"].numpy())
try:
    next(it)
except StopIteration:
    print("end")
print(next(iter(tf.data.Dataset.from_tensor_slices((np.arange(6).reshape(3, 2), ["a", "b", "c"])).batch(2)))[1].numpy())
for i, (a, b) in enumerate(tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3, 6))).enumerate(start=5)):
    print(int(a), [int(v) for v in b])
print([t.numpy().tolist() for t in tf.data.Dataset.from_tensor_slices(tf.range(5)).shard(2, 1).concatenate(tf.data.Dataset.from_tensors(9)).batch(2)])
print(int(tf.data.experimental.cardinality(small)))
print(tf.data.experimental.assert_cardinality(7)(small).cardinality().numpy(), tf.data.Dataset.from_tensors(4).get_single_element().numpy())
