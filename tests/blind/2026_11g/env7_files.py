"""Data and models asked about by name."""
import gzip, pickle, sqlite3, tarfile
from common import broken, cut, pip_env
import lib
from lib import rewrite, run


@broken("", py="3.7", proof="import pickle; pickle.load(open('{work}/a.pkl', 'rb'))", error="unsupported pickle protocol", target="{work}/a.pkl", cause=r"protocol", fix="protocol=4, or Python 3.8", fix_text=r"protocol|3\.8|pickle5")
def pickle_of_protocol_5_on_python_37(c):
    run([next(lib.PYTHONS.glob("3.7.*")) / "bin/python", "-m", "venv", "--without-pip", c.dir])
    c.install("numpy==1.21.6")
    rewrite(c.work / "a.pkl", pickle.dumps({"a": list(range(100))}, protocol=5))


@broken("", proof="import numpy; numpy.load('{work}/reviews.npy')", error="allow_pickle", target="{work}/reviews.npy", cause=r"allow_pickle|object|pickle", fix="allow_pickle=True if the file is trusted", fix_text=r"allow_pickle")
def npy_of_objects(c):
    pip_env(c, "numpy==1.26.4")
    run([c.python, "-c", "import numpy as np; np.save('reviews.npy', np.array([[1, 2], [3]], dtype=object))"], cwd=c.work)


@broken("", proof="import pandas; pandas.read_csv('{work}/prices.csv')", error="0x8b|codec", target="{work}/prices.csv", cause=r"gzip|compress", fix="compression='gzip', or name it .csv.gz", fix_text=r"gzip|gunzip|\.gz")
def csv_that_is_gzipped(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    rewrite(c.work / "prices.csv", gzip.compress(b"a,b\n" + b"1,2\n" * 1000))


@broken("", proof="import tarfile; tarfile.open('{work}/cifar.tar.gz').extractall('x')", error="EOFError|end-of-stream|ReadError", target="{work}/cifar.tar.gz", cause=r"cut|trunc|end|whole|incomplete", fix="download again", fix_text=r"again|download|copy")
def tar_gz_cut_off(c):
    import os
    pip_env(c, "numpy==1.26.4")
    (c.work / "batch").write_bytes(os.urandom(400000))
    with tarfile.open(c.work / "cifar.tar.gz", "w:gz") as t:
        t.add(c.work / "batch", "cifar/batch")
    (c.work / "batch").unlink()
    cut(c.work / "cifar.tar.gz", 0.6)


@broken("", proof="import sqlite3; print(sqlite3.connect('{work}/mlflow.db').execute('select count(*), max(v) from runs').fetchall())", error="malformed|disk image", target="{work}/mlflow.db", cause=r"cut|trunc|end|whole|incomplete|page|sqlite", fix="a copy, or sqlite3 .recover", fix_text=r"recover|again|copy|dump", asked_for="undocumented")
def sqlite_file_cut_off(c):
    pip_env(c, "numpy==1.26.4")
    d = sqlite3.connect(c.work / "mlflow.db")
    d.execute("create table runs (k text, v text)")
    d.executemany("insert into runs values (?, ?)", [(str(i), "x" * 300) for i in range(3000)])
    d.commit()
    d.close()
    cut(c.work / "mlflow.db", 0.5)


@broken("", proof="import pyarrow.feather as f; f.read_table('{work}/a.feather')", error="ArrowInvalid|Error", target="{work}/a.feather", cause=r"cut|trunc|end|whole|incomplete", fix="copy again", fix_text=r"again|download|copy|write", asked_for="undocumented")
def feather_file_cut_off(c):
    pip_env(c, "pyarrow==17.0.0", "numpy==1.26.4", "pandas==2.2.3")
    run([c.python, "-c", "import pandas as pd, numpy as np; pd.DataFrame({'a': np.random.rand(50000)}).to_feather('a.feather', compression='uncompressed')"], cwd=c.work)
    cut(c.work / "a.feather", 0.7)


@broken("", proof="import wave; w = wave.open('{work}/yes.wav'); assert len(w.readframes(w.getnframes())) == w.getnframes() * 2", error="AssertionError|Error", target="{work}/yes.wav", cause=r"cut|trunc|end|whole|incomplete", fix="download again", fix_text=r"again|download|copy", asked_for="undocumented")
def wav_file_cut_off(c):
    import wave
    pip_env(c, "numpy==1.26.4")
    with wave.open(str(c.work / "yes.wav"), "wb") as w:
        w.setnchannels(1), w.setsampwidth(2), w.setframerate(16000), w.writeframes(b"\1\2" * 16000)
    cut(c.work / "yes.wav", 0.5)


@broken("", proof="import onnx; onnx.load('{work}/net.onnx')", error="Error|parsing", target="{work}/net.onnx", cause=r"cut|trunc|end|whole|incomplete|damag", fix="export or download again", fix_text=r"again|download|copy|export", asked_for="undocumented")
def onnx_file_cut_off(c):
    pip_env(c, "onnx==1.16.2", "numpy==1.26.4")
    run([c.python, "-c", "import onnx, numpy as np; from onnx import helper as h, numpy_helper as n; onnx.save(h.make_model(h.make_graph([h.make_node('Add', ['x', 'w'], ['y'])], 'g', [h.make_tensor_value_info('x', 1, [1000])], [h.make_tensor_value_info('y', 1, [1000])], [n.from_array(np.ones(1000, 'float32'), 'w')])), 'net.onnx')"], cwd=c.work)
    cut(c.work / "net.onnx", 0.6)
