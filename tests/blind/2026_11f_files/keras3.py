"""Files by real Keras 3 (backend JAX or TensorFlow): python keras3.py FOLDER [CASE ...]"""

import ast
import inspect
import os
import shutil
import sys
import textwrap

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np
from keras import layers, ops

from case import case, flat, ints, make_all, normal, put, scramble


def names(model):
    return [t.name.split(":")[0] for t in model.inputs]


def predict(folder, model, xs, ext=".keras", tol=1e-4, scrambled=True, **more):
    if scrambled:
        scramble(model)
    path = os.path.join(folder, "model" + ext)
    model.save(path)
    x = dict(zip(names(model), xs if isinstance(xs, list) else [xs]))
    want = model.predict(xs, batch_size=more.get("batch", 32), verbose=0)
    put(folder, x=x, want=flat(want), file="model" + ext, do="predict", tol=tol, **more)


def measured(folder, model, xs, ys, do="evaluate", tol=1e-4, epochs=1, batch=8, first=0, ext=".keras", **more):
    """xs, ys: arrays or lists. `train`: trains `first` epochs in Keras, saves, and goes on for `epochs` in Keras from the file."""
    if not first:
        scramble(model)
    else:
        model.fit(xs, ys, epochs=first, batch_size=batch, shuffle=False, verbose=0)
    path = os.path.join(folder, "model" + ext)
    model.save(path)
    again = keras.models.load_model(path, compile=True, safe_mode=False)
    x = dict(zip(names(model), xs if isinstance(xs, list) else [xs]))
    y = {str(i): v for i, v in enumerate(ys if isinstance(ys, list) else [ys])}
    if do == "train":
        again.fit(xs, ys, epochs=epochs, batch_size=batch, shuffle=False, verbose=0)
        want = flat(again.predict(xs, verbose=0))
        scores = {}
    else:
        want = flat(again.predict(xs, verbose=0))
        scores = {k: float(np.mean(v)) for k, v in again.evaluate(xs, ys, batch_size=batch, verbose=0, return_dict=True).items()}
    put(folder, x=x, y=y, want=want, file="model" + ext, do=do, tol=tol, epochs=epochs, batch=batch, scores=scores, **more)


def refused(folder, model, xs, match, ext=".keras"):
    path = os.path.join(folder, "model" + ext)
    model.save(path)
    x = {"x": xs} if xs is not None else {}
    put(folder, x=x, file="model" + ext, do="refuse", match=match)


# ---- graphs ----

@case
def siamese_shared(folder):
    base = keras.Sequential([layers.Input((6,)), layers.Dense(8, activation="gelu"), layers.BatchNormalization(), layers.Dense(4)], name="encoder")
    a, b = keras.Input((6,), name="left"), keras.Input((6,), name="right")
    d = ops.sqrt(ops.sum(ops.square(base(a) - base(b)), axis=1, keepdims=True) + 1e-6)
    m = keras.Model([a, b], layers.Dense(1, activation="sigmoid")(d))
    m.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    measured(folder, m, [normal(24, 6), normal(24, 6, seed=1)], ints(2, 24, 1).astype("float32"))


@case
def dict_in_dict_out(folder):
    i = {"age": keras.Input((1,), name="age"), "kind": keras.Input((1,), dtype="int32", name="kind")}
    h = layers.Concatenate()([i["age"], layers.Flatten()(layers.Embedding(5, 3)(i["kind"]))])
    h = layers.Dense(8, activation="relu")(h)
    o = {"price": layers.Dense(1, name="price")(h), "sold": layers.Dense(1, activation="sigmoid", name="sold")(h)}
    m = keras.Model(i, o)
    m.compile("adam", {"price": "mse", "sold": "binary_crossentropy"}, metrics={"price": ["mae"], "sold": ["accuracy"]})
    scramble(m)
    x = {"age": normal(16, 1), "kind": ints(5, 16, 1)}
    y = {"price": normal(16, 1, seed=2), "sold": ints(2, 16, 1, seed=3).astype("float32")}
    m.save(os.path.join(folder, "model.keras"))
    scores = {k: float(v) for k, v in m.evaluate(x, y, batch_size=8, verbose=0, return_dict=True).items()}
    put(folder, x=x, y=y, want=flat(m.predict(x, verbose=0)), file="model.keras", do="evaluate", batch=8, scores=scores)


@case
def dict_out_trained_on(folder):
    i = keras.Input((4,), name="x")
    h = layers.Dense(8, activation="tanh")(i)
    m = keras.Model(i, {"b": layers.Dense(1, name="b")(h), "a": layers.Dense(2, name="a")(h)})
    m.compile(keras.optimizers.Adam(0.01), {"a": "mae", "b": "mse"}, loss_weights={"a": 0.3, "b": 2.0})
    x = normal(32, 4)
    y = {"b": normal(32, 1, seed=1), "a": normal(32, 2, seed=2)}
    m.fit(x, y, batch_size=8, shuffle=False, verbose=0)
    m.save(os.path.join(folder, "model.keras"))
    again = keras.models.load_model(os.path.join(folder, "model.keras"))
    again.fit(x, y, batch_size=8, shuffle=False, verbose=0)
    put(folder, x={"x": x}, y=y, want=flat(again.predict(x, verbose=0)), file="model.keras", do="train", batch=8, epochs=1)


