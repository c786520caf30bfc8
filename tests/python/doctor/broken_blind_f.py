"""Small copies of what the sixth and seventh blind set (tests/blind/2026_11f, 2026_11g) showed."""

import gzip
import io
import struct
import zipfile

from broken import broken
from broken_blind_b import keras_archive, model
from broken_blind_e import asked, notebook
from healthy import healthy


def installed(env, module, version, project=None):
    env.package(project or module, version, {f"{module}/__init__.py": ""})


# --- what a program's text says -----------------------------------------------------------------------------

@broken("program", "it is written for Python 2: print 'epoch', epoch")
def program_of_python_2(env):
    asked(env, "net.py", "for epoch in range(3):\n    print 'epoch', epoch\n")


@broken("program", r"line 2 has a path or text with \U")
def program_with_a_path_of_windows(env):
    asked(env, "load.py", "import os\nprint(os.path.exists('C:\\Users\\ada'))\n")


@broken("program", "line 2 holds a no-break space (U+00A0)")
def program_copied_from_a_web_page(env):
    asked(env, "copied.py", "def f(x):\n\u00a0\u00a0return x\n")


@broken("program", "line 1 holds a typographic quote (U+2018)")
def program_with_quotes_of_a_text_processor(env):
    asked(env, "copied.py", "print(\u2018hello\u2019)\n")


@broken("program", "line 1 is not UTF-8: the file is saved in another encoding")
def program_saved_in_latin_1(env):
    asked(env, "names.py", "print('Malm\xf6')\n".encode("latin-1"))


@broken("program", "it uses async as a name, which Python 3.7 and later refuse")
def program_with_async_as_a_name(env):
    asked(env, "stream.py", "def start(async):\n    return async\n")


@healthy
def program_with_odd_characters_where_they_may_stand(env):
    asked(env, "fine.py", "# -*- coding: latin-1 -*-\n# Malm\xf6\nname = r'C:\\Users\\ada'\ntext = 'C:\\\\Users', b'\\U', '\xa0'\n".encode("latin-1"))


@healthy
def program_with_words_of_python_2_in_strings(env):
    asked(env, "fine.py", "'''\nprint 'x'\n\u2018quoted\u2019\n'''\nasync def f():\n    return [x async for x in g()]\n\n\nwords = 'async', 'print x'\n")


# --- what the libraries dropped -----------------------------------------------------------------------------

@broken("program", "gives lr= to Adam(), which keras 3.5.0 does not take")
def argument_that_keras_dropped(env):
    installed(env, "keras", "3.5.0")
    installed(env, "jax", "0.4.38")
    installed(env, "jaxlib", "0.4.38")
    env.setenv(KERAS_BACKEND="jax")
    asked(env, "train.py", "import keras\nkeras.optimizers.Adam(\n    lr=0.001)\n")


@broken("program", "gives sparse= to OneHotEncoder(), which scikit-learn 1.5.2 does not take")
def argument_that_scikit_learn_dropped(env):
    env.package("scikit-learn", "1.5.2", {"sklearn/__init__.py": "", "sklearn/preprocessing/__init__.py": "OneHotEncoder = 1\n"})
    asked(env, "encode.py", "from sklearn.preprocessing import OneHotEncoder\nenc = OneHotEncoder(handle_unknown='ignore', sparse=False)\n")


@broken("program", "calls .append of a table (df), which pandas 2.2.3 does not have")
def append_of_a_table(env):
    env.package("pandas", "2.2.3", {"pandas/__init__.py": "def DataFrame(x): pass\n"})
    asked(env, "sales.py", "import pandas as pd\ndf = pd.DataFrame({'a': [1]})\ndf = df.append({'a': 2}, ignore_index=True)\n")


@broken("program", "uses tensorflow.contrib, which tensorflow-cpu 2.17.0 does not have")
def module_that_tensorflow_dropped(env):
    installed(env, "tensorflow", "2.17.0", "tensorflow-cpu")
    asked(env, "slim.py", "import tensorflow as tf\nimport tensorflow.contrib.slim as slim\n")


