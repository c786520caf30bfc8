"""Files by tf.keras 2 (Keras 2.15 in TensorFlow 2.15) and by the Keras 2.3 package: python keras2.py FOLDER [CASE ...]"""

import os
import sys

import numpy as np

from case import CASES, case, flat, ints, make_all, normal, put, scramble

try:
    import tensorflow as tf
    if tf.__version__ < "2":
        import keras
        from keras import backend as K
        from keras import layers
        OLD = True
    else:
        from tensorflow import keras
        layers = keras.layers
        OLD = False
except ImportError:
    raise SystemExit("needs TensorFlow")


def names(model):
    return [t.name.split(":")[0] for t in model.inputs]


def predict(folder, model, xs, ext=".h5", tol=1e-4, scrambled=True, **more):
    if scrambled:
        scramble(model)
    model.save(os.path.join(folder, "model" + ext))
    x = dict(zip(names(model), xs if isinstance(xs, list) else [xs]))
    put(folder, x=x, want=flat(model.predict(xs)), file="model" + ext, do="predict", tol=tol, **more)


def goes_on(folder, model, xs, ys, ext=".h5", tol=1e-4, batch=8):
    model.fit(xs, ys, batch_size=batch, shuffle=False, verbose=0)
    model.save(os.path.join(folder, "model" + ext))
    again = keras.models.load_model(os.path.join(folder, "model" + ext))
    again.fit(xs, ys, batch_size=batch, shuffle=False, verbose=0)
    x = dict(zip(names(model), xs if isinstance(xs, list) else [xs]))
    y = {str(i): v for i, v in enumerate(ys if isinstance(ys, list) else [ys])}
    put(folder, x=x, y=y, want=flat(again.predict(xs)), file="model" + ext, do="train", tol=tol, epochs=1, batch=batch)


def small_cnn(folder, ext):
    m = keras.Sequential([layers.Conv2D(4, 3, activation="relu", input_shape=(12, 12, 1)), layers.BatchNormalization(), layers.MaxPooling2D(), layers.Dropout(0.3), layers.Flatten(), layers.Dense(5, activation="softmax")])
    m.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    predict(folder, m, normal(4, 12, 12, 1), ext)


def rnn(folder, ext):
    i = layers.Input((7,), name="tokens")
    h = layers.Embedding(20, 5, mask_zero=True)(i)
    h = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(h)
    h = layers.GRU(3, recurrent_activation="hard_sigmoid")(h)
    x = ints(20, 4, 7)
    x[:, 5:] = 0
    predict(folder, keras.models.Model(i, layers.Dense(2, activation="hard_sigmoid")(h)), x, ext)


if OLD:
    @case
    def keras23_cnn(folder):
        small_cnn(folder, ".h5")

    @case
    def keras23_rnn(folder):
        rnn(folder, ".h5")

    @case
    def keras23_goes_on(folder):
        m = keras.Sequential([layers.Dense(8, activation="relu", input_shape=(4,)), layers.Dense(1)])
        m.compile(keras.optimizers.RMSprop(lr=0.01), "mse")
        goes_on(folder, m, normal(32, 4), normal(32, 1, seed=1))

    @case
    def keras23_shared_merge(folder):
        a, b = layers.Input((4,), name="a"), layers.Input((4,), name="b")
        d = layers.Dense(3, activation="elu")
        predict(folder, keras.models.Model([a, b], layers.dot([d(a), layers.subtract([d(b), d(a)])], axes=-1, normalize=True)), [normal(5, 4), normal(5, 4, seed=1)])

    @case
    def keras23_highway_locally(folder):
        m = keras.Sequential([layers.LocallyConnected1D(3, 2, input_shape=(6, 2)), layers.GlobalAveragePooling1D()])
        m.save(os.path.join(folder, "model.h5"))
        put(folder, file="model.h5", do="refuse", match=r"LocallyConnected1D")

    @case
    def keras23_cudnn_weights(folder):
        m = keras.Sequential([layers.GRU(4, reset_after=True, recurrent_activation="sigmoid", input_shape=(5, 3)), layers.Dense(2)])
        predict(folder, m, normal(3, 5, 3))
