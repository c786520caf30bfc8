import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(812)
rng = np.random.default_rng(10)


def fixed(model):
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.2 + (1.0 if "gamma" in v.path else 0.0))
    return model


def squeeze_excite(x, ratio=2):
    s = layers.GlobalAveragePooling2D(keepdims=True)(x)
    s = layers.Conv2D(x.shape[-1] // ratio, 1, activation="relu")(s)
    s = layers.Conv2D(x.shape[-1], 1, activation="hard_sigmoid")(s)
    return layers.Multiply()([x, s])


inputs = keras.Input((20, 20, 2))
x = layers.ZeroPadding2D(1)(inputs)
x = layers.Conv2D(6, 3, strides=2, use_bias=False, kernel_regularizer=keras.regularizers.L2(1e-4))(x)
x = layers.LayerNormalization()(x)
x = layers.PReLU(shared_axes=[1, 2])(x)
x = squeeze_excite(x)
y = layers.Conv2D(6, 3, dilation_rate=2, padding="same", groups=2, activation="elu")(x)
y = layers.UnitNormalization()(y)
x = layers.Add()([x, y])
x = layers.AveragePooling2D(3, strides=2, padding="same")(x)
x = layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="selu")(x)
x = layers.Cropping2D(((1, 0), (0, 1)))(x)
a, b = layers.Lambda(lambda t: keras.ops.split(t, 2, axis=-1), output_shape=lambda s: [(*s[:-1], s[-1] // 2)] * 2)(x)
x = layers.Maximum()([a, b])
x = layers.Permute((2, 1, 3))(x)
x = layers.Reshape((-1, 2))(x)
x = layers.Conv1D(3, 5, padding="causal", dilation_rate=2)(x)
x = layers.GlobalMaxPooling1D()(x)
outputs = layers.Dense(2, activation="softmax", dtype="float32")(x)
model = fixed(keras.Model(inputs, outputs))
images = rng.normal(size=(16, 20, 20, 2)).astype("float32")
labels = np.eye(2, dtype="float32")[(images.mean(axis=(1, 2, 3)) > 0).astype(int)]
model.compile(keras.optimizers.Adadelta(0.5), "categorical_crossentropy", metrics=["accuracy"])
print(model.count_params(), model.output_shape)
print([f"{v:.4f}" for v in model.fit(images, labels, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]])

video = fixed(keras.Sequential([keras.Input((6, 8, 8, 1)), layers.Conv3D(2, 3, padding="same"), layers.MaxPooling3D(2), layers.SpectralNormalization(layers.Conv3D(2, 2)),
                                layers.UpSampling3D(2), layers.GlobalAveragePooling3D(), layers.Dense(1)]))
video.compile("ftrl", "mean_squared_logarithmic_error")
v = np.abs(rng.normal(size=(4, 6, 8, 8, 1))).astype("float32")
print([f"{a:.4f}" for a in video.fit(v, v.mean(axis=(1, 2, 3, 4)), epochs=2, verbose=0, shuffle=False).history["loss"]])

keras.mixed_precision.set_global_policy("mixed_bfloat16") if hasattr(keras, "mixed_precision") else keras.config.set_dtype_policy("mixed_bfloat16")
half = fixed(keras.Sequential([keras.Input((20, 20, 2)), layers.Conv2D(4, 3, activation="relu"), layers.Flatten(), layers.Dense(8), layers.Dense(2, activation="softmax", dtype="float32")]))
half.compile("adam", "categorical_crossentropy")
print(half.layers[0].compute_dtype, half.layers[0].kernel.dtype, half(images[:1]).dtype)
losses = half.fit(images, labels, batch_size=4, epochs=3, shuffle=False, verbose=0).history["loss"]
print(losses[-1] < losses[0], f"{losses[0]:.1f}")
keras.config.set_dtype_policy("float32")
augment = keras.Sequential([layers.RandomFlip("horizontal", seed=1), layers.RandomRotation(0.1, seed=1), layers.RandomZoom(0.2, seed=1), layers.RandomContrast(0.1, seed=1), layers.CenterCrop(10, 10), layers.Resizing(5, 5)])
print(augment(images[:3], training=True).shape, augment(images[:3], training=False).shape)
