"""Small copies of what the fifth blind set (tests/blind/2026_11e) showed."""

import json
import pickle
import struct
import zipfile

from broken import broken
from healthy import healthy


def asked(env, name, text=""):
    """A file in the notebook's folder, which the doctor is asked about."""
    path = env.folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    env.arguments = [str(path)]
    return path


def notebook(env, *cells, kernel="python3"):
    asked(env, "a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells],
                                      "metadata": {"kernelspec": {"name": kernel}}, "nbformat": 4, "nbformat_minor": 5}))


# --- programs -----------------------------------------------------------------------------------------------

PICTURES = {"pictures/__init__.py": "LANCZOS = 1\n"}
GUARDED = "import pictures\n\n\ndef small(im):\n    return im.resize(pictures.{0})\n\n\nif __name__ == '__main__':\n    print(small(None))\n"


@broken("program", "uses pictures.ANTIALIAS, which pictures 10.0 does not have")
def name_used_by_the_main_part_of_a_program(env):
    env.package("pictures", "10.0", PICTURES)
    asked(env, "thumbs.py", GUARDED.format("ANTIALIAS"))


@broken("program", "uses pictures.ANTIALIAS, which pictures 10.0 does not have")
def name_used_by_a_class_that_a_program_makes(env):
    env.package("pictures", "10.0", PICTURES)
    asked(env, "thumbs.py", "import pictures\n\n\nclass Maker:\n    def small(self):\n        return pictures.ANTIALIAS\n\n\nMaker().small()\n")


@healthy
def name_used_by_functions_that_a_program_does_not_call(env):
    env.package("pictures", "10.0", PICTURES)
    asked(env, "thumbs.py", "import pictures\n\n\ndef old():\n    return pictures.ANTIALIAS\n\n\nclass Old:\n    def small(self):\n        return pictures.ANTIALIAS\n\n\n"
          "if __name__ == '__main__':\n    print(pictures.LANCZOS)\n")


@broken("program", "uses tensorflow.Session, which tensorflow-cpu 2.17.0 does not have")
def notebook_of_tensorflow_1(env):
    env.package("tensorflow-cpu", "2.17.0", {"tensorflow/__init__.py": "def __getattr__(name):\n    return load(name)\n"})
    notebook(env, "import tensorflow as tf", "with tf.Session() as s:\n    pass\nx = tf.Session()")


TABLES = {"pandas/__init__.py": "def read_excel(path): pass\ndef read_parquet(path): pass\n"}


@broken("program", "uses read_excel(), which needs openpyxl, which is not installed")
def program_reads_excel_without_openpyxl(env):
    env.package("pandas", "2.2.3", TABLES)
    asked(env, "report.py", "import pandas as pd\n\nprint(pd.read_excel('a.xlsx'))\n")


@healthy
def program_that_speaks_of_excel(env):
    env.package("pandas", "2.2.3", TABLES)
    env.package("pyarrow", "17.0")
    asked(env, "report.py", "import pandas as pd\n\n# pd.read_excel('a.xlsx')\nHELP = 'read_excel()'\n\n\ndef read_excel():\n    pass\n\n\npd.read_parquet('a.parquet')\n")


@broken("program", "uses tqdm.notebook, which needs ipywidgets, which is not installed")
def notebook_with_a_bar_and_no_ipywidgets(env):
    env.package("tqdm", "4.67", {"tqdm/__init__.py": "", "tqdm/notebook.py": "class tqdm: pass\n"})
    notebook(env, "from tqdm.notebook import tqdm")


@broken("program", "imports ipympl, which is not installed")
def notebook_with_a_command_that_loads_a_module(env):
    notebook(env, "%matplotlib widget\nx = 1")


@broken("program", "imports tensorboard, which is not installed")
def notebook_with_an_extension_that_is_not_there(env):
    notebook(env, "%load_ext autoreload\n%autoreload 2", "%load_ext tensorboard\nx = 1")


@healthy
def notebook_with_commands_that_load_what_is_there(env):
    env.package("ipympl", "0.9")
    notebook(env, "%load_ext autoreload\n%matplotlib inline\n%matplotlib widget\n%load_ext\n%time x = 1\n!pip list")


@broken("program", "uses pytesseract, which needs the program tesseract, which is not on PATH")
def program_that_needs_a_program(env):
    env.package("pytesseract", "0.3.13")
    env.setenv(PATH=str(env.home))
    asked(env, "read.py", "import pytesseract\n")


