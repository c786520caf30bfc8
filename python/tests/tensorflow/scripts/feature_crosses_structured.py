"""Structured data with preprocessing layers in the pipeline and in the model: crosses, buckets, dicts, pandas, CSV."""
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
frame = pd.DataFrame({"Type": rng.choice(["Cat", "Dog"], 80), "Age": rng.integers(1, 30, 80), "Breed1": rng.choice(["Tabby", "Mixed", "Husky"], 80), "Fee": rng.integers(0, 100, 80) * 1.0, "PhotoAmt": rng.integers(0, 9, 80)})
frame["target"] = np.where((frame.Age < 12) ^ (frame.Type == "Dog"), 0, 1)
train, val, test = np.split(frame, [64, 72]) if False else (frame[:64], frame[64:72], frame[72:])
print(len(train), len(val), len(test))


def df_to_dataset(dataframe, shuffle=True, batch_size=32):
    df = dataframe.copy()
    labels = df.pop("target")
    df = {key: value.to_numpy()[:, tf.newaxis] for key, value in df.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(df), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(dataframe))
    return ds.batch(batch_size).prefetch(batch_size)


train_ds = df_to_dataset(train, shuffle=False, batch_size=8)
[(train_features, label_batch)] = train_ds.take(1)
print("Every feature:", list(train_features.keys()), train_features["Age"].shape, label_batch.numpy())


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    normalizer.adapt(dataset.map(lambda x, y: x[name]))
    return normalizer


def get_category_encoding_layer(name, dataset, dtype, max_tokens=None):
    index = layers.StringLookup(max_tokens=max_tokens) if dtype == "string" else layers.IntegerLookup(max_tokens=max_tokens)
    index.adapt(dataset.map(lambda x, y: x[name]))
    encoder = layers.CategoryEncoding(num_tokens=index.vocabulary_size())
    return lambda feature: encoder(index(feature))


print(get_normalization_layer("PhotoAmt", train_ds)(train_features["PhotoAmt"]).numpy().ravel().round(3)[:4])
print(get_category_encoding_layer("Type", train_ds, "string")(train_features["Type"]).numpy()[:2])
print(get_category_encoding_layer("Age", train_ds, "int64", 5)(train_features["Age"]).shape)
cross = layers.HashedCrossing(num_bins=16, output_mode="one_hot")
print(cross((train_features["Type"], train_features["Breed1"])).numpy().argmax(-1)[:6])
print(layers.Hashing(num_bins=5, salt=3)(tf.constant([["a"], ["b"], ["c"]])).numpy().ravel())
bucket = layers.Discretization(bin_boundaries=[10.0, 20.0], output_mode="one_hot")
print(bucket(tf.constant([[5.0], [15.0], [25.0]])).numpy())

all_inputs, encoded = {}, []
for header in ["PhotoAmt", "Fee"]:
    col = tf.keras.Input(shape=(1,), name=header)
    all_inputs[header] = col
    encoded.append(get_normalization_layer(header, train_ds)(col))
age = tf.keras.Input(shape=(1,), name="Age", dtype="int64")
all_inputs["Age"] = age
encoded.append(get_category_encoding_layer("Age", train_ds, "int64", 5)(age))
for header in ["Type", "Breed1"]:
    col = tf.keras.Input(shape=(1,), name=header, dtype="string")
    all_inputs[header] = col
    encoded.append(get_category_encoding_layer(header, train_ds, "string", 5)(col))
encoded.append(cross((all_inputs["Type"], all_inputs["Breed1"])))
features = layers.concatenate(encoded)
x = layers.Dense(16, activation="relu")(features)
output = layers.Dense(1)(layers.Dropout(0.0)(x))
model = tf.keras.Model(all_inputs, output)
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.3, v.shape))
model.compile(optimizer="adam", loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"], run_eagerly=True)
h = model.fit(train_ds, epochs=2, validation_data=df_to_dataset(val, False, 8), verbose=0)
print({k: np.round(v, 2).tolist() for k, v in h.history.items() if "loss" in k})
result = model.evaluate(df_to_dataset(test, False, 8), return_dict=True, verbose=0)
print(sorted(result))
model.save("my_pet_classifier.keras")
reloaded = tf.keras.models.load_model("my_pet_classifier.keras")
sample = {"Type": "Cat", "Age": 3, "Breed1": "Tabby", "Fee": 100, "PhotoAmt": 2}
input_dict = {name: tf.convert_to_tensor([[value]]) for name, value in sample.items()}
a, b = (tf.nn.sigmoid(m.predict({**input_dict}, verbose=0))[0][0] for m in (model, reloaded))
print(abs(float(a - b)) < 1e-5, a.shape)
frame.to_csv("pets.csv", index=False)
ds = tf.data.experimental.make_csv_dataset("pets.csv", batch_size=4, label_name="target", num_epochs=1, shuffle=False)
for f, l in ds.take(1):
    print({k: v.dtype.name for k, v in f.items()}, l.numpy())
numeric = tf.stack([tf.cast(f[k], tf.float32) for k in ("Age", "Fee", "PhotoAmt")], axis=-1)
print(numeric.shape, tf.reduce_mean(numeric, 0).numpy())
slices = tf.data.Dataset.from_tensor_slices(dict(frame[:3]))
for row in slices.take(1):
    print({k: v.numpy() for k, v in row.items()})
ragged_tokens = tf.strings.split(["a b c", "d"])
print(layers.StringLookup(vocabulary=["a", "b", "d"], output_mode="multi_hot")(ragged_tokens.to_tensor("")).numpy())
tv = layers.TextVectorization(max_tokens=20, output_mode="tf_idf", ngrams=2)
tv.adapt(["the cat sat", "the dog sat", "a cat"])
print(tv(["the cat"]).numpy().round(2)[0][:6], len(tv.get_vocabulary()))
