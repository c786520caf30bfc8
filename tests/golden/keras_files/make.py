"""Makes the golden model files of this folder with the Keras of the Python that runs it.

    python make.py keras3      Keras 3.15
    python make.py keras35     Keras 3.5 (.keras only, as the next)
    python make.py keras30     Keras 3.0
    python make.py tf_keras    tf-keras 2.21
    python make.py tf212       the Keras of tensorflow-cpu 2.12

make_all.sh runs each in a virtual environment of its own. Every model is written as .keras and .h5 with inputs x0, x1, ...
and what Keras predicts for them, y0, y1, ..., in an .npz of the same name. Files differ only where Keras does.
"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"
kind = sys.argv[1]
V3 = kind.startswith("keras3")
if V3:
    import keras
elif kind == "tf_keras":
    import tf_keras as keras
else:
    from tensorflow import keras

import numpy as np

L = keras.layers
here = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def image_model():
    """Convolutions, pooling, normalization, shapes, merging."""
    x = i = keras.Input((12, 12, 3), name="image")
    x = L.Rescaling(1 / 255.0, offset=-0.5)(x)
    x = L.ZeroPadding2D(((1, 0), (0, 1)))(x)
    x = L.Conv2D(4, 3, strides=2, padding="same", activation="relu", kernel_regularizer="l2")(x)
    x = L.BatchNormalization()(x)
    a = L.SeparableConv2D(4, 3, padding="same", activation="tanh")(x)
    b = L.DepthwiseConv2D(3, padding="same", depth_multiplier=1)(x)
    x = L.Add()([a, b])
    x = L.Concatenate()([x, L.Multiply()([a, b]), L.Maximum()([a, b]), L.Average()([a, b]), L.Subtract()([a, b])])
    x = L.Dropout(0.2)(x)
    x = L.SpatialDropout2D(0.1)(x)
    x = L.GaussianNoise(0.1)(x)
    x = L.GroupNormalization(4)(x) if V3 or kind == "tf_keras" else x
    x = L.Conv2DTranspose(5, 3, strides=2, padding="same")(x)
    x = L.LayerNormalization()(x)
    x = L.LeakyReLU(0.1)(x)
    x = L.UpSampling2D(2)(x)
    x = L.Cropping2D(((1, 2), (3, 4)))(x)
    m = L.MaxPooling2D(2)(x)
    v = L.AveragePooling2D(3, strides=2, padding="same")(x)
    outs = [L.GlobalMaxPooling2D()(m), L.GlobalAveragePooling2D()(v), L.Flatten()(L.ReLU(6.0)(m))]
    x = L.Concatenate()(outs)
    x = L.Dense(6, activation="elu")(x)
    r = L.Reshape((2, 3))(x)
    r = L.Permute((2, 1))(r)
    d = L.Dot(axes=1)([r, r])
    x = L.Concatenate()([L.Flatten()(d), L.Flatten()(L.RepeatVector(2)(x))])
    x = L.PReLU()(x)
    return keras.Model(i, [L.Dense(3, activation="softmax", name="class")(x), L.Activation("sigmoid")(x)])


def volume_model():
    """One and three dimensions, resizing, normalization with constants, a model inside."""
    i = keras.Input((8, 6, 6, 2))
    x = L.Conv3D(3, 2, activation="relu")(i)
    x = L.MaxPooling3D(2)(x)
    x = L.Concatenate()([L.GlobalAveragePooling3D()(x), L.GlobalMaxPooling3D()(x), L.GlobalAveragePooling3D()(L.AveragePooling3D(2)(i))])
    j = keras.Input((10, 4))
    y = L.ZeroPadding1D(1)(j)
    y = L.Conv1D(5, 3, padding="causal", dilation_rate=2, activation="gelu")(y)
    y = L.Concatenate()([L.GlobalMaxPooling1D()(L.MaxPooling1D(2)(y)), L.GlobalAveragePooling1D()(L.AveragePooling1D(2)(y))])
    k = keras.Input((5, 5, 2))
    z = L.Normalization(mean=[0.5, 0.1], variance=[2.0, 0.3])(k)
    z = L.Flatten()(L.Resizing(3, 4)(z))
    inner = keras.Sequential([keras.Input((20,)), L.Dense(7, activation="swish"), L.BatchNormalization(), L.Softmax()], name="inner")
    shared = L.Dense(20, activation="selu", name="shared")
    joined = L.Dense(20)(L.Concatenate()([x, y, z]))
    return keras.Model([i, j, k], [inner(shared(joined)), inner(shared(shared(joined)))])


def text_model():
    """Recurrent layers, masks, wrappers, attention, arithmetic."""
    i = keras.Input((7,), dtype="int32", name="words")
    x = e = L.Embedding(20, 6, mask_zero=True)(i)
    x = L.LSTM(5, return_sequences=True, kernel_initializer="he_normal")(x)
    x = L.Bidirectional(L.GRU(4, return_sequences=True))(x)
    x = L.TimeDistributed(L.Dense(6, activation="relu"))(x)
    a = L.MultiHeadAttention(2, 3)(x, x)
    x = L.LayerNormalization(epsilon=1e-5)(L.Add()([x, a]))
    s = L.SimpleRNN(4)(x)
    g = L.GRU(3, reset_after=False, go_backwards=True)(L.Masking()(e))
    x = L.Concatenate()([s, g])
    x = x * 2.0 + 1.0
    return keras.Model(i, L.Dense(1, activation="softplus")(x))


def functions_model():
    """TensorFlow's functions on the tensors of a model, as Keras 2 keeps them (TFOpLambda)."""
    import tensorflow as tf

    i = keras.Input((4, 4), name="left")
    j = keras.Input((4, 4), name="right")
    x = tf.matmul(i, j, transpose_b=True) + tf.matmul(i, j, transpose_a=True) - tf.matmul(i, j)
    x = tf.where(x > 0.5, x, tf.nn.leaky_relu(1 - x)) / tf.sqrt(tf.square(x) + 1.0)
    x = tf.stack([x, tf.tile(x[:, :1, ::-1], [1, 4, 1])], axis=-1)
    x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    x = tf.image.resize(tf.nn.depth_to_space(tf.concat([x, -x], -1), 2), (6, 8))
    a, b = tf.split(tf.squeeze(x, -1), [2, 4], axis=1)
    x = tf.concat([tf.reduce_max(a, axis=1), tf.reduce_mean(b, axis=1), tf.gather(b, [3, 0], axis=1)[:, 1]], axis=1)
    x = tf.nn.gelu(tf.math.l2_normalize(x, axis=-1)) * tf.one_hot(tf.argmax(i[:, 0], axis=-1), 24)
    x = tf.clip_by_value(tf.cumsum(x, axis=1), -0.5, 0.5) + tf.cast(tf.cast(x * 9, tf.int32), tf.float32) % 2.0
    x = tf.concat([tf.nn.softmax(x), tf.zeros_like(x), tf.reshape(tf.transpose(i, [0, 2, 1]), (-1, 16))], axis=-1)
    return keras.Model([i, j], L.Dense(2)(tf.reverse(x, axis=[1])))


