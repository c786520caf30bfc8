"""Models as users write them, with data and a line each, for run.py: written to FOLDER/SEED.

    KERAS_BACKEND=numpy .venv/bin/python tests/line_cases/users/make.py FOLDER --first 0 --cases 60

Needs Keras. A seed decides family, sizes, batch, data, options of `plimsoll train` and the kind of line.
"""

import argparse
import json
import os
import pathlib
import random

os.environ.setdefault("KERAS_BACKEND", "numpy")

import keras
import numpy as np
from keras import layers as L


def sequential(shape, *layers):
    return keras.Sequential([keras.Input(shape), *layers])


def classes(n):
    return {"loss": "sparse_categorical_crossentropy", "y": ("class", n)}


def head(units):
    return L.Dense(units, activation="softmax", dtype="float32")


def deep_mlp(r):
    n = r.choice([8, 20, 60, 120])
    width = r.choice([16, 64, 200])
    body = []
    for _ in range(n):
        body.append(L.Dense(width, activation=r.choice(["relu", "tanh", "selu"])))
    if r.random() < 0.5:
        for i in range(len(body) - 1, 0, -6):
            body.insert(i, r.choice([L.BatchNormalization, L.LayerNormalization])())
            body.insert(i, L.Dropout(0.2))
    return sequential((r.randint(4, 80),), *body, L.Dense(1)), {"loss": "mse", "y": ("real", 1)}


def wide_mlp(r):
    w = r.choice([1024, 2048, 4096])
    return sequential((r.choice([300, 784, 2000]),), L.Dense(w, activation="relu"), L.Dropout(0.5), L.Dense(w, activation="relu"), head(10)), classes(10)


def tabular_csv(r):
    n = r.randint(5, 60)
    body = [L.Dense(r.choice([32, 128, 256]), activation="relu"), L.BatchNormalization(), L.Dense(32, activation="relu"), L.Dense(1)]
    return sequential((n,), *body), {"loss": "mse", "y": ("real", 1), "format": "csv"}


def small_cnn(r):
    s, channels = r.choice([(28, 1), (32, 3), (64, 3), (100, 3)])
    size, body = s, []
    f = r.choice([8, 16, 32])
    while s > 6:
        body += [L.Conv2D(f, 3, padding="same", activation="relu"), L.MaxPooling2D()]
        if r.random() < 0.4:
            body.insert(-1, L.BatchNormalization())
        s, f = s // 2, min(2 * f, 128)
    return sequential((size, size, channels), L.Rescaling(1 / 255), *body, L.Flatten(), L.Dropout(0.3), L.Dense(64, activation="relu"), head(10)), classes(10)


def vgg(r):
    s = r.choice([48, 64])
    body = []
    for f in [32, 64, 128]:
        body += [L.Conv2D(f, 3, padding="same", activation="relu"), L.Conv2D(f, 3, padding="same", activation="relu"), L.MaxPooling2D()]
    return sequential((s, s, 3), *body, L.Flatten(), L.Dense(r.choice([256, 1024]), activation="relu"), L.Dropout(0.5), head(20)), classes(20)


def resnet(r):
    x = i = keras.Input((32, 32, 3))
    x = L.Conv2D(16, 3, padding="same", use_bias=False)(x)
    for f in [16, 32, 64]:
        for k in range(r.randint(1, 5)):
            s = 2 if k == 0 and f > 16 else 1
            y = L.BatchNormalization()(x)
            y = L.ReLU()(y)
            short = L.Conv2D(f, 1, strides=s)(y) if k == 0 else x
            y = L.Conv2D(f, 3, strides=s, padding="same", use_bias=False)(y)
            y = L.BatchNormalization()(y)
            y = L.ReLU()(y)
            y = L.Conv2D(f, 3, padding="same", use_bias=False)(y)
            x = L.Add()([short, y])
    x = L.GlobalAveragePooling2D()(L.ReLU()(L.BatchNormalization()(x)))
    return keras.Model(i, head(10)(x)), classes(10)


