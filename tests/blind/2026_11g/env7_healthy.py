"""Odd, and working."""
import gzip, pickle, sqlite3, tarfile
import lib
from common import KERAS, KERNEL, healthy, notebook, pip_env
from lib import rewrite, run


@healthy(proof=["{env}/bin/python", "{work}/p.py"], target="{work}/p.py")
def h_program_with_own_names_like_old_ones(c):
    pip_env(c, "numpy==1.26.4", "pyyaml==6.0.2")
    c.write("{work}/p.py", """import time
import yaml
from __main__ import __name__ as me


class Clock:
    def clock(self):
        return time.perf_counter()


def load(text, size=3):
    return yaml.load(text, Loader=yaml.SafeLoader)


if not hasattr(time, 'clock'):
    time.clock = time.perf_counter
print(time.clock(), Clock().clock(), load('a: 1', size=2), me)
""")


@healthy(proof="import pickle; pickle.load(open('{work}/a.pkl', 'rb'))", target="{work}/a.pkl")
def h_pickle_with_more_objects_one_after_the_other(c):
    pip_env(c, "numpy==1.26.4")
    rewrite(c.work / "a.pkl", pickle.dumps([1, 2], 2) + pickle.dumps({"a": 1}, 5))


@healthy(proof="import sqlite3; sqlite3.connect('{work}/a.db').execute('select * from t').fetchall()", target="{work}/a.db")
def h_sqlite_file(c):
    pip_env(c, "numpy==1.26.4")
    d = sqlite3.connect(c.work / "a.db")
    d.execute("create table t (k)"), d.commit(), d.close()


@healthy(proof="import tarfile; tarfile.open('{work}/a.tar.gz').getnames()", target="{work}/a.tar.gz")
def h_tar_gz_with_bytes_behind_it(c):
    pip_env(c, "numpy==1.26.4")
    (c.work / "b").write_text("x" * 1000)
    with tarfile.open(c.work / "a.tar.gz", "w:gz") as t:
        t.add(c.work / "b", "b")


@healthy(proof=KERNEL, env={"IPYTHONDIR": "{home}/ipy", "JUPYTER_CONFIG_DIR": "{home}/none", "PYTHONSTARTUP": "{home}/gone.py", "LANG": "C.UTF-8"})
def h_folders_of_jupyter_elsewhere(c):
    pip_env(c, "ipykernel==6.29.5", "jupyter-client==8.6.3")
    c.kernel()
    c.write("{home}/.jupyter/jupyter_server_config.py", "c = get_config()  # noqa\n# c.ServerApp.ip = (\nc.ServerApp.allow_origin = '*'\n")


@healthy(py="3.9", proof=["{env}/bin/python", "{work}/d.py"], target="{work}/d.py")
def h_union_types_that_nobody_evaluates(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/d.py", "from __future__ import annotations\nimport numpy as np\n\nmatch = {'a': 1}\ncase = match['a'] | 2\n\n\ndef f(x: int | None = None) -> list[int] | None:\n    return None\n\n\nprint(f(), case, np.pi)\n")
