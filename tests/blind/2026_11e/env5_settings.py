"""Variables and limits."""
from lib import broken
from more import base_python


@broken("https://stackoverflow.com/q/66467196", proof="import tensorflow", error="expected string or bytes-like object", env={"PYTHONOPTIMIZE": "2"}, cause=r"PYTHONOPTIMIZE", level="warning", fix="unset PYTHONOPTIMIZE", fix_text=r"PYTHONOPTIMIZE")
def pythonoptimize_2_and_tensorflow(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.0", "keras==3.5.0")


@broken("https://docs.python.org/3/using/cmdline.html#envvar-PYTHON_GIL", py="3.13", proof="import numpy", error="Disabling the GIL is not supported", env={"PYTHON_GIL": "0"}, cause=r"PYTHON_GIL", fix="unset PYTHON_GIL", fix_text=r"PYTHON_GIL")
def python_gil_0_on_a_usual_python(c):
    c.env = {}
    c.venv()
    c.install("numpy==2.1.3")
    c.env = {"PYTHON_GIL": "0"}


@broken("https://github.com/gradio-app/gradio/issues/5155", proof="import httpx; httpx.Client()", error="socksio", env={"ALL_PROXY": "socks5://127.0.0.1:1080"}, cause=r"ALL_PROXY|socks", level="warning",
        fix="pip install httpx[socks], or unset ALL_PROXY", fix_text=r"socks|ALL_PROXY")
def socks_proxy_and_httpx(c):
    c.venv()
    c.install("httpx==0.27.2")


@broken("https://github.com/openai/openai-python/issues/1324", proof="import httpx; httpx.Client()", error="Unknown scheme for proxy", env={"all_proxy": "socks://127.0.0.1:7890/"}, cause=r"all_proxy|socks", level="warning",
        fix="unset all_proxy, or socks5://", fix_text=r"all_proxy|socks5")
def gnome_s_socks_proxy_and_httpx(c):
    c.venv()
    c.install("httpx==0.27.2", "socksio==1.0.0")


@broken("https://github.com/huggingface/huggingface_hub/issues/1790", error="hf_transfer", env={"HF_HUB_ENABLE_HF_TRANSFER": "1"}, cause=r"HF_HUB_ENABLE_HF_TRANSFER|hf.transfer", level="warning",
        proof="from huggingface_hub.file_download import http_get; import io; http_get('http://127.0.0.1:9/x', io.BytesIO())",
        after="import hf_transfer", fix="pip install hf_transfer, or unset the variable", fix_text=r"hf.transfer")
def hf_transfer_asked_for_and_not_there(c):
    c.venv()
    c.install("huggingface_hub==0.26.5")


@broken("https://github.com/pytorch/pytorch/issues/101580", proof="import torch", error="TORCH_LOGS|Invalid log settings", env={"TORCH_LOGS": "debug"}, cause=r"TORCH_LOGS", fix="unset TORCH_LOGS, or +dynamo", fix_text=r"TORCH_LOGS")
def torch_logs_debug(c):
    c.venv()
    c.install("torch==2.6.0", "numpy==1.26.4")


@broken("https://stackoverflow.com/q/55259371", proof="import joblib, tempfile; tempfile.gettempdir()", error="No usable temporary directory", cause=r"temporary|/tmp|TMPDIR", level="warning", fix="TMPDIR to a folder that may be written", fix_text=r"TMPDIR|/tmp|tmpfs",
        wrap=["unshare", "-m", "bash", "-c", 'cp -a {work} /dev/shm/w5.$$; for d in /tmp /var/tmp; do :; done; mount --bind / / 2>/dev/null; mount -o remount,ro,bind / && mount --bind /dev/shm/w5.$$ /mnt && mount -o remount,ro,bind /mnt && cd /mnt && exec "$@"', "sh"])
def container_with_a_read_only_root(c):
    c.venv()
    c.install("joblib==1.4.2", "numpy==1.26.4")


@broken("https://github.com/pytorch/pytorch/issues/140765", error="getpwuid|uid not found", cause=r"uid|passwd|user", level="warning", fix="USER or LOGNAME set, or an entry in /etc/passwd", fix_text=r"USER|LOGNAME|passwd",
        proof="import getpass; getpass.getuser()", wrap=["setpriv", "--reuid", "54321", "--clear-groups"], env={"HOME": "/", "USER": None, "LOGNAME": None, "LD_LIBRARY_PATH": "{root}/base/lib"})
def container_user_without_a_name(c):
    """docker run --user 54321: PyTorch's inductor, Dask, MLflow ask who that is."""
    base_python(c)
    c.venv(base=c.root / "base/bin/python3.11")
    c.install("dask==2024.11.2")
