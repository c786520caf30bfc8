"""What the allocation gate costs: processor time of a program that allocates all the time and of a TensorFlow training
step, with and without the gate, in turns; the least of all rounds counts.

    python bench/guard_gate_cost.py [--rounds 5] [--only malloc,tensorflow]
"""
import argparse
import os
import pathlib
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
least(step, 40)
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


def run(code, gate):
    options = ["--memory", "16GiB"] + ([] if gate else ["--no-gate"])
    done = subprocess.run([str(GUARD), *options, "--", sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    if "least " not in done.stdout:
        raise SystemExit(f"no result: {done.stderr[-800:]}")
    return float(done.stdout.split("least ")[1].split()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="malloc,tensorflow")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        for name in options.only.split(","):
            code = {"malloc": MALLOC, "tensorflow": TENSORFLOW}[name]
            plain, gated = [], []
            for _ in range(options.rounds):
                plain.append(run(code, gate=False))
                gated.append(run(code, gate=True))
            print(f"{name:<11} {1e3 * min(plain):.3f} ms without the gate, {1e3 * min(gated):.3f} with: "
                  f"{100 * (min(gated) / min(plain) - 1):+.2f} %", flush=True)


if __name__ == "__main__":
    main()