@healthy
def program_whose_program_is_there(env):
    env.package("pytesseract", "0.3.13")
    (env.home / "tesseract").write_text("#!/bin/sh\n")
    (env.home / "tesseract").chmod(0o755)
    env.setenv(PATH=f"/nowhere:{env.home}")
    asked(env, "read.py", "import pytesseract\n")


def styles(env):
    env.package("matplotlib", "3.9.2", {"matplotlib/__init__.py": "", "matplotlib/pyplot.py": "style = 1\n",
                                        "matplotlib/mpl-data/stylelib/seaborn-v0_8-whitegrid.mplstyle": "x: y\n"})


@broken("program", "uses the style seaborn-whitegrid, which this Matplotlib does not have")
def program_with_a_style_that_was_renamed(env):
    styles(env)
    asked(env, "plot.py", "import matplotlib.pyplot as plt\n\nplt.style.use('seaborn-whitegrid')\n")


@healthy
def program_with_a_style_that_is_there(env):
    styles(env)
    asked(env, "plot.py", "import matplotlib.pyplot as plt\n\n# plt.style.use('seaborn-whitegrid')\nplt.style.use(['seaborn-v0_8-whitegrid', 'mine'])\n")


def jupyter(env):
    env.package("ipykernel", "7.0", {"ipykernel/__init__.py": "", "ipykernel_launcher.py": ""})


@broken("program", 'asks for the Jupyter kernel "conda-env-ml-py", which is not here')
def notebook_of_a_kernel_that_is_not_here(env):
    jupyter(env)
    notebook(env, "x = 1", kernel="conda-env-ml-py")


@healthy
def notebook_of_a_kernel_of_the_user(env):
    jupyter(env)
    folder = env.home / ".local/share/jupyter/kernels/ml"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": [str(env.prefix / "bin/python3"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]}))
    notebook(env, "x = 1", kernel="ML")


@broken("kernelspecs", "starts a program of Windows")
def kernelspec_that_came_from_windows(env):
    jupyter(env)
    folder = env.prefix / "share/jupyter/kernels/python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": ["C:\\Users\\ada\\python.exe", "-m", "ipykernel_launcher", "-f", "{connection_file}"]}))


# --- pickles ------------------------------------------------------------------------------------------------

def pickled(names, protocol=2):
    """A tuple of objects of classes that need not be there, with a text and some bytes."""
    def text(name):
        return b"\x8c" + bytes([len(name)]) + name.encode() + b"\x94"

    data = bytes([0x80, protocol]) + b"("
    for name in names:
        module, kind = name.rsplit(".", 1)
        data += text(module) + text(kind) + b"\x93\x94" if protocol >= 4 else f"c{module}\n{kind}\n".encode()
        data += b")\x81"
    return data + pickle.dumps(["cuda:0", {1: b"x" * 1000}], protocol=2)[2:-1] + b"t."


@broken("pickled", "asks for frames.old.Index, which frames 2.0 does not have")
def pickle_of_a_name_that_is_gone(env):
    env.package("frames", "2.0", {"frames/__init__.py": "", "frames/old.py": "x = 1\n"})
    asked(env, "a.pkl", pickled(["frames.old.Index"], 4))


@broken("pickled", "asks for frames.numeric, which frames 2.0 does not have")
def pickle_of_a_module_that_is_gone(env):
    env.package("frames", "2.0", {"frames/__init__.py": "", "frames/old.py": "x = 1\n"})
    asked(env, "a.joblib", pickled(["frames.numeric.Index"], 2))


@broken("pickled", "asks for the module nets, which is not here")
def pickle_of_a_module_of_its_author(env):
    asked(env, "a.pkl", pickled(["nets.Net"]))


@broken("pickled", "needs what the program that wrote it defined itself: Model")
def pickle_of_a_class_of_a_notebook(env):
    asked(env, "a.pkl", b"\x80\x02c__main__\nModel\nq\x00)\x81q\x01.")


@healthy
def pickle_of_what_is_there(env):
    env.package("frames", "2.0", {"frames/__init__.py": "", "frames/old.py": "class Index:\n    class Part: pass\n"})
    (env.folder / "nets.py").write_text("class Net: pass\n")
    asked(env, "a.pkl", pickled(["frames.old.Index", "nets.Net"], 4))


@broken("pickled", "holds an estimator of scikit-learn 0.24.2, and scikit-learn 1.5.2 is installed")
def estimator_of_another_scikit_learn(env):
    env.package("scikit-learn", "1.5.2", {"sklearn/__init__.py": ""})
    asked(env, "a.pkl", pickle.dumps({"_sklearn_version": "0.24.2"}))


