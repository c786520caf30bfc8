"""A second, small set of model files, written after the work on the first: python second.py FOLDER [CASE ...] (KERAS_BACKEND=tensorflow)."""

import os
import sys

ONLY = sys.argv[2:]
sys.argv[2:] = ["none"]  # keras3.py makes nothing of its own
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import case as book
import keras3
from keras3 import keras, layers, measured, names, ops, predict, refused
import numpy as np
from case import flat, ints, make_all, normal, put, scramble

book.CASES.clear()
case = book.case


@case
def vision_transformer(folder):
    i = keras.Input((16, 16, 3))
    p = layers.Dense(12)(layers.Reshape((16, -1))(ops.image.extract_patches(i, (4, 4))))
    p = p + layers.Embedding(16, 12)(ops.arange(16))
    for _ in range(2):
        n = layers.LayerNormalization()(p)
        p = layers.Add()([p, layers.MultiHeadAttention(2, 6)(n, n)])
        p = p + layers.Dense(12)(ops.gelu(layers.Dense(24)(layers.LayerNormalization()(p))))
    predict(folder, keras.Model(i, layers.Dense(5)(p[:, 0])), normal(3, 16, 16, 3))


@case
def two_towers(folder):
    u, v = keras.Input((), dtype="int32", name="user"), keras.Input((), dtype="int32", name="item")
    a, b = layers.Embedding(12, 6)(u), layers.Embedding(30, 6)(v)
    h = layers.Dense(6, activation="relu")
    m = keras.Model({"user": u, "item": v}, {"score": layers.Dot(1, normalize=True, name="dot")([h(a), b]), "bias": ops.sum(a * b, axis=-1, keepdims=True)})
    scramble(m)
    m.save(os.path.join(folder, "model.keras"))
    x = {"user": ints(12, 9), "item": ints(30, 9)}
    put(folder, x=x, want=flat(m.predict(x, verbose=0)), file="model.keras", do="predict")


@case
def autoencoder_h5(folder):
    i = keras.Input((8, 8, 2), name="image")
    h = layers.Conv2D(4, 3, strides=2, padding="same", activation="leaky_relu")(i)
    h = layers.BatchNormalization(scale=False)(h)
    o = layers.Conv2DTranspose(2, 3, strides=2, padding="same", activation="sigmoid")(h)
    m = keras.Model(i, o)
    m.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy(), metrics=[keras.metrics.MeanSquaredError(name="error")])
    x = np.random.RandomState(0).rand(16, 8, 8, 2).astype("float32")
    m.fit(x, x, verbose=0)
    m.save(os.path.join(folder, "model.h5"))
    scores = {k: float(v) for k, v in m.evaluate(x, x, batch_size=8, verbose=0, return_dict=True).items()}
    put(folder, x={"image": x}, y={"0": x}, want=flat(m.predict(x, verbose=0)), file="model.h5", do="evaluate", batch=8, scores=scores)


@case
def weighted_sum_over_time(folder):
    i = keras.Input((None, 3), name="series")
    h = layers.Bidirectional(layers.GRU(4, return_sequences=True))(layers.Conv1D(5, 3, padding="causal", activation="relu")(i))
    w = ops.softmax(layers.Dense(1)(h), axis=1)
    s = ops.sum(h * w, axis=1)
    m = keras.Model(i, layers.Dense(1)(ops.concatenate([s, ops.max(h, axis=1), ops.std(h, axis=1)], axis=-1)))
    predict(folder, m, normal(4, 11, 3))


@case
def fourier_mixing(folder):
    i = keras.Input((6, 8))
    h = i
    for _ in range(2):
        re, _ = ops.fft2((h, ops.zeros_like(h)))
        h = layers.LayerNormalization()(h + re * 0.1)
        h = h + layers.Dense(8, activation="gelu")(h)
    predict(folder, keras.Model(i, layers.GlobalAveragePooling1D()(h)), normal(3, 6, 8))


@case
def mixture_of_experts(folder):
    i = keras.Input((6,))
    gate = layers.Dense(4)(i)
    top, at = ops.top_k(gate, 2)
    w = ops.sum(ops.one_hot(at, 4) * ops.expand_dims(ops.softmax(top), -1), axis=1)
    experts = ops.stack([layers.Dense(5, activation="relu")(i) for _ in range(4)], axis=1)
    predict(folder, keras.Model(i, [ops.einsum("be,bed->bd", w, experts), ops.argmax(gate, axis=-1)]), normal(7, 6))


@case
def lora_inside_a_model_h5(folder):
    d = layers.Dense(6, activation="tanh")
    inner = keras.Sequential([keras.Input((4,)), d, layers.Dense(3)], name="inner")
    i = keras.Input((4,))
    m = keras.Model(i, layers.Dense(2)(inner(i)))
    scramble(m)
    d.enable_lora(2, lora_alpha=7)
    scramble(m, 3)
    predict(folder, m, normal(5, 4), ext=".h5", scrambled=False)


@case
def rare_metrics_and_adafactor(folder):
    i = keras.Input((5,))
    m = keras.Model(i, layers.Dense(4, activation="softmax")(layers.Dense(6, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), activity_regularizer="l2")(i)))
    m.compile(keras.optimizers.Adafactor(0.01), "categorical_crossentropy", metrics=["top_k_categorical_accuracy", keras.metrics.F1Score(average="macro"), keras.metrics.CategoricalCrossentropy()])
    measured(folder, m, normal(32, 5), np.eye(4, dtype="float32")[ints(4, 32)], do="train", first=1)


@case
def string_lookup_refused(folder):
    l = layers.StringLookup(vocabulary=["a", "b"])
    i = keras.Input((1,), dtype="string")
    refused(folder, keras.Model(i, layers.Embedding(4, 2)(l(i))), None, r"(?s)string.*(StringLookup|behind)")


@case
def float8_refused(folder):
    m = keras.Sequential([keras.Input((16,)), layers.Dense(16), layers.Dense(16)])
    m.quantize("float8")
    refused(folder, m, None, r"(?s)float8.*quantize")


@case
def gaussian_process_like(folder):
    i, j = keras.Input((5, 2), name="a"), keras.Input((5,), name="b")
    d = ops.sum(ops.square(ops.expand_dims(i, 2) - ops.expand_dims(i, 1)), axis=-1)
    k = ops.exp(-d) + 0.1 * ops.eye(5)
    m = keras.Model([i, j], [ops.solve(k, ops.expand_dims(j, -1)), ops.logdet(k), ops.trace(ops.cholesky(k), axis1=1, axis2=2)])
    predict(folder, m, [normal(3, 5, 2), normal(3, 5)], tol=1e-3)


make_all(ONLY)