def densenet(r):
    x = i = keras.Input((32, 32, 3))
    g = r.choice([8, 12])
    x = L.Conv2D(2 * g, 3, padding="same")(x)
    for b in range(3):
        for _ in range(r.randint(3, 8)):
            y = L.Conv2D(g, 3, padding="same")(L.ReLU()(L.BatchNormalization()(x)))
            x = L.Concatenate()([x, y])
        if b < 2:
            x = L.AveragePooling2D(2)(L.Conv2D(x.shape[-1] // 2, 1)(L.ReLU()(L.BatchNormalization()(x))))
    return keras.Model(i, head(10)(L.GlobalAveragePooling2D()(x))), classes(10)


def mobilenet(r):
    s = r.choice([64, 96])
    x = i = keras.Input((s, s, 3))
    x = L.Conv2D(16, 3, strides=2, padding="same", use_bias=False)(x)
    for f, st in [(16, 1), (24, 2), (24, 1), (40, 2), (40, 1)][: r.randint(2, 5)]:
        y = L.Conv2D(6 * x.shape[-1], 1, use_bias=False)(x)
        y = L.ReLU(6.0)(L.BatchNormalization()(y))
        y = L.DepthwiseConv2D(3, strides=st, padding="same", use_bias=False)(y)
        y = L.ReLU(6.0)(L.BatchNormalization()(y))
        y = L.BatchNormalization()(L.Conv2D(f, 1, use_bias=False)(y))
        x = L.Add()([x, y]) if st == 1 and x.shape[-1] == f else y
    return keras.Model(i, head(10)(L.GlobalAveragePooling2D()(x))), classes(10)


def unet(r):
    s = r.choice([32, 64, 96])
    f0, depth = r.choice([8, 16]), r.choice([2, 3])
    x = i = keras.Input((s, s, 3))
    skips = []

    def block(x, f):
        for _ in range(2):
            x = L.Conv2D(f, 3, padding="same", use_bias=False)(x)
            x = L.ReLU()(L.BatchNormalization()(x))
        return x

    for d in range(depth):
        x = block(x, f0 << d)
        skips.append(x)
        x = L.MaxPooling2D(2)(x)
    x = block(x, f0 << depth)
    for d in reversed(range(depth)):
        up = L.Conv2DTranspose(f0 << d, 2, strides=2) if r.random() < 0.6 else L.UpSampling2D(interpolation="bilinear")
        x = block(L.Concatenate()([skips[d], up(x)]), f0 << d)
    return keras.Model(i, L.Conv2D(1, 1, activation="sigmoid")(x)), {"loss": "binary_crossentropy", "y": ("bits", (s, s, 1))}


def autoencoder(r):
    s = r.choice([32, 64])
    f = r.choice([16, 32])
    return sequential(
        (s, s, 3),
        L.Conv2D(f, 3, strides=2, padding="same", activation="relu"), L.Conv2D(2 * f, 3, strides=2, padding="same", activation="relu"), L.Flatten(), L.Dense(r.choice([32, 256])),
        L.Dense((s // 4) ** 2 * 2 * f, activation="relu"), L.Reshape((s // 4, s // 4, 2 * f)), L.Conv2DTranspose(f, 3, strides=2, padding="same", activation="relu"),
        L.Conv2DTranspose(3, 3, strides=2, padding="same", activation="sigmoid")), {"loss": "mse", "y": ("bits", (s, s, 3))}


def conv3d(r):
    s = r.choice([12, 16, 24])
    f = r.choice([8, 16])
    return sequential((s, s, s, 1), L.Conv3D(f, 3, activation="relu"), L.MaxPooling3D(), L.BatchNormalization(), L.Conv3D(2 * f, 3, activation="relu"), L.GlobalAveragePooling3D(), L.Dense(64, activation="relu"), head(4)), classes(4)


def wavenet(r):
    x = i = keras.Input((r.choice([256, 1000]), 4))
    x = L.Conv1D(24, 1)(x)
    for d in [1, 2, 4, 8, 16, 32][: r.randint(3, 6)]:
        a = L.Conv1D(24, 2, dilation_rate=d, padding="causal", activation="tanh")(x)
        b = L.Conv1D(24, 2, dilation_rate=d, padding="causal", activation="sigmoid")(x)
        x = L.Add()([x, L.Conv1D(24, 1)(L.Multiply()([a, b]))])
    return keras.Model(i, L.Dense(1)(L.GlobalMaxPooling1D()(x))), {"loss": "mse", "y": ("real", 1)}


def long_lstm(r):
    t = r.choice([100, 300, 1000])
    cell = r.choice([L.LSTM, L.GRU])
    u = r.choice([16, 50, 128])
    body = [cell(u, return_sequences=True), L.Dropout(0.2), cell(u)] if r.random() < 0.5 else [cell(u)]
    return sequential((t, r.choice([1, 8, 20])), *body, L.Dense(1)), {"loss": r.choice(["mse", "mae", "huber"]), "y": ("real", 1)}


def text_bilstm(r):
    v = r.choice([2000, 20000, 100000])
    t = r.choice([50, 200])
    return sequential((t,), L.Embedding(v, r.choice([32, 128]), mask_zero=r.random() < 0.5), L.Bidirectional(L.LSTM(r.choice([32, 64]))), L.Dense(32, activation="relu"), L.Dense(1, activation="sigmoid")), {
        "loss": "binary_crossentropy", "y": ("bits", (1,)), "x": ("ids", v)}


def simple_rnn(r):
    return sequential((r.choice([20, 80]), 6), L.SimpleRNN(r.choice([16, 64]), return_sequences=True), L.TimeDistributed(L.Dense(16, activation="relu")), L.SimpleRNN(24), L.Dense(2)), {"loss": "mse", "y": ("real", 2)}


def conv_lstm(r):
    return sequential((r.choice([4, 8]), 16, 16, 1), L.ConvLSTM2D(r.choice([4, 12]), 3, padding="same"), L.BatchNormalization(), L.Conv2D(1, 3, padding="same")), {"loss": "mse", "y": ("real", (16, 16, 1))}


def bag_of_words(r):
    v = r.choice([50000, 200000, 500000])
    return sequential((r.choice([20, 100]),), L.Embedding(v, r.choice([16, 64])), L.GlobalAveragePooling1D(), L.Dense(24, activation="relu"), L.Dense(1, activation="sigmoid")), {"loss": "binary_crossentropy", "y": ("bits", (1,)), "x": ("ids", v)}


def language_model(r):
    v = r.choice([1000, 8000, 20000])
    t = r.choice([32, 64])
    return sequential((t,), L.Embedding(v, 64), L.LSTM(96), head(v)), {**classes(v), "x": ("ids", v)}


def transformer(r):
    v, t, d = r.choice([500, 5000]), r.choice([32, 64, 128]), r.choice([32, 64, 128])
    i = keras.Input((t,), dtype="int32")
    x = L.Embedding(v, d)(i)
    for _ in range(r.randint(1, 5)):
        a = L.MultiHeadAttention(4, d // 4, dropout=r.choice([0, 0.1]))(x, x)
        x = L.LayerNormalization()(L.Add()([x, L.Dropout(0.1)(a)]))
        f = L.Dense(d)(L.Dense(4 * d, activation="gelu")(x))
        x = L.LayerNormalization()(L.Add()([x, f]))
    return keras.Model(i, head(8)(L.GlobalAveragePooling1D()(x))), {**classes(8), "x": ("ids", v)}


def inception(r):
    s = r.choice([32, 64])
    x = i = keras.Input((s, s, 3))
    for _ in range(r.randint(2, 5)):
        a = L.Conv2D(16, 1, activation="relu")(x)
        b = L.Conv2D(16, 3, padding="same", activation="relu")(L.Conv2D(8, 1, activation="relu")(x))
        c = L.Conv2D(8, 5, padding="same", activation="relu")(L.Conv2D(8, 1, activation="relu")(x))
        e = L.Conv2D(8, 1)(L.MaxPooling2D(3, strides=1, padding="same")(x))
        x = L.Concatenate()([a, b, c, e])
    return keras.Model(i, head(10)(L.GlobalAveragePooling2D()(x))), classes(10)


def se_separable(r):
    x = i = keras.Input((48, 48, 3))
    for f in [16, 32, 64][: r.randint(1, 3)]:
        x = L.SeparableConv2D(f, 3, padding="same")(x)
        x = L.Activation("swish")(r.choice([L.BatchNormalization(), L.GroupNormalization(8)])(x))
        s = L.Dense(f, activation="sigmoid")(L.Dense(f // 4, activation="relu")(L.GlobalAveragePooling2D()(x)))
        x = L.Multiply()([x, L.Reshape((1, 1, f))(s)])
        x = L.MaxPooling2D(3, strides=2)(x)
    return keras.Model(i, head(5)(L.Flatten()(x))), classes(5)


def video(r):
    return sequential((r.choice([4, 8]), 32, 32, 3), L.TimeDistributed(L.Conv2D(16, 3, strides=2, activation="relu")), L.TimeDistributed(L.Flatten()), L.LSTM(32), head(6)), classes(6)


def siamese_like(r):
    i = keras.Input((r.choice([50, 400]),))
    x = [L.Dense(r.choice([32, 300]), activation="relu")(i) for _ in range(r.randint(2, 12))]
    x = L.Concatenate()(x) if r.random() < 0.5 else L.Average()([L.Dense(40)(t) for t in x])
    return keras.Model(i, L.Dense(3)(x)), {"loss": "mse", "y": ("real", 3)}


def image_folder(r):
    s = r.choice([64, 128])
    return sequential((s, s, 3), L.Rescaling(1 / 255), L.RandomFlip("horizontal"), L.Conv2D(16, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(32, 3, activation="relu"), L.GlobalAveragePooling2D(), head(3)), {**classes(3), "format": "images"}


def noise_and_lrelu(r):
    return sequential((r.choice([128, 1000]), 3), L.GaussianNoise(0.1), L.Conv1D(32, 7, strides=2), L.LeakyReLU(), L.SpatialDropout1D(0.2), L.Conv1D(64, 5, strides=2), L.PReLU(shared_axes=[1]), L.Flatten(), L.Dense(r.choice([32, 512])), L.ELU(), L.Dense(1)), {
        "loss": "mse", "y": ("real", 1)}


FAMILIES = [deep_mlp, wide_mlp, tabular_csv, small_cnn, vgg, resnet, densenet, mobilenet, unet, autoencoder, conv3d, wavenet, long_lstm, text_bilstm, simple_rnn, conv_lstm, bag_of_words, language_model,
            transformer, inception, se_separable, video, siamese_like, image_folder, noise_and_lrelu]


def batch_for(r, model):
    """From one to very many records, with a step that takes some seconds at most."""
    flops = max(model.count_params(), 1000) * 6
    if any(isinstance(l, (L.Conv1D, L.Conv2D, L.Conv3D, L.DepthwiseConv2D)) for l in model.layers):
        flops = max(flops, sum(6 * int(np.prod(l.output.shape[1:])) * int(np.prod(l.kernel.shape[:-1])) for l in model.layers if isinstance(l, (L.Conv1D, L.Conv2D, L.Conv3D))))
    most = max(2, int(2e10 / flops))
    return min(r.choice([1, 8, 16, 32, 32, 64, 64, 128, 256, 1024, 4096, 20000]), most)


def array(r, kind, rows, shape):
    what, n = kind
    if what == "class":
        return r.integers(0, n, rows).astype("int32")
    if what == "ids":
        return r.integers(0, n, (rows, *shape)).astype("int32")
    shape = n if isinstance(n, tuple) else (n,)
    if what == "bits":
        return r.integers(0, 2, (rows, *shape)).astype("float32")
    return r.standard_normal((rows, *shape), dtype="float32")


def write_data(folder, r, model, told, rows, form):
    n = np.random.default_rng(r.randrange(1 << 30))
    shape = model.input_shape[1:]
    x = array(n, told["x"], rows, shape) if "x" in told else n.random((rows, *shape), dtype="float32")
    y = array(n, told["y"], rows, ())
    if form == "images":
        from PIL import Image
        for k in range(rows):
            sub = folder / "images" / f"kind{k % 3}"
            sub.mkdir(parents=True, exist_ok=True)
            size = n.integers(40, 300, 2)
            Image.fromarray(n.integers(0, 255, (*size, 3), dtype="uint8")).save(sub / f"{k}.{'jpg' if k % 2 else 'png'}")
        return ["--data", "images"]
    if form == "csv":
        names = [f"c{k}" for k in range(shape[0])] + ["price"]
        np.savetxt(folder / "data.csv", np.concatenate([x, y.reshape(rows, -1)], axis=1), delimiter=",", header=",".join(names), comments="", fmt="%.5g")
        return ["--data", "data.csv", "--y", "price"]
    if form == "npy":
        np.save(folder / "x.npy", x)
        np.save(folder / "y.npy", y)
        return ["--data", "x.npy", "--targets", "y.npy"]
    if form == "h5":
        import h5py
        with h5py.File(folder / "data.h5", "w") as f:
            f["x"], f["y"] = x, y
        return ["--data", "data.h5", "--x", "x", "--y", "y"]
    (np.savez_compressed if form == "npz_packed" else np.savez)(folder / "data.npz", x=x, y=y)
    return ["--data", "data.npz"]


def make(seed, folder):
    r = random.Random(seed)
    family = FAMILIES[seed % len(FAMILIES)] if r.random() < 0.9 else r.choice(FAMILIES)
    keras.utils.clear_session()
    policy = r.choice(["float32"] * 6 + ["mixed_bfloat16", "mixed_float16"])
    keras.config.set_dtype_policy(policy)
    model, told = family(r)
    batch = batch_for(r, model)
    rows = batch * r.choice([1, 2, 2, 3]) + r.choice([0, 0, batch // 3, 1])
    per = int(np.prod(model.input_shape[1:])) * 4
    if r.random() < 0.25:  # more data than the step
        rows = max(rows, min(rows * 40, int(80e6 / per), 50 * batch))
    rows = min(rows, max(int(400e6 / per), 2))
    folder.mkdir(parents=True, exist_ok=True)
    form = told.get("format") or r.choice(["npz", "npz", "npz_packed", "npy", "h5"])
    if form in ("csv", "images"):
        rows = min(rows, 400 if form == "images" else 60000)
    args = write_data(folder, r, model, told, rows, form)
    args += ["--batch", str(batch), "--loss", told["loss"], "--epochs", r.choice(["1", "1", "2"])]
    args += ["--optimizer", r.choice(["sgd", "adam", "adam", "adam", "rmsprop", "adamw"])]
    kind = r.choice(["keras", "keras", "json", "h5"])
    if isinstance(model, keras.Sequential) and r.random() < 0.4:
        kind = "yaml"
        shape = {"Input": {"shape": list(model.input_shape[1:]), "dtype": model.inputs[0].dtype}}
        layers = [shape] + [keras.saving.serialize_keras_object(l) for l in model.layers]
        (folder / "model.yaml").write_text(json.dumps({"layers": layers}))
    elif kind == "json":
        (folder / "model.json").write_text(model.to_json())
    else:
        model.save(folder / f"model.{kind}")
    if r.random() < 0.3 and form != "images":
        args += ["--validation-split", "0.2"]
    if r.random() < 0.25:
        args += ["--micro-batch", "auto"]
    if r.random() < 0.3:
        args += ["--save", "out.keras"]
    if r.random() < 0.1:
        args += ["--plot", "out.svg"]
    if r.random() < 0.1:
        args += ["--memory-report", "out.html"]
    if r.random() < 0.1:
        args += ["--trace", "out.json"]
    if r.random() < 0.1:
        args += ["--spill", "."]
    if r.random() < 0.1:
        args += ["--on-nan", "skip"] + (["--hold-updates"] if r.random() < 0.5 else [])
    if r.random() < 0.15:
        args += ["--threads", "1"]
    if r.random() < 0.2 and form not in ("csv",):
        args += ["--metrics", "mae" if told["y"][0] != "class" else "accuracy"]
    line = r.choice([{"more": r.choice([1, 2, 4, 8, 16, 30])}, {"share": r.uniform(0.02, 1.0)}, {"share": r.uniform(0.3, 1.05)}, {"share": r.uniform(0.3, 1.0)}, {"share": 1.0}])
    (folder / "case.json").write_text(json.dumps({"family": family.__name__, "policy": policy, "model": f"model.{kind}", "args": args, "line": line, "rows": rows, "batch": batch}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=60)
    args = parser.parse_args()
    for seed in range(args.first, args.first + args.cases):
        make(seed, args.folder / str(seed))


if __name__ == "__main__":
    main()
