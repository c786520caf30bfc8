"""What the allocation gate costs: processor time of a program that allocates all the time and of a TensorFlow training
step, with and without the gate, in turns: the least of all rounds, and the median of what the gate added in each pair.
With --instructions the first program's instructions are counted instead, by valgrind, which no other load disturbs.

    python bench/guard_gate_cost.py [--rounds 5] [--only malloc,tensorflow] [--python PATH] [--instructions]
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUARD = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", ROOT / "build")) / "bin" / "plimsoll-guard"

LEAST = """
import time
def least(step, times):
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        step()
        best = min(best, time.process_time() - begin)
    print("least", best)
"""
# Sizes above Python's own pools, so that each is a call of malloc; every hundredth is one that the gate looks at.
MALLOC = LEAST + """
sizes = [600 + 37 * i for i in range(99)] + [100_000]
def step():
    for _ in range(300):
        kept = [bytearray(size) for size in sizes]
least(step, STEPS)
"""
TENSORFLOW = LEAST + """
import os
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np, keras
m = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Conv2D(16, 3, activation="relu"), keras.layers.Flatten(),
                      keras.layers.Dense(10)])
m.compile("adam", "mse")
x, y = np.zeros((64, 28, 28, 1), "float32"), np.zeros((64, 10), "float32")
least(lambda: m.train_on_batch(x, y), 150)
"""


def run(code, gate, python, before=()):
    """What the program wrote, on both streams."""
    options = ["--memory", "16GiB"] + ([] if gate else ["--no-gate"])
    done = subprocess.run([str(GUARD), *options, "--", *before, python, "-c", code], capture_output=True, text=True, timeout=800)
    if "least " not in done.stdout:
        raise SystemExit(f"no result: {done.stderr[-800:]}")
    return done.stdout + done.stderr


def seconds(code, gate, python):
    return float(run(code, gate, python).split("least ")[1].split()[0])


def instructions(gate, python):
    """Of ten steps: what twelve take more than two."""
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    counts = [int(run(MALLOC.replace("STEPS", str(n)), gate, python, callgrind).split("Collected :")[1].split()[0]) for n in (2, 12)]
    return counts[1] - counts[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="malloc,tensorflow")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        if options.instructions:
            plain, gated = (instructions(gate, options.python) for gate in (False, True))
            print(f"malloc      {plain} instructions without the gate, {gated} with: {100 * (gated / plain - 1):+.2f} %")
            return
        for name in options.only.split(","):
            code = {"malloc": MALLOC.replace("STEPS", "40"), "tensorflow": TENSORFLOW}[name]
            pairs = []
            for i in range(options.rounds):
                first = seconds(code, i % 2 == 1, options.python)
                second = seconds(code, i % 2 == 0, options.python)
                pairs.append((second, first) if i % 2 else (first, second))
            plain, gated = (min(values) for values in zip(*pairs))
            added = statistics.median(g / p - 1 for p, g in pairs)
            print(f"{name:<11} {1e3 * plain:.3f} ms without the gate, {1e3 * gated:.3f} with: {100 * (gated / plain - 1):+.2f} %; "
                  f"median of {len(pairs)} pairs {100 * added:+.2f} %", flush=True)


if __name__ == "__main__":
    main()
