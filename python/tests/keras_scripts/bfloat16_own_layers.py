# mixed_bfloat16 and mixed_float16 with layers of one's own: which dtype things have, and what is learned
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(16)


class Gated(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = layers.Dense(units, dtype=self.dtype_policy)

    def build(self, shape):
        self.gate = self.add_weight(shape=(shape[-1], self.units), initializer="zeros", name="gate")
        self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False, autocast=False, name="steps")
        self.inner.build(shape)

    def call(self, x, training=False):
        if training:
            self.steps.assign_add(1.0)
        self.seen = (keras.backend.standardize_dtype(x.dtype), keras.backend.standardize_dtype(self.gate.dtype), self.steps.dtype)
        return self.inner(x) * ops.sigmoid(ops.matmul(x, self.gate))


class Statistics(layers.Layer):
    """Computes in float32 whatever the policy."""

    def __init__(self, **kwargs):
        super().__init__(dtype="float32", autocast=False, **kwargs)

    def call(self, x):
        wide = ops.cast(x, "float32")
        return ops.concatenate([ops.mean(wide, -1, keepdims=True), ops.std(wide, -1, keepdims=True)], -1)


def build(policy):
    inputs = keras.Input((8,))
    x = Gated(6, dtype=policy, name="gated")(inputs)
    x = layers.LayerNormalization(dtype=policy)(x)
    s = Statistics()(x)
    x = layers.Concatenate(dtype="float32")([x, s])
    model = keras.Model(inputs, layers.Dense(1, dtype="float32")(x))
    numbers = np.random.default_rng(2)
    for v in model.trainable_variables:
        v.assign(numbers.normal(size=v.shape) * 0.3 + ("gamma" in v.path))
    return model


x = rng.normal(size=(20, 8)).astype("float32")
y = np.tanh(x.sum(1, keepdims=True)).astype("float32")
for policy in ("float32", "mixed_bfloat16", "mixed_float16"):
    model = build(policy)
    optimizer = keras.optimizers.Adam(0.02)
    if policy == "mixed_float16":
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0**10, dynamic_growth_steps=4)
    model.compile(optimizer, "mse")
    h = model.fit(x, y, batch_size=10, epochs=3, shuffle=False, verbose=0)
    layer = model.get_layer("gated")
    print(policy, layer.compute_dtype, layer.variable_dtype, model.predict(x, verbose=0).dtype)
    print([round(float(v), 1) for v in h.history["loss"]], {keras.backend.standardize_dtype(v.dtype) for v in model.variables}, float(layer.steps))
    if policy == "mixed_float16":
        print("scale", float(optimizer.dynamic_scale))

keras.config.set_dtype_policy("mixed_bfloat16")
net = keras.Sequential([keras.Input((6, 6, 2)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.Flatten(), layers.Dense(2, activation="softmax", dtype="float32")])
print([(v.path.split("/")[-1], v.dtype) for v in net.layers[1].variables], [t.dtype for t in net.outputs], net.layers[0].compute_dtype)
out = net.layers[0](np.ones((1, 6, 6, 2), "float32"))
print(keras.backend.standardize_dtype(out.dtype))
policy_map = keras.dtype_policies.DTypePolicyMap("float32")
policy_map["model/dense_a"] = keras.DTypePolicy("bfloat16")
print(policy_map["model/dense_a"].name, policy_map["model/other"].name)
keras.config.set_dtype_policy("float32")
