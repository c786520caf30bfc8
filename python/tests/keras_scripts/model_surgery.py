# Cuts a trained model, puts other parts in, freezes some BatchNormalization and not others
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(17)


def fixed(model, seed):
    numbers = np.random.default_rng(seed)
    for v in model.trainable_variables:
        v.assign(numbers.normal(size=v.shape) * 0.2 + ("gamma" in v.path))
    return model


def block(x, filters, name):
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False, name=f"{name}_conv")(x)
    y = layers.BatchNormalization(momentum=0.8, name=f"{name}_bn")(y)
    y = layers.Activation("relu", name=f"{name}_act")(y)
    if x.shape[-1] == filters:
        y = layers.Add(name=f"{name}_add")([x, y])
    return y


inputs = keras.Input((8, 8, 3))
x = inputs
for i, filters in enumerate((4, 4, 6)):
    x = block(x, filters, f"b{i}")
x = layers.GlobalAveragePooling2D(name="pool")(x)
whole = fixed(keras.Model(inputs, layers.Dense(5, "softmax", name="head")(x)), 1)
images = rng.normal(size=(18, 8, 8, 3)).astype("float32")
whole.compile("adam", "sparse_categorical_crossentropy")
print("whole", [f"{v:.4f}" for v in whole.fit(images, rng.integers(0, 5, 18), batch_size=6, epochs=2, shuffle=False, verbose=0).history["loss"]])

# a new head on an inner layer; the first two blocks frozen, of the second only the convolution
cut = keras.Model(whole.input, whole.get_layer("b2_act").output, name="cut")
for name in ("b0_conv", "b0_bn", "b1_conv"):
    cut.get_layer(name).trainable = False
pooled = layers.GlobalMaxPooling2D()(cut(inputs))
tuned = keras.Model(inputs, layers.Dense(1, name="new_head")(pooled))
tuned.get_layer("new_head").kernel.assign(rng.normal(size=(6, 1)) * 0.3)
tuned.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse")
before = {v.path: np.array(v) for v in cut.variables}
h = tuned.fit(images, images.mean((1, 2, 3))[:, None], batch_size=6, epochs=2, shuffle=False, verbose=0)
print("tuned", [f"{v:.4f}" for v in h.history["loss"]])
print("changed", sorted(v.path for v in cut.variables if not np.array_equal(before[v.path], np.array(v))))
print("counts", len(tuned.trainable_weights), len(tuned.non_trainable_weights), tuned.count_params())

# all thawed, but BatchNormalization stays in inference mode
cut.trainable = True
for layer in cut.layers:
    if isinstance(layer, layers.BatchNormalization):
        layer.trainable = False
tuned.compile(keras.optimizers.Adam(0.01), "mse")
moving = [np.array(v) for v in cut.get_layer("b1_bn").non_trainable_variables]
h = tuned.fit(images, images.mean((1, 2, 3))[:, None], batch_size=6, epochs=2, shuffle=False, verbose=0)
print("thawed", [f"{v:.4f}" for v in h.history["loss"]], all(np.array_equal(a, np.array(b)) for a, b in zip(moving, cut.get_layer("b1_bn").variables[2:] or moving)))


# every relu becomes a swish with a layer norm before it
def other(layer):
    if isinstance(layer, layers.Activation):
        return layers.Activation("swish", name=layer.name)
    return layer.__class__.from_config(layer.get_config())


copy = keras.models.clone_model(whole, clone_function=other)
copy.set_weights(whole.get_weights())
print("clone", f"{np.abs(copy.predict(images, verbose=0) - whole.predict(images, verbose=0)).max():.4f}")
probe = keras.Model(whole.inputs, [layer.output for layer in whole.layers if layer.name.endswith("_act")])
print("probe", [f"{np.abs(a).mean():.4f}" for a in probe.predict(images, verbose=0)])

stack = keras.Sequential([keras.Input((8, 8, 3)), *whole.layers[1:4]])
stack.add(layers.Flatten())
stack.add(layers.Dense(2))
stack.layers[-1].kernel.assign(rng.normal(size=stack.layers[-1].kernel.shape) * 0.1)
print("stack", stack.output_shape, f"{np.abs(stack(images)).sum():.3f}")
stack.pop()
print("popped", stack.output_shape, len(stack.layers))
