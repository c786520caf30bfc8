# Structured data: preprocessing layers adapted on NumPy, dict inputs, class weights, AUC, early stopping
import tempfile

import keras
import numpy as np
from keras import layers

FOLDER = tempfile.mkdtemp()

rng = np.random.default_rng(2)
n = 120
age = rng.integers(18, 80, n).astype("float32")
income = rng.lognormal(10, 0.5, n).astype("float32")
city = rng.integers(0, 5, n)
code = rng.choice([11, 22, 33, 44], n)
label = ((age / 80 + (city == 2) + rng.normal(size=n) * 0.2) > 0.9).astype("float32")
features = {"age": age[:, None], "income": income[:, None], "city": city[:, None], "code": code[:, None]}

inputs = {
    "age": keras.Input((1,), name="age"),
    "income": keras.Input((1,), name="income"),
    "city": keras.Input((1,), dtype="int64", name="city"),
    "code": keras.Input((1,), dtype="int64", name="code"),
}
norm = layers.Normalization()
norm.adapt(features["income"])
print(np.round(np.array(norm.mean).ravel() / 1000, 2), np.round(np.sqrt(np.array(norm.variance)).ravel() / 1000, 2))
bins = layers.Discretization(num_bins=4, epsilon=0.01, output_mode="one_hot")
bins.adapt(features["age"])
print([round(float(b), 1) for b in bins.bin_boundaries])
pieces = [
    norm(inputs["income"]),
    bins(inputs["age"]),
    layers.Normalization(mean=45.0, variance=300.0)(inputs["age"]),
    layers.CategoryEncoding(num_tokens=5, output_mode="one_hot")(inputs["city"]),
    layers.Flatten()(layers.Embedding(50, 3, name="code_embedding")(inputs["code"])),
]
x = layers.Concatenate()(pieces)
x = layers.Dense(8, activation="elu", kernel_regularizer=keras.regularizers.L1L2(1e-4, 1e-3))(x)
x = layers.Dropout(0.0)(x)
output = layers.Dense(1, activation="sigmoid", name="survived")(x)
model = keras.Model(inputs, output)
for v in model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3)
model.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc"), keras.metrics.Precision(name="p"), keras.metrics.Recall(name="r")], weighted_metrics=[keras.metrics.BinaryAccuracy(name="w")])
positive = label.mean()
weights = {0: 1.0, 1: float((1 - positive) / positive)}
h = model.fit(features, label, class_weight=weights, validation_split=0.25, epochs=5, batch_size=30, shuffle=False, verbose=0,
              callbacks=[keras.callbacks.EarlyStopping("val_auc", mode="max", patience=2, restore_best_weights=True)])
for k in sorted(h.history):
    print(k, [f"{v:.4f}" for v in h.history[k]])
print([f"{v:.4f}" for v in model.evaluate(features, label, verbose=0)])
sample = {k: v[:3] for k, v in features.items()}
print(np.round(model.predict(sample, verbose=0).ravel(), 4))
print(model.output_names, [i.name for i in model.inputs])
model.save(FOLDER + "/tabular.keras")
print(np.allclose(keras.models.load_model(FOLDER + "/tabular.keras").predict(sample, verbose=0), model.predict(sample, verbose=0)))
cross = layers.HashedCrossing(num_bins=10)
print(layers.IntegerLookup(vocabulary=[11, 22, 33])(np.array([11, 33, 44])), layers.Rescaling(1 / 10, offset=-1)(np.array([10.0, 20.0])))
print(layers.CategoryEncoding(num_tokens=4, output_mode="multi_hot")(np.array([[0, 1], [3, 3]])))
print(layers.CategoryEncoding(num_tokens=4, output_mode="count")(np.array([[0, 1], [3, 3]]), count_weights=np.array([[0.1, 0.2], [1.0, 2.0]])))
