"""The row image_folder: milliseconds per image from a folder of JPEG files to shuffled batches of float32, ours and the peers.

Equal work: decode at full size, resize to 224 x 224 (bilinear, no antialiasing), batches of 32, as many threads or workers. The
images are made once, from noise and waves.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from environment import HERE
from harness import take_turns

PEERS = {"torch-io": "torch", "torch-pil": "torch", "tf-data": "tensorflow"}
IMAGES, SIZE = 300, 224


def make(folder, count, python):
    subprocess.run([python, HERE / "image_folder.py", "draw", folder, str(count)], check=True)


def draw(folder, count):
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
        print(json.dumps({"value": 1e3 * (time.perf_counter() - start) / images}), flush=True)


def measure(row, options):
    """The row image_folder of run.py: milliseconds per image."""
    threads, this = str(options.threads), str(HERE / "image_folder.py")
    peers = {p: package for p, package in PEERS.items() if package in options.versions}
    left_out = {p: f"{package} not installed" for p, package in PEERS.items() if p not in peers}
    with tempfile.TemporaryDirectory() as folder:
        make(folder, IMAGES, options.python)
        program = pathlib.Path(options.program).with_name("image_folder")
        lines = {"ours": [program, folder, str(SIZE), threads]}
        lines |= {p: [options.python, this, "serve", p, folder, threads] for p in peers}
        return take_turns(lines, options.threads, options.rounds, f"{options.seed}/{row}"), left_out


if __name__ == "__main__":
    draw(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "draw" else serve(sys.argv[2], sys.argv[3], SIZE, int(sys.argv[4]))
