"""bench/load_resnet50.py: loads a ResNet-50 .keras, ours and Keras on each backend, a fresh process each time.

Prints the median time of the load itself (without the start of the process or the import of Keras), and beside it, as multiples
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

from run import HERE, ROOT, peers_python

WEIGHTS = 102_546_848  # bytes of float32


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--backends", nargs="*", default=["tensorflow", "jax", "torch"])
    parser.add_argument("--file", help="a ResNet-50 .keras; made if it is not there")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(*args.serve)
    python = peers_python()
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or os.path.join(folder, "resnet50.keras")
        command = {f"keras-{b}": [python, HERE / "load_resnet50.py", "--serve", b, path] for b in args.backends}
        if not os.path.exists(path):
            subprocess.run([python, HERE / "load_resnet50.py", "--serve", (args.backends or ["numpy"])[0], path], check=True,
                           stderr=subprocess.DEVNULL)
        command = {"ours": [ROOT / "build" / "bin" / "load_model", path], **command}
        rounds = {name: [] for name in command}
        for _ in range(args.rounds):
            for name, line in command.items():
                rounds[name].append(run(line))
    print(f"{'':18}{'seconds':>9}{'peak':>8}{'added':>8}{'not files':>11}   (times the weights, {WEIGHTS / 1e6:.1f} MB)")
    for name, results in rounds.items():
        median = {key: statistics.median(r[key] for r in results) for key in results[0]}
        print(f"{name:18}{median['seconds']:9.3f}{median['peak'] / WEIGHTS:8.2f}"
              f"{(median['peak'] - median['before']) / WEIGHTS:8.2f}{median['anonymous'] / WEIGHTS:11.2f}", flush=True)


if __name__ == "__main__":
    main()
