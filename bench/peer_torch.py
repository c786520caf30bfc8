"""PyTorch as a peer: "torch" (eager), "torch-compile"; with "-bf16" behind, parameters and data are bfloat16 as well, where
the others of a bf16 row run under autocast.

A single step is forward, loss, backward and fused Adam on a batch that is there. A step of a fit_ row also takes a shuffled batch
and keeps the accuracy, as fit() does. Images are channels-last, which is the faster layout. On a GPU float32 products may be
TF32, and "torch-graph" is the compiled step, forward to Adam, captured in one CUDA graph.
"""
import os
from contextlib import nullcontext

import torch
import torch.nn.functional as F
from torch import nn


DEVICE = os.environ.get("PLIMSOLL_BENCH_DEVICE", "cpu")
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(20000, 128), nn.LSTM(128, 128, batch_first=True)
        self.dense = nn.Linear(128, 1)

    def forward(self, x):
        return self.dense(self.lstm(self.embedding(x))[0][:, -1])


class Lstm512(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.dense = nn.LSTM(128, 512, 2, batch_first=True), nn.Linear(512, 10)

    def forward(self, x):
        return self.dense(self.lstm(x)[0][:, -1])


class Transformer(nn.Module):
    def __init__(self, vocabulary=8000, width=256, heads=8, blocks=4):
        super().__init__()
        self.embedding, self.dense = nn.Embedding(vocabulary, width), nn.Linear(width, 10)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True) for _ in range(blocks))

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x)
        return self.dense(x.mean(1))


class Bottleneck(nn.Module):
    """v1 is Keras's block: the stride sits in the first 1x1 convolution, and convolutions have biases."""

    def __init__(self, n_in, filters, stride, v1):
        super().__init__()

        def conv(n_in, n_out, size, stride):
            return nn.Sequential(nn.Conv2d(n_in, n_out, size, stride, size // 2, bias=v1), nn.BatchNorm2d(n_out))

        first, second = (stride, 1) if v1 else (1, stride)
        self.body = nn.Sequential(conv(n_in, filters, 1, first), nn.ReLU(inplace=True), conv(filters, filters, 3, second),
                                  nn.ReLU(inplace=True), conv(filters, 4 * filters, 1, 1))
        self.shortcut = (nn.Identity() if stride == 1 and n_in == 4 * filters
                         else conv(n_in, 4 * filters, 1, stride))

    def forward(self, x):
        return torch.relu_(self.body(x) + self.shortcut(x))


def resnet50(v1):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=v1), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    n_in = 64
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(blocks):
            layers.append(Bottleneck(n_in, filters, 2 if i == 0 and filters > 64 else 1, v1))
            n_in = 4 * filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 10))


def make_model(row):
    def conv(n_in, n_out, *after):
        return [nn.Conv2d(n_in, n_out, 3), nn.ReLU(), *after, nn.MaxPool2d(2)]

    def mlp(*sizes):
        dense = [layer for n_in, n_out in zip(sizes, sizes[1:]) for layer in (nn.Linear(n_in, n_out), nn.ReLU())]
        return nn.Sequential(*dense[:-1])

    makers = {
        "mlp10_b32": lambda: mlp(10, 64, 32, 1),
        "mlp100_b32": lambda: mlp(100, 64, 1),
        "mnist_b128": lambda: nn.Sequential(*conv(1, 32), *conv(32, 64), nn.Flatten(), nn.Dropout(0.5), nn.Linear(1600, 10)),
        "cnn64bn_b32": lambda: nn.Sequential(
            *conv(3, 32, nn.BatchNorm2d(32)), *conv(32, 64, nn.BatchNorm2d(64)), *conv(64, 128, nn.BatchNorm2d(128)),
            nn.Flatten(), nn.Linear(4608, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)),
        "cnn100_b512": lambda: nn.Sequential(*conv(3, 32), *conv(32, 64), nn.Flatten(), nn.Linear(33856, 128), nn.ReLU(),
                                             nn.Linear(128, 10)),
        "resnet50_b8": lambda: resnet50(row.resnet_v1),
        "lstm_b32": Lstm,
        "transformer_b16": Transformer,
        "lstm512_b64": Lstm512,
        "bert_b32": lambda: Transformer(30522, 768, 12, 12),
    }
    makers |= {"mlp10_b1": makers["mlp10_b32"], "resnet50_b1": makers["resnet50_b8"], "resnet50_b256": makers["resnet50_b8"]}
    return makers[row.model]()


