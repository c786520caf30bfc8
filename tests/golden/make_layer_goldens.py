"""Writes layers.json and layers.npz: what real Keras makes of each layer of layer_cases.py, for src/layers/layers_test.cpp.

Inputs, weights and output weights are made alike on both sides (inputs.py, tests/support/fill.h) from the name of the
case, so the files hold results only: outputs, output masks, state after the call, and the gradients of
sum(output * fixed) + losses with respect to inputs and trainable weights.
Run: python make_layer_goldens.py [names...]   (of those cases alone: what they give is put beside what is there)
"""
import json
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"  # eager: nothing to compile for hundreds of small layers

import keras
import numpy as np
import tensorflow as tf

from inputs import fill, hash_text
from layer_cases import CASES

FOLDER = pathlib.Path(__file__).parent


def weight_range(path):
    return (0.5, 1.5) if "variance" in path else (-0.6, 0.6)


def made(spec, key):
    return np.array(fill(spec["dtype"], spec["shape"], spec["low"], spec["high"], hash_text(key)))


def plain(config):
    """Without what only a built layer has."""
    if isinstance(config, dict):
        return {k: plain(v) for k, v in config.items() if k not in ("build_config", "shared_object_id")}
    if isinstance(config, (list, tuple)):
        return [plain(v) for v in config]
    return config


def arguments_of(options, xs, masks, arguments):
    for value, mask in zip(xs, masks):
        if mask is not None:
            keras.src.backend.set_keras_mask(value, mask)
    kwargs = dict(arguments) | options.get("constants", {})
    if "training" in options:
        kwargs["training"] = options["training"]
    args = [xs] if options.get("listed") else xs
    if options.get("initial_state"):
        args, kwargs["initial_state"] = xs[:1], xs[1:]
    return args, kwargs


def mask_of(flag, x, key):
    shape = x.shape[:2] if len(x.shape) > 2 else x.shape
    return tf.constant(made({"shape": list(shape), "dtype": "bool", "low": 0, "high": 1}, key)) if flag else None


def set_weights(name, layer):
    for i, weight in enumerate(layer.weights):
        low, high = weight_range(weight.path)
        if weight.dtype.startswith("float"):
            weight.assign(fill(weight.dtype, weight.shape, low, high, hash_text(f"{name}/w{i}")))
    if getattr(layer, "stateful", False):
        layer.reset_state()
    if hasattr(layer, "finalize_state") and layer.__class__.__name__ == "Normalization":
        layer.finalize_state()


def run(name, layer, inputs, options):
    config = plain(keras.saving.serialize_keras_object(layer))
    given = [made(spec, f"{name}/x{i}") for i, spec in enumerate(inputs)]
    flags = options.get("masks", []) + [False] * len(given)
    masks = [mask_of(flag, x, f"{name}/m{i}") for i, (flag, x) in enumerate(zip(flags, given))]
    arguments = {key: tf.constant(made(spec, f"{name}/{key}")) for key, spec in options.get("arguments", {}).items()}
    args, kwargs = arguments_of(options, [tf.constant(x) for x in given], masks, arguments)
    layer(*args, **kwargs)
    set_weights(name, layer)
    states = [w for w in layer.weights if not w.trainable]

    xs = [tf.constant(x) for x in given]
    floats = [x for x in xs if x.dtype.is_floating]
    trainable = [v.value for v in layer.trainable_variables]
    with tf.GradientTape() as tape:
        tape.watch(floats)
        args, kwargs = arguments_of(options, xs, masks, arguments)
        outputs = keras.tree.flatten(layer(*args, **kwargs))
        total = sum(tf.reduce_sum(tf.cast(y, "float32") * fill("float32", list(y.shape), -1, 1, hash_text(f"{name}/dy{i}"))) for i, y in enumerate(outputs))
        total += sum(layer.losses)
    mask = keras.src.backend.get_keras_mask(outputs[0])
    grads = []
    if options.get("gradients", True):  # False: of what has none, results alone
        grads = tape.gradient(total, floats + trainable, unconnected_gradients="zero")
    grads = [tf.convert_to_tensor(g) for g in grads]
    parts = outputs + ([mask] if mask is not None else []) + [w.value for w in states] + grads
    record = {"name": name, "layer": config, "inputs": inputs, "outputs": [list(y.shape) for y in outputs],
              "output_mask": mask is not None, "weights": [list(w.shape) for w in layer.weights],
              "weight_ranges": [list(weight_range(w.path)) for w in layer.weights]}
    record |= {k: options[k] for k in ("masks", "training", "arguments", "constants", "gradients") if k in options}
    return record, np.concatenate([np.asarray(p).astype(np.float32).ravel() for p in parts])


def main(names):
    records, arrays = {}, {}
    if names:
        records = {record["name"]: record for record in json.loads((FOLDER / "layers.json").read_text())}
        with np.load(FOLDER / "layers.npz") as held:
            arrays = dict(held)
    for name, layer, inputs, options in CASES:
        if names and name not in names and not (names == ["new"] and name not in records):
            continue
        try:
            records[name], arrays[name] = run(name, layer, inputs, options)
        except Exception as error:
            raise RuntimeError(f"case {name}") from error
    order = [case[0] for case in CASES]
    rows = ",\n".join(json.dumps(records[name]) for name in order)
    (FOLDER / "layers.json").write_text(f"[\n{rows}\n]\n")
    np.savez_compressed(FOLDER / "layers.npz", **{name: arrays[name] for name in order})
    print(len(records), "cases")


if __name__ == "__main__":
    main(sys.argv[1:])
