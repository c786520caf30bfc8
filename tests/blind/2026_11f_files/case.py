"""What the makers of model files share: a case is a folder with the file, the data and what Keras says of them."""

import json
import os
import sys

import numpy as np

ROOT = sys.argv[1] if len(sys.argv) > 1 else "/tmp/blind_files"
CASES = []


def case(f):
    CASES.append(f)
    return f


def rng(seed=0):
    return np.random.default_rng(seed) if hasattr(np.random, "default_rng") else np.random.RandomState(seed)


def normal(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


def ints(high, *shape, seed=0):
    return np.random.RandomState(seed).randint(0, high, shape).astype("int32")


def scramble(model, seed=1):
    """Weights that are not what the initializers make (gammas of 1, biases of 0 hide mistakes)."""
    r = np.random.RandomState(seed)
    values = []
    for w in model.get_weights():
        w = np.asarray(w)
        if w.dtype.kind != "f":
            values.append(w)
            continue
        values.append((w + 0.1 * np.abs(r.randn(*w.shape))).astype(w.dtype))
    model.set_weights(values)
    return model


def flat(tree, prefix="out"):
    if isinstance(tree, dict):
        return {k: np.asarray(v) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return {"%s%d" % (prefix, i): np.asarray(v) for i, v in enumerate(tree)}
    return {prefix + "0": np.asarray(tree)}


def put(folder, x=None, y=None, want=None, **what):
    """x, y: by name. what: file, do (predict, evaluate, train, refuse), match, args, tol, scores."""
    for name, arrays in (("x", x), ("want", want)):
        if arrays is not None:
            np.savez(os.path.join(folder, name + ".npz"), **{k: np.asarray(v) for k, v in arrays.items()})
    if y is not None:
        both = dict(x)
        both.update({"target_" + k: v for k, v in y.items()})
        np.savez(os.path.join(folder, "xy.npz"), **both)
    what["x"], what["y"] = list(x or {}), list(y or {})
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump(what, f, indent=1)


def make_all(only):
    os.makedirs(ROOT, exist_ok=True)
    failed = []
    for f in CASES:
        name = f.__name__
        if only and name not in only:
            continue
        folder = os.path.join(ROOT, name)
        os.makedirs(folder, exist_ok=True)
        try:
            f(folder)
            print("made", name, flush=True)
        except Exception as e:  # a case that Keras itself cannot make is no case
            failed.append(name)
            print("NOT MADE", name, type(e).__name__, str(e)[:600], flush=True)
    print(len(CASES) - len(failed), "made;", failed)
