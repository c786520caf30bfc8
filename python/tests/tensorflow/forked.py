"""Runs scripts, each in a fork of a process that has TensorFlow imported (theirs or ours): forked.py ours|theirs FOLDER [name ...]
With the name of a backend in its place: the scripts for Keras 3, on that backend.
"""
import gc
import os
import pathlib
import random
import runpy
import shutil
import sys
import tempfile
import traceback

import numpy

HERE = pathlib.Path(__file__).resolve().parent
FOR_KERAS = HERE.parent / "keras_scripts"


def seed(number):
    """Most scripts set no seed: with one in twenty-five custom_layers learns too little, on TensorFlow as here."""
    random.seed(number)  # where Keras draws its seeds
    numpy.random.seed(number)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(number)


def child(script, out, err, place):
    """Never returns."""
    status = 1
    try:
        for path, number in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
        sys.argv, sys.path[0] = [str(script)], str(script.parent)
        os.chdir(place)
        seed(1)
        runpy.run_path(str(script), run_name="__main__")
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run_all(which, folder, names=()):
    """{name: exit status}; what each printed is in folder/name.txt, what it complained about in name.err."""
    if which == "ours":
        import plimsoll

        plimsoll.install_tensorflow(shadow=True)
    if which in ("ours", "theirs"):
        import tensorflow  # noqa: F401
    else:
        import keras  # noqa: F401

    gc.freeze()  # what is imported is not looked at again in every child
    done = {}
    for script in sorted((HERE / "scripts" if which in ("ours", "theirs") else FOR_KERAS).glob("*.py")):
        if names and script.stem not in names:
            continue
        place = tempfile.mkdtemp()  # what it writes is gone with it
        pid = os.fork()
        if pid == 0:
            child(script, folder / f"{script.stem}.txt", folder / f"{script.stem}.err", place)
        done[script.stem] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        shutil.rmtree(place)
        print(f"{script.stem}: exit {done[script.stem]}", flush=True)
    return done


def main(which, folder, names):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["KERAS_BACKEND"] = {"ours": "plimsoll", "theirs": "tensorflow"}.get(which, which)
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return 1 if any(run_all(which, folder, names).values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
