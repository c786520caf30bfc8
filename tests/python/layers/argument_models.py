"""argument_models.py FOLDER [NAME...]: models of real Keras with every argument of every listed layer, for test_arguments.py.

For each NAME, NAME.keras, NAME.npz with inputs x0, ... and outputs y0, ..., and a line in names.json: what each output is of.
With names, it says what is other in NAME_back.keras, which we have written.
Keras runs on NumPy: it predicts there without compiling anything, which is most of the time elsewhere.
"""

import inspect
import json
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "numpy"

import keras
import numpy as np

L = keras.layers

IMAGE, SERIES, VOLUME, ROW = (8, 9, 4), (7, 4), (6, 5, 4, 4), (6,)

INITIALIZERS = ["zeros", "ones", "random_normal", "he_uniform", "lecun_normal", "orthogonal",
                keras.initializers.TruncatedNormal(stddev=0.3), keras.initializers.VarianceScaling(2.0, "fan_avg", "uniform"),
                keras.initializers.Constant(0.2)]
VECTOR_INITIALIZERS = ["ones", "random_uniform", keras.initializers.Constant(0.2)]
REGULARIZERS = ["l2", keras.regularizers.L1L2(0.01, 0.02)]
CONSTRAINTS = ["non_neg", keras.constraints.MaxNorm(0.5), keras.constraints.UnitNorm(0)]
ACTIVATIONS = ["relu", "gelu", "softmax", "tanh", "selu", "silu", "hard_sigmoid", "softplus", "leaky_relu", "exponential", "mish",
               "relu6", "elu", "softsign", "hard_silu", "log_softmax", "celu", "glu", "squareplus", "sparse_plus"]

# What an argument may be set to, by its name; a class may have its own below.
VALUES = {
    "activation": ["relu", "gelu", "softmax"], "recurrent_activation": ["hard_sigmoid"], "use_bias": [False],
    "kernel_initializer": INITIALIZERS[:3], "recurrent_initializer": ["glorot_uniform", "identity"], "bias_initializer": VECTOR_INITIALIZERS,
    "depthwise_initializer": INITIALIZERS[3:5], "pointwise_initializer": INITIALIZERS[3:5], "embeddings_initializer": ["random_normal"],
    "beta_initializer": VECTOR_INITIALIZERS, "gamma_initializer": VECTOR_INITIALIZERS, "alpha_initializer": VECTOR_INITIALIZERS,
    "moving_mean_initializer": VECTOR_INITIALIZERS, "moving_variance_initializer": VECTOR_INITIALIZERS[2:],
    "padding": ["same"], "data_format": ["channels_first"], "groups": [2], "depth_multiplier": [2], "keepdims": [True],
    "return_sequences": [True], "go_backwards": [True], "unroll": [True], "zero_output_for_mask": [True], "dropout": [0.3],
    "recurrent_dropout": [0.2], "reset_after": [False], "unit_forget_bias": [False], "seed": [3], "return_state": [True], "rate": [0.4],
    "momentum": [0.5], "epsilon": [0.1], "center": [False], "scale": [False], "mask_zero": [True], "negative_slope": [0.2],
    "threshold": [0.3], "max_value": [0.5], "alpha": [0.4], "normalize": [True], "use_gate": [True], "value_dim": [5],
    "output_shape": [7], "attention_axes": [1], "shared_axes": [(1,)], "interpolation": ["nearest", "bicubic"], "antialias": [True],
    "crop_to_aspect_ratio": [True], "pad_to_aspect_ratio": [True], "invert": [True], "offset": [0.5], "stddev": [0.2], "sliding_window": [3],
    "dtype": ["bfloat16", "mixed_bfloat16"], "output_padding": [None], "fill_value": [1.5], "noise_shape": [(None, 1)], "merge_mode": ["sum", "mul", "ave"],
    "trainable": [False], "autocast": [False], "rms_scaling": [True], "renorm": [True],
}
for name in ("kernel", "bias", "recurrent", "depthwise", "pointwise", "embeddings", "beta", "gamma", "alpha", "activity"):
    VALUES[f"{name}_regularizer"] = REGULARIZERS
    VALUES[f"{name}_constraint"] = CONSTRAINTS[:2]