@broken("program", "calls yaml.load() without a Loader, which pyyaml 6.0.2 insists on")
def yaml_without_a_loader(env):
    env.package("pyyaml", "6.0.2", {"yaml/__init__.py": "def load(x, Loader): pass\n"})
    asked(env, "conf.py", "import yaml\nprint(yaml.load(open('a.yaml')))\n")


@healthy
def program_that_knows_old_and_new_words(env):
    env.package("pandas", "2.2.3", {"pandas/__init__.py": "__version__ = '2.2.3'\n\n\ndef DataFrame(x): pass\n"})
    env.package("pyyaml", "6.0.2", {"yaml/__init__.py": "SafeLoader = 1\n\n\ndef load(x, Loader): pass\n"})
    asked(env, "fine.py", "import pandas as pd\nimport yaml\nrows = []\nrows.append(1)\ndf = pd.DataFrame(rows)\n"
          "if int(pd.__version__[0]) < 2:\n    df = df.append({'a': 2}, ignore_index=True)\nyaml.load('a: 1', Loader=yaml.SafeLoader)\n"
          "HELP = 'df.append(x, ignore_index=True), Adam(lr=1)'\n")


# --- data that calls load, and modules beside ---------------------------------------------------------------

@broken("program", 'loads NLTK\'s data "punkt_tab": that is not here')
def tokenizer_without_its_data(env):
    env.package("nltk", "3.9.1", {"nltk/__init__.py": "", "nltk/tokenize.py": "def word_tokenize(x): pass\n"})
    asked(env, "words.py", "from nltk.tokenize import word_tokenize\nprint(word_tokenize('a b'))\n")


@healthy
def tokenizer_whose_data_the_program_fetches(env):
    env.package("nltk", "3.9.1", {"nltk/__init__.py": "def download(x): pass\n", "nltk/tokenize.py": "def word_tokenize(x): pass\n"})
    asked(env, "words.py", "import nltk\nfrom nltk.tokenize import word_tokenize\nnltk.download('punkt_tab')\nprint(word_tokenize('a b'))\n")


@broken("program", "loads the model en_core_web_sm of spaCy, which is not installed")
def model_of_spacy(env):
    env.package("spacy", "3.8.2", {"spacy/__init__.py": "def load(x): pass\n"})
    asked(env, "ents.py", "import spacy\nnlp = spacy.load('en_core_web_sm')\n")


@broken("program", "imports google.colab, which only Google Colab has")
def notebook_made_for_colab(env):
    notebook(env, "from google.colab import drive\ndrive.mount('/content/drive')")


@broken("program", "run.py imports fastloop, which was compiled for another Python: fastloop.cpython-36m-x86_64-linux-gnu.so")
def compiled_module_beside_of_another_python(env):
    asked(env, "fastloop.cpython-36m-x86_64-linux-gnu.so", b"\x7fELF")
    asked(env, "run.py", "import fastloop\n")


@broken("program", "sensor_pb2.py was generated by a protoc of protobuf 5.28.1, newer than protobuf 4.25.5")
def code_of_a_newer_protoc_beside(env):
    env.package("protobuf", "4.25.5", {"google/protobuf/__init__.py": ""})
    asked(env, "sensor_pb2.py", "# Protobuf Python Version: 5.28.1\nx = 1\n")
    asked(env, "read.py", "import sensor_pb2\nprint(sensor_pb2.x)\n")


@broken("program", "people mean ffmpeg-python by ffmpeg")
def project_of_the_same_name(env):
    env.package("ffmpeg", "1.4", {"ffmpeg/__init__.py": ""})
    asked(env, "frames.py", "import ffmpeg\nffmpeg.input('a.mp4')\n")


# --- data files ---------------------------------------------------------------------------------------------

def archive(comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("a.csv", "a,b\n")
        z.comment = comment
    return out.getvalue()


def matlab(length):
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 14, length) + b"x" * 64


def records(count, keep=None):
    data = (struct.pack("<QI", 5, 0) + b"hello" + bytes(4)) * count
    return data[:keep]


