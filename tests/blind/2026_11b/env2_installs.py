"""Half-finished, doubled and damaged installs."""
from lib import broken, rewrite
from more import base_python, drop


@broken("", proof="import matplotlib.pyplot", error="No module named 'matplotlib'", cause=r"(?=.*matplotlib)(?=.*(missing|gone|lost|not there|absent|files))", fix="matplotlib again", apply=True)
def folder_of_matplotlib_deleted_to_reinstall(c):
    c.venv()
    c.install("matplotlib==3.9.2", "numpy==1.26.4")
    drop(c, "matplotlib", "mpl_toolkits")


@broken("", proof="import requests; requests.get", error="has no attribute 'get'|ImportError|cannot import", cause=r"(?=.*requests)(?=.*(empty|damage|size|zero|cut|other bytes|changed|differ))",
        fix="requests again", apply=True)
def power_lost_and_files_of_requests_are_empty(c):
    c.venv()
    c.install("requests==2.32.5")
    for n in ("__init__", "sessions", "api"):
        rewrite(c.site / f"requests/{n}.py", b"")


@broken("", proof="import idna", error="SyntaxError", cause=r"(?=.*idna)(?=.*(damage|hash|conflict|syntax|changed|edited|other bytes|differ|size))", fix="idna again", apply=True)
def environment_in_git_after_a_merge_conflict(c):
    c.venv()
    c.install("requests==2.32.5")
    f = c.site / "idna/core.py"
    lines = f.read_text().split("\n")
    rewrite(f, "\n".join(lines[:20] + ["<<<<<<< HEAD"] + lines[20:26] + ["======="] + lines[20:25] + [">>>>>>> upgrade"] + lines[26:]).encode())


@broken("https://github.com/jpadilla/pyjwt/issues/374", proof="import jwt; jwt.encode({}, 'k', algorithm='HS256')", error="has no attribute 'encode'",
        cause=r"(?=.*pyjwt)(?=.*jwt.*)(?=.*(two|both|same|overwr|overlap|belong|damage|broken))", fix="remove jwt, then PyJWT again", apply=True)
def jwt_installed_over_pyjwt(c):
    c.venv()
    c.install("PyJWT==2.9.0")
    c.install("jwt==1.3.1")


@broken("https://github.com/scimma/hop-client/issues/248", proof="import pymongo", error="cannot import name", cause=r"(?=.*pymongo)(?=.*bson)", fix="remove bson, then pymongo again", apply=True)
def bson_installed_over_pymongo(c):
    c.venv()
    c.install("pymongo==4.10.1")
    c.install("bson==0.5.10", "six", "python-dateutil==2.9.0")


@broken("https://github.com/tensorflow/tensorboard/issues/3443", proof=["{env}/bin/python", "-m", "tensorboard.main", "--logdir", "{work}", "--load_fast=false", "--port", "0"],
        error="Duplicate plugins for name projector", cause=r"(?=.*tensorboard)(?=.*(tb.nightly|two|both|twice|leftover|left|2\.15))", fix="remove tb-nightly, then tensorboard again", apply=True,
        after="from tensorboard import default; assert len(default.get_dynamic_plugins()) <= 1", level="warning")
def tensorboard_installed_twice(c):
    c.venv()
    c.install("tensorboard==2.17.1", "numpy==1.26.4", "protobuf==4.25.9", "setuptools==75.1.0", "pillow==11.0.0")
    c.install("tb-nightly", deps=False)


@broken("", proof="import networkx", error="No module named '_bz2'", cause=r"_?bz2", fix="Python with bz2: install libbz2-dev, build it again, or another Python",
        fix_text=r"bz2|another python|python again|pyenv|anew|rebuild|install python")
def python_built_without_bz2(c):
    base = base_python(c)
    drop(c, "_bz2.*", site=c.root / "base/lib/python3.11/lib-dynload")
    c.venv(base=base)
    c.install("networkx==3.4.2")


@broken("", proof="import PIL.Image", error="No module named 'PIL'", cause=r"(?=.*(pillow|PIL))(?=.*(missing|gone|lost|not there|absent|files|case))", fix="pillow again", apply=True)
def copied_by_a_stick_that_knows_no_capitals(c):
    c.venv()
    c.install("pillow==11.0.0")
    (c.site / "PIL").rename(c.site / "pil")


@broken("", proof="import tqdm, tqdm.auto", error="bad marshal data|EOFError|marshal", cause=r"(?=.*tqdm)(?=.*(pyc|bytecode|compiled|cache))", fix="remove the compiled files (or tqdm again)", apply=True)
def compiled_files_of_zeros_after_a_crash(c):
    import subprocess
    c.venv()
    c.install("tqdm==4.70.1")
    subprocess.run([str(c.python), "-m", "compileall", "-q", str(c.site / "tqdm")], check=True)
    for f in (c.site / "tqdm/__pycache__").glob("*.pyc"):
        data = f.read_bytes()
        rewrite(f, data[:16] + bytes(len(data) - 16))