@healthy
def estimator_of_this_scikit_learn(env):
    env.package("scikit-learn", "1.5.2", {"sklearn/__init__.py": ""})
    asked(env, "a.pkl", pickle.dumps({"_sklearn_version": "1.5.0"}))


def torch_file(env, data, version="2.6.0"):
    env.package("torch", version, {"torch/__init__.py": "FloatStorage = 1\n", "torch/_utils.py": "def _rebuild_tensor_v2(): pass\n",
                                   "torch/nn/__init__.py": "", "torch/nn/modules/__init__.py": "", "torch/nn/modules/linear.py": "class Linear: pass\n"})
    path = asked(env, "model.pt")
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("model/data.pkl", data)
        z.writestr("model/version", "3\n")


def state(place):
    text = b"X" + struct.pack("<I", len(place)) + place
    return (b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n"
            b"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000" + text + b"K\x0ctQK\x00tRs.")


@broken("pickled", "holds more than tensors, which torch.load refuses since version 2.6")
def whole_model_saved_with_torch(env):
    torch_file(env, b"\x80\x02ctorch.nn.modules.linear\nLinear\nq\x00)\x81q\x01.")


@broken("pickled", "was saved from a GPU, and there is none here")
def weights_saved_from_a_gpu(env):
    torch_file(env, state(b"cuda:0"))


@healthy
def weights_of_torch(env):
    torch_file(env, state(b"cpu"))


@healthy
def whole_model_for_an_older_torch(env):
    torch_file(env, b"\x80\x02ctorch.nn.modules.linear\nLinear\nq\x00)\x81q\x01.", "2.5.1")


# --- models -------------------------------------------------------------------------------------------------

def saved_model(env, *files, graph=b"VarHandleOp"):
    folder = env.folder / "saved"
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(graph)
    for file in files:
        (folder / "variables" / file).write_bytes(b"x")
    env.arguments = [str(folder)]


@broken("model", "is a SavedModel without its variables: variables/variables.index is not there")
def saved_model_without_its_variables(env):
    saved_model(env)


@broken("model", "without its variables: variables/variables.data-00001-of-00002 is not there")
def saved_model_without_one_of_its_files(env):
    saved_model(env, "variables.index", "variables.data-00000-of-00002")


@healthy
def saved_model_with_its_variables(env):
    saved_model(env, "variables.index", "variables.data-00000-of-00001")


@healthy
def saved_model_of_a_graph_without_variables(env):
    saved_model(env, graph=b"PlaceholderMatMul")


def hdf5(env, mark):
    asked(env, "a.h5", b"\x89HDF\r\n\x1a\n\x03\x08\x08" + bytes([mark]) + struct.pack("<QQQQ", 0, 2**64 - 1, 2000, 48) + bytes(2000))


@broken("model", "was not closed by the program that wrote it")
def h5_left_open_for_writing(env):
    hdf5(env, 1)


@broken("model", "is not a Keras model, or it is damaged")
def h5_that_was_closed_and_is_damaged(env):
    hdf5(env, 0)


@broken("tokenizer_file", "was written by tokenizers 0.20 or newer")
def tokenizer_of_a_newer_tokenizers(env):
    env.package("tokenizers", "0.19.1")
    asked(env, "tokenizer.json", json.dumps({"model": {"type": "BPE", "merges": [["h", "e"]]}}, indent=1))


@healthy
def tokenizer_of_an_older_tokenizers(env):
    env.package("tokenizers", "0.19.1")
    asked(env, "tokenizer.json", json.dumps({"model": {"type": "BPE", "merges": ["h e"]}}, indent=1))


# --- settings and pairs -------------------------------------------------------------------------------------

@broken("settings", "names a proxy of the kind socks://, which httpx does not know")
def proxy_as_gnome_writes_it(env):
    env.package("httpx", "0.27.2")
    env.package("socksio", "1.0.0")
    env.setenv(all_proxy="socks")


@healthy
def proxy_that_httpx_knows(env):
    env.package("httpx", "0.27.2")
    env.package("socksio", "1.0.0")
    env.setenv(all_proxy="socks5", http_proxy="http")


TORCH_LOGS = 'register_log("dynamo", "torch._dynamo")\nregister_artifact("graph_breaks", "")\n'


@broken("settings", "TORCH_LOGS has a name that PyTorch does not know: debug")
def torch_logs_with_an_unknown_name(env):
    env.package("torch", "2.6.0", {"torch/__init__.py": "", "torch/_logging/_registrations.py": TORCH_LOGS})
    env.setenv(TORCH_LOGS="+dynamo,debug")


