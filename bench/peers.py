"""The peers of the benchmark, one process per (framework, row):

  python bench/peers.py FRAMEWORK ROW THREADS

prints a JSON line {"ready": true} after warm-up (of start_MODEL: after the first training step). Each line on standard input then asks for one round, and is answered by
a line {"value": v} in the row's unit. Frameworks: torch, torch-compile, keras-tensorflow, keras-jax, keras-torch.
"""
import json
import os
import sys
import time

# name: (input shape, batch, steps per round)
MODELS = {
    "mlp10_b32": ((10,), 32, 200),
    "mlp100_b32": ((100,), 32, 400),
    "mnist_b128": ((28, 28, 1), 128, 20),
    "cnn64bn_b32": ((64, 64, 3), 32, 8),
    "cnn100_b512": ((100, 100, 3), 512, 1),
    "resnet50_b8": ((224, 224, 3), 8, 1),
    "lstm_b32": ((80,), 32, 4),
    "transformer_b16": ((128,), 16, 3),
}


def data(model, count):
    import numpy as np
    shape, rng = MODELS[model][0], np.random.default_rng(0)
    tokens, binary = model.startswith(("lstm", "trans")), model.startswith(("mlp", "lstm"))
    x = (rng.integers(0, 8000, (count,) + shape).astype("int32") if tokens
         else rng.random((count,) + shape, dtype="float32"))
    y = (rng.integers(0, 2, (count, 1)).astype("float32") if binary
         else rng.integers(0, 10, (count,)).astype("int32"))
    return x, y


def keras_layers(model):
    from keras import layers as L
    conv = lambda n: L.Conv2D(n, 3, activation="relu")
    if model == "mlp10_b32":
        return [L.Dense(64, "relu"), L.Dense(32, "relu"), L.Dense(1, "sigmoid")]
    if model == "mlp100_b32":
        return [L.Dense(64, "relu"), L.Dense(1, "sigmoid")]
    if model == "mnist_b128":
        return [conv(32), L.MaxPooling2D(), conv(64), L.MaxPooling2D(), L.Flatten(), L.Dropout(0.5),
                L.Dense(10, "softmax")]
    if model == "cnn64bn_b32":
        blocks = [layer for n in (32, 64, 128) for layer in (conv(n), L.BatchNormalization(), L.MaxPooling2D())]
        return blocks + [L.Flatten(), L.Dense(128, "relu"), L.Dropout(0.5), L.Dense(10, "softmax")]
    if model == "cnn100_b512":
        return [conv(32), L.MaxPooling2D(), conv(64), L.MaxPooling2D(), L.Flatten(), L.Dense(128, "relu"),
                L.Dense(10, "softmax")]
    if model == "lstm_b32":
        return [L.Embedding(20000, 128), L.LSTM(128), L.Dense(1, "sigmoid")]
    raise KeyError(model)


def keras_model(model):
    import keras
    from keras import layers as L
    shape = MODELS[model][0]
    if model == "resnet50_b8":
        m = keras.applications.ResNet50(weights=None, classes=10, input_shape=shape)
    elif model == "transformer_b16":
        tokens = keras.Input(shape, dtype="int32")
        x = L.Embedding(8000, 256)(tokens)
        for _ in range(4):
            x = L.LayerNormalization()(x + L.MultiHeadAttention(8, 32)(x, x))
            x = L.LayerNormalization()(x + L.Dense(256)(L.Dense(1024, "gelu")(x)))
        m = keras.Model(tokens, L.Dense(10, "softmax")(L.GlobalAveragePooling1D()(x)))
    else:
        dtype = "int32" if model.startswith("lstm") else "float32"
        m = keras.Sequential([keras.Input(shape, dtype=dtype)] + keras_layers(model))
    binary = m.output_shape[-1] == 1
    m.compile("adam", "binary_crossentropy" if binary else "sparse_categorical_crossentropy", metrics=["accuracy"])
    return m


def keras_round(model, predict, steps):
    m, batch = keras_model(model), MODELS[model][1]
    x, y = data(model, batch * steps)
    if predict:
        return lambda: m.predict(x, batch_size=batch, verbose=0), steps
    return lambda: m.fit(x, y, batch_size=batch, epochs=1, verbose=0), steps


