import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
count = 300
dataframe = pd.DataFrame({
    "Type": rng.choice(["Cat", "Dog"], count), "Age": rng.integers(0, 60, count), "Fee": rng.uniform(0, 100, count).astype("float32"),
    "Color": rng.choice(["Black", "Brown", "White"], count)})
dataframe["target"] = ((dataframe["Type"] == "Cat") & (dataframe["Age"] < 40)).astype("int64")
shuffled = dataframe.sample(frac=1, random_state=0)
train, val, test = shuffled[:int(0.8 * count)], shuffled[int(0.8 * count):int(0.9 * count)], shuffled[int(0.9 * count):]
print(len(train), 'training examples', len(val), 'validation examples', len(test), 'test examples')


def df_to_dataset(dataframe, shuffle=True, batch_size=32):
    df = dataframe.copy()
    labels = df.pop('target')
    df = {key: value.to_numpy()[:, tf.newaxis] for key, value in df.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(df), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(dataframe))
    return ds.batch(batch_size).prefetch(batch_size)


train_ds = df_to_dataset(train, batch_size=5)
[(train_features, label_batch)] = train_ds.take(1)
print('Every feature:', sorted(train_features.keys()))
print('A batch of ages:', train_features['Age'].shape, 'A batch of targets:', label_batch.shape)


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    normalizer.adapt(np.concatenate([x[name].numpy() for x, y in dataset]).astype("float32"))
    return normalizer


fee_norm, age_norm = get_normalization_layer("Fee", train_ds), get_normalization_layer("Age", train_ds)
print(fee_norm(tf.constant([[50.0]])).shape)
lookup = layers.StringLookup(vocabulary=["Cat", "Dog"])
print(lookup(tf.constant(["Dog", "Bird", "Cat"])), [str(v) for v in lookup.get_vocabulary()])
one_hot = layers.StringLookup(output_mode="one_hot")
one_hot.adapt(train["Color"].to_numpy())
print(one_hot(tf.constant([["Black"], ["White"]])).shape, sorted(str(v) for v in one_hot.get_vocabulary()))
encode = layers.CategoryEncoding(num_tokens=3, output_mode="one_hot")
print(encode(tf.constant([0, 2, 1])))
print(layers.Discretization(bin_boundaries=[20.0, 40.0])(np.array([[5.0], [25.0], [50.0]])).numpy().ravel())


def preprocess(features, label):
    return {"fee": fee_norm(features["Fee"]), "age": age_norm(tf.cast(features["Age"], tf.float32)),
            "type": tf.cast(lookup(features["Type"]), tf.float32) - 1.0, "color": one_hot(features["Color"])}, label


train_ds = df_to_dataset(train).map(preprocess)
val_ds, test_ds = df_to_dataset(val, shuffle=False).map(preprocess), df_to_dataset(test, shuffle=False).map(preprocess)
inputs = {name: tf.keras.Input(shape=(width,), name=name) for name, width in [("fee", 1), ("age", 1), ("type", 1), ("color", 4)]}
x = layers.concatenate([inputs[name] for name in ("fee", "age", "type", "color")])
x = layers.Dense(32, activation="relu")(x)
x = layers.Dropout(0.1)(x)
output = layers.Dense(1)(x)
model = tf.keras.Model(inputs, output)
model.compile(optimizer=tf.keras.optimizers.Adam(0.02), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train_ds, epochs=20, validation_data=val_ds, verbose=0)
result = model.evaluate(test_ds, return_dict=True, verbose=0)
print(sorted(result), "accurate", result["accuracy"] > 0.85)
