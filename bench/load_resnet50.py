"""bench/load_resnet50.py: loads a ResNet-50 .keras, ours and Keras on each backend, a fresh process each time. Also a row of run.py.

By itself it prints the median time of the load itself (without the start of the process or the import of Keras), and beside it, as multiples
of the weights: the peak resident size of the whole process tree (ours reads HDF5 in a process of its own), how much of it the
load added to what the process had before, and how much of it is not mapped from a file, such as the code of libraries.
Linux only.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types

from environment import HERE, ROOT, installed, peers_python

WEIGHTS = 102_546_848  # bytes of float32
BACKENDS = ["tensorflow", "jax", "torch"]


def serve(backend, path):
    """Runs in the peers' environment."""
    import resource
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", KERAS_BACKEND=backend)
    import keras
    if not pathlib.Path(path).exists():
        return keras.applications.ResNet50(weights=None).save(path)
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()
    start = time.perf_counter()
    model = keras.models.load_model(path)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)
    sys.stdin.readline()


def sizes(pid):
    """Resident bytes, and those not mapped from a file, of a process and its children."""
    total = anonymous = 0
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for process in [str(pid), *children]:
            status = pathlib.Path(f"/proc/{process}/status").read_text()
            found = dict(re.findall(r"^(VmRSS|RssAnon):\s+(\d+)", status, re.MULTILINE))
            total += 1024 * int(found.get("VmRSS", 0))
            anonymous += 1024 * int(found.get("RssAnon", 0))
    except OSError:
        pass  # one of them has just ended
    return total, anonymous


def run(command):
    """Starts it, waits until it says that it is ready, lets it load, and watches its memory."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        if not process.stdout.readline():
            raise RuntimeError(f"{command[0]} did not start")
        before, peak, peak_anonymous = sizes(process.pid)[0], 0, 0
        os.set_blocking(process.stdout.fileno(), False)
        process.stdin.write(b"go\n")
        answer = b""
        while not answer.endswith(b"\n"):
            total, anonymous = sizes(process.pid)
            peak, peak_anonymous = max(peak, total), max(peak_anonymous, anonymous)
            answer += process.stdout.read() or b""
            if process.poll() is not None and not answer:
                raise RuntimeError(f"{command} ended with {process.returncode}")
            time.sleep(0.0002)
        result = json.loads(answer)
        process.stdin.close()
    return {"seconds": result["seconds"], "peak": max(peak, result["peak"]), "before": before, "anonymous": peak_anonymous}


def load_in_turns(python, path, backends, rounds, program):
    """{name: [result of each round]}; a peer that fails is in the second dict, with the reason."""
    if not os.path.exists(path):
        subprocess.run([python, HERE / "load_resnet50.py", "--serve", backends[0], path], check=True, stderr=subprocess.DEVNULL)
    command = {"ours": [program, path]}
    command |= {f"keras-{b}": [python, HERE / "load_resnet50.py", "--serve", b, path] for b in backends}
    results, failed = {name: [] for name in command}, {}
    for _ in range(rounds):
        for name in [name for name in command if name not in failed]:
            try:
                results[name].append(run(command[name]))
            except (RuntimeError, OSError) as e:
                failed[name] = str(e)
    return results, failed


def measure(row, options):
    """The row load_resnet50 of run.py: seconds of the load itself."""
    backends = [b for b in BACKENDS if {"keras", b} <= set(options.versions)]
    left_out = {f"keras-{b}": f"keras or {b} not installed" for b in BACKENDS if b not in backends}
    program = pathlib.Path(options.program).with_name("load_model")
    with tempfile.TemporaryDirectory() as folder:
        results, failed = load_in_turns(options.python, os.path.join(folder, "resnet50.keras"), backends, options.rounds, program)
    return [types.SimpleNamespace(name=name, values=[r["seconds"] for r in rounds], error=failed.get(name), wall=0, disturbed=0,
                                  close=lambda: None) for name, rounds in results.items()], left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(*args.serve)
    python = peers_python()
    backends = [b for b in BACKENDS if b in installed(python)]
    with tempfile.TemporaryDirectory() as folder:
        results, failed = load_in_turns(python, os.path.join(folder, "resnet50.keras"), backends, args.rounds,
                                        ROOT / "build" / "bin" / "load_model")
    print(f"{'':18}{'seconds':>9}{'peak':>8}{'added':>8}{'not files':>11}   (times the weights, {WEIGHTS / 1e6:.1f} MB)")
    for name in [name for name in results if name not in failed]:
        median = {key: statistics.median(r[key] for r in results[name]) for key in results[name][0]}
        print(f"{name:18}{median['seconds']:9.3f}{median['peak'] / WEIGHTS:8.2f}"
              f"{(median['peak'] - median['before']) / WEIGHTS:8.2f}{median['anonymous'] / WEIGHTS:11.2f}", flush=True)
    for name, why in failed.items():
        print(f"{name} left out: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