# Given elsewhere, without effect on a prediction of one's own, or not an argument of a config.
SKIPPED = {"name", "kwargs", "args", "lora_rank", "lora_alpha", "quantization_config", "renorm_clipping", "renorm_momentum", "fill_mode",
           "sparse", "weights", "input_shape", "batch_size", "stateful", "flash_attention", "use_cudnn", "custom_objects", "layer", "backward_layer",
           "mean", "variance", "synchronized"}
KERAS_HAS_NOT = {("SpatialDropout2D", "trainable")}
REFUSED = {("LayerNormalization", "rms_scaling"), ("BatchNormalization", "renorm")}


def sizes(rank):
    return {"strides": [2], "dilation_rate": [2], "kernel_size": [tuple(range(1, rank + 1))]}


def pools(rank):
    return {"pool_size": [3], "strides": [1, 3], "padding": ["same"]}


# class: (shape of the input, arguments, values of its own)
CASES = {
    "Dense": (ROW, {"units": 6}, {"activation": ACTIVATIONS, "kernel_initializer": INITIALIZERS, "kernel_constraint": CONSTRAINTS}),
    "Conv1D": (SERIES, {"filters": 4, "kernel_size": 3}, sizes(1) | {"padding": ["same", "causal"]}),
    "Conv2D": (IMAGE, {"filters": 4, "kernel_size": 3}, sizes(2)),
    "Conv3D": (VOLUME, {"filters": 4, "kernel_size": 2}, sizes(3)),
    "Conv2DTranspose": (IMAGE, {"filters": 3, "kernel_size": 3, "strides": 2}, {"strides": [3], "dilation_rate": [1], "output_padding": [1], "kernel_size": [(2, 4)]}),
    "DepthwiseConv2D": (IMAGE, {"kernel_size": 3}, sizes(2) | {"strides": [2]}),
    "SeparableConv2D": (IMAGE, {"filters": 5, "kernel_size": 3}, sizes(2)),
    "BatchNormalization": (IMAGE, {}, {"axis": [1]}),
    "LayerNormalization": (IMAGE, {}, {"axis": [1, (1, 2)]}),
    "GroupNormalization": (IMAGE, {"groups": 2}, {"axis": [1], "groups": [1, 4, -1]}),
    "Dropout": (IMAGE, {"rate": 0.2}, {"noise_shape": [(None, 1, 9, 4)]}), "SpatialDropout2D": (IMAGE, {"rate": 0.2}, {}), "GaussianNoise": (IMAGE, {"stddev": 0.1}, {}),
    "Flatten": (IMAGE, {}, {}), "Reshape": (IMAGE, {"target_shape": (-1, 6)}, {"target_shape": [(9, 8, 4)]}), "Permute": (IMAGE, {"dims": (2, 3, 1)}, {"dims": [(3, 1, 2)]}),
    "RepeatVector": (ROW, {"n": 3}, {"n": [1]}), "Cropping2D": (IMAGE, {}, {"cropping": [1, (2, 1), ((0, 2), (3, 1))]}),
    "UpSampling2D": (IMAGE, {}, {"size": [3, (1, 2)], "interpolation": ["bilinear", "nearest"]}),
    "ZeroPadding1D": (SERIES, {}, {"padding": [2, (0, 3)]}), "ZeroPadding2D": (IMAGE, {}, {"padding": [2, (1, 0), ((0, 2), (3, 1))]}),
    "SimpleRNN": (SERIES, {"units": 4}, {}), "LSTM": (SERIES, {"units": 4}, {}), "GRU": (SERIES, {"units": 4}, {}),
    "MultiHeadAttention": (SERIES, {"num_heads": 2, "key_dim": 3}, {"value_dim": [3]}),
    "Rescaling": (IMAGE, {"scale": 0.5}, {"scale": [3.0]}), "Resizing": (IMAGE, {"height": 5, "width": 12}, {"interpolation": ["nearest", "bicubic"]}),
    "Activation": (ROW, {"activation": "relu"}, {"activation": ACTIVATIONS}), "ReLU": (ROW, {}, {}), "LeakyReLU": (ROW, {}, {}), "ELU": (ROW, {}, {}),
    "PReLU": (IMAGE, {}, {"shared_axes": [(1, 2), (1,)]}), "Softmax": (IMAGE, {}, {"axis": [1, (1, 2)]}),
    "GlobalMaxPooling1D": (SERIES, {}, {}), "GlobalAveragePooling1D": (SERIES, {}, {}), "GlobalMaxPooling2D": (IMAGE, {}, {}),
    "GlobalAveragePooling2D": (IMAGE, {}, {}), "GlobalMaxPooling3D": (VOLUME, {}, {}), "GlobalAveragePooling3D": (VOLUME, {}, {}),
}
for rank, shape in ((1, SERIES), (2, IMAGE), (3, VOLUME)):
    for kind in ("Max", "Average"):
        CASES[f"{kind}Pooling{rank}D"] = (shape, {"pool_size": 2}, pools(rank))


