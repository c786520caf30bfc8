"""Transfer learning: a backbone without its top, frozen, then unfrozen; features of inner layers; preprocessing."""
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
base = keras.applications.MobileNetV2(input_shape=(32, 32, 3), include_top=False, weights=None, alpha=0.35)
w = np.random.default_rng(0)
for v in base.trainable_variables:
    if "kernel" in v.name:
        v.assign(w.normal(0, 1 / np.sqrt(np.prod(v.shape[:-1]) if "depthwise" not in v.path else 9), v.shape))
print(len(base.layers), base.output_shape, base.count_params())
base.trainable = False
inputs = keras.Input((32, 32, 3))
x = keras.applications.mobilenet_v2.preprocess_input(inputs)
x = base(x, training=False)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dropout(0.0)(x)
outputs = layers.Dense(2, kernel_initializer="zeros")(x)
model = keras.Model(inputs, outputs)
print(len(model.trainable_weights), len(model.non_trainable_weights))
images = rng.integers(0, 255, (16, 32, 32, 3)).astype("float32")
images[::2, :, :, 0] *= 0.3
y = np.arange(16) % 2
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
before = [ops.convert_to_numpy(v).copy() for v in base.weights]
h = model.fit(images, y, epochs=3, batch_size=8, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 2))
print("frozen", all(np.array_equal(a, ops.convert_to_numpy(v)) for a, v in zip(before, base.weights)))
base.trainable = True
for layer in base.layers[:100]:
    layer.trainable = False
for layer in base.layers:
    if isinstance(layer, layers.BatchNormalization):
        layer.trainable = False
print(len(model.trainable_weights))
model.compile(keras.optimizers.SGD(1e-4), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h = model.fit(images, y, epochs=1, batch_size=8, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 2))
changed = [not np.array_equal(a, ops.convert_to_numpy(v)) for a, v in zip(before, base.weights)]
print("changed", sum(changed) > 10, "not all", not all(changed))
extractor = keras.Model(base.inputs, [base.get_layer(n).output for n in ("block_3_expand_relu", "block_6_expand_relu")])
print([f.shape for f in extractor(images[:2])])
model.save_weights("t.weights.h5")
model.load_weights("t.weights.h5", skip_mismatch=False)
tiny = keras.applications.EfficientNetB0(include_top=True, weights=None, classes=3, input_shape=(32, 32, 3))
print(tiny.predict(images[:2], verbose=0).shape, tiny.layers[-1].name)
res = keras.applications.ResNet50V2(include_top=False, weights=None, input_shape=(32, 32, 3), pooling="avg")
print(res(images[:1], training=False).shape)
print(np.round(keras.applications.resnet50.preprocess_input(images[:1].copy())[0, 0, 0], 2))
