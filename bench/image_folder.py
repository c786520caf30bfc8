"""bench/image_folder.py: images per second from a folder of JPEG files to shuffled batches of float32, ours and the peers.

Equal work: decode at full size, resize to 224 x 224 (bilinear, no antialiasing), batches of 32, two threads or workers.
Contenders stay alive and take turns; medians of the rounds. The images are made once, from noise and waves. Beside the
rate stands the processor time per image, of the contender and its workers together: that holds on a busy machine too.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from run import HERE, READY_TIMEOUT_S, ROOT, Contender, peers_python

PEERS = ["torch-io", "torch-pil", "tf-data"]


def make(folder, count):
    """Runs in the peers' environment: JPEG files as a camera's, some 50 KB each, in two classes."""
    import numpy as np
    from PIL import Image
    random = np.random.default_rng(0)
    y, x = np.mgrid[0:375, 0:500]
    for i in range(count):
        path = pathlib.Path(folder) / "ab"[i % 2] / f"{i}.jpg"
        path.parent.mkdir(exist_ok=True)
        waves = [127 + 80 * np.sin(x / (9 + i % 13 + c)) * np.cos(y / (11 + i % 7 + 2 * c)) for c in range(3)]
        noise = np.repeat(np.repeat(random.normal(0, 14, (188, 250, 3)), 2, 0), 2, 1)[:375, :500]
        Image.fromarray(np.clip(np.stack(waves, -1) + noise, 0, 255).astype("uint8")).save(path, quality=90)


def torch_batches(folder, size, workers, decode):
    import torch
    import torchvision
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    if decode == "pil":
        loader = torchvision.datasets.folder.default_loader
        change = v2.Compose([v2.PILToTensor(), v2.Resize((size, size), antialias=False), v2.ToDtype(torch.float32)])
    else:
        def loader(path):
            return torchvision.io.read_image(path, torchvision.io.ImageReadMode.RGB)
        change = v2.Compose([v2.Resize((size, size), antialias=False), v2.ToDtype(torch.float32)])
    images = torchvision.datasets.ImageFolder(folder, change, loader=loader)
    return torch.utils.data.DataLoader(images, 32, shuffle=True, num_workers=workers, persistent_workers=True)


def tf_batches(folder, size, workers):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(workers)
    tf.config.threading.set_inter_op_parallelism_threads(workers)
    import keras
    return keras.utils.image_dataset_from_directory(folder, image_size=(size, size), batch_size=32, seed=1, verbose=False)


def serve(peer, folder, size, workers):
    import time
    batches = tf_batches(folder, size, workers) if peer == "tf-data" else torch_batches(folder, size, workers, peer[6:])
    print("{}", flush=True)
    for _ in sys.stdin:
        start, images = time.perf_counter(), 0
        for x, _ in batches:
            images += x.shape[0]
        print(json.dumps({"value": images / (time.perf_counter() - start)}), flush=True)


def cpu_seconds(pid):
    """Processor time of a process and its living descendants so far (Linux)."""
    parents, seconds = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        parents[int(stat.parent.name)] = int(fields[1])
        seconds[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def belongs(process):
        while process not in (0, pid):
            process = parents.get(process, 0)
        return process == pid

    return sum(value for process, value in seconds.items() if belongs(process))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "image_folder"))
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        return make(options.make, options.images)
    if options.serve:
        return serve(*options.serve, options.size, options.threads)
    python, this = peers_python(), str(HERE / "image_folder.py")
    shared = ["--size", str(options.size), "--threads", str(options.threads)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, this, "--make", folder, "--images", str(options.images)], check=True)
        everyone = [Contender("ours", [options.program, folder, str(options.size), str(options.threads)])]
        everyone += [Contender(peer, [python, this, "--serve", peer, folder, *shared]) for peer in PEERS]
        for contender in everyone:
            contender.answer(READY_TIMEOUT_S)
        start, spent = {}, {}
        for i in range(options.rounds + 1):  # the first warms up
            for contender in everyone:
                if contender.error is None:
                    contender.round()
                    (start if i == 0 else spent)[contender.name] = cpu_seconds(contender.process.pid)
        for contender in everyone:
            contender.close()
            if contender.error:
                print(f"{contender.name} left out: {contender.error}", file=sys.stderr)
    rates = {c.name: statistics.median(c.values[1:]) for c in everyone if len(c.values) > 1}
    cost = {name: (spent[name] - start[name]) / (options.rounds * options.images) for name in rates}
    for name, rate in rates.items():
        print(f"{name:<12}{rate:>8.0f} images/s{rates['ours'] / rate:>8.2f}x"
              f"{1000 * cost[name]:>10.2f} ms of CPU per image{cost[name] / cost['ours']:>8.2f}x")


if __name__ == "__main__":
    sys.exit(main())
