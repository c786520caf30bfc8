"""Structured data with FeatureSpace, and with preprocessing layers by hand."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(5)
n = 64
age = rng.integers(20, 70, n).astype("float32")
chol = rng.normal(240, 40, n).astype("float32")
sex = rng.integers(0, 2, n)
thal = rng.integers(0, 4, n)
y = ((age > 45) & (sex == 1) | (thal == 2)).astype("float32")

norm = layers.Normalization(axis=None)
norm.adapt(age)
print("normalization", np.round(np.ravel(norm.mean), 3), np.round(np.sqrt(np.ravel(norm.variance)), 3))
bucket = layers.Discretization(bin_boundaries=[30.0, 40.0, 50.0, 60.0])
print("buckets", keras.ops.convert_to_numpy(bucket(age[:8])))
adapted = layers.Discretization(num_bins=4)
adapted.adapt(chol)
print("bins", len(adapted.bin_boundaries))
multi = layers.CategoryEncoding(num_tokens=4, output_mode="multi_hot")
print(keras.ops.convert_to_numpy(multi(np.array([[0, 1], [2, 3]]))))
count = layers.CategoryEncoding(num_tokens=4, output_mode="count")
print(keras.ops.convert_to_numpy(count(np.array([[1, 1], [2, 3]]))))
hot = layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")

age_in, chol_in = keras.Input((1,), name="age"), keras.Input((1,), name="chol")
sex_in, thal_in = keras.Input((1,), name="sex", dtype="int32"), keras.Input((1,), name="thal", dtype="int32")
chol_norm = layers.Normalization(name="chol_norm")
chol_norm.adapt(chol[:, None])
features = layers.concatenate([
    layers.CategoryEncoding(num_tokens=5, output_mode="one_hot")(bucket(age_in)),
    chol_norm(chol_in),
    layers.CategoryEncoding(num_tokens=2, output_mode="one_hot")(sex_in),
    hot(thal_in),
    layers.Flatten()(layers.Embedding(4, 2, name="emb")(thal_in)),
])
x = layers.Dense(16, activation="relu")(features)
x = layers.Dropout(0.0)(x)
out = layers.Dense(1, activation="sigmoid", name="target")(x)
model = keras.Model([age_in, chol_in, sex_in, thal_in], out)
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.3, v.shape))
model.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
data = {"age": age[:, None], "chol": chol[:, None], "sex": sex[:, None], "thal": thal[:, None]}
h = model.fit(data, y, epochs=3, batch_size=16, shuffle=False, verbose=0, class_weight={0: 1.0, 1: 2.0})
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
result = model.evaluate(data, y, verbose=0, return_dict=True)
print({k: round(float(v), 3) for k, v in sorted(result.items())})
sample = {"age": np.array([[60.0]]), "chol": np.array([[233.0]]), "sex": np.array([[1]]), "thal": np.array([[2]])}
print(f"{100 * model.predict(sample, verbose=0)[0][0]:.1f}% probability")