def torch_model(model):
    import torch
    from torch import nn

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.lstm = nn.Embedding(20000, 128), nn.LSTM(128, 128, batch_first=True)
            self.dense = nn.Linear(128, 1)

        def forward(self, x):
            return self.dense(self.lstm(self.embedding(x))[0][:, -1])

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.dense = nn.Embedding(8000, 256), nn.Linear(256, 10)
            self.blocks = nn.ModuleList(
                nn.TransformerEncoderLayer(256, 8, 1024, 0.0, "gelu", batch_first=True) for _ in range(4))

        def forward(self, x):
            x = self.embedding(x)
            for block in self.blocks:
                x = block(x)
            return self.dense(x.mean(1))

    def conv(n_in, n_out, *after):
        return [nn.Conv2d(n_in, n_out, 3), nn.ReLU(), *after, nn.MaxPool2d(2)]

    if model == "mlp10_b32":
        return nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
    if model == "mlp100_b32":
        return nn.Sequential(nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 1))
    if model == "mnist_b128":
        return nn.Sequential(*conv(1, 32), *conv(32, 64), nn.Flatten(), nn.Dropout(0.5), nn.LazyLinear(10))
    if model == "cnn64bn_b32":
        return nn.Sequential(*conv(3, 32, nn.BatchNorm2d(32)), *conv(32, 64, nn.BatchNorm2d(64)),
                             *conv(64, 128, nn.BatchNorm2d(128)), nn.Flatten(), nn.LazyLinear(128), nn.ReLU(),
                             nn.Dropout(0.5), nn.Linear(128, 10))
    if model == "cnn100_b512":
        return nn.Sequential(*conv(3, 32), *conv(32, 64), nn.Flatten(), nn.LazyLinear(128), nn.ReLU(),
                             nn.Linear(128, 10))
    if model == "resnet50_b8":
        import torchvision
        return torchvision.models.resnet50(weights=None, num_classes=10)
    return {"lstm_b32": Lstm, "transformer_b16": Transformer}[model]()


def torch_round(model, predict, compiled, steps):
    import torch
    import torch.nn.functional as F
    torch.manual_seed(0)
    batch = MODELS[model][1]
    x, y = map(torch.from_numpy, data(model, batch * steps))
    m = torch_model(model)
    x, y = (t.long() if t.dtype == torch.int32 else t for t in (x, y))
    if x.ndim == 4:
        x = x.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
    m(x[:2])  # lazy layers
    if x.ndim == 4:
        m = m.to(memory_format=torch.channels_last)
    f = torch.compile(m) if compiled else m
    optimizer = torch.optim.Adam(m.parameters())
    batches = [slice(i * batch, (i + 1) * batch) for i in range(steps)]

    def train():
        for at in batches:
            p = f(x[at])
            loss = (F.binary_cross_entropy_with_logits if p.shape[-1] == 1 else F.cross_entropy)(p, y[at])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return float(loss)

    def infer():
        with torch.inference_mode():
            for at in batches:
                f(x[at])

    if predict:
        m.eval()
    return (infer if predict else train), steps


def torch_ops(row):
    """(one call, calls per round) of the single-op rows."""
    import torch
    import torch.nn.functional as F
    torch.manual_seed(0)
    if row == "matmul_1024":
        a, b = torch.rand(1024, 1024), torch.rand(1024, 1024)
        out = torch.empty(1024, 1024)
        return lambda: torch.matmul(a, b, out=out), 20
    if row == "eltwise_chain8_16m":
        x, y = torch.rand(1 << 24), torch.rand(1 << 24)
        return lambda: torch.tanh(torch.exp(-torch.abs((x * y + x) * 0.5 - y))), 1
    if row == "softmax_xent_4096x1000":
        logits, labels = torch.randn(4096, 1000, requires_grad=True), torch.randint(0, 1000, (4096,))
        return lambda: torch.autograd.grad(F.cross_entropy(logits, labels), logits), 10
    if row == "layernorm_4096x768":
        x, gamma, beta = torch.randn(4096, 768), torch.rand(768), torch.rand(768)
        return lambda: F.layer_norm(x, (768,), gamma, beta, 1e-3), 20
    if row == "eager_add8":
        a, b = torch.rand(8), torch.rand(8)
        return lambda: torch.add(a, b), 20000
    raise KeyError(row)


def torch_op_round(row, compiled):
    import torch
    call, calls = torch_ops(row)
    call = torch.compile(call) if compiled else call

    def many():
        with torch.inference_mode(row != "softmax_xent_4096x1000"):  # that one is loss and gradient
            for _ in range(calls):
                call()
    return many, calls


def make_round(framework, row):
    """A function that runs one round, how many units it counts as, and units per second of the row's unit."""
    compiled = framework == "torch-compile"
    model = row.removesuffix("_predict").removeprefix("fit_").removeprefix("start_")
    if model in MODELS:
        predict, steps = row.endswith("_predict"), 1 if row.startswith("start_") else MODELS[model][2]
        if framework.startswith("keras-"):
            return *keras_round(model, predict, steps), 1e3
        return *torch_round(model, predict, compiled, steps), 1e3
    return *torch_op_round(row, compiled), 1e6 if row == "eager_add8" else 1e3


def main():
    framework, row, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS=str(threads))
    if framework.startswith("keras-"):
        os.environ["KERAS_BACKEND"] = framework.removeprefix("keras-")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print does not mix with the answers
    if "torch" in framework:
        import torch
        torch.set_num_threads(threads)
    call, count, scale = make_round(framework, row)
    call()
    if not row.startswith("start_"):
        call()
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        call()
        value = (time.perf_counter() - start) / count * scale
        print(json.dumps({"value": value}), file=answers, flush=True)


if __name__ == "__main__":
    main()
