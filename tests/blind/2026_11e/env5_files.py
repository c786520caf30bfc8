"""Models, data and programs asked about by name."""
import json, pathlib, subprocess
import lib
from lib import broken, run
from env5_jupyter import notebook

KERAS = ("keras==3.7.0", "jax==0.4.38", "jaxlib==0.4.38", "numpy==1.26.4", "h5py==3.12.1")


def elsewhere(c, code, *packages, py="3.11"):
    """Runs `code` with other packages."""
    to = c.root / "elsewhere"
    run([lib.UV, "venv", "-q", "--python", next(lib.PYTHONS.glob(py + ".*")) / "bin/python", to])
    run([lib.UV, "pip", "install", "-q", "--python", to / "bin/python", *packages], env=lib.os.environ | {"UV_CACHE_DIR": str(lib.ROOT / "uvcache")})
    run([to / "bin/python", "-c", code], cwd=c.work)
    import shutil
    shutil.rmtree(to)


@broken("https://github.com/ultralytics/yolov5/issues/13528", proof="import torch; torch.load('{work}/model.pt')", error="weights_only|WeightsUnpickler", target="{work}/model.pt", cause=r"weights_only", level="warning",
        fix="weights_only=False if the file is trusted, or save the state_dict", fix_text=r"weights_only|state_dict")
def whole_model_saved_with_torch(c):
    c.venv()
    c.install("torch==2.6.0", "numpy==1.26.4")
    run([c.python, "-c", "import torch; torch.save(torch.nn.Linear(3, 2), 'model.pt')"], cwd=c.work)