@case
def nested_three_deep(folder):
    inner = keras.Sequential([layers.Dense(5, activation="swish"), layers.LayerNormalization()], name="inner")
    i = keras.Input((4,))
    mid = keras.Model(i, layers.Add()([inner(i), layers.Dense(5)(i)]), name="mid")
    outer = keras.Sequential([keras.Input((3, 4)), layers.TimeDistributed(mid), layers.GlobalMaxPooling1D(), layers.Dense(2, activation="softmax")])
    predict(folder, outer, normal(5, 3, 4))


@case
def transfer_frozen_backbone(folder):
    back = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(4, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(6.0), layers.MaxPooling2D()], name="backbone")
    back.trainable = False
    i = keras.Input((16, 16, 3))
    h = back(i, training=False)
    h = layers.GlobalAveragePooling2D()(h)
    m = keras.Model(i, layers.Dense(3)(layers.Dropout(0.0)(h)))
    m.compile(keras.optimizers.RMSprop(1e-2, momentum=0.9, centered=True), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    measured(folder, m, normal(24, 16, 16, 3), ints(3, 24), do="train", first=1)


@case
def outputs_twice_and_input_through(folder):
    i = keras.Input((3,), name="x")
    d = layers.Dense(2)(i)
    m = keras.Model(i, [d, i, d, [layers.Activation("hard_sigmoid")(d)]])
    m = keras.Model(i, [d, i, layers.Activation("hard_sigmoid")(d)])
    predict(folder, m, normal(4, 3))


@case
def unbuilt_sequential(folder):
    m = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    m.compile("sgd", "mse")
    x = normal(16, 7)
    m.fit(x, normal(16, 1), verbose=0)
    m.save(os.path.join(folder, "model.keras"))
    put(folder, x={"x": x}, want=flat(m.predict(x, verbose=0)), file="model.keras", do="predict")


@case
def unet(folder):
    i = keras.Input((None, None, 2))
    skips, h = [], i
    for f in (4, 6):
        h = layers.SeparableConv2D(f, 3, padding="same", activation="mish")(h)
        h = layers.GroupNormalization(2)(h)
        skips.append(h)
        h = layers.Conv2D(f, 2, strides=2)(h)
    for f, s in zip((6, 4), reversed(skips)):
        h = layers.Conv2DTranspose(f, 3, strides=2, padding="same", output_padding=1)(h)
        h = layers.Concatenate()([h, s])
        h = layers.SpatialDropout2D(0.2)(h)
    h = layers.UpSampling2D(2, interpolation="bilinear")(h)
    predict(folder, keras.Model(i, layers.Conv2D(1, 1, activation="sigmoid")(h)), normal(2, 16, 12, 2))


@case
def channels_first_net(folder):
    i = keras.Input((3, 12, 12))
    h = layers.Conv2D(4, 3, strides=2, padding="same", data_format="channels_first")(i)
    h = layers.BatchNormalization(axis=1)(h)
    h = layers.PReLU(shared_axes=[2, 3])(h)
    h = layers.DepthwiseConv2D(3, data_format="channels_first")(h)
    h = layers.AveragePooling2D(2, data_format="channels_first")(h)
    predict(folder, keras.Model(i, layers.Dense(2)(layers.Flatten(data_format="channels_first")(h))), normal(3, 3, 12, 12))


@case
def wavenet(folder):
    i = keras.Input((32, 2))
    h, out = layers.Conv1D(4, 2, padding="causal")(i), []
    for d in (1, 2, 4):
        g = layers.Multiply()([layers.Conv1D(4, 2, padding="causal", dilation_rate=d, activation="tanh")(h),
                               layers.Conv1D(4, 2, padding="causal", dilation_rate=d, activation="sigmoid")(h)])
        out.append(layers.Conv1D(4, 1)(g))
        h = layers.Add()([h, out[-1]])
    h = layers.Activation("relu")(layers.Add()(out))
    predict(folder, keras.Model(i, layers.Conv1D(3, 1, activation="log_softmax")(h)), normal(2, 32, 2))


# ---- recurrent, attention ----

@case
def bidirectional_stack(folder):
    i = keras.Input((None,), dtype="int32")
    h = layers.Embedding(20, 6, mask_zero=True)(i)
    h = layers.Bidirectional(layers.LSTM(4, return_sequences=True), merge_mode="sum")(h)
    h = layers.Bidirectional(layers.GRU(3, reset_after=False, return_sequences=True), backward_layer=layers.LSTM(3, return_sequences=True, go_backwards=True))(h)
    h = layers.SimpleRNN(4, activation="relu")(h)
    x = ints(20, 6, 9)
    x[:, 5:] = 0
    predict(folder, keras.Model(i, layers.Dense(2)(h)), x)


@case
def seq2seq_states(folder):
    e, d = keras.Input((5, 3), name="encoder"), keras.Input((4, 2), name="decoder")
    _, h, c = layers.LSTM(6, return_state=True)(e)
    s, h2, c2 = layers.LSTM(6, return_sequences=True, return_state=True, recurrent_activation="hard_sigmoid")(d, initial_state=[h, c])
    m = keras.Model([e, d], [layers.TimeDistributed(layers.Dense(3, activation="softmax"))(s), h2, c2])
    predict(folder, m, [normal(3, 5, 3), normal(3, 4, 2, seed=1)])


@case
def rnn_of_cells(folder):
    i = keras.Input((6, 3))
    h = layers.RNN([layers.LSTMCell(4), layers.GRUCell(5, reset_after=False), layers.SimpleRNNCell(3)], return_sequences=True)(i)
    h = layers.RNN(layers.StackedRNNCells([layers.GRUCell(4), layers.GRUCell(2)]), go_backwards=True)(h)
    predict(folder, keras.Model(i, h), normal(3, 6, 3))


@case
def bidirectional_states(folder):
    i = keras.Input((6, 3))
    o, fh, fc, bh, bc = layers.Bidirectional(layers.LSTM(4, return_state=True, return_sequences=True), merge_mode="ave")(i)
    predict(folder, keras.Model(i, [o, layers.Concatenate()([fh, bh]), fc, bc]), normal(2, 6, 3))


@case
def stateful_lstm(folder):
    i = keras.Input(batch_shape=(4, 5, 2))
    m = keras.Model(i, layers.Dense(1)(layers.LSTM(3, stateful=True)(i)))
    scramble(m)
    m.save(os.path.join(folder, "model.keras"))
    m = keras.models.load_model(os.path.join(folder, "model.keras"))
    x = normal(4, 5, 2)
    put(folder, x={names(m)[0]: x}, want=flat(m.predict(x, batch_size=4, verbose=0)), file="model.keras", do="predict", batch=4)


@case
def conv_lstm(folder):
    i = keras.Input((4, 8, 8, 1))
    h = layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(i)
    h = layers.TimeDistributed(layers.BatchNormalization())(h)
    h = layers.ConvLSTM2D(2, 3)(h)
    predict(folder, keras.Model(i, layers.GlobalAveragePooling2D()(h)), normal(2, 4, 8, 8, 1))


@case
def gpt_block(folder):
    i = keras.Input((8,), dtype="int32")
    h = layers.Embedding(30, 12)(i) + layers.Embedding(8, 12)(ops.arange(8))
    for _ in range(2):
        n = layers.LayerNormalization(epsilon=1e-5)(h)
        h = h + layers.MultiHeadAttention(3, 4, dropout=0.1)(n, n, use_causal_mask=True)
        n = layers.LayerNormalization(epsilon=1e-5)(h)
        h = h + layers.Dense(12)(layers.Dense(24, activation=lambda_free_gelu())(n))
    m = keras.Model(i, layers.Dense(30)(h))
    m.compile(keras.optimizers.AdamW(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["sparse_categorical_accuracy"])
    measured(folder, m, ints(30, 16, 8), ints(30, 16, 8, seed=1))


def lambda_free_gelu():
    return "gelu"


@case
def llama_block(folder):
    seq, dim, heads = 6, 8, 2
    i = keras.Input((seq,), dtype="int32")
    emb = layers.ReversibleEmbedding(20, dim)
    h = emb(i)
    pos = ops.expand_dims(ops.arange(seq, dtype="float32"), -1)
    angle = pos * ops.exp(ops.arange(0, dim, 2, dtype="float32") * (-np.log(10000.0) / dim))
    sin, cos = ops.repeat(ops.sin(angle), 2, axis=-1), ops.repeat(ops.cos(angle), 2, axis=-1)
    n = layers.RMSNormalization()(h)
    rot = ops.reshape(ops.stack([-n[..., 1::2], n[..., ::2]], axis=-1), (-1, seq, dim))
    r = n * cos + rot * sin
    h = h + layers.GroupQueryAttention(dim // heads, heads, 1, use_bias=False)(r, n, use_causal_mask=True)
    n = layers.RMSNormalization()(h)
    h = h + layers.Dense(dim, use_bias=False)(ops.silu(layers.Dense(16, use_bias=False)(n)) * layers.Dense(16, use_bias=False)(n))
    predict(folder, keras.Model(i, emb(h, reverse=True)), ints(20, 3, seq))


@case
def attention_with_masks(folder):
    q, v = keras.Input((5,), dtype="int32", name="query"), keras.Input((7,), dtype="int32", name="value")
    e = layers.Embedding(15, 6, mask_zero=True)
    eq, ev = e(q), e(v)
    a, scores = layers.Attention(use_scale=True, score_mode="concat")([eq, ev], return_attention_scores=True)
    b = layers.AdditiveAttention()([eq, ev, ev])
    h = layers.GlobalAveragePooling1D()(layers.Concatenate()([a, b]))
    xq, xv = ints(15, 4, 5), ints(15, 4, 7, seed=1)
    xv[:, 4:] = 0
    xq[:, 3:] = 0
    predict(folder, keras.Model([q, v], [layers.Dense(2)(h), scores]), [xq, xv])


@case
def cross_attention_scores(folder):
    q, v = keras.Input((4, 6), name="q"), keras.Input((5, 6), name="v")
    mask = keras.Input((4, 5), dtype="bool", name="mask")
    o, s = layers.MultiHeadAttention(2, 3, value_dim=5, output_shape=7)(q, v, attention_mask=mask, return_attention_scores=True)
    predict(folder, keras.Model([q, v, mask], [o, s]), [normal(2, 4, 6), normal(2, 5, 6, seed=1), ints(2, 2, 4, 5).astype(bool) | np.eye(4, 5, dtype=bool)])


@case
def masking_timedistributed(folder):
    i = keras.Input((6, 3))
    h = layers.Masking(-1.0)(i)
    h = layers.TimeDistributed(layers.Dense(4, activation="elu"))(h)
    h = layers.GRU(5, return_sequences=True, zero_output_for_mask=True)(h)
    h = layers.LSTM(3, dropout=0.2, recurrent_dropout=0.1)(h)
    x = normal(4, 6, 3)
    x[:, 4:] = -1
    predict(folder, keras.Model(i, h), x)


# ---- preprocessing ----

@case
def tabular_preprocessing(folder):
    num, cat, year = keras.Input((3,), name="num"), keras.Input((1,), dtype="int64", name="cat"), keras.Input((1,), name="year")
    n = layers.Normalization()
    n.adapt(normal(50, 3) * 4 + 2)
    d = layers.Discretization(num_bins=4, output_mode="one_hot")
    d.adapt(normal(100, 1))
    k = layers.IntegerLookup(output_mode="multi_hot", num_oov_indices=2)
    k.adapt(np.array([[7], [9], [9], [30]]))
    h = layers.Concatenate()([n(num), layers.Flatten()(d(year)), k(cat), layers.CategoryEncoding(40, output_mode="one_hot")(cat)])
    m = keras.Model([num, cat, year], layers.Dense(1)(h))
    predict(folder, m, [normal(8, 3), np.array([[7], [9], [30], [2], [3], [9], [7], [38]]), normal(8, 1)], scrambled=False)


@case
def image_preprocessing(folder):
    i = keras.Input((20, 24, 3))
    h = layers.Resizing(16, 16, crop_to_aspect_ratio=True)(i)
    h = layers.Rescaling(1 / 127.5, -1)(h)
    h = layers.RandomFlip("horizontal")(h)
    h = layers.RandomRotation(0.1)(h)
    h = layers.CenterCrop(12, 12)(h)
    h = layers.RandomContrast(0.2)(h)
    h = layers.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0])(h)
    predict(folder, keras.Model(i, layers.Conv2D(2, 3)(h)), np.abs(normal(2, 20, 24, 3)) * 60)


@case
def text_vectorization_refused(folder):
    t = layers.TextVectorization(max_tokens=20, output_sequence_length=4)
    t.adapt(["a cat sat", "a dog ran"])
    i = keras.Input((1,), dtype="string")
    refused(folder, keras.Model(i, layers.Dense(1)(layers.Flatten()(layers.Embedding(20, 2)(t(i))))), None, "TextVectorization.*string|string.*TextVectorization")


@case
def audio_mel(folder):
    i = keras.Input((800,))
    h = layers.MelSpectrogram(fft_length=128, sequence_stride=64, sequence_length=128, sampling_rate=8000, num_mel_bins=16, max_freq=4000)(i)
    h = layers.Reshape((16, -1, 1))(h)
    predict(folder, keras.Model(i, layers.GlobalAveragePooling2D()(layers.Conv2D(3, 3)(h))), normal(2, 800), tol=1e-3)


# ---- keras.ops in graphs ----

def graph(folder, f, *arrays, tol=1e-4):
    """One file for each result of f: what Keras itself cannot make or run is no case."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(f)))
    results = tree.body[0].body[-1].value.elts
    outside = {**globals(), **inspect.getclosurevars(f).nonlocals}
    for k, result in enumerate(results):
        tree.body[0].body[-1].value = result
        here = dict(outside)
        exec(compile(ast.fix_missing_locations(tree), "graph", "exec"), here)
        ins = [keras.Input(a.shape[1:], dtype=str(a.dtype), name="in%d" % j) for j, a in enumerate(arrays)]
        sub = folder + "__%02d" % k
        os.makedirs(sub, exist_ok=True)
        try:
            m = keras.Model(ins, here["f"](*ins))
            predict(sub, m, list(arrays), tol=tol, scrambled=False, batch=len(arrays[0]), text=ast.unparse(result))
        except Exception as e:
            shutil.rmtree(sub)
            print("  not made:", ast.unparse(result)[:70], "|", str(e)[:90].replace("\n", " "))
    shutil.rmtree(folder)


@case
def ops_elementwise(folder):
    def f(x, y):
        a = ops.abs(x) + 0.5
        return [ops.logaddexp(x, y), ops.hypot(x, y), ops.erf(x), ops.expm1(x), ops.log1p(a), ops.log2(a), ops.log10(a), ops.arctan2(x, y),
                ops.sinh(x), ops.arcsinh(x), ops.arccosh(a + 1), ops.arctanh(x * 0.1), ops.rsqrt(a), ops.reciprocal(a), ops.sign(x), ops.trunc(x * 3),
                ops.nan_to_num(x / ops.floor(a)), ops.copysign(x, y) if hasattr(ops, "copysign") else x, ops.deg2rad(x), ops.fmod(x, a) if hasattr(ops, "fmod") else x,
                ops.cbrt(x), ops.exp2(x), ops.heaviside(x, y) if hasattr(ops, "heaviside") else x, ops.ldexp(x, ops.cast(ops.sign(y), "int32")) if hasattr(ops, "ldexp") else x,
                ops.logaddexp2(x, y) if hasattr(ops, "logaddexp2") else x, ops.sinc(x) if hasattr(ops, "sinc") else x, ops.signbit(x) if hasattr(ops, "signbit") else x]
    graph(folder, f, normal(4, 5), normal(4, 5, seed=1))


@case
def ops_shapes(folder):
    def f(x):
        return [ops.swapaxes(x, 1, 2), ops.moveaxis(x, 1, -1), ops.roll(x, 2, axis=1), ops.flip(x, axis=2), ops.tile(x, (1, 2, 1)), ops.repeat(x, 3, axis=1),
                ops.pad(x, ((0, 0), (1, 2), (0, 1)), mode="reflect"), ops.rot90(x, axes=(1, 2)), ops.diff(x, axis=1), ops.ravel(x[0]), ops.squeeze(ops.expand_dims(x, 1), 1),
                ops.split(x, 2, axis=1)[1], ops.array_split(x, 3, axis=1)[0], ops.hstack([x, x]), ops.concatenate([x, x * 2], axis=-1), ops.unstack(x, axis=1)[1],
                ops.transpose(x, (0, 2, 1)), ops.tril(x), ops.triu(x, 1), ops.diagonal(x, axis1=1, axis2=2), ops.broadcast_to(x[:, None], (3, 2, 4, 5)),
                ops.fliplr(x) if hasattr(ops, "fliplr") else x, ops.slice(x, (0, 1, 2), (3, 2, 2)), ops.slice_update(x, (0, 0, 0), ops.zeros((3, 1, 1)))]
    graph(folder, f, normal(3, 4, 5))


@case
def ops_reductions(folder):
    def f(x):
        return [ops.var(x, axis=1), ops.std(x, axis=(1, 2)), ops.logsumexp(x, axis=2), ops.prod(x, axis=1), ops.any(x > 0, axis=1), ops.all(x > -1, axis=2), ops.argmax(x, axis=1),
                ops.argmin(x, axis=2, keepdims=True), ops.max(x, axis=1), ops.cumsum(x, axis=1), ops.cumprod(x, axis=2), ops.count_nonzero(x > 0, axis=1), ops.quantile(x, 0.3, axis=1),
                ops.median(x, axis=2), ops.norm(x, axis=2), ops.norm(x, ord=1, axis=(1, 2)), ops.average(x, axis=1, weights=ops.arange(1.0, 5.0)), ops.amax(x, axis=2) if hasattr(ops, "amax") else x,
                ops.nanmean(x, axis=1) if hasattr(ops, "nanmean") else x, ops.nansum(x, axis=1) if hasattr(ops, "nansum") else x, ops.ptp(x, axis=1) if hasattr(ops, "ptp") else x,
                ops.percentile(x, 40, axis=1) if hasattr(ops, "percentile") else x, ops.nanmax(x, axis=1) if hasattr(ops, "nanmax") else x, ops.nanstd(x, axis=1) if hasattr(ops, "nanstd") else x]
    graph(folder, f, normal(3, 4, 5))


@case
def ops_order(folder):
    def f(x, n):
        top, where = ops.top_k(x, 2)
        return [top, where, ops.sort(x, axis=1), ops.argsort(x, axis=1), ops.searchsorted(ops.convert_to_tensor([-1.0, 0.0, 1.0]), x), ops.one_hot(n, 6), ops.multi_hot(n, 6),
                ops.take(x, [0, 2], axis=1), ops.take_along_axis(x, n, axis=1), ops.digitize(x, [-1.0, 0.0, 1.0]), ops.in_top_k(n[:, 0], x, 2), ops.bincount(n, minlength=6),
                ops.segment_sum(x, ops.convert_to_tensor([0, 0, 1, 2]), num_segments=3), ops.isin(n, [1, 3]) if hasattr(ops, "isin") else n, ops.argpartition(x, 2)[:, :1] * 0, ops.where(x > 0, x, -1.0)]
    graph(folder, f, normal(4, 5), ints(5, 4, 3))


@case
def ops_linalg(folder):
    def f(x, v):
        s = ops.matmul(x, ops.transpose(x, (0, 2, 1))) + 4 * ops.eye(3)
        return [ops.cholesky(s), ops.inv(s), ops.det(s), ops.solve(s, v[..., None]), ops.qr(s)[1] ** 2, ops.svd(s, compute_uv=False), ops.eigh(s)[0], ops.outer(v[0], v[1]), ops.kron(v, v) if hasattr(ops, "kron") else v,
                ops.tensordot(x, x[0], axes=[[1], [0]]), ops.cross(v, v[:, ::-1]), ops.trace(s, axis1=1, axis2=2), ops.einsum("bij,bj->bi", s, v), ops.dot(x, x[0]), ops.vdot(v, v), ops.inner(v, v) if hasattr(ops, "inner") else v,
                ops.slogdet(s)[1] if hasattr(ops, "slogdet") else v, ops.lu_factor(s)[1], ops.solve_triangular(ops.tril(s), v[..., None], lower=True), ops.pinv(x) if hasattr(ops, "pinv") else v, ops.matrix_power(s, 2) if hasattr(ops, "matrix_power") else v]
    graph(folder, f, normal(2, 3, 3), normal(2, 3, seed=1), tol=1e-3)


@case
def ops_images(folder):
    def f(x):
        return [ops.image.resize(x, (6, 10), interpolation="bicubic"), ops.image.resize(x, (4, 4), antialias=True), ops.image.rgb_to_grayscale(x), ops.image.crop_images(x, top_cropping=1, left_cropping=2, target_height=4, target_width=4),
                ops.image.pad_images(x, 1, 2, target_height=12, target_width=12), ops.image.extract_patches(x, (4, 4)), ops.image.rgb_to_hsv(x), ops.image.hsv_to_rgb(x),
                ops.image.gaussian_blur(x, (3, 3), (1.0, 1.0)), ops.image.affine_transform(x, ops.convert_to_tensor([[1.0, 0.1, 0.5, -0.1, 1.0, 0.3, 0.0, 0.0]])[0])]
    graph(folder, f, np.random.RandomState(0).rand(2, 8, 8, 3).astype("float32"), tol=1e-3)


@case
def ops_nn(folder):
    k = normal(3, 3, 2, 4)
    def f(x, a):
        mean, var = ops.moments(x, axes=[0, 1, 2])
        return [ops.conv(x, k, strides=2, padding="same"), ops.depthwise_conv(x, k[..., :1]), ops.average_pool(x, 2, padding="same"), ops.max_pool(x, 3, 1), ops.normalize(a, axis=-1, order=1),
                ops.batch_normalization(x, mean, var, -1), ops.dot_product_attention(a[:, :, None], a[:, :, None], a[:, :, None], is_causal=True), ops.glu(a), ops.hard_tanh(a), ops.sparsemax(a),
                ops.soft_shrink(a), ops.threshold(a, 0.2, -1.0), ops.rms_normalization(a), ops.conv_transpose(x, normal(2, 2, 3, 2), 2, padding="same"), ops.squareplus(a), ops.leaky_relu(a, 0.3), ops.polar(a, a).real if False else a,
                ops.binary_crossentropy(ops.sigmoid(a), ops.sigmoid(a * 2)), ops.categorical_crossentropy(ops.softmax(a), ops.softmax(a + 1), axis=-1), ops.pixel_shuffle(x, 1) if hasattr(ops, "pixel_shuffle") else a,
                ops.separable_conv(x, k[..., :1], normal(1, 1, 2, 3)), ops.unfold(ops.transpose(x, (0, 3, 1, 2)), 2) if hasattr(ops, "unfold") else a]
    graph(folder, f, normal(2, 6, 6, 2), normal(2, 4, 6, seed=3))


@case
def ops_signals(folder):
    def f(x):
        re, im = ops.rfft(x, 16)
        r2, i2 = ops.fft((x, x * 0.5))
        s = ops.stft(x, 8, 4, 8)
        return [re, im, r2, i2, ops.irfft((re, im), 16), ops.extract_sequences(x, 4, 2), s[0], ops.convolve(x[0], x[1]) if False else x, ops.blackman(8) * x[:, :8], ops.kaiser(8, 3.0) * x[:, :8], ops.hamming(8) * x[:, :8], ops.bartlett(8) * x[:, :8]]
    graph(folder, f, normal(3, 16), tol=1e-3)


@case
def ops_logic(folder):
    def f(x, n):
        return [ops.where(ops.logical_and(x > 0, ops.logical_not(x > 1)), x, ops.zeros_like(x)), ops.bitwise_and(n, 5), ops.bitwise_xor(n, 3), ops.left_shift(n, 2), ops.floor_divide(n, 2), ops.mod(n, 3), ops.isclose(x, x + 1e-9),
                ops.clip(x, -0.5, 0.5), ops.maximum(x, 0.1), ops.logical_xor(x > 0, x > 1), ops.isfinite(x), ops.equal(n, 2), ops.divide_no_nan(x, ops.relu(x)), ops.power(ops.abs(x), 1.5), ops.cast(x, "int32"),
                ops.gcd(n, 4) if hasattr(ops, "gcd") else n, ops.select([x > 1, x > 0], [x, x * 2], 0.0), ops.full_like(x, 3), ops.bitwise_not(n), ops.divmod(n, 3)[1] if hasattr(ops, "divmod") else n, ops.invert(n) if hasattr(ops, "invert") else n,
                ops.lcm(n, 6) if hasattr(ops, "lcm") else n, ops.nextafter(x, 0.0) if hasattr(ops, "nextafter") else n, ops.saturate_cast(x * 100, "uint8"), ops.view_as_real(ops.view_as_complex(ops.reshape(x, (4, 3, 2)))) if hasattr(ops, "view_as_complex") else n]
    graph(folder, f, normal(4, 6), ints(8, 4, 3))


@case
def ops_creation(folder):
    def f(x):
        g = ops.meshgrid(ops.arange(3.0), ops.linspace(0.0, 1.0, 4))
        return [x[0] @ ops.eye(4), x + g[0][0, 0], x * ops.logspace(0.0, 1.0, 4), x + ops.tri(3, 4)[0] if hasattr(ops, "tri") else x, x * ops.identity(4)[0], x + ops.ones((4,)), x + ops.vander(x[0])[0] if hasattr(ops, "vander") else x, ops.shape(x)[1] * x, ops.vectorize(ops.sin)(x) if False else x]
    graph(folder, f, normal(3, 4))


# ---- what files hold beside layers ----

@case
def lambda_refused(folder):
    i = keras.Input((3,))
    refused(folder, keras.Model(i, layers.Lambda(lambda x: x * 2, name="twice")(i)), None, r"(?s)twice.*Lambda|Lambda.*twice")


@keras.saving.register_keras_serializable("shop")
class Scale(layers.Layer):
    def __init__(self, by=2.0, **kw):
        super().__init__(**kw)
        self.by = by

    def call(self, x):
        return x * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


@keras.saving.register_keras_serializable("shop")
def my_loss(y, p):
    return ops.mean(ops.abs(y - p), axis=-1)


@keras.saving.register_keras_serializable("shop")
class Net(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.d = layers.Dense(2)

    def call(self, x):
        return self.d(x)


@case
def custom_layer_refused(folder):
    i = keras.Input((3,))
    refused(folder, keras.Model(i, layers.Dense(1)(Scale(name="my_scale")(i))), None, r"(?s)(Scale.*regist|regist.*Scale)")


@case
def subclassed_model_refused(folder):
    m = Net()
    m(normal(2, 3))
    refused(folder, m, None, r"(?s)Net")


@case
def lambda_activation_refused(folder):
    i = keras.Input((3,))
    refused(folder, keras.Model(i, layers.Dense(1, activation=lambda x: x * 2, name="odd")(i)), None, r"(?s)odd|lambda")


@case
def custom_loss_predicts(folder):
    i = keras.Input((3,))
    m = keras.Model(i, layers.Dense(1)(i))
    m.compile("adam", my_loss, metrics=["mae"])
    predict(folder, m, normal(4, 3), says=r"my_loss")


@case
def mixed_bfloat16(folder):
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        i = keras.Input((8,))
        m = keras.Model(i, layers.Dense(2, dtype="float32")(layers.LayerNormalization()(layers.Dense(16, activation="relu")(i))))
        predict(folder, m, normal(4, 8), tol=5e-2)
    finally:
        keras.config.set_dtype_policy("float32")


@case
def mixed_float16_goes_on(folder):
    keras.config.set_dtype_policy("mixed_float16")
    try:
        i = keras.Input((8,))
        m = keras.Model(i, layers.Dense(1, dtype="float32")(layers.Dense(16, activation="tanh")(i)))
        m.compile(keras.optimizers.Adam(1e-2), "mse")
        measured(folder, m, normal(32, 8), normal(32, 1, seed=1), do="train", first=2, tol=1e-2)
    finally:
        keras.config.set_dtype_policy("float32")


@case
def float64_layers(folder):
    i = keras.Input((8,), dtype="float64")
    m = keras.Model(i, layers.Dense(2, dtype="float64")(layers.Dense(16, activation="softsign", dtype="float64")(i)))
    predict(folder, m, normal(4, 8).astype("float64"))


def quantized(mode):
    i = keras.Input((8,), dtype="int32")
    h = layers.Embedding(30, 16)(i)
    h = layers.EinsumDense("abc,cd->abd", (None, 12), bias_axes="d", activation="relu")(h)
    m = keras.Model(i, layers.Dense(4)(layers.GlobalAveragePooling1D()(h)))
    scramble(m)
    m.quantize(mode)
    return m


@case
def int8_quantized(folder):
    predict(folder, quantized("int8"), ints(30, 4, 8), tol=2e-3, scrambled=False, or_refuse=r"(?si)quantiz.*int8|int8.*quantiz")


@case
def int4_quantized(folder):
    predict(folder, quantized("int4"), ints(30, 4, 8), tol=2e-3, scrambled=False, or_refuse=r"(?si)quantiz.*int4|int4.*quantiz")


def lora():
    i = keras.Input((6,), dtype="int32")
    e, d, q = layers.Embedding(20, 8), layers.Dense(6, activation="relu"), layers.EinsumDense("abc,cd->abd", (None, 7))
    m = keras.Model(i, layers.Dense(2)(layers.GlobalAveragePooling1D()(q(d(e(i))))))
    scramble(m)
    for l in (e, d, q):
        l.enable_lora(3)
    return scramble(m, 2)


@case
def lora_keras(folder):
    predict(folder, lora(), ints(20, 4, 6), scrambled=False)


@case
def lora_h5(folder):
    predict(folder, lora(), ints(20, 4, 6), ext=".h5", scrambled=False)


@case
def ema_goes_on(folder):
    i = keras.Input((5,))
    m = keras.Model(i, layers.Dense(1)(layers.Dense(8, activation="relu", kernel_regularizer="l2", kernel_constraint=keras.constraints.MaxNorm(1.5))(i)))
    m.compile(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, use_ema=True, ema_overwrite_frequency=3, weight_decay=1e-3, clipnorm=1.0), "huber")
    measured(folder, m, normal(40, 5), normal(40, 1, seed=1), do="train", first=2)


@case
def accumulation_goes_on(folder):
    i = keras.Input((5,))
    m = keras.Model(i, layers.Dense(3, activation="softmax")(layers.Dense(8, activation="relu")(i)))
    m.compile(keras.optimizers.Adam(0.02, gradient_accumulation_steps=3, global_clipnorm=0.5), keras.losses.CategoricalCrossentropy(label_smoothing=0.1))
    measured(folder, m, normal(40, 5), np.eye(3, dtype="float32")[ints(3, 40)], do="train", first=1)


@case
def schedules_go_on(folder):
    i = keras.Input((5,))
    m = keras.Model(i, layers.Dense(1)(layers.Dense(8, activation="relu")(i)))
    m.compile(keras.optimizers.Lion(keras.optimizers.schedules.CosineDecay(1e-3, 30, alpha=0.1, warmup_target=1e-2, warmup_steps=5)), "log_cosh")
    measured(folder, m, normal(40, 5), normal(40, 1, seed=1), do="train", first=1)


@case
def losses_of_every_kind(folder):
    i = keras.Input((5,))
    kinds = ["mse", "mae", "mape", "msle", "poisson", "kl_divergence", "log_cosh", "huber", "squared_hinge", "hinge", "cosine_similarity", "binary_focal_crossentropy", "dice", "tversky", "categorical_hinge", "categorical_focal_crossentropy"]
    outs = [layers.Dense(3, activation="softmax", name="o%d" % k)(i) for k in range(len(kinds))]
    m = keras.Model(i, outs)
    m.compile("sgd", kinds)
    y = [np.eye(3, dtype="float32")[ints(3, 16, seed=k)] for k in range(len(kinds))]
    measured(folder, m, normal(16, 5), y, tol=1e-3)


@case
def metrics_of_every_kind(folder):
    i = keras.Input((5,))
    m = keras.Model(i, layers.Dense(1, activation="sigmoid")(i))
    k = keras.metrics
    m.compile("sgd", keras.losses.BinaryCrossentropy(label_smoothing=0.05), metrics=[k.AUC(), k.AUC(curve="PR", name="pr"), k.Precision(), k.Recall(thresholds=0.3), k.BinaryAccuracy(threshold=0.6), k.TruePositives(), k.FalseNegatives(), k.PrecisionAtRecall(0.5),
              k.SensitivityAtSpecificity(0.4), k.RootMeanSquaredError(), k.R2Score(), k.MeanSquaredError(name="mse2"), k.PearsonCorrelation(), k.F1Score(average="micro", threshold=0.5)], weighted_metrics=["mae"])
    measured(folder, m, normal(32, 5), ints(2, 32, 1).astype("float32"), tol=1e-3)


@case
def segmentation_metrics(folder):
    i = keras.Input((4, 4, 2))
    m = keras.Model(i, layers.Conv2D(3, 1, activation="softmax")(i))
    m.compile("adam", keras.losses.SparseCategoricalCrossentropy(ignore_class=2), metrics=[keras.metrics.MeanIoU(3, sparse_y_pred=False), keras.metrics.SparseTopKCategoricalAccuracy(2), "accuracy"])
    measured(folder, m, normal(8, 4, 4, 2), ints(3, 8, 4, 4), tol=1e-3)


@case
def json_and_weights(folder):
    i = keras.Input((5,), name="x")
    m = scramble(keras.Model(i, layers.Dense(3, activation="softmax", name="d")(layers.Dense(4, activation=layers.LeakyReLU(negative_slope=0.2), name="c")(i))))
    open(os.path.join(folder, "model.json"), "w").write(m.to_json())
    m.save_weights(os.path.join(folder, "model.weights.h5"))
    x = normal(4, 5)
    put(folder, x={"x": x}, want=flat(m.predict(x, verbose=0)), file="model.json", do="inspect", match=r"(?s)dense|Dense")


@case
def sharded(folder):
    i = keras.Input((50,), name="x")
    m = scramble(keras.Model(i, layers.Dense(3)(layers.Dense(400, activation="relu")(layers.Dense(300, activation="relu")(i)))))
    m.save(os.path.join(folder, "model.keras"))
    m.save_weights(os.path.join(folder, "shards.weights.json"), max_shard_size=0.0006)
    x = normal(4, 50)
    put(folder, x={"x": x}, want=flat(m.predict(x, verbose=0)), file="model.keras", do="program", program="sharded")


@case
def nested_h5_compiled(folder):
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.BatchNormalization()], name="inner")
    i = keras.Input((4,), name="x")
    m = keras.Model(i, layers.Dense(1)(inner(i)))
    m.compile(keras.optimizers.Adam(0.01), keras.losses.MeanSquaredError(), metrics=[keras.metrics.MeanAbsoluteError()])
    x, y = normal(24, 4), normal(24, 1, seed=1)
    m.fit(x, y, batch_size=8, verbose=0)
    m.save(os.path.join(folder, "model.h5"))
    scores = {k: float(v) for k, v in m.evaluate(x, y, batch_size=8, verbose=0, return_dict=True).items()}
    put(folder, x={"x": x}, y={"0": y}, want=flat(m.predict(x, verbose=0)), file="model.h5", do="evaluate", batch=8, scores=scores)


@case
def spectral_and_unit(folder):
    i = keras.Input((8, 8, 3))
    h = layers.SpectralNormalization(layers.Conv2D(4, 3))(i)
    h = layers.UnitNormalization()(h)
    h = layers.GaussianNoise(0.1)(h)
    h = layers.AdaptiveAveragePooling2D(3)(h)
    h = layers.LeakyReLU(0.05)(layers.Flatten()(h))
    predict(folder, keras.Model(i, layers.Dense(2, activation="tanh_shrink")(h)), normal(3, 8, 8, 3))


@case
def conv3d_net(folder):
    i = keras.Input((6, 8, 8, 1))
    h = layers.Conv3D(2, 3, padding="same", activation="selu")(i)
    h = layers.MaxPooling3D((1, 2, 2))(h)
    h = layers.Conv3DTranspose(2, 2, strides=(1, 2, 2))(h)
    h = layers.ZeroPadding3D(1)(layers.Cropping3D(1)(h))
    predict(folder, keras.Model(i, layers.GlobalMaxPooling3D(keepdims=True)(h)), normal(2, 6, 8, 8, 1))


def application(folder, make, size, **kw):
    m = make(weights=None, input_shape=(size, size, 3), classes=7, **kw)
    m.save(os.path.join(folder, "model.keras"))
    x = np.random.RandomState(0).rand(2, size, size, 3).astype("float32") * 255
    put(folder, x={names(m)[0]: x}, want=flat(m.predict(x, verbose=0)), file="model.keras", do="predict", tol=1e-4)


@case
def app_mobilenet_v3(folder):
    application(folder, keras.applications.MobileNetV3Small, 64)


@case
def app_efficientnet(folder):
    application(folder, keras.applications.EfficientNetB0, 64)


@case
def app_convnext(folder):
    application(folder, keras.applications.ConvNeXtTiny, 64)


@case
def app_densenet(folder):
    application(folder, keras.applications.DenseNet121, 64)


@case
def app_nasnet(folder):
    application(folder, keras.applications.NASNetMobile, 64)


make_all(sys.argv[2:])
