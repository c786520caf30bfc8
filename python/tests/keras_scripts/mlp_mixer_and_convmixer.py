"""MLP-mixer, ConvMixer and squeeze-and-excite blocks: Permute, DepthwiseConv2D, Lambda, Multiply."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(9)
x = rng.random((24, 12, 12, 3)).astype("float32")
y = keras.utils.to_categorical(np.arange(24) % 3, 3)
x[np.arange(24), :, :, np.arange(24) % 3] += 0.4


def mixer(inputs):
    h = layers.Conv2D(8, 3, strides=3)(inputs)
    h = layers.Reshape((16, 8))(h)
    for _ in range(2):
        t = layers.LayerNormalization()(h)
        t = layers.Permute((2, 1))(t)
        t = layers.Dense(16)(layers.Dense(16, activation="gelu")(t))
        t = layers.Permute((2, 1))(t)
        h = layers.Add()([h, t])
        t = layers.LayerNormalization()(h)
        h = layers.Add()([h, layers.Dense(8)(layers.Dense(16, activation="silu")(t))])
    return layers.GlobalAveragePooling1D()(h)


def convmixer(inputs):
    h = layers.Conv2D(8, 2, strides=2)(inputs)
    for _ in range(2):
        h0 = h
        h = layers.DepthwiseConv2D(3, padding="same")(h)
        h = layers.BatchNormalization()(layers.Activation("gelu")(h))
        h = layers.Add()([h, h0])
        h = layers.BatchNormalization()(layers.Activation("gelu")(layers.Conv2D(8, 1)(h)))
    return layers.GlobalAvgPool2D()(h)


def squeeze(inputs):
    h = layers.ZeroPadding2D(((0, 1), (0, 1)))(inputs)
    h = layers.Conv2D(8, 3, use_bias=False, kernel_regularizer=keras.regularizers.L1L2(1e-4, 1e-4))(h)
    h = layers.LeakyReLU(negative_slope=0.1)(h)
    s = layers.GlobalAveragePooling2D(keepdims=True)(h)
    s = layers.Conv2D(2, 1, activation="relu6")(s)
    s = layers.Conv2D(8, 1, activation="hard_sigmoid")(s)
    h = layers.Multiply()([h, s])
    h = layers.Lambda(lambda t: t * 2.0 + 1.0, output_shape=lambda s: s)(h)
    h = layers.MaxPooling2D(3, strides=2, padding="valid")(h)
    h = layers.PReLU(shared_axes=[1, 2])(h)
    h = layers.AveragePooling2D(2, padding="same")(h)
    h = layers.Cropping2D(1)(h)
    return layers.Flatten()(h)


for build in (mixer, convmixer, squeeze):
    inputs = keras.Input((12, 12, 3))
    model = keras.Model(inputs, layers.Dense(3, activation="softmax")(build(layers.Rescaling(1 / 2.0, offset=-0.5)(inputs))))
    w = np.random.default_rng(1)
    for v in model.trainable_variables:
        if "kernel" in v.name:
            v.assign(w.normal(0, 0.3, v.shape))
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), keras.losses.CategoricalCrossentropy(label_smoothing=0.1), metrics=["accuracy", keras.metrics.F1Score(average="macro", name="f1")])
    h = model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0)
    print(build.__name__, np.round(h.history["loss"], 3), np.round(h.history["accuracy"], 1), model.count_params())
model.summary(line_length=90)
print(model.get_layer(index=-1).get_config()["units"], len(model.to_json()) > 500)