def arguments_of(cls):
    own = [n for n in inspect.signature(cls.__init__).parameters if n not in SKIPPED and n != "self"]
    return list(dict.fromkeys([*own, "dtype", "trainable"]))


def settings(cls_name):
    """The defaults, then each argument changed alone."""
    _, given, own = CASES[cls_name]
    yield "default", {}
    for argument in arguments_of(getattr(L, cls_name)):
        if (cls_name, argument) in REFUSED | KERAS_HAS_NOT or (argument in given and argument not in own):
            continue
        values = own.get(argument, VALUES.get(argument))
        assert values is not None, f"{cls_name} has an argument '{argument}' that nobody tries"
        for i, value in enumerate(values):
            yield f"{argument}_{i}", {argument: value}


def branch(cls_name, label, changed, x):
    _, given, _ = CASES[cls_name]
    layer = getattr(L, cls_name)(**(given | changed), name=label)
    return layer(x, x) if cls_name == "MultiHeadAttention" else layer(x)


def randomized(model):
    """Weights of which no two are alike, so that a wrong order shows."""
    random = np.random.default_rng(1)
    model.set_weights([w + random.uniform(0, 0.2, w.shape).astype(w.dtype) if w.dtype.kind == "f" else w for w in model.get_weights()])
    return model


def flat(outputs):
    return [np.asarray(y, dtype="float32") for y in keras.tree.flatten(outputs)]


MASKED = {
    "bidirectional": lambda: L.Bidirectional(L.LSTM(4, return_sequences=True)),
    "bidirectional_last": lambda: L.Bidirectional(L.GRU(4), merge_mode="sum"),
    "bidirectional_other": lambda: L.Bidirectional(L.GRU(3), backward_layer=L.LSTM(3, go_backwards=True)),
    "time_distributed": lambda: L.TimeDistributed(L.Dense(3)),
    "zero_output": lambda: L.SimpleRNN(3, return_sequences=True, zero_output_for_mask=True),
    "backwards": lambda: L.LSTM(3, go_backwards=True, return_sequences=True),
    "unrolled": lambda: L.GRU(3, unroll=True, reset_after=False),
    "average": lambda: L.GlobalAveragePooling1D(),
}


def masked_models():
    def data(source):
        random = np.random.default_rng(0)
        if source == "embedding":
            x = random.integers(1, 9, (4, 6)).astype("int32")
            x[1, 3:], x[2, :] = 0, 0
            return x
        x = random.normal(size=(4, 6, 4)).astype("float32")
        x[1, 3:], x[3, :2] = 0, 0
        return x

    for source in ("embedding", "masking"):
        values = data(source)
        x = keras.Input(values.shape[1:], dtype=values.dtype)
        h = L.Embedding(9, 4, mask_zero=True)(x) if source == "embedding" else L.Masking()(x)
        h = L.Dropout(0.3)(h)
        yield f"masks_of_{source}", keras.Model(x, [make()(h) for make in MASKED.values()]), [values], list(MASKED)


def merge_models():
    a, b = keras.Input((5, 4)), keras.Input((5, 4))
    ys = {f"Dot {axes}": L.Dot(axes)([a, b]) for axes in (1, 2, (1, 1))} | {"Dot normalized": L.Dot(2, normalize=True)([a, b])}
    ys |= {f"Concatenate {axis}": L.Concatenate(axis)([a, b]) for axis in (1, 2, -1)} | {"Subtract": L.Subtract()([a, b])}
    for name in ("Add", "Multiply", "Average", "Maximum"):
        ys |= {name: getattr(L, name)()([a, b]), f"{name} of three": getattr(L, name)()([a, b, a])}
    yield "merges", keras.Model([a, b], list(ys.values())), list(np.random.default_rng(0).normal(size=(2, 3, 5, 4)).astype("float32")), list(ys)


