"""Mixed precision, augmentation layers off and on, LossScaleOptimizer, gradient accumulation, EMA, jit flags."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(2)
images = rng.random((20, 12, 12, 3)).astype("float32")
labels = np.arange(20) % 4
images[np.arange(20), :3, :3, 0] = labels[:, None, None]

augment = keras.Sequential([layers.RandomFlip("horizontal", seed=1), layers.RandomRotation(0.1, seed=2), layers.RandomZoom(0.2, seed=3), layers.RandomTranslation(0.1, 0.1, seed=4),
                            layers.RandomContrast(0.2, seed=5), layers.RandomBrightness(0.2, value_range=(0, 1), seed=6), layers.GaussianNoise(0.1, seed=7)], name="augment")
a = ops.convert_to_numpy(augment(images[:4], training=True))
print(a.shape, a.dtype, np.array_equal(ops.convert_to_numpy(augment(images[:4], training=False)), images[:4]), not np.allclose(a, images[:4]))
for layer in (layers.CenterCrop(8, 8), layers.Resizing(6, 6), layers.Resizing(6, 9, crop_to_aspect_ratio=True), layers.Resizing(8, 4, pad_to_aspect_ratio=True), layers.RandomCrop(7, 7),
              layers.RandomErasing(), layers.RandomGrayscale(1.0), layers.RandomColorJitter(value_range=(0, 1), seed=1), layers.RandomSharpness(0.5, value_range=(0, 1)), layers.AutoContrast(value_range=(0, 1)),
              layers.Equalization(value_range=(0, 1)), layers.Solarization(value_range=(0, 1)), layers.RandomShear(0.1, 0.1), layers.MixUp() if False else layers.RandomInvert(value_range=(0, 1)), layers.RandAugment(value_range=(0, 1)), layers.RandomHue(0.1, value_range=(0, 1))):
    print(type(layer).__name__, layer(images[:2], training=True).shape)

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((12, 12, 3))
x = layers.Rescaling(1.0)(inputs)
x = layers.Conv2D(8, 3, activation="relu")(x)
x = layers.BatchNormalization()(x)
x = layers.GlobalMaxPooling2D()(x)
x = layers.Dense(4)(x)
outputs = layers.Activation("softmax", dtype="float32", name="predictions")(x)
model = keras.Model(inputs, outputs)
print(model.layers[2].compute_dtype, model.layers[2].variable_dtype, outputs.dtype)
keras.mixed_precision.set_global_policy("float32")
for v in model.trainable_variables:
    if "kernel" in v.name:
        v.assign(rng.normal(0, 0.2, v.shape))
model.compile(keras.optimizers.Adam(0.01, gradient_accumulation_steps=None), "sparse_categorical_crossentropy", metrics=["accuracy"], steps_per_execution=2)
h = model.fit(images, labels, batch_size=5, epochs=3, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 1), model.optimizer.name.lower().startswith("loss_scale"))

base = keras.Sequential([keras.Input((6,)), layers.Dense(4, activation="mish"), layers.Dense(1)])
w = base.get_weights()
w = [rng.normal(0, 0.4, p.shape) for p in w]
X = rng.normal(size=(32, 6)).astype("float32")
Y = X.sum(1, keepdims=True)
for opt in (keras.optimizers.SGD(0.05, gradient_accumulation_steps=4), keras.optimizers.Adam(0.05, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3),
            keras.optimizers.SGD(0.05, weight_decay=0.01, clipvalue=0.1), keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.05), initial_scale=2**10),
            keras.optimizers.AdamW(0.05, weight_decay=0.1), keras.optimizers.Adam(0.05, amsgrad=True)):
    base.set_weights(w)
    if isinstance(opt, keras.optimizers.AdamW):
        opt.exclude_from_weight_decay(var_names=["bias"])
    base.compile(opt, "mse", jit_compile=False)
    h = base.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    print(type(opt).__name__, np.round(h.history["loss"], 3))
base.compile(keras.optimizers.Adam(0.01, use_ema=True), "mse", run_eagerly=True)
h = base.fit(X, Y, batch_size=16, epochs=1, shuffle=False, verbose=0, callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)])
print(np.round(h.history["loss"], 3), base.run_eagerly)
