# Convolutions over one and three dimensions, there and back
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(13)


def fixed(model):
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.15 + ("gamma" in v.path))
    return model


def train(name, model, x, y, **options):
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), "mse", metrics=["mae"])
    h = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, **options).history
    print(name, model.output_shape, [f"{v:.4f}" for v in h["loss"]], [f"{v:.4f}" for v in h["mae"]])
    print(name, f"{np.abs(model.predict(x, verbose=0)).sum():.3f}")


volume = keras.Input((6, 7, 8, 2))
a = layers.Conv3D(4, (3, 2, 3), strides=(1, 2, 2), padding="same", activation="relu")(volume)
a = layers.BatchNormalization()(a)
a = layers.MaxPooling3D((2, 1, 2), padding="same")(a)
a = layers.SpatialDropout3D(0.0)(a)
b = layers.Conv3DTranspose(3, 3, strides=2, padding="same", activation="tanh")(a)
b = layers.Cropping3D(((0, 0), (1, 0), (0, 0)))(b)
b = layers.ZeroPadding3D(((0, 0), (0, 0), (2, 2)))(b)
b = layers.Conv3D(2, 1, groups=1)(b)
voxels = rng.normal(size=(6, 6, 7, 8, 2)).astype("float32")
train("volume", fixed(keras.Model(volume, b)), voxels, voxels * 0.5)

pooled = layers.AveragePooling3D((2, 2, 2), strides=1, padding="same")(volume)
pooled = layers.UpSampling3D((1, 2, 1))(pooled)
pooled = layers.Conv3D(4, 3, dilation_rate=(2, 1, 2), groups=2)(pooled)
pooled = layers.Concatenate()([layers.GlobalAveragePooling3D()(pooled), layers.GlobalMaxPooling3D()(pooled)])
train("pooled", fixed(keras.Model(volume, layers.Dense(1)(pooled))), voxels, voxels.mean((1, 2, 3, 4))[:, None])

signal = keras.Input((21, 3))
s = layers.Conv1D(6, 4, strides=2, padding="valid", use_bias=False)(signal)
s = layers.LayerNormalization(axis=[1, 2])(s)
s = layers.SeparableConv1D(5, 3, depth_multiplier=2, padding="same", activation="gelu")(s)
s = layers.DepthwiseConv1D(3, padding="same", depth_multiplier=2)(s)
s = layers.Conv1DTranspose(4, 5, strides=2, padding="valid", output_padding=None)(s)
s = layers.Conv1DTranspose(3, 3, strides=1, dilation_rate=2, padding="same")(s)
s = layers.Conv1D(2, 3, dilation_rate=3, padding="causal")(s)
waves = rng.normal(size=(9, 21, 3)).astype("float32")
train("signal", fixed(keras.Model(signal, s)), waves, waves[..., :2] * 0.3)

picture = keras.Input((9, 10, 3))
p = layers.Conv2DTranspose(4, (3, 4), strides=(2, 3), padding="valid", output_padding=(1, 2))(picture)
p = layers.DepthwiseConv2D((2, 3), strides=2, depth_multiplier=2, padding="valid")(p)
p = layers.AveragePooling2D(3, strides=2, padding="same")(p)
p = layers.Conv2D(8, 3, groups=4, padding="same", activation="silu")(p)
p = layers.Reshape((-1, 8))(p)
p = layers.Permute((2, 1))(p)
p = layers.GlobalAveragePooling1D(data_format="channels_first")(p)
images = rng.normal(size=(7, 9, 10, 3)).astype("float32")
train("picture", fixed(keras.Model(picture, layers.Dense(2)(p))), images, images.mean((1, 2))[:, :2])