def prepare(row, pure):
    """The model and its data, in the types and layouts that PyTorch likes."""
    torch.manual_seed(0)
    x, y = map(torch.from_numpy, row.data())
    x, y = (t.long() if t.dtype == torch.int32 else t for t in (x, y))
    model, x, y = make_model(row).to(DEVICE), x.to(DEVICE), y.to(DEVICE)
    if x.ndim == 4:
        x = x.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
        model = model.to(memory_format=torch.channels_last)
    if pure:
        model = model.bfloat16()
        x = x.bfloat16() if x.is_floating_point() else x
    return model, x, y


def captured(row, step, x, y):
    """The step on one batch as a CUDA graph, launched once per batch."""
    xb, yb = x[:row.batch], y[:row.batch]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step(xb, yb)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss, _ = step(xb, yb)

    def steps():
        for _ in range(row.steps):
            graph.replay()
        return float(loss)

    return steps


def trainer(row, model, x, y, compiled, pure, graph=False):
    autocast = (lambda: torch.autocast(DEVICE, torch.bfloat16)) if row.bf16 and not pure else nullcontext
    optimizer = torch.optim.Adam(model.parameters(), fused=True, capturable=graph)

    def loss_of(xb, yb):
        with autocast():
            p = model(xb)
            p = p.float() if row.bf16 else p
        loss = F.binary_cross_entropy_with_logits(p, yb) if row.binary else F.cross_entropy(p, yb)
        return loss, p.detach()

    if compiled:
        loss_of = torch.compile(loss_of)

    def step(xb, yb):
        loss, p = loss_of(xb, yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach(), p

    if graph:
        return captured(row, step, x, y)

    def steps():
        for at in row.batches():
            loss, _ = step(x[at], y[at])
        return float(loss)

    def fit():
        order, right = torch.randperm(len(x)), torch.zeros((), dtype=torch.long)
        for at in row.batches():
            xb, yb = x[order[at]], y[order[at]]
            loss, p = step(xb, yb)
            right += ((p > 0) == (yb > 0.5)).sum() if row.binary else (p.argmax(1) == yb).sum()
        return float(loss), float(right) / len(x)

    return fit if row.fit else steps


def captured_forward(forward, x):
    """One call as a CUDA graph, for batches of this shape."""
    batch, side = x.clone(), torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            forward(batch)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = forward(batch)

    def replay(xb):
        batch.copy_(xb)
        graph.replay()
        return out

    return replay


def predictor(row, model, x, compiled, pure, graph=False):
    autocast = (lambda: torch.autocast(DEVICE, torch.bfloat16)) if row.bf16 and not pure else nullcontext
    model.eval()

    def forward(xb):
        p = model(xb)
        return torch.sigmoid(p) if row.binary else torch.softmax(p, 1)

    if compiled:
        import torch._inductor.config as config
        config.freezing = True  # weights become constants, packed once: its fastest form for inference
        forward = torch.compile(forward)

    if graph:
        with torch.no_grad(), autocast():
            forward = captured_forward(forward, x[:row.batch])

    def predict():
        with torch.no_grad() if compiled else torch.inference_mode(), autocast():
            for at in row.batches():
                p = forward(x[at])
                if row.waits:
                    p.cpu()

    return predict


def make_round(framework, row):
    graph, pure = framework == "torch-graph", framework.endswith("-bf16")
    compiled = graph or "compile" in framework
    model, x, y = prepare(row, pure)
    if row.predict:
        return predictor(row, model, x, compiled, pure, graph)
    return trainer(row, model, x, y, compiled, pure, graph)

