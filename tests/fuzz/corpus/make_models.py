"""Makes the configs that fuzzing starts from with real Keras: every way in which layers of a functional model are connected,
and every layer of keras.layers that is read here. Usage: python make_models.py
"""
import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "numpy"
import keras
from keras import layers, ops

FOLDER = pathlib.Path(__file__).parent / "fuzz_keras_config"


def put(name, model):
    (FOLDER / f"{name}.json").write_text(json.dumps(json.loads(model.to_json())) + "\n")


def operations():
    """Functions in place of layers: constants before and after tensors, lists of tensors, options by name, slices."""
    x = keras.Input((4, 6), name="x")
    y = 2.0 * x + ops.sin(x) - x / 3.0
    y = ops.concatenate([y, ops.softmax(x, axis=-1)], axis=1)
    y = ops.reshape(y, (-1, 6, 8))
    y = ops.transpose(y, (0, 2, 1))[:, 1:7:2, ..., None]
    y = ops.squeeze(ops.expand_dims(y, 1), 1)
    z = ops.mean(y, axis=[1, 2], keepdims=True)
    z = ops.maximum(z, [[0.5], [0.25]][0][0]) * ops.cast(ops.greater(y, 0.0), "float32")
    return keras.Model(x, [ops.matmul(x, ops.transpose(x, (0, 2, 1))), ops.clip(z, -1.0, 1.0), x[:, -1]], name="operations")


def nested():
    """Models in models, functional and sequential, called more than once."""
    a = keras.Input((3,), name="a")
    inner = keras.Model(a, [layers.Dense(3, name="d")(a), a], name="inner")
    chain = keras.Sequential([keras.Input((3,)), layers.Dense(3, name="e"), layers.Dropout(0.5)], name="chain")
    x, y = keras.Input((3,), name="x"), keras.Input((3,), name="y")
    p, q = inner(x)
    r, _ = inner(chain(y))
    middle = keras.Model([x, y], layers.Add()([p, q, r, chain(p)]), name="middle")
    u = keras.Input((3,), name="u")
    return keras.Model(u, middle([u, middle([u, chain(u)])]), name="nested")


def shared():
    """One layer in several places, several inputs and outputs."""
    left, right = keras.Input((5,), name="left"), keras.Input((5,), name="right")
    dense = layers.Dense(5, name="both")
    p, q, r = dense(left), dense(right), dense(dense(left))
    return keras.Model([left, right], {"sum": layers.Add()([p, q, r]), "joined": layers.Concatenate()([p, left])}, name="shared")


def arguments():
    """Tensors and constants by name: masks, states, training."""
    x, m = keras.Input((4, 6), name="x"), keras.Input((4, 4), dtype="bool", name="mask")
    y = layers.MultiHeadAttention(2, 3)(x, x, attention_mask=m, use_causal_mask=True)
    y = layers.MultiHeadAttention(1, 2)(query=y, value=x, key=x)
    first, h, c = layers.LSTM(6, return_sequences=True, return_state=True)(y)
    second = layers.LSTM(6, return_sequences=True)(layers.Masking()(first), initial_state=[h, c])
    both = layers.Bidirectional(layers.GRU(3, return_sequences=True))(second)
    return keras.Model([x, m], layers.BatchNormalization()(layers.Dropout(0.5)(both, training=False), training=True), name="arguments")


def every_layer(name, shape, made):
    """A branch per layer from one input."""
    x = keras.Input(shape, name="x")
    put(name, keras.Model(x, [layer(x) for layer in made], name=name))


def layer_configs():
    every_layer("layers_2d", (6,), [
        layers.Activation("relu"), layers.ActivityRegularization(0.1), layers.Dense(2, kernel_regularizer="l2", bias_constraint="max_norm"),
        layers.Dropout(0.5), layers.ELU(), layers.Flatten(), layers.GaussianDropout(0.5), layers.GaussianNoise(0.5), layers.Identity(),
        layers.LayerNormalization(), layers.LeakyReLU(), layers.Normalization(mean=1.0, variance=2.0), layers.PReLU(), layers.ReLU(),
        layers.RepeatVector(2), layers.Rescaling(0.5, offset=[1.0] * 6), layers.Reshape((2, -1)), layers.Softmax(), layers.UnitNormalization(),
        layers.EinsumDense("ab,bc->ac", output_shape=4, bias_axes="c"), layers.Embedding(5, 2, mask_zero=True)])
    every_layer("layers_3d", (8, 4), [
        layers.AveragePooling1D(2), layers.BatchNormalization(axis=1), layers.Bidirectional(layers.LSTM(2), merge_mode="sum"), layers.Conv1D(2, 3, padding="causal"),
        layers.Conv1DTranspose(2, 3, strides=2), layers.Cropping1D((1, 2)), layers.DepthwiseConv1D(3), layers.GRU(2, reset_after=False),
        layers.GlobalAveragePooling1D(), layers.GlobalMaxPooling1D(keepdims=True), layers.GroupNormalization(2), layers.Masking(),
        layers.MaxPooling1D(3, 1, "same"), layers.Permute((2, 1)), layers.SeparableConv1D(2, 3), layers.SimpleRNN(2, stateful=False),
        layers.SpatialDropout1D(0.5), layers.TimeDistributed(layers.Dense(2)), layers.UpSampling1D(2), layers.ZeroPadding1D(1)])
    every_layer("layers_4d", (8, 8, 4), [
        layers.AveragePooling2D(2), layers.Conv2D(4, 3, groups=2, dilation_rate=2), layers.Conv2DTranspose(2, 3, strides=2, output_padding=1),
        layers.Cropping2D(((1, 2), (0, 1))), layers.DepthwiseConv2D(3, depth_multiplier=2), layers.GlobalAveragePooling2D(), layers.GlobalMaxPooling2D(),
        layers.MaxPooling2D((2, 3), data_format="channels_first"), layers.Resizing(5, 6, crop_to_aspect_ratio=True), layers.SeparableConv2D(2, 3),
        layers.SpatialDropout2D(0.5), layers.UpSampling2D(2, interpolation="bilinear"), layers.ZeroPadding2D(((1, 2), (0, 1)))])
    every_layer("layers_5d", (4, 4, 4, 2), [
        layers.AveragePooling3D(2), layers.Conv3D(2, 2), layers.Conv3DTranspose(2, 2, strides=2), layers.Cropping3D(1), layers.GlobalAveragePooling3D(),
        layers.GlobalMaxPooling3D(), layers.MaxPooling3D(2), layers.SpatialDropout3D(0.5), layers.UpSampling3D(2), layers.ZeroPadding3D(1)])
    a, b = keras.Input((3, 4), name="a"), keras.Input((3, 4), name="b")
    merged = [kind()([a, b]) for kind in (layers.Add, layers.Average, layers.Maximum, layers.Minimum, layers.Multiply, layers.Subtract, layers.Concatenate)]
    put("layers_merging", keras.Model([a, b], [*merged, layers.Dot((2, 2))([a, b])], name="merging"))


for make in (operations, nested, shared, arguments):
    put(make.__name__, make())
layer_configs()
