"""Writes layers.json and layers.npz: what real Keras makes of each layer of layer_cases.py, for src/layers/layers_test.cpp.

Inputs, weights and output weights are made alike on both sides (inputs.py, tests/support/fill.h) from the name of the
case, so the files hold results only: outputs, output masks, state after the call, and the gradients of
sum(output * fixed) + losses with respect to inputs and trainable weights.
Run: python make_layer_goldens.py
"""
import json
import os
import pathlib

os.environ["KERAS_BACKEND"] = "torch"  # eager: nothing to compile for hundreds of small layers

import keras
import numpy as np
import torch

from inputs import fill, hash_text
from layer_cases import CASES

FOLDER = pathlib.Path(__file__).parent


def weight_range(path):
    return (0.5, 1.5) if "variance" in path else (-0.6, 0.6)


def made(spec, key):
    return torch.from_numpy(np.array(fill(spec["dtype"], spec["shape"], spec["low"], spec["high"], hash_text(key))))


def plain(config):
    """Without what only a built layer has."""
    if isinstance(config, dict):
        return {k: plain(v) for k, v in config.items() if k not in ("build_config", "shared_object_id")}
    if isinstance(config, (list, tuple)):
        return [plain(v) for v in config]
    return config


def call(layer, options, xs, masks, arguments):
    for value, mask in zip(xs, masks):
        if mask is not None:
            keras.src.backend.set_keras_mask(value, mask)
    kwargs = dict(arguments) | options.get("constants", {})
    if "training" in options:
        kwargs["training"] = options["training"]
    args = [xs] if options.get("listed") else xs
    if options.get("initial_state"):
        args, kwargs["initial_state"] = xs[:1], xs[1:]
    outputs = layer(*args, **kwargs)
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def mask_of(flag, x, key):
    shape = x.shape[:-1] if len(x.shape) > 2 else x.shape
    return made({"shape": list(shape), "dtype": "bool", "low": 0, "high": 1}, key) if flag else None


def set_weights(name, layer):
    for i, weight in enumerate(layer.weights):
        low, high = weight_range(weight.path)
        if weight.dtype.startswith("float"):
            weight.assign(fill(weight.dtype, weight.shape, low, high, hash_text(f"{name}/w{i}")))
    if getattr(layer, "stateful", False):
        layer.reset_state()
    if hasattr(layer, "finalize_state"):
        layer.finalize_state()


def run(name, layer, inputs, options):
    config = plain(keras.saving.serialize_keras_object(layer))
    xs = [made(spec, f"{name}/x{i}") for i, spec in enumerate(inputs)]
    flags = options.get("masks", []) + [False] * len(xs)
    masks = [mask_of(flag, x, f"{name}/m{i}") for i, (flag, x) in enumerate(zip(flags, xs))]
    arguments = {key: made(spec, f"{name}/{key}") for key, spec in options.get("arguments", {}).items()}
    call(layer, options, xs, masks, arguments)
    set_weights(name, layer)

    xs = [made(spec, f"{name}/x{i}") for i, spec in enumerate(inputs)]
    floats = [x.requires_grad_() for x in xs if x.is_floating_point()]
    outputs = call(layer, options, xs, masks, arguments)
    total = sum((y * torch.from_numpy(fill("float32", list(y.shape), -1, 1, hash_text(f"{name}/dy{i}")))).sum()
                for i, y in enumerate(outputs)) + sum(layer.losses)
    wanted = floats + [v.value for v in layer.trainable_variables]
    grads = torch.autograd.grad(total, wanted, allow_unused=True) if total.requires_grad else [None] * len(wanted)
    grads = [torch.zeros_like(w) if g is None else g for g, w in zip(grads, wanted)]
    out_mask = keras.src.backend.get_keras_mask(outputs[0])
    states = [w.value for w in layer.weights if not w.trainable]
    parts = outputs + ([out_mask] if out_mask is not None else []) + states + grads
    record = {"name": name, "layer": config, "inputs": inputs, "outputs": [list(y.shape) for y in outputs],
              "output_mask": out_mask is not None, "weights": [list(w.shape) for w in layer.weights],
              "weight_ranges": [list(weight_range(w.path)) for w in layer.weights]}
    record |= {k: options[k] for k in ("masks", "training", "arguments", "constants") if k in options}
    return record, np.concatenate([p.detach().numpy().astype(np.float32).ravel() for p in parts])


def main():
    records, arrays = [], {}
    for name, layer, inputs, options in CASES:
        try:
            record, values = run(name, layer, inputs, options)
        except Exception as error:
            raise RuntimeError(f"case {name}") from error
        records.append(record)
        arrays[name] = values
    rows = ",\n".join(json.dumps(r) for r in records)
    (FOLDER / "layers.json").write_text(f"[\n{rows}\n]\n")
    np.savez_compressed(FOLDER / "layers.npz", **arrays)
    print(len(records), "cases")


if __name__ == "__main__":
    main()
