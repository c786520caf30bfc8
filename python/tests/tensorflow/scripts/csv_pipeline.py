# Titanic-like table: CSV in, preprocessing layers, saving the model, prediction for one passenger
import os
import tempfile

import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(4)
folder = tempfile.mkdtemp()
df = pd.DataFrame({"age": rng.integers(1, 80, 60), "fare": rng.uniform(5, 100, 60).round(2), "sex": rng.choice(["male", "female"], 60),
                   "klass": rng.choice(["First", "Second", "Third"], 60)})
df["survived"] = ((df.sex == "female") | (df.age < 12)).astype(int)
path = os.path.join(folder, "titanic.csv")
df.to_csv(path, index=False)

titanic_batches = tf.data.experimental.make_csv_dataset(path, batch_size=4, label_name="survived", num_epochs=1, shuffle=False)
for batch, label in titanic_batches.take(1):
    for key, value in batch.items():
        print(f"{key:20s}: {value[:3]}")
    print(f"{'label':20s}: {label}")

lines = tf.data.TextLineDataset(path).skip(1)


def decode(line):
    fields = tf.io.decode_csv(line, record_defaults=[0.0, 0.0, "", "", 0])
    return tf.stack(fields[:2]), fields[4]


for features, label in lines.map(decode).take(2):
    print(features.numpy(), label.numpy())

labels = df.pop("survived")
numeric = df[["age", "fare"]]
normalizer = layers.Normalization(axis=-1)
normalizer.adapt(np.array(numeric))
print(np.round(normalizer.mean.numpy(), 3), np.round(normalizer(numeric.iloc[:2].to_numpy()).numpy(), 3))

inputs, encoded = {}, []
for name in ("age", "fare"):
    inputs[name] = tf.keras.Input(shape=(1,), name=name, dtype="float32")
encoded.append(normalizer(layers.Concatenate()([inputs["age"], inputs["fare"]])))
for name in ("sex", "klass"):
    inputs[name] = tf.keras.Input(shape=(1,), name=name, dtype="int64")
    encoded.append(layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")(inputs[name]))
x = layers.Concatenate()(encoded)
x = layers.Dense(8, activation="relu")(x)
model = tf.keras.Model(inputs, layers.Dense(1)(x))
new = np.random.default_rng(0)
for w in model.trainable_variables:
    w.assign(new.normal(size=w.shape) * 0.2)

lookups = {name: layers.StringLookup(vocabulary=sorted(map(str, df[name].unique()))) for name in ("sex", "klass")}
print({name: lookup.get_vocabulary() for name, lookup in lookups.items()})


def encode(features, label):
    features = dict(features)
    for name, lookup in lookups.items():
        features[name] = lookup(features[name])
    return features, label


ds = tf.data.Dataset.from_tensor_slices((dict(df), labels)).map(encode).batch(16)
first, _ = next(iter(ds))
print({k: (v.dtype.name, v.numpy()[:3].tolist()) for k, v in first.items() if k in lookups})
model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0), "AUC"])
h = model.fit(ds, epochs=3, verbose=0)
print(["%.4f" % v for v in h.history["loss"]])

model.save(os.path.join(folder, "titanic.keras"))
reloaded = tf.keras.models.load_model(os.path.join(folder, "titanic.keras"))
sample = {"age": 30.0, "fare": 20.0, "sex": 1, "klass": 2}
input_dict = {name: tf.convert_to_tensor([[value]]) for name, value in sample.items()}
before, after = tf.sigmoid(model(input_dict)), tf.sigmoid(reloaded(input_dict))
tf.debugging.assert_near(before, after)
print("This particular passenger had a %.1f percent probability of surviving." % (100 * after[0, 0]))
bucket = layers.Discretization(bin_boundaries=[10.0, 30.0, 60.0])
print(bucket(tf.constant([[5.0], [25.0], [70.0]])).numpy().ravel())
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["male", "female"]), tf.constant([0, 1])), default_value=-1)
print(table.lookup(tf.constant(["female", "other", "male"])).numpy())
