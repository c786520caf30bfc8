"""Variables, limits, rights."""
import subprocess
from common import KERAS, KERNEL, broken, pip_env
from more import base_python, limited


@broken("", proof="import numba", error="NUMBA_NUM_THREADS|threads", env={"NUMBA_NUM_THREADS": "0"}, cause=r"NUMBA_NUM_THREADS", fix="unset NUMBA_NUM_THREADS", fix_text=r"NUMBA_NUM_THREADS")
def numba_num_threads_0(c):
    pip_env(c, "numba==0.60.0", "numpy==1.26.4")


@broken("", proof="import tensorflow as tf; tf.function(lambda x: x, jit_compile=True)(tf.ones(2))", error="TF_XLA_FLAGS|Unknown flag|signal", env={"TF_XLA_FLAGS": "--tf_xla_auto_jitt=2"}, cause=r"TF_XLA_FLAGS", fix="unset TF_XLA_FLAGS", fix_text=r"TF_XLA_FLAGS")
def tf_xla_flags_misspelt(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")


@broken("", py="3.13", proof="import numpy", error="cpu_count", env={"PYTHON_CPU_COUNT": "0"}, cause=r"PYTHON_CPU_COUNT", fix="unset PYTHON_CPU_COUNT", fix_text=r"PYTHON_CPU_COUNT")
def python_cpu_count_0(c):
    c.env = {}
    pip_env(c, "numpy==2.1.3")
    c.env = {"PYTHON_CPU_COUNT": "0"}


@broken("", proof="import keras", error="TensorFlow|backend|Error", env={"KERAS_BACKEND": "TensorFlow"}, cause=r"KERAS_BACKEND", fix="KERAS_BACKEND=tensorflow, in small letters", fix_text=r"KERAS_BACKEND")
def keras_backend_in_capitals(c):
    pip_env(c, *KERAS)


@broken("", proof="import keras", error="JSON|Expecting|Error", env={"KERAS_BACKEND": None}, cause=r"keras\.json", fix="remove or correct keras.json", fix_text=r"keras\.json|KERAS_BACKEND|tensorflow|backend")
def keras_json_wants_jax_that_is_gone(c):
    pip_env(c, "keras==3.7.0", "numpy==1.26.4", "h5py==3.12.1")
    c.write("{home}/.keras/keras.json", '{"floatx": "float32", "epsilon": 1e-07, "backend": "jax", "image_data_format": "channels_last"}')


@broken("", proof=KERNEL, error="address|Cannot assign|Kernel|died|Timeout|Error", wrap=["unshare", "-n"], cause=r"loopback|127\.0\.0\.1|localhost|\blo\b", fix="ip link set lo up", fix_text=r"\blo\b|loopback|network", asked_for="undocumented")
def sandbox_without_a_loopback(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.kernel()


@broken("", proof="import numpy, scipy.linalg; import sklearn.cluster", error="signal|Segmentation|Error|memory", wrap=limited("ulimit -s 64"), cause=r"stack|ulimit -s", fix="ulimit -s 8192", fix_text=r"ulimit -s|stack")
def stack_of_64_kilobytes(c):
    pip_env(c, "scikit-learn==1.5.2", "numpy==1.26.4")


@broken("", proof="import numpy", error="Permission denied|PermissionError|not permitted", cause=r"bin/python|may not be run|execut|permission", fix="chmod +x", fix_text=r"chmod|venv")
def artifact_of_a_workflow_lost_its_x_bits(c):
    base_python(c, to=c.dir)
    c.install("numpy==1.26.4")
    for p in (c.dir / "bin").glob("*"):
        if p.is_file() and not p.is_symlink():
            data = p.read_bytes()
            p.unlink()
            p.write_bytes(data)
            p.chmod(0o644)


@broken("", proof=["{env}/bin/python", "-m", "jupyter_server", "--no-browser", "--port=0", "--allow-root", "--ServerApp.open_browser=False", "--generate-config", "-y"], error="Permission denied|PermissionError", wrap=["setpriv", "--reuid", "54323", "--clear-groups"],
        env={"LD_LIBRARY_PATH": "{root}/base/lib", "USER": "ada"}, cause=r"\.jupyter|owner|belongs|written|permission", fix="chown", fix_text=r"chown|chmod|JUPYTER_CONFIG_DIR", asked_for="undocumented")
def folder_jupyter_belongs_to_root_after_sudo(c):
    base_python(c)
    pip_env(c, "jupyter-server==2.14.2", "ipykernel==6.29.5", base=c.root / "base/bin/python3.11")
    c.write("{home}/.jupyter/jupyter_server_config.json", "{}")
    c.home.chmod(0o777)
    (c.home / ".jupyter").chmod(0o700)
