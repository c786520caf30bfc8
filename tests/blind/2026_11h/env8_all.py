"""A short set, written after the work on the sixth and seventh, of kinds that had not been thought of then."""
import json, os
import lib
from common import JAX, KERAS, KERNEL, broken, cut, healthy, notebook, pip_env, script
from lib import rewrite, run


@broken("", **script("arima.py"), error="arima_model|removed", cause=r"arima_model", fix="statsmodels.tsa.arima.model", fix_text=r"arima\.model|statsmodels")
def program_with_the_old_arima(c):
    pip_env(c, "statsmodels==0.14.4", "numpy==1.26.4", "pandas==2.2.3", "scipy==1.14.1")
    c.write("{work}/arima.py", "from statsmodels.tsa.arima_model import ARIMA\n\nmodel = ARIMA([1, 2, 3], order=(1, 0, 0))\n")


@broken("", **script("tree.py"), error="max_features|auto", cause=r"max_features|auto", fix="'sqrt'", fix_text=r"sqrt|scikit")
def program_with_max_features_auto(c):
    pip_env(c, "scikit-learn==1.5.2", "numpy==1.26.4")
    c.write("{work}/tree.py", "from sklearn.ensemble import RandomForestClassifier\n\nmodel = RandomForestClassifier(max_features='auto')\nmodel.fit([[1], [2]], [0, 1])\n")


@broken("", **script("hist.py"), error="normed", cause=r"normed", fix="density=True", fix_text=r"density|matplotlib")
def program_with_hist_normed(c):
    pip_env(c, "matplotlib==3.9.2", "numpy==1.26.4")
    c.write("{work}/hist.py", "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n\nplt.hist([1, 2, 2], normed=True)\n")


@broken("", **script("load.py"), error="delim_whitespace|unexpected", cause=r"infer_datetime_format|date_parser|delim|squeeze", fix="without it", fix_text=r"pandas|squeeze")
def program_with_read_csv_squeeze(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/a.csv", "a\n1\n")
    c.write("{work}/load.py", "from pandas import read_csv\n\nseries = read_csv('a.csv', header=0, squeeze=True)\nprint(series)\n")


@broken("", **script("dict.py"), error="has_key", cause=r"has_key", fix="in", fix_text=r"\bin\b|2to3")
def program_with_has_key(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/dict.py", "import numpy as np\n\ncounts = {'a': 1}\nif counts.has_key('a'):\n    print(np.ones(1))\n")


@broken("", **script("tabs.py"), error="TabError|inconsistent|indent", cause=r"tab|indent", fix="spaces only", fix_text=r"tab|expand|space|indent")
def program_that_mixes_tabs_and_spaces(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/tabs.py", "import numpy as np\n\ndef f(x):\n    if x:\n        y = 1\n\treturn np.ones(x)\n\nprint(f(1))\n")


@broken("", **script("run.py"), error="lr_schedulr", cause=r"lr_schedulr|schedulr", fix="correct the name of the module", fix_text=r"install|correct|name|lr_schedul")
def program_whose_own_module_was_renamed(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/lr_scheduler.py", "def step():\n    return 1\n")
    c.write("{work}/run.py", "import numpy as np\nfrom lr_schedulr import step\n\nprint(step(), 'settings config')\n")


@broken("", **script("read.py"), error="No such file", cause=r"train\.csv", fix="the file is data/train.csv", fix_text=r"train\.csv|folder|cd |path", asked_for="undocumented")
def program_that_reads_a_file_that_is_not_here(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/read.py", "import pandas as pd\n\ntrain = pd.read_csv('train.csv')\nprint(train.shape)\n")


@broken("", proof="import json; [json.loads(l) for l in open('{work}/log.jsonl')]", error="JSONDecodeError", target="{work}/log.jsonl", cause=r"line|JSON|cut", fix="the last line", fix_text=r"line|again|copy|write", asked_for="undocumented")
def jsonl_cut_off(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/log.jsonl", "".join(json.dumps({"step": i, "loss": 1 / (i + 1)}) + "\n" for i in range(500))[:-14])


@broken("", proof="import numpy; numpy.load('{work}/x.npz')['a']", error="BadZipFile|CRC|Error", target="{work}/x.npz", cause=r"damag|CRC|checksum|sum", fix="again", fix_text=r"again|copy|anew|download")
def npz_with_a_flipped_byte(c):
    pip_env(c, "numpy==1.26.4")
    run([c.python, "-c", "import numpy as np; np.savez('x.npz', a=np.arange(1000.))"], cwd=c.work)
    p = c.work / "x.npz"
    d = bytearray(p.read_bytes())
    d[2000] ^= 0xff
    rewrite(p, bytes(d))


@broken("", proof="import keras; keras.models.load_model('{work}/m.keras')", error="Error", env=JAX, target="{work}/m.keras", cause=r"weights|cut|damag", fix="again", fix_text=r"again|copy|download|checkpoint")
def keras_file_whose_weights_are_empty(c):
    import zipfile
    pip_env(c, *KERAS)
    run([c.python, "-c", "import keras; keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save('m.keras')"], cwd=c.work, env=c.environ() | JAX)
    with zipfile.ZipFile(c.work / "m.keras") as z:
        parts = {n: z.read(n) for n in z.namelist()}
    with zipfile.ZipFile(c.work / "m.keras", "w") as z:
        for n, b in parts.items():
            z.writestr(n, b"" if n.endswith(".h5") else b)


@broken("", proof="import cv2", error="Error|libGL|cannot", cause=r"cv2|opencv|config", fix="install anew", apply=True)
def cv2_without_its_config(c):
    from more import drop
    pip_env(c, "opencv-python-headless==4.10.0.84", "numpy==1.26.4")
    drop(c, "cv2/config.py", "cv2/cv2.abi3.so")


@broken("", proof="import pandas", error="Error", env={"PYTHONPATH": "{site}/pandas"}, cause=r"PYTHONPATH", fix="unset", fix_text=r"PYTHONPATH")
def pythonpath_into_pandas_itself(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{site}/pandas/types.py", "x = 1\n")


@healthy(proof=["{env}/bin/python", "{work}/p.py"], target="{work}/p.py")
def h_program_with_tabs_and_long_strings(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/p.py", "import numpy as np\n\n\ndef f(x):\n\tif x:\n\t\treturn '''a\n\u2018b\u2019 \\N{BULLET} \\u00e9\n'''\n\treturn f'{x!r:>{10}} \\x41'\n\n\nfür = np.ones(1)\nprint(f(1), f(0), für)\n")


@healthy(proof="import json; [json.loads(l) for l in open('{work}/log.jsonl')]", target="{work}/log.jsonl")
def h_jsonl_without_a_last_line_end(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/log.jsonl", '{"a": 1}\n{"a": 2}')


@healthy(proof=["{env}/bin/python", "{work}/p.py"], target="{work}/p.py")
def h_program_that_sorts_lists_named_like_tables(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4", "pillow==10.4.0")
    c.write("{work}/p.py", "import pandas as pd\nfrom PIL import Image\n\ndfs = []\nfor i in range(3):\n    df = pd.DataFrame({'a': [i]})\n    dfs.append(df)\ndf = []\ndf.append(1)\nprint(pd.concat(dfs), df, Image.new('L', (2, 2)).size)\n")
