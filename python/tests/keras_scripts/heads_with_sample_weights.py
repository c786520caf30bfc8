# Outputs with a loss, sample weights and weighted metrics of their own
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(11)
inputs = {"left": keras.Input((5,), name="left"), "right": keras.Input((4,), name="right")}
h = layers.Concatenate()([layers.Dense(6, "tanh")(inputs["left"]), layers.Dense(6, "elu")(inputs["right"])])
outputs = {
    "price": layers.Dense(1, name="price")(h),
    "kind": layers.Dense(3, "softmax", name="kind")(h),
}
model = keras.Model(inputs, outputs)
for v in model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3)

n = 22  # the last batch has six rows
x = {"left": rng.normal(size=(n, 5)).astype("float32"), "right": rng.normal(size=(n, 4)).astype("float32")}
y = {"price": x["left"].sum(1, keepdims=True), "kind": rng.integers(0, 3, n)}
w = {"price": rng.random(n).astype("float32"), "kind": (rng.random(n) > 0.3).astype("float32")}
model.compile(
    keras.optimizers.Adam(0.02),
    loss={"price": keras.losses.Huber(0.5), "kind": "sparse_categorical_crossentropy"},
    loss_weights={"price": 0.4, "kind": 1.7},
    metrics={"price": ["mae"], "kind": ["accuracy"]},
    weighted_metrics={"price": [keras.metrics.RootMeanSquaredError(name="rmse")], "kind": [keras.metrics.SparseTopKCategoricalAccuracy(2, name="top2")]},
)
held = ({k: v[:9] for k, v in x.items()}, {k: v[:9] for k, v in y.items()}, {k: v[:9] for k, v in w.items()})
history = model.fit(x, y, sample_weight=w, validation_data=held, batch_size=8, epochs=3, shuffle=False, verbose=0)
for name in sorted(history.history):
    print(name, [f"{v:.4f}" for v in history.history[name]])
for name, value in sorted(model.evaluate(x, y, batch_size=5, verbose=0, return_dict=True).items()):
    print("unweighted", name, f"{value:.4f}")
predicted = model.predict(x, batch_size=7, verbose=0)
print({k: v.shape for k, v in sorted(predicted.items())}, f"{predicted['kind'].max(1).mean():.4f}")

# a list of losses, temporal weights and zero weights that switch samples off
steps = keras.Input((4, 3))
z = layers.GRU(5, return_sequences=True)(steps)
two = keras.Model(steps, [layers.Dense(2)(z), layers.Dense(1, "sigmoid")(z)])
for v in two.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3)
two.compile("rmsprop", ["mse", keras.losses.BinaryCrossentropy()], loss_weights=[0.5, 2.0], weighted_metrics=[["mae"], ["accuracy"]])
a = rng.normal(size=(10, 4, 3)).astype("float32")
targets = [a[..., :2] * 2.0, (a[..., :1] > 0).astype("float32")]
off = [np.ones((10, 4), "float32"), np.repeat([[1.0, 1.0, 0.0, 0.0]], 10, 0).astype("float32")]
history = two.fit(a, targets, sample_weight=off, batch_size=4, epochs=2, shuffle=False, verbose=0)
for name in sorted(history.history):
    print(name, [f"{v:.4f}" for v in history.history[name]])