@healthy
def torch_logs_with_known_names(env):
    env.package("torch", "2.6.0", {"torch/__init__.py": "", "torch/_logging/_registrations.py": TORCH_LOGS})
    env.setenv(TORCH_LOGS="+dynamo, -graph_breaks,all,torch.nn")


LISTS = {"tensorflow/__init__.py": "", "tensorflow/python/util/all_util.py": "names = find(doc_module.__doc__)\n"}


@broken("settings", "PYTHONOPTIMIZE=2 leaves out docstrings")
def tensorflow_without_docstrings(env):
    env.package("tensorflow-cpu", "2.17.0", LISTS)
    env.setenv(PYTHONOPTIMIZE="2")


@healthy
def tensorflow_without_asserts(env):
    env.package("tensorflow-cpu", "2.17.0", LISTS)
    env.setenv(PYTHONOPTIMIZE="1")


def maps(env, layout):
    env.package("rasterio", "1.3.10", {"rasterio/__init__.py": "", "rasterio/proj_data/proj.db": "SQLite format 3\0" + "DATABASE.LAYOUT.VERSION.MINOR2!x"})
    folder = env.root / "qgis"
    folder.mkdir()
    (folder / "proj.db").write_text(f"SQLite format 3\0{layout}")
    env.setenv(PROJ_LIB=str(folder))


@broken("proj_data", "PROJ_LIB leads rasterio to the database of an older PROJ")
def proj_lib_of_an_older_proj(env):
    maps(env, "DATABASE.LAYOUT.VERSION.MINOR1")


@broken("proj_data", "PROJ_LIB leads rasterio to the database of an older PROJ")
def proj_lib_of_a_very_old_proj(env):
    maps(env, "no layout")


@healthy
def proj_lib_of_a_newer_proj(env):
    maps(env, "DATABASE.LAYOUT.VERSION.MINOR12x")


@broken("known_pairs", "openai 1.50.0 does not work with httpx 0.28.1")
def openai_with_a_new_httpx(env):
    env.package("openai", "1.50.0")
    env.package("httpx", "0.28.1")


@healthy
def openai_and_httpx_that_fit(env):
    env.package("openai", "1.55.3")
    env.package("httpx", "0.28.1")
    env.package("anthropic", "0.42.0")
    env.package("setuptools", "75.0.0")


def metadata_files(env, other):
    env.package("protobuf", "4.25.9")
    made = "_runtime_version.ValidateProtobufRuntimeVersion(\n    _runtime_version.Domain.PUBLIC,\n    6,\n    31,\n    1,\n    '',\n    'a.proto'\n)\n"
    env.package("tables-metadata", "1.21.0", {"tables_metadata/__init__.py": "", "tables_metadata/a_pb2.py": made}, requires=["protobuf>=4.25.2"])
    env.package("tensorflow-cpu", "2.17.0", {"tensorflow/__init__.py": ""}, requires=[other])


@broken("protobuf", "tables-metadata 1.21.0 holds code generated by protobuf 6.31.1")
def generated_code_newer_than_a_framework_takes(env):
    metadata_files(env, "protobuf<5,>=3.20")


@broken("known_pairs", "segmentation-models 1.0.1 does not work with keras 3.5.0")
def segmentation_models_with_keras_3(env):
    env.package("segmentation-models", "1.0.1")
    env.package("keras", "3.5.0")
    env.package("tensorflow", "2.17.0")


@healthy
def segmentation_models_told_which_keras(env):
    env.package("segmentation-models", "1.0.1")
    env.package("keras", "3.5.0")
    env.package("tensorflow", "2.17.0")
    env.setenv(SM_FRAMEWORK="tf.keras")


# --- installations ------------------------------------------------------------------------------------------

@broken("broken_packages", "templates 1.0 has lost 1 data files that it opens")
def templates_that_jupyter_serves(env):
    page = "../../../share/jupyter/nbconvert/templates/lab/index.html.j2"
    env.package("templates", files={"templates/__init__.py": "", page: "<html>"})
    (env.site / page).unlink()


PIP = "#!{0}/bin/python3\nimport sys\nfrom pip import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


def pip(env, init):
    env.package("pip", "24.2", {"pip/__init__.py": init, "pip/__pip-runner__.py": "import sys\nsys.meta_path.insert(0, None)\n"})
    (env.prefix / "bin/pip").write_text(PIP.format(env.prefix))


@broken("scripts", "The program pip is not of this environment's pip 24.2: it wants main of pip")
def program_pip_of_an_older_pip(env):
    pip(env, '__version__ = "24.2"\n')


@healthy
def program_pip_of_this_pip(env):
    pip(env, '__version__ = "24.2"\n\n\ndef main(args=None):\n    pass\n')