def chain():
    return keras.Sequential([keras.Input((6,)), L.Dense(4, activation="relu"), L.Dense(3, activation="softmax")])


def save(name, model, optimizer=None):
    for w in model.weights:
        n = w.path if V3 else w.name
        if "iter" in n or "count" in n or "seed" in n or w.dtype not in ("float32", np.float32):
            continue
        w.assign(rng.uniform(0.5, 1.5, w.shape) if "variance" in n else rng.normal(0, 0.3, w.shape))
    xs = []
    for tensor in model.inputs:
        shape = (3,) + tuple(tensor.shape[1:])
        words = "int" in str(tensor.dtype)
        xs.append(rng.integers(0, 20, shape).astype("int32") if words else rng.uniform(0, 1, shape).astype("float32"))
    if name == "image":
        xs = [x * 255 for x in xs]
    extra = {}
    if optimizer:
        model.compile(optimizer=optimizer, loss="categorical_crossentropy", metrics=["accuracy"])
        target = np.eye(3, dtype="float32")[[0, 1, 2]]
        for _ in range(3):
            model.train_on_batch(xs[0], target)
    ys = model.predict(xs if len(xs) > 1 else xs[0], verbose=0)
    ys = ys if isinstance(ys, (list, tuple)) else [ys]
    stem = f"{kind}_{name}"
    if name != "functions":  # the calls are written the same way in both
        model.save(here / f"{stem}.keras", **({"save_format": "keras_v3"} if kind == "tf212" else {}))
    if kind not in ("keras30", "keras35"):
        model.save(here / f"{stem}.h5")
    if optimizer:  # what training goes on to
        for _ in range(2):
            model.train_on_batch(xs[0], target)
        extra = {f"w{i}": w for i, w in enumerate(model.get_weights())}
        extra["t0"] = target
    arrays = {f"x{i}": x for i, x in enumerate(xs)} | {f"y{i}": np.asarray(y) for i, y in enumerate(ys)}
    np.savez_compressed(here / f"{stem}.npz", **arrays, **extra)


keras.utils.set_random_seed(1)
save("image", image_model())
if kind not in ("keras30", "keras35"):
    save("volume", volume_model())
save("text", text_model())
save("chain", chain(), keras.optimizers.Adam(0.01))
if kind == "tf_keras":
    save("functions", functions_model())
