"""Odd, and working: no error may be told."""
import json, pathlib, subprocess
import lib
from lib import healthy, run
from more import base_python
from env5_jupyter import KERNEL, notebook
from env5_files import elsewhere


@healthy(proof="import sys, random; assert random.random() < 1; import numpy", env={"PYTHONSAFEPATH": "1"})
def h_own_random_py_and_a_safe_path(c):
    c.venv()
    c.install("numpy==1.26.4")
    c.write("{work}/random.py", "print('dice')\n")


@healthy(proof="import httpx; httpx.Client()", env={"ALL_PROXY": "socks5://127.0.0.1:1080"})
def h_socks_proxy_with_socksio(c):
    c.venv()
    c.install("httpx==0.27.2", "socksio==1.0.0")


@healthy(proof="import hf_transfer, huggingface_hub", env={"HF_HUB_ENABLE_HF_TRANSFER": "1"})
def h_hf_transfer_is_there(c):
    c.venv()
    c.install("huggingface_hub==0.26.5", "hf_transfer==0.1.8")


@healthy(proof=KERNEL)
def h_jupyter_server_asked_for_an_extension_that_is_gone(c):
    c.venv()
    c.install("ipykernel==6.29.5")
    c.write("{env}/etc/jupyter/jupyter_server_config.d/nbgitpuller.json", json.dumps({"ServerApp": {"jpserver_extensions": {"nbgitpuller": True}}}))
    c.write("{home}/.jupyter/jupyter_server_config.json", json.dumps({"ServerApp": {"jpserver_extensions": {"jupyterlab_git": True}, "open_browser": False}}))


@healthy(proof="import kafka")
def h_old_six_inside_a_package_on_python_311(c):
    c.venv()
    c.install("kafka-python==2.0.2")


@healthy(proof="import pandas; pandas.read_pickle('{work}/frame.pkl')", target="{work}/frame.pkl")
def h_frame_of_pandas_1_that_pandas_2_reads(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    elsewhere(c, "import pandas as pd; pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']}).to_pickle('frame.pkl')", "pandas==1.5.3", "numpy==1.26.4")


@healthy(proof="import torch; torch.load('{work}/weights.pt')", target="{work}/weights.pt")
def h_state_dict_saved_with_torch(c):
    c.venv()
    c.install("torch==2.6.0", "numpy==1.26.4")
    run([c.python, "-c", "import torch; m = torch.nn.Linear(3, 2); torch.save({'model': m.state_dict(), 'optimizer': torch.optim.Adam(m.parameters()).state_dict(), 'epoch': 3, 'note': 'x'}, 'weights.pt')"], cwd=c.work)


@healthy(proof="import pandas; assert len(pandas.read_csv('{work}/sales.csv')) == 3", target="{work}/sales.csv")
def h_csv_with_a_mark_and_windows_line_ends(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/sales.csv", '\ufeffname,amount\r\nÅsa,3\r\n"José, ""the\r\nelder""",4\r\n,5\r\n'.encode())


@healthy(proof=["{env}/bin/python", "{work}/thumbs.py"], target="{work}/thumbs.py")
def h_program_that_looks_before_it_uses(c):
    c.venv()
    c.install("pillow==10.4.0", "numpy==2.0.2")
    c.write("{work}/thumbs.py", """import numpy as np
from PIL import Image

SMOOTH = Image.ANTIALIAS if hasattr(Image, "ANTIALIAS") else Image.LANCZOS
Bool = getattr(np, "bool8", np.bool_)
try:
    Float = np.float_
except AttributeError:
    Float = np.float64
try:
    import cupy as xp
except ImportError:
    xp = np


def old():
    if np.__version__ < "2":
        return np.product([1, 2])
    return np.prod([1, 2])


print(old(), Image.new("RGB", (64, 64)).resize((8, 8), SMOOTH).size, Float, Bool)
""")


@healthy(proof="from tokenizers import Tokenizer; Tokenizer.from_file('{work}/tokenizer.json')", target="{work}/tokenizer.json")
def h_old_tokenizer_json_in_a_new_tokenizers(c):
    c.venv()
    c.install("tokenizers==0.21.0")
    elsewhere(c, "from tokenizers import Tokenizer, models, pre_tokenizers, trainers; t = Tokenizer(models.BPE()); t.pre_tokenizer = pre_tokenizers.Whitespace(); t.train_from_iterator(['hello world hello'], trainers.BpeTrainer(vocab_size=40)); t.save('tokenizer.json')", "tokenizers==0.19.1")


@healthy(proof="import pandas, scipy.stats", env={"PYTHONOPTIMIZE": "1", "PYTHONDEVMODE": "", "PYTHONFAULTHANDLER": "1", "PYTHONBREAKPOINT": "ipdb.set_trace", "TMPDIR": "/nonexistent/scratch"})
def h_variables_of_a_server(c):
    c.venv()
    c.install("pandas==2.2.3", "scipy==1.14.1", "numpy==1.26.4")


@healthy(proof="from rasterio.crs import CRS; CRS.from_epsg(4326)", env={"PROJ_LIB": "{site}/rasterio/proj_data"})
def h_proj_lib_of_itself(c):
    c.venv()
    c.install("rasterio==1.3.10", "numpy==1.26.4")


@healthy(proof="import getpass; getpass.getuser(); import numpy", wrap=["setpriv", "--reuid", "54322", "--clear-groups"], env={"USER": "ada", "HOME": "{home}", "LD_LIBRARY_PATH": "{root}/base/lib"})
def h_container_user_with_a_name_in_the_variables(c):
    base_python(c)
    c.venv(base=c.root / "base/bin/python3.11")
    c.install("numpy==1.26.4")
    c.home.chmod(0o777)


@healthy(proof=["{env}/bin/python", "-m", "nbconvert", "--to", "html", "--execute", "{work}/report.ipynb"], target="{work}/report.ipynb")
def h_notebook_of_a_kernel_of_the_user(c):
    c.venv()
    c.install("nbconvert==7.16.4", "ipykernel==6.29.5")
    c.write("{home}/.local/share/jupyter/kernels/ml/kernel.json", json.dumps({"argv": ["{env}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "ml", "language": "python",
                                                                            "env": {"EXTRA": "${PATH}:/opt"}, "interrupt_mode": "signal", "metadata": {"debugger": True}}))
    notebook(c, "report.ipynb", ["%matplotlib --list\n", "!echo hi", "try:\n    import cupy\nexcept ImportError:\n    cupy = None", "%load_ext autoreload\n%autoreload 2"][1:], kernel="ml")


@healthy(proof="import flask")
def h_python_managed_by_others(c):
    c.dir.parent.mkdir(parents=True, exist_ok=True)
    base_python(c, to=c.dir)
    subprocess.run([str(c.python), "-m", "ensurepip"], check=True, capture_output=True)
    subprocess.run([str(c.python), "-m", "pip", "install", "-q", "flask==3.0.3"], check=True, capture_output=True)
    c.write("{env}/lib/python3.11/EXTERNALLY-MANAGED", "[externally-managed]\nError=This Python is managed by the distribution.\n")