else:
    @case
    def tf215_cnn_h5(folder):
        small_cnn(folder, ".h5")

    @case
    def tf215_cnn_keras(folder):
        small_cnn(folder, ".keras")

    @case
    def tf215_rnn_h5(folder):
        rnn(folder, ".h5")

    @case
    def tf215_rnn_keras(folder):
        rnn(folder, ".keras")

    @case
    def tf215_functions(folder):
        i = layers.Input((4, 6), name="x")
        h = tf.nn.relu(i) * 2.0 + tf.reduce_mean(i, axis=-1, keepdims=True)
        h = tf.concat([h, tf.transpose(tf.matmul(i, i, transpose_b=True), [0, 2, 1])], axis=-1)
        h = tf.reshape(h, [-1, 40])
        h = tf.where(h > 0, h, tf.exp(h) - 1.0)
        predict(folder, keras.Model(i, layers.Dense(2)(tf.clip_by_value(h, -1.0, 3.0))), normal(3, 4, 6))

    @case
    def tf215_functions_2(folder):
        i = layers.Input((5, 4), name="x")
        a, b = tf.split(i, 2, axis=-1)
        h = tf.stack([a, b], axis=1)[:, 0] + tf.squeeze(tf.expand_dims(b, 1), 1)
        h = tf.nn.l2_normalize(tf.pad(h, [[0, 0], [1, 0], [0, 0]]), axis=-1)
        h = tf.tile(tf.gather(h, [0, 2, 4], axis=1), [1, 2, 1])
        h = tf.math.log(tf.abs(h) + 1.0) / tf.sqrt(tf.reduce_sum(tf.square(h), axis=[1, 2], keepdims=True) + 1.0)
        predict(folder, keras.Model(i, keras.backend.mean(h, axis=1)), normal(3, 5, 4))

    @case
    def tf215_goes_on_adam(folder):
        i = layers.Input((4,), name="x")
        m = keras.Model(i, layers.Dense(1)(layers.Dense(8, activation="swish")(i)))
        m.compile(keras.optimizers.Adam(0.01, amsgrad=True), "mse")
        goes_on(folder, m, normal(32, 4), normal(32, 1, seed=1))

    @case
    def tf215_goes_on_legacy_sgd(folder):
        i = layers.Input((4,), name="x")
        m = keras.Model(i, layers.Dense(1)(layers.Dense(8, activation="tanh")(i)))
        m.compile(keras.optimizers.legacy.SGD(0.05, momentum=0.9, decay=1e-3), "mae")
        goes_on(folder, m, normal(32, 4), normal(32, 1, seed=1))

    @case
    def tf215_goes_on_keras_file(folder):
        i = layers.Input((4,), name="x")
        m = keras.Model(i, layers.Dense(3, activation="softmax")(layers.Dense(8, activation="relu")(i)))
        m.compile(keras.optimizers.AdamW(keras.optimizers.schedules.ExponentialDecay(0.02, 3, 0.9)), "sparse_categorical_crossentropy", metrics=["accuracy"])
        goes_on(folder, m, normal(32, 4), ints(3, 32), ext=".keras")

    @case
    def tf215_mobilenet(folder):
        m = keras.applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), classes=5)
        predict(folder, m, normal(2, 64, 64, 3), scrambled=False)

    @case
    def tf215_preprocessing(folder):
        i = layers.Input((10, 10, 3), name="image")
        h = layers.experimental.preprocessing.Rescaling(1 / 255.0)(i) if hasattr(layers, "experimental") and hasattr(layers.experimental, "preprocessing") else layers.Rescaling(1 / 255.0)(i)
        h = layers.RandomFlip()(h)
        h = layers.RandomZoom(0.1)(h)
        predict(folder, keras.Model(i, layers.GlobalMaxPooling2D()(layers.DepthwiseConv2D(3, depth_multiplier=2)(h))), np.abs(normal(2, 10, 10, 3)) * 50)

    @case
    def tf215_mha_layernorm(folder):
        i = layers.Input((6, 8), name="x")
        a = layers.MultiHeadAttention(2, 4)(i, i)
        h = layers.LayerNormalization(epsilon=1e-6)(layers.Add()([i, a]))
        predict(folder, keras.Model(i, layers.GlobalAveragePooling1D()(h)), normal(3, 6, 8))

    @case
    def tf215_lambda_refused(folder):
        i = layers.Input((6,), name="x")
        m = keras.Model(i, layers.Lambda(lambda t: t * 2, name="twice")(i))
        m.save(os.path.join(folder, "model.h5"))
        put(folder, file="model.h5", do="refuse", match=r"(?s)twice.*Lambda|Lambda.*twice")

    @case
    def tf215_weights_only_h5(folder):
        i = layers.Input((6,), name="x")
        m = keras.Model(i, layers.Dense(2, name="b")(layers.BatchNormalization(name="bn")(layers.Dense(4, name="a")(i))))
        scramble(m)
        m.save_weights(os.path.join(folder, "old_weights.h5"))
        open(os.path.join(folder, "model.json"), "w").write(m.to_json())
        x = normal(3, 6)
        put(folder, x={"x": x}, want=flat(m.predict(x)), file="model.json", do="program", program="json_weights", weights="old_weights.h5")

make_all(sys.argv[2:])
