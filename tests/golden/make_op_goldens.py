"""Golden values of every op, from NumPy and SciPy.

  build/bin/op_cases | python tests/golden/make_op_goldens.py tests/golden/ops.npz
  build/bin/op_cases 1 kernels | python tests/golden/make_op_goldens.py tests/golden/kernels.npz

op_cases writes every case as JSON; the inputs are drawn from the seeds it names. One function per op stands in
op_oracles.py; an op without one is an error. The file holds, per case, up to 256 elements of every output; of a large
one ("whole"), the largest absolute value and up to 48 sums that every element is part of.
"""
import json
import sys

import numpy as np

from inputs import DTYPES, fill, hash_at, is_complex
from op_oracles import ORACLES

WEIGHTS_SEED = 42


class Pools:
    """Values one after the other: what fits float32, what needs float64, and integers."""

    def __init__(self):
        self.parts = {"f4": [], "f8": [], "i8": []}
        self.sizes = dict.fromkeys(self.parts, 0)

    def add(self, values, out, whole):
        """Keeps `count` values of one output; returns [pool, offset]."""
        dtype = DTYPES[out["dtype"]]
        if is_complex(dtype):
            values = np.ascontiguousarray(values, np.complex128).view(np.float64)
        flat = np.asarray(values).reshape(-1)
        if dtype.kind in "biu":
            flat = flat.astype(dtype).astype(np.uint64 if dtype.kind == "u" else np.int64).view(np.int64)
        else:  # float16 has infinities where float64 has none
            with np.errstate(over="ignore"):
                flat = flat.astype(dtype if dtype.itemsize == 2 else np.float64).astype(np.float64)
        first = np.arange(out["count"], dtype=np.int64) * flat.size // max(out["count"], 1)
        some = weighed_sums(flat, first) if whole else flat[first]
        if dtype.kind in "biu":
            pool = "i8"
        elif out["dtype"] in ("float64", "complex128"):
            pool, some = "f8", some.astype(np.float64)
        else:
            with np.errstate(over="ignore"):
                pool, some = "f4", some.astype(np.float32)
        offset = self.sizes[pool]
        self.parts[pool].append(some)
        self.sizes[pool] += some.size
        return [pool, offset]

    def arrays(self):
        kinds = {"f4": np.float32, "f8": np.float64, "i8": np.int64}
        return {name: np.concatenate(parts + [np.empty(0, kinds[name])]) for name, parts in self.parts.items()}


def weighed_sums(flat, first):
    """The sums from each of `first` to the next, of every element times a weight of its own (tests/support/sums.h). Floats:
    the largest absolute value before them."""
    hashes = hash_at(WEIGHTS_SEED, np.arange(flat.size))
    if flat.dtype == np.int64:
        weights = (hashes | np.uint64(1)).view(np.int64)
        return np.add.reduceat(flat * weights, first) if flat.size else flat
    weights = (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1
    finite = np.abs(flat[np.isfinite(flat)])
    sums = np.add.reduceat(flat * weights, first) if flat.size else flat
    return np.concatenate([[finite.max(initial=0)], sums])


def with_diagonal(x, by):
    """The matrices with a growing diagonal added: tests/op_sweep/cases.cpp says why."""
    if by:
        n = min(x.shape[-2:])
        i = np.arange(n)
        x[..., i, i] = (x[..., i, i].astype(np.float64) + by * (n + i)).astype(x.dtype)
    return x


def evaluate(case):
    """The outputs of one case as NumPy arrays."""
    inputs = [with_diagonal(fill(i["dtype"], i["shape"], i["low"], i["high"], i["seed"]), i["diagonal"]) for i in case["in"]]
    out_dtypes = [DTYPES[o["dtype"]] for o in case["out"]]
    with np.errstate(all="ignore"):
        outputs = ORACLES[case["op"]](inputs, case["attrs"], out_dtypes)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    for value, out in zip(outputs, case["out"], strict=True):
        if list(np.shape(value)) != out["shape"]:
            raise ValueError(f"expected shape {out['shape']}, the oracle gives {np.shape(value)}")
    return outputs


def make(dump):
    """{array name: array} of a golden file, and what went wrong as a list of lines."""
    pools, cases, errors = Pools(), {}, []
    missing = sorted({c["op"] for c in dump["cases"]} - ORACLES.keys())
    errors += [f"{op}: no oracle in op_oracles.py" for op in missing]
    for case in dump["cases"]:
        if case["op"] not in ORACLES:
            continue
        try:
            cases[case["key"]] = [pools.add(v, o, case["whole"]) for v, o in zip(evaluate(case), case["out"])]
        except Exception as e:  # every bad case is listed, not only the first
            errors.append(f"{case['key']}: {type(e).__name__}: {e}")
    index = json.dumps({"seed": dump["seed"], "cases": cases}, separators=(",", ":"))
    return {"index": np.frombuffer(index.encode(), np.uint8), **pools.arrays()}, errors


def main():
    arrays, errors = make(json.load(sys.stdin))
    np.savez_compressed(sys.argv[1], **arrays)
    print(*errors, sep="\n", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