PICTURE = b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xda\x00\x04\x00\x00" + b"\x55" * 100


@broken("model", "scipy.io.loadmat does not read this version")
def mat_file_of_version_73(env):
    asked(env, "eeg.mat", b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(200))


@broken("model", "damaged: it is cut off: 1136 bytes are promised, 200 are there")
def mat_file_cut_off(env):
    asked(env, "eeg.mat", matlab(1000))


@broken("model", "damaged: it is cut off: 58 bytes are promised, 50 are there")
def tfrecord_cut_off(env):
    asked(env, "train.tfrecord", records(3, 50))


@broken("model", "the mark of its end is missing")
def photo_cut_off(env):
    asked(env, "cat.jpg", PICTURE)


@broken("model", "it is WebP in spite of its name")
def webp_that_is_called_jpg(env):
    asked(env, "dog.jpg", b"RIFF\x64\x00\x00\x00WEBPVP8 " + bytes(96))


@broken("model", "it is a web page (HTML) with a table")
def workbook_that_is_a_web_page(env):
    asked(env, "sales.xlsx", "<meta charset=utf-8><table><tr><td>1</td></tr></table>")


@broken("model", "its name does not say that it is compressed (gzip)")
def csv_that_is_gzipped(env):
    asked(env, "prices.csv", gzip.compress(b"a,b\n1,2\n"))


@broken("model", "numpy.load refuses it as it is")
def npy_of_objects(env):
    head = b"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }".ljust(117) + b"\n"
    asked(env, "reviews.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\x80\x04N.")


@broken("model", "holds a checkpoint without its index: model.ckpt.index is not there")
def checkpoint_without_its_index(env):
    (env.folder / "ckpt").mkdir()
    (env.folder / "ckpt/model.ckpt.data-00000-of-00001").write_bytes(b"x")
    env.arguments = [str(env.folder / "ckpt")]


@healthy
def zip_with_a_comment(env):
    asked(env, "archive.zip", archive(b"from kaggle"))


@healthy
def mat_file_that_is_whole(env):
    asked(env, "eeg.mat", matlab(64))


@healthy
def tfrecord_that_is_whole(env):
    asked(env, "train.tfrecord", records(3))


@healthy
def photo_that_is_whole(env):
    asked(env, "cat.jpg", PICTURE + b"\xff\xd9")


@healthy
def operations_in_a_functional_model(env):
    layers = [{"module": "keras.src.ops.nn", "class_name": "Relu", "config": {"name": "relu"}, "registered_name": "Relu"}]
    model(env, "model.keras", keras_archive({"module": "keras.src.models.functional", "class_name": "Functional", "config": {"layers": layers}}))


@broken("model", "log.jsonl is a file of JSON lines, and damaged: it is cut off in line 2")
def json_lines_cut_off(env):
    asked(env, "log.jsonl", '{"a": 1}\n{"a": ')


@healthy
def json_lines_without_a_last_line_end(env):
    asked(env, "log.jsonl", '{"a": 1}\n{"a": 2}')


@broken("program", "calls .has_key(), which dictionaries of Python 3 do not have")
def dictionary_of_python_2(env):
    asked(env, "d.py", "d = {}\nprint(d.has_key('a'))\n")


# --- environments -------------------------------------------------------------------------------------------

@broken("settings", "NUMBA_NUM_THREADS=0 asks for no thread at all")
def numba_without_threads(env):
    installed(env, "numba", "0.60.0")
    env.setenv(NUMBA_NUM_THREADS="0")


@broken("settings", "REQUESTS_CA_BUNDLE names a file of certificates that is empty")
def empty_certificates(env):
    (env.folder / "corp.pem").write_bytes(b"")
    env.setenv(REQUESTS_CA_BUNDLE=str(env.folder / "corp.pem"))


@broken("interpreter", "pyvenv.cfg is not UTF-8")
def pyvenv_cfg_saved_by_powershell(env):
    file = env.prefix / "pyvenv.cfg"
    file.write_bytes(file.read_text().encode("utf-16"))
