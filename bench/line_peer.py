"""PyTorch beside bench/line_steps.cpp: one model in a process of its own.

    python bench/line_peer.py MODEL plain|checkpoint ROUNDS THREADS SECONDS

takes so many steps, or fewer where those take longer than so many seconds, and prints {"seconds": median of a step, "total": growth of the peak resident size since `import torch`, "version": torch's}. checkpoint:
every block (a residual block, two convolutions, an encoder layer, what stands before a pooling) is run again in the backward pass.
"""
import json
import pathlib
import statistics
import sys
import time
import types

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import peer_torch

# name: (shape of an example, batch); numbers of a vocabulary where there is one behind them
MODELS = {
    "cnn64bn_b32": ((64, 64, 3), 32), "cnn100_b512": ((100, 100, 3), 512), "resnet50_b8": ((224, 224, 3), 8),
    "mobilenetv2_b16": ((224, 224, 3), 16), "unet_b4": ((128, 128, 3), 4), "vgg16_b16": ((112, 112, 3), 16),
    "bert_b4": ((128,), 4, 30522), "lstm_b32": ((80,), 32, 8000),
}


def conv_norm(n_in, n_out, size=3, stride=1, groups=1):
    return [nn.Conv2d(n_in, n_out, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(n_out)]


class InvertedResidual(nn.Module):
    def __init__(self, n_in, expand, n_out, stride):
        super().__init__()
        width, first = expand * n_in, []
        if expand != 1:
            first = [*conv_norm(n_in, width, 1), nn.ReLU6(inplace=True)]
        self.body = nn.Sequential(*first, *conv_norm(width, width, 3, stride, width), nn.ReLU6(inplace=True), *conv_norm(width, n_out, 1))
        self.adds = stride == 1 and n_in == n_out

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


def mobilenet_v2():
    layers, n_in = [nn.Sequential(*conv_norm(3, 32, 3, 2), nn.ReLU6(inplace=True))], 32
    for expand, n_out, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(blocks):
            layers.append(InvertedResidual(n_in, expand, n_out, stride if i == 0 else 1))
            n_in = n_out
    last = nn.Sequential(*conv_norm(320, 1280, 1), nn.ReLU6(inplace=True))
    return nn.Sequential(*layers, last, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, 10))


def two_convs(n_in, n_out):
    return nn.Sequential(*conv_norm(n_in, n_out), nn.ReLU(inplace=True), *conv_norm(n_out, n_out), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (64, 128, 256, 512)
        self.down = nn.ModuleList(two_convs(a, b) for a, b in zip((3, *widths), widths))
        self.middle = two_convs(512, 1024)
        self.up = nn.ModuleList(nn.Conv2d(2 * w, w, 3, padding=1, bias=False) for w in reversed(widths))
        self.join = nn.ModuleList(two_convs(2 * w, w) for w in reversed(widths))
        self.last = nn.Conv2d(64, 10, 1)

    def forward(self, x):
        levels = []
        for block in self.down:
            levels.append(block(x))
            x = F.max_pool2d(levels[-1], 2)
        x = self.middle(x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([levels.pop(), up(F.interpolate(x, scale_factor=2))], 1))
        return self.last(x).mean((2, 3))


def vgg16():
    layers, n_in = [], 3
    for n_out, convs in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convs):
            layers += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU(inplace=True)]
            n_in = n_out
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(4608, 4096), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(4096, 4096),
                         nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(4096, 10))


def make_model(name):
    own = {"mobilenetv2_b16": mobilenet_v2, "unet_b4": UNet, "vgg16_b16": vgg16, "bert_b4": lambda: peer_torch.Transformer(30522, 768, 12, 12)}
    return own[name]() if name in own else peer_torch.make_model(types.SimpleNamespace(model=name, resnet_v1=False))


class Checkpointed(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, *args):
        return checkpoint(self.block, *args, use_reentrant=False)


def with_checkpoints(model):
    if isinstance(model, UNet):
        model.down = nn.ModuleList(Checkpointed(block) for block in model.down)
        model.join = nn.ModuleList(Checkpointed(block) for block in model.join)
        model.middle = Checkpointed(model.middle)
    elif isinstance(model, peer_torch.Transformer):
        model.blocks = nn.ModuleList(Checkpointed(block) for block in model.blocks)
    elif isinstance(model, peer_torch.Lstm):
        model.lstm = Checkpointed(model.lstm)
    else:
        layers, plain = [], []
        for layer in model:
            if isinstance(layer, (peer_torch.Bottleneck, InvertedResidual, nn.Sequential)):
                layers += [*plain, Checkpointed(layer)]
                plain = []
            elif isinstance(layer, nn.MaxPool2d) and plain:
                layers.append(Checkpointed(nn.Sequential(*plain, layer)))
                plain = []
            else:
                plain.append(layer)
        model = nn.Sequential(*layers, *plain)
    return model


def resident(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {field} in /proc/self/status")


def main():
    name, mode, rounds, threads, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    torch.set_num_threads(threads)
    torch.ones(8) + 1
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = resident("VmRSS")
    torch.manual_seed(0)
    shape, batch, *vocabulary = MODELS[name]
    binary = name.startswith("lstm")
    model = make_model(name)
    if vocabulary:
        x = torch.randint(0, vocabulary[0], (batch, *shape))
    else:
        x = torch.rand(batch, shape[2], *shape[:2]).contiguous(memory_format=torch.channels_last)
        model = model.to(memory_format=torch.channels_last)
    y = torch.randint(0, 2, (batch, 1)).float() if binary else torch.randint(0, 10, (batch,))
    if mode == "checkpoint":
        model = with_checkpoints(model)
    try:
        optimizer = torch.optim.Adam(model.parameters(), fused=True)
    except (RuntimeError, TypeError):  # before torch 2.4 there is none for CPUs
        optimizer = torch.optim.Adam(model.parameters())

    def step():
        out = model(x)
        loss = F.binary_cross_entropy_with_logits(out, y) if binary else F.cross_entropy(out, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    seconds = []
    while len(seconds) < rounds + 1 and (len(seconds) < 2 or sum(seconds) < most):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": statistics.median(seconds[1:]), "steps": len(seconds) - 1, "total": resident("VmHWM") - before, "version": torch.__version__}))


if __name__ == "__main__":
    main()