def inner_models():
    """Layers that keep weights in objects inside, or none: what counts is where a file has them."""
    random = np.random.default_rng(0)
    x = keras.Input(SERIES)
    ys = {"grouped": L.GroupQueryAttention(3, 4, 2, use_gate=True)(x, x), "attention": L.Attention(use_scale=True)([x, x]),
          "additive": L.AdditiveAttention()([x, x]), "rms": L.RMSNormalization()(x), "alpha": L.AlphaDropout(0.2)(x),
          "spectral": L.SpectralNormalization(L.Dense(3))(x), "spectral_conv": L.SpectralNormalization(L.Conv1D(3, 2), power_iterations=2)(x),
          "rnn": L.RNN(L.SimpleRNNCell(3), return_sequences=True)(x), "stacked": L.RNN([L.LSTMCell(4), L.GRUCell(3), L.LSTMCell(2)])(x),
          "adaptive": L.AdaptiveAveragePooling1D(3)(x), "bins": L.Discretization([-0.5, 0.2], output_mode="one_hot")(x)}
    yield "inner_series", keras.Model(x, list(ys.values())), [random.normal(size=(3, *SERIES)).astype("float32")], list(ys)
    x = keras.Input((3, 6, 5, 2))
    ys = {"conv_lstm": L.ConvLSTM2D(3, 2)(x), "conv_lstm_first": L.ConvLSTM2D(2, 2, data_format="channels_first", return_sequences=True)(x)}
    yield "inner_films", keras.Model(x, list(ys.values())), [random.normal(size=(2, 3, 6, 5, 2)).astype("float32")], list(ys)
    x = keras.Input((8, 9, 3))
    ys = {name: getattr(L, name)(0.2)(x) for name in ("RandomRotation", "RandomZoom", "RandomContrast", "RandomBrightness", "RandomHue")}
    ys |= {"flip": L.RandomFlip()(x), "translation": L.RandomTranslation(0.1, (0.1, 0.3))(x), "crop": L.CenterCrop(4, 5)(x),
           "auto": L.AutoContrast()(x)}
    yield "inner_images", keras.Model(x, list(ys.values())), [random.uniform(0, 255, (2, 8, 9, 3)).astype("float32")], list(ys)


def argument_models():
    for cls_name, (shape, _, _) in CASES.items():
        x = keras.Input(shape)
        labels, outputs = [], []
        for label, changed in settings(cls_name):
            for y in keras.tree.flatten(branch(cls_name, label, changed, x)):
                labels.append(label)
                outputs.append(L.Activation("linear", dtype="float32", name=f"{label}_out{len(outputs)}")(y))
        yield cls_name, keras.Model(x, outputs), [np.random.default_rng(0).normal(size=(3, *shape)).astype("float32")], labels


def main(folder):
    names = {}
    for models in (argument_models, masked_models, merge_models, inner_models):
        for name, model, xs, labels in models():
            randomized(model).save(folder / f"{name}.keras")
            ys = flat(model(xs if len(xs) > 1 else xs[0], training=False))
            np.savez(folder / f"{name}.npz", **{f"x{i}": x for i, x in enumerate(xs)}, **{f"y{i}": y for i, y in enumerate(ys)})
            names[name] = labels
    refused = []
    for cls_name, argument in sorted(REFUSED):
        x = keras.Input(CASES[cls_name][0])
        keras.Model(x, branch(cls_name, "it", {argument: VALUES[argument][0]}, x)).save(folder / f"{cls_name}_{argument}.keras")
        refused.append([f"{cls_name}_{argument}.keras", argument, CASES[cls_name][0]])
    (folder / "names.json").write_text(json.dumps({"models": names, "refused": refused}))


def compare(folder, names):
    for name in names:
        model = keras.saving.load_model(folder / f"{name}_back.keras")
        with np.load(folder / f"{name}.npz") as arrays:
            xs = [arrays[key] for key in sorted(arrays) if key.startswith("x")]
            for i, y in enumerate(flat(model(xs if len(xs) > 1 else xs[0], training=False))):
                assert np.allclose(y, arrays[f"y{i}"], rtol=1e-5, atol=1e-5 * max(1, np.abs(y).max())), (name, i)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        compare(pathlib.Path(sys.argv[1]), sys.argv[2:])
    else:
        main(pathlib.Path(sys.argv[1]))
