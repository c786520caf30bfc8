"""Lowers the hard limit of the control group that `plimsoll train` runs in, to just above what it uses, while it trains.

    python3 tests/line_cases/lowered.py --program build/bin/plimsoll

Right is: it is not killed, it gives memory back before a later step, and it trains to its end.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from run import Group

MODEL = """input: [28, 28, 1]
layers:
  - Rescaling: {scale: 0.00392156862745098}
  - Conv2D: {filters: 16, kernel_size: 3, padding: same, activation: relu}
  - Conv2D: {filters: 16, kernel_size: 3, padding: same, activation: relu}
  - Conv2D: {filters: 16, kernel_size: 3, padding: same, activation: relu}
  - Flatten
  - Dense: {units: 10, activation: softmax}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--epochs", default="8")
    args = parser.parse_args()
    data = pathlib.Path(__file__).parents[2] / "data" / "fashion_mnist_12k.npz"
    group = Group("plimsoll-lowered")
    if group.limit is None:
        print("no control group can be made here")
        return 2
    usage = group.folder / ("memory.usage_in_bytes" if group.limit.name == "memory.limit_in_bytes" else "memory.current")
    try:
        group.limit.write_text(str(2 << 30))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as model:
            model.write(MODEL)
            model.flush()
            command = [args.program, "train", model.name, "--data", str(data), "--x", "x_train", "--y", "y_train", "--batch", "1024",
                       "--epochs", args.epochs, "--loss", "sparse_categorical_crossentropy"]
            process = subprocess.Popen(command, preexec_fn=group.enter, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            used = [0]
            while process.poll() is None and (len(used) < 8 or used[-1] > used[-8] * 1.001):  # until it no longer grows
                time.sleep(0.5)
                used.append(int(usage.read_text()))
            limit = int(used[-1] * 1.01)
            group.limit.write_text(str(limit))
            later = []
            while process.poll() is None:
                later.append(int(usage.read_text()))
                time.sleep(0.25)
            output = process.stdout.read()
    finally:
        group.close()
    usual = statistics.median(later)
    print(f"used {used[-1] / 1e6:.1f} MB, limit lowered to {limit / 1e6:.1f} MB, then used {usual / 1e6:.1f} MB (median), exit status {process.returncode}")
    print(output[-300:])
    return 0 if process.returncode == 0 and usual < 0.95 * used[-1] else 1


if __name__ == "__main__":
    sys.exit(main())
