"""Variables, limits, disks."""
from lib import broken

MOUNT = lambda what: ["unshare", "-m", "sh", "-c", what + ' && exec "$0" "$@"']


@broken("https://github.com/bmaltais/kohya_ss/issues/2521", proof="import matplotlib.pyplot", error="not a valid value for backend|matplotlib_inline",
        cause=r"MPLBACKEND|matplotlib.inline", fix="install matplotlib-inline, or unset MPLBACKEND", fix_text=r"matplotlib.inline|MPLBACKEND", env={"MPLBACKEND": "module://matplotlib_inline.backend_inline"})
def mplbackend_from_a_notebook(e):
    e.venv(); e.install("matplotlib==3.9.2")


@broken("https://github.com/pytorch/torchtitan/pull/733", proof="pass", error="PYTHONHASHSEED", cause="PYTHONHASHSEED", fix="an integer up to 4294967295, or unset",
        fix_text="PYTHONHASHSEED|4294967295", env={"PYTHONHASHSEED": "12345678901"})
def hash_seed_too_large(e):
    e.venv(); e.install("numpy==1.26.4")


@broken("https://github.com/jax-ml/jax/issues/15616", proof="import jax; jax.numpy.zeros(1)", error="Unknown flag", cause="XLA_FLAGS",
        fix="take the flag out of XLA_FLAGS", fix_text="XLA_FLAGS", env={"XLA_FLAGS": "--xla_tpu_spmd_rng_bit_generator_unsafe=1"})
def xla_flags_unknown(e):
    e.venv(); e.install("jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")


@broken("https://github.com/protocolbuffers/protobuf/issues/12164", proof="from google.protobuf import descriptor_pb2", error="pyext|_message|cpp", cause="PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
        fix="unset it (or upb)", fix_text="PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION|upb", env={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "cpp"})
def protobuf_told_to_use_cpp(e):
    e.venv(); e.install("protobuf==5.28.3")


@broken("", proof="import jax; jax.numpy.zeros(1)", error="AssertionError|Unable to initialize backend", cause=r"JAX_PLATFORMS",
        fix="unset JAX_PLATFORMS, or install the CUDA plug-in", fix_text="JAX_PLATFORMS|jax\\[cuda|jax-cuda", env={"JAX_PLATFORMS": "cuda"})
def jax_platforms_cuda_without_plugin(e):
    e.venv(); e.install("jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")


@broken("", proof="import keras", error="Error", cause=r"keras\.json|channel", fix="channels_last in ~/.keras/keras.json",
        fix_text=r"keras\.json|channels_last", env={"KERAS_BACKEND": "jax"})
def keras_json_image_format(e):
    e.venv(); e.install("keras==3.8.0", "jax==0.4.35", "jaxlib==0.4.35", "numpy==1.26.4")
    e.write("{home}/.keras/keras.json", '{"floatx": "float32", "epsilon": 1e-07, "backend": "jax", "image_data_format": "tf"}')


@broken("https://github.com/Aider-AI/aider/issues/3710", proof="import httpx; httpx.Client()", error="FileNotFoundError|No such file", cause="SSL_CERT_FILE", fix="unset it, or point it to a file that is there",
        fix_text="SSL_CERT_FILE", env={"SSL_CERT_FILE": "/opt/anaconda3/envs/old/ssl/cacert.pem"})
def ssl_cert_file_of_a_removed_conda(e):
    e.venv(); e.install("httpx==0.28.1", "huggingface_hub==0.26.2")


@broken("", proof=["{env}/bin/python", "-m", "ipykernel_launcher"], error="PermissionError|Permission denied|FileNotFoundError",
        cause=r"HOME|home|JUPYTER_RUNTIME_DIR|runtime", fix="a HOME that can be written (or JUPYTER_RUNTIME_DIR, IPYTHONDIR)", fix_text=r"HOME|JUPYTER_RUNTIME_DIR|chown|writ", env={"HOME": "/nonexistent"},
        wrap=["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"], level="warning")
def container_user_without_home(e):
    e.venv(base="/usr/bin/python3"); e.install("ipykernel==6.29.5")


@broken("", proof="import numpy", error="OpenBLAS|MemoryError|signal|Cannot allocate|failed to map", cause=r"address space|ulimit|RLIMIT|limit",
        fix="raise ulimit -v", fix_text=r"ulimit", wrap=["prlimit", "--as=67108864"], level="warning")
def ulimit_v_of_a_login_node(e):
    e.venv(); e.install("numpy==1.26.4", "h5py==3.11.0")


@broken("", proof="import numpy; numpy.save('{work}/weights.npy', numpy.zeros(1 << 20))", error="File too large|requested and|signal", cause=r"file size|ulimit -f|RLIMIT_FSIZE|fsize",
        fix="raise ulimit -f", fix_text=r"ulimit", wrap=["prlimit", "--fsize=1048576"], level="warning")
def ulimit_f_of_one_megabyte(e):
    e.venv(); e.install("numpy==1.26.4")


@broken("https://github.com/pytorch/pytorch/issues/5040", proof="from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=1 << 24); m.buf[:] = bytes(1 << 24)", error="signal 7|No space|Bus",
        cause="/dev/shm", fix="--shm-size", fix_text=r"shm|ipc", wrap=MOUNT("mount -t tmpfs -o size=64k none /dev/shm"), level="warning")
def dev_shm_of_64_kilobytes(e):
    e.venv(); e.install("numpy==1.26.4")


@broken("https://github.com/numpy/numpy/issues/15102", proof="import numpy", error="failed to map segment|Operation not permitted", cause=r"noexec", fix="put the environment elsewhere, or remount with exec",
        fix_text=r"noexec|exec|remount|elsewhere|another", wrap=MOUNT("mount --bind {env}/lib {env}/lib && mount -o remount,bind,noexec {env}/lib"))
def environment_on_a_noexec_mount(e):
    e.venv(); e.install("numpy==1.26.4")


@broken("", proof="import os; open(os.path.expanduser('~/model.weights'), 'wb').write(bytes(1 << 20))", error="No space left", cause=r"full|space|disk", fix="make room in HOME",
        fix_text=r"room|free|space|du |rm |HOME|remove|quota", wrap=MOUNT("mount -t tmpfs -o size=64k none {home} && (head -c 70000 /dev/zero > {home}/fill || true)"), level="warning")
def home_is_full(e):
    e.venv(); e.install("numpy==1.26.4")


@broken("", proof="open('{work}/daten.csv').read()", error="UnicodeDecodeError", cause=r"locale|LC_ALL|LANG|UTF-8|PYTHONUTF8|encoding", fix="LC_ALL=C.UTF-8 or PYTHONUTF8=1",
        fix_text=r"UTF", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LANG": None}, level="warning")
def locale_is_ascii(e):
    e.venv(); e.install("numpy==1.26.4"); e.write("{work}/daten.csv", "Größe;Straße\n")
