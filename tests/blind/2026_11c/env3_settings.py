"""Variables, configuration files and limits."""
import pathlib, shutil, lib
from lib import broken

KERAS = ("keras==3.15.1", "jax==0.10.2", "jaxlib==0.10.2")
OTHER = ["setpriv", "--reuid=12347", "--regid=12347", "--clear-groups"]


def open_to_all(c):
    for p in (lib.ROOT, lib.ROOT / "envs", c.root, c.home, c.work):
        p.chmod(0o755)


@broken("https://github.com/huggingface/transformers/pull/40391", proof="import tensorflow as tf; tf.keras.Sequential", error="tf_keras|tf-keras", env={"TF_USE_LEGACY_KERAS": "1"}, apply=False,
        cause=r"TF_USE_LEGACY_KERAS|tf.keras", fix="pip install tf-keras, or unset TF_USE_LEGACY_KERAS", fix_text=r"tf.keras|unset.*LEGACY")
def tf_use_legacy_keras_without_tf_keras(c):
    c.venv()
    c.install("tensorflow-cpu==2.21.0", "keras==3.15.1")


@broken("", proof="import keras", error="plaidml|backend", env={"KERAS_BACKEND": "plaidml.keras.backend"},
        cause=r"plaidml|KERAS_BACKEND", fix="unset KERAS_BACKEND", fix_text=r"KERAS_BACKEND")
def keras_backend_of_plaidml(c):
    c.venv()
    c.install(*KERAS)


@broken("", proof="import keras", error="theano|backend",
        cause=r"theano|keras\.json", fix="edit ~/.keras/keras.json", fix_text=r"keras\.json|KERAS_BACKEND")
def keras_json_of_2016_wants_theano(c):
    c.venv()
    c.install(*KERAS)
    c.write("{home}/.keras/keras.json", '{\n    "image_dim_ordering": "th",\n    "epsilon": 1e-07,\n    "floatx": "float32",\n    "backend": "theano"\n}\n')


@broken("", proof="import dask", error="malformed|yaml|scanning",
        cause=r"dask|yaml", fix="mend or remove the file", fix_text=r"yaml|rm|mv", asked_for="undocumented")
def dask_configuration_with_a_tab(c):
    c.venv()
    c.install("dask==2024.10.0")
    c.write("{home}/.config/dask/jobqueue.yaml", "jobqueue:\n\tslurm:\n  cores: 4\n")


@broken("", proof="import matplotlib.pyplot", error="decode|utf-8|UnicodeDecodeError",
        cause=r"matplotlibrc", fix="save the file as UTF-8, or remove it", fix_text=r"matplotlibrc", asked_for="undocumented")
def matplotlibrc_saved_in_latin_1(c):
    c.venv()
    c.install("matplotlib==3.11.2", "numpy==2.4.6")
    c.write("{home}/.config/matplotlib/matplotlibrc", "# Größe der Bilder\nfigure.figsize: 8, 5\n".encode("latin-1"))


@broken("https://github.com/OpenMathLib/OpenBLAS/issues/1668", proof="import numpy, threading; threading.Thread(target=print).start()", error="can't start new thread|pthread_create failed|Resource temporarily unavailable",
        wrap=["bash", "-c", 'ulimit -u 1; exec setpriv --reuid=12346 --regid=12346 --clear-groups "$@"', "sh"],
        cause=r"process|thread|RLIMIT_NPROC|ulimit -u|nproc", fix="raise ulimit -u", fix_text=r"ulimit|limits")
def one_process_for_each_user(c):
    c.venv(base="/usr/bin/python3.11")     # other users cannot reach pyenv's in /root
    c.install("numpy==2.4.6")
    open_to_all(c)


@broken("https://github.com/matplotlib/matplotlib/issues/25838", proof="import matplotlib.pyplot", error="writable|No usable temporary directory|Read-only",
        wrap=["unshare", "-m", "bash", "-c", 'mount -o remount,ro,bind / && exec "$@"', "sh"],
        cause=r"read.?only|writ|temporary|TMPDIR", fix="a writable /tmp (docker run --tmpfs /tmp), or MPLCONFIGDIR and TMPDIR", fix_text=r"tmp|TMPDIR|MPLCONFIGDIR|writ")
def container_started_read_only(c):
    c.venv()
    c.install("matplotlib==3.11.2", "numpy==2.4.6")


@broken("", proof="import torch, torch.multiprocessing as m; torch.zeros(9).share_memory_()", error="shm|shared memory|Permission|No such", py="3.10",
        wrap=["unshare", "-m", "bash", "-c", 'mount -t tmpfs -o mode=755,ro tmpfs /dev/shm && exec "$@"', "sh"],
        cause=r"/dev/shm|shared memory", fix="a writable /dev/shm", fix_text=r"shm", level="warning")
def dev_shm_mounted_read_only(c):
    c.venv()
    c.install("torch==1.12.1", "numpy==1.26.4")


@broken("", proof="import numpy", error="Fatal Python error|unknown allocator|PYTHONMALLOC", env={"PYTHONMALLOC": "jemalloc"},
        cause=r"PYTHONMALLOC", fix="unset PYTHONMALLOC", fix_text=r"PYTHONMALLOC")
def pythonmalloc_jemalloc(c):
    c.venv()
    c.install("numpy==2.4.6")