@broken("https://stackoverflow.com/q/75953279", proof="import pickle; pickle.load(open('{work}/frame.pkl', 'rb'))", error="pandas.core.indexes.numeric", target="{work}/frame.pkl", cause=r"pandas\.core\.indexes\.numeric|pandas", fix="pandas<2 to read it, write it anew", fix_text=r"pandas")
def frame_pickled_by_pandas_1(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    elsewhere(c, "import pandas as pd, pickle; pickle.dump({'prices': pd.DataFrame({'a': [1, 2]}, index=pd.Index([3, 4]))}, open('frame.pkl', 'wb'))", "pandas==1.5.3", "numpy==1.26.4")


@broken("https://stackoverflow.com/q/27732354", proof="import pickle; pickle.load(open('{work}/model.pkl', 'rb'))", error="Can't get attribute 'Model'", target="{work}/model.pkl", cause=r"__main__|Model", fix="define Model, or save from a module", level="warning", fix_text=r"Model|module|class")
def pickle_of_a_class_of_a_notebook(c):
    c.venv()
    c.install("numpy==1.26.4")
    run([c.python, "-c", "import pickle, numpy\nclass Model: pass\nm = Model(); m.w = numpy.ones(3)\npickle.dump(m, open('model.pkl', 'wb'))"], cwd=c.work)


@broken("https://github.com/huggingface/tokenizers/issues/1297", proof="from tokenizers import Tokenizer; Tokenizer.from_file('{work}/tokenizer.json')", error="untagged enum", target="{work}/tokenizer.json", cause=r"tokenizers", fix="a newer tokenizers", apply=True, asked_for="undocumented")
def tokenizer_json_of_a_newer_tokenizers(c):
    c.venv()
    c.install("tokenizers==0.19.1")
    elsewhere(c, "from tokenizers import Tokenizer, models, trainers; t = Tokenizer(models.BPE()); t.train_from_iterator(['hello world hello'], trainers.BpeTrainer(vocab_size=40)); t.save('tokenizer.json')", "tokenizers==0.21.0")


@broken("https://stackoverflow.com/q/42339876", proof="import pandas; pandas.read_csv('{work}/sales.csv')", error="codec can't decode", target="{work}/sales.csv", cause=r"UTF.?16", fix="encoding='utf-16'", fix_text=r"utf.?16")
def csv_saved_by_excel_as_unicode(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/sales.csv", "\ufeffname\tamount\nÅsa\t3\nJosé\t4\n".encode("utf-16-le"))


@broken("https://stackoverflow.com/q/18171739", proof="import pandas; pandas.read_csv('{work}/sales.csv')", error="codec can't decode", target="{work}/sales.csv", cause=r"UTF-8|encoding|latin|cp1252", fix="encoding='cp1252'", fix_text=r"cp1252|latin|encoding")
def csv_saved_by_excel_in_cp1252(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/sales.csv", ("name,amount\n" + "Ada,3\n" * 5000 + "José,4\n").encode("cp1252"))


@broken("https://stackoverflow.com/q/58536051", proof="import keras; keras.models.load_model('{work}/model.h5')", error="CuDNNLSTM", target="{work}/model.h5", env={"KERAS_BACKEND": "jax"}, cause=r"CuDNNLSTM", fix="write it as LSTM with an older Keras", fix_text=r"LSTM|tensorflow|keras")
def h5_with_a_cudnnlstm(c):
    c.venv()
    c.install(*KERAS)
    layers = [{"class_name": "CuDNNLSTM", "config": {"name": "lstm", "trainable": True, "batch_input_shape": [None, 5, 3], "dtype": "float32", "return_sequences": False, "return_state": False,
                                                     "go_backwards": False, "stateful": False, "units": 4}},
              {"class_name": "Dense", "config": {"name": "dense", "trainable": True, "dtype": "float32", "units": 1, "activation": "linear", "use_bias": True}}]
    run([c.python, "-c", f"""
import h5py, json, numpy as np
with h5py.File('model.h5', 'w') as f:
    f.attrs['keras_version'] = '2.2.4-tf'; f.attrs['backend'] = 'tensorflow'
    f.attrs['model_config'] = {json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": layers}})!r}
    g = f.create_group('model_weights'); g.attrs['layer_names'] = [b'lstm', b'dense']; g.attrs['backend'] = 'tensorflow'; g.attrs['keras_version'] = '2.2.4-tf'
    for n, ws in (('lstm', [('kernel:0', (3, 16)), ('recurrent_kernel:0', (4, 16)), ('bias:0', (32,))]), ('dense', [('kernel:0', (4, 1)), ('bias:0', (1,))])):
        s = g.create_group(n); s.attrs['weight_names'] = [(n + '/' + w).encode() for w, _ in ws]
        for w, shape in ws: s[n + '/' + w] = np.zeros(shape, 'float32')
"""], cwd=c.work)


@broken("https://stackoverflow.com/q/49330080", proof="import tensorflow as tf; tf.saved_model.load('{work}/saved')", error="variables", target="{work}/saved", cause=r"variables", fix="copy the folder variables too", fix_text=r"variables|copy")
def savedmodel_without_its_variables(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.0", "keras==3.5.0")
    run([c.python, "-c", "import tensorflow as tf\nm = tf.Module(); m.v = tf.Variable([1., 2.])\nm.f = tf.function(lambda x: x * m.v, input_signature=[tf.TensorSpec([2])])\ntf.saved_model.save(m, 'saved')"], cwd=c.work)
    for p in (c.work / "saved/variables").glob("*"):
        p.unlink()
    (c.work / "saved/variables").rmdir()


@broken("https://stackoverflow.com/q/65250207", proof=["{env}/bin/python", "{work}/report.py"], error="openpyxl", target="{work}/report.py", cause=r"openpyxl", level="warning", apply=True, fix="install openpyxl")
def program_reads_excel_without_openpyxl(c):
    c.venv()
    c.install("pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/report.py", "import pandas as pd\n\nsales = pd.read_excel('sales.xlsx')\nprint(sales.describe())\n")
    elsewhere(c, "import openpyxl; w = openpyxl.Workbook(); w.active.append(['a', 'b']); w.active.append([1, 2]); w.save('sales.xlsx')", "openpyxl")


@broken("https://stackoverflow.com/q/78836107", proof=["{env}/bin/python", "{work}/plot.py"], error="seaborn", target="{work}/plot.py", cause=r"seaborn", level="warning", fix="seaborn-v0_8", fix_text=r"seaborn-v0_8|matplotlib")
def program_with_the_style_seaborn(c):
    c.venv()
    c.install("matplotlib==3.9.2", "numpy==1.26.4")
    c.write("{work}/plot.py", "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n\nplt.style.use('seaborn-whitegrid')\nplt.plot([1, 2, 3])\nplt.savefig('a.png')\n")


@broken("https://stackoverflow.com/q/76616042", proof=["{env}/bin/python", "{work}/thumbs.py"], error="ANTIALIAS", target="{work}/thumbs.py", cause=r"ANTIALIAS", level="warning", fix="Image.LANCZOS, or pillow<10", fix_text=r"LANCZOS|pillow")
def program_with_antialias(c):
    c.venv()
    c.install("pillow==10.4.0")
    c.write("{work}/thumbs.py", "from PIL import Image\n\n\ndef small(im):\n    return im.resize((8, 8), Image.ANTIALIAS)\n\n\nprint(small(Image.new('RGB', (64, 64))).size)\n")


@broken("https://stackoverflow.com/q/55142951", proof=["{env}/bin/python", "-c", "import tensorflow as tf; x = tf.placeholder(tf.float32, [None, 3])"], error="placeholder", target="{work}/mnist.ipynb", cause=r"placeholder|Session|TensorFlow 1", level="warning",
        fix="tf.compat.v1, or TensorFlow 1", fix_text=r"compat\.v1|tensorflow")
def notebook_of_tensorflow_1(c):
    c.venv()
    c.install("tensorflow-cpu==2.17.0", "keras==3.5.0")
    notebook(c, "mnist.ipynb", ["import tensorflow as tf\nimport numpy as np", "x = tf.placeholder(tf.float32, [None, 3])\ny = tf.reduce_sum(x)", "with tf.Session() as sess:\n    print(sess.run(y, {x: np.ones((2, 3))}))"])


@broken("https://stackoverflow.com/q/50951955", proof=["{env}/bin/python", "{work}/read.py"], error="tesseract is not installed", target="{work}/read.py", cause=r"tesseract", level="warning", fix="apt install tesseract-ocr", fix_text=r"tesseract", asked_for="undocumented")
def program_with_pytesseract_and_no_tesseract(c):
    c.venv()
    c.install("pytesseract==0.3.13", "pillow==10.4.0")
    c.write("{work}/read.py", "import pytesseract\nfrom PIL import Image\n\nprint(pytesseract.image_to_string(Image.new('L', (60, 20), 255)))\n")


@broken("https://stackoverflow.com/q/47605558", proof=["{env}/bin/python", "{work}/draw.py"], error="graphviz", target="{work}/draw.py", cause=r"graphviz|\bdot\b", level="warning", fix="apt install graphviz", fix_text=r"graphviz", env={"KERAS_BACKEND": "jax"}, asked_for="undocumented")
def program_with_plot_model_and_no_graphviz(c):
    c.venv()
    c.install(*KERAS, "pydot==3.0.2")
    c.write("{work}/draw.py", "import keras\n\nmodel = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])\nkeras.utils.plot_model(model, 'model.png')\n")


@broken("https://stackoverflow.com/q/61867945", proof=["{env}/bin/python", "{work}/old.py"], error="sklearn.externals|joblib", target="{work}/old.py", cause=r"sklearn\.externals|joblib", fix="import joblib", fix_text=r"joblib|scikit")
def program_with_joblib_of_sklearn_externals(c):
    c.venv()
    c.install("scikit-learn==1.5.2", "numpy==1.26.4")
    c.write("{work}/old.py", "from sklearn.linear_model import LinearRegression\nfrom sklearn.externals import joblib\n\njoblib.dump(LinearRegression(), 'model.joblib')\n")
