"""What all peers share: the models' shapes and the data. The models are those of tests/models (single steps) and of
fit_rows.cpp (whole fit() calls)."""

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
    # For GPUs.
    "mlp10_b1": ((10,), 1, 200),
    "resnet50_b1": ((224, 224, 3), 1, 20),
    "resnet50_b256": ((224, 224, 3), 256, 1),
    "lstm512_b64": ((100, 128), 64, 4),
    "bert_b32": ((128,), 32, 4),
}
DEVICE_MODELS = ["mlp10_b1", "resnet50_b1", "resnet50_b256", "lstm512_b64", "bert_b32"]


class Row:
    """What a row's name says: [keras_][fit_|start_]MODEL[_bf16][_predict]. `model` is None for rows that train or run none.
    All rows with keras_ are about fit() and predict()."""

    def __init__(self, name, steps=None):
        self.name, self.keras = name, name.startswith("keras_")
        name = name.removeprefix("keras_")
        self.start, self.fit = name.startswith("start_") or name == "import", self.keras or name.startswith(("fit_", "start_"))
        self.predict, rest = name.endswith("_predict"), name.removesuffix("_predict")
        self.bf16, rest = rest.endswith("_bf16"), rest.removesuffix("_bf16")
        self.op = rest
        model = rest.removeprefix("fit_").removeprefix("start_")
        self.model = model if model in MODELS else None
        if self.model:
            self.batch, self.steps = MODELS[model][1], 1 if self.start else steps or MODELS[model][2]
            self.binary = model.startswith(("mlp", "lstm_"))
            self.waits = self.predict and self.batch == 1  # the answer is read after every call
            # Keras's own ResNet-50 in fit(); torchvision's, whose strides sit in the 3x3 convolutions, in single steps.
            self.resnet_v1 = self.fit

    def data(self):
        import numpy as np
        shape, count, rng = MODELS[self.model][0], self.batch * self.steps, np.random.default_rng(0)
        tokens = self.model.startswith(("lstm_", "trans", "bert"))
        x = (rng.integers(0, 30522 if self.model.startswith("bert") else 8000, (count,) + shape).astype("int32") if tokens
             else rng.random((count,) + shape, dtype="float32"))
        y = (rng.integers(0, 2, (count, 1)).astype("float32") if self.binary
             else rng.integers(0, 10, (count,)).astype("int32"))
        return x, y

    def batches(self):
        return [slice(i * self.batch, (i + 1) * self.batch) for i in range(self.steps)]
