"""Programs and notebooks of other years."""
from common import JAX, KERAS, broken, notebook, pip_env, script


@broken("", **script("w2v.py"), error="size", cause=r"\bsize\b|vector_size", fix="vector_size=", fix_text=r"vector_size|gensim")
def program_with_word2vec_size(c):
    pip_env(c, "gensim==4.3.3", "numpy==1.26.4", "scipy==1.12.0")
    c.write("{work}/w2v.py", "from gensim.models import Word2Vec\n\nsentences = [['a', 'b'], ['b', 'c']]\nmodel = Word2Vec(sentences, size=10, min_count=1)\n")


@broken("", **script("conf.py"), error="Loader", cause=r"Loader|yaml\.load", fix="yaml.safe_load", fix_text=r"safe_load|Loader|pyyaml")
def program_with_yaml_load(c):
    pip_env(c, "pyyaml==6.0.2")
    c.write("{work}/conf.py", "import yaml\n\nwith open('conf.yaml') as f:\n    conf = yaml.load(f)\nprint(conf)\n")
    c.write("{work}/conf.yaml", "a: 1\n")


@broken("", **script("label.py"), error="textsize", cause=r"textsize", fix="textbbox, pillow<10", fix_text=r"textbbox|textlength|pillow")
def program_with_textsize(c):
    pip_env(c, "pillow==10.4.0")
    c.write("{work}/label.py", "from PIL import Image, ImageDraw\n\nimage = Image.new('RGB', (64, 64))\ndraw = ImageDraw.Draw(image)\nw, h = draw.textsize('cat')\nprint(w, h)\n")


@broken("", **script("graph.py"), error="from_numpy_matrix", cause=r"from_numpy_matrix", fix="from_numpy_array", fix_text=r"from_numpy_array|networkx")
def program_with_from_numpy_matrix(c):
    pip_env(c, "networkx==3.4.2", "numpy==1.26.4")
    c.write("{work}/graph.py", "import networkx as nx\nimport numpy as np\n\nG = nx.from_numpy_matrix(np.eye(3))\nprint(G)\n")


@broken("", **script("clean.py"), error="error_bad_lines", cause=r"error_bad_lines", fix="on_bad_lines='skip'", fix_text=r"on_bad_lines|pandas")
def program_with_error_bad_lines(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/a.csv", "a,b\n1,2\n")
    c.write("{work}/clean.py", "import pandas as pd\n\ndata = pd.read_csv('a.csv', error_bad_lines=False)\nprint(data)\n")


@broken("", **script("softmax.py"), error="examples", cause=r"tensorflow\.examples|examples", fix="keras.datasets.mnist", fix_text=r"datasets|keras|tensorflow")
def program_with_tensorflow_examples_tutorials(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")
    c.write("{work}/softmax.py", "import tensorflow as tf\nfrom tensorflow.examples.tutorials.mnist import input_data\n\nmnist = input_data.read_data_sets('MNIST_data/', one_hot=True)\n")


@broken("", **script("bench.py"), error="clock", cause=r"clock", fix="time.perf_counter", fix_text=r"perf_counter|process_time|time\.")
def program_with_time_clock(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/bench.py", "import time\nimport numpy as np\n\nstart = time.clock()\nnp.ones(3).sum()\nprint(time.clock() - start)\n")


@broken("", **script("sentiment.py"), error="stopwords", cause=r"stopwords", fix="nltk.download('stopwords')", fix_text=r"stopwords")
def program_with_stopwords_that_are_not_here(c):
    pip_env(c, "nltk==3.9.1")
    c.write("{work}/sentiment.py", "from nltk.corpus import stopwords\n\nstop = set(stopwords.words('english'))\nprint(len(stop))\n")


@broken("", **script("train.py"), error="fit_generator", cause=r"fit_generator", fix="fit(...)", fix_text=r"\bfit\b|keras", env=JAX)
def program_with_fit_generator(c):
    pip_env(c, *KERAS)
    c.write("{work}/train.py", """import numpy as np
import keras
from keras import layers

model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
model.compile(optimizer='adam', loss='mse')


def batches():
    while True:
        yield np.zeros((4, 2)), np.zeros((4, 1))


model.fit_generator(batches(), steps_per_epoch=2, epochs=1)
""")


@broken("", py="3.9", proof=["{env}/bin/python", "{work}/parse.py"], target="{work}/parse.py", error="SyntaxError", cause=r"match|3\.10|syntax|line 5", fix="Python 3.10 or newer", fix_text=r"3\.1\d|Python|python")
def program_with_match_on_python_39(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/parse.py", "import sys\n\n\ndef run(command):\n    match command:\n        case ['train', name]:\n            return name\n        case _:\n            return None\n\n\nprint(run(sys.argv[1:]))\n")


@broken("", py="3.9", proof=["{env}/bin/python", "{work}/data.py"], target="{work}/data.py", error="unsupported operand", cause=r"\||3\.10|union", fix="Optional[...], from __future__ import annotations, or Python 3.10", fix_text=r"Optional|Union|annotations|3\.1\d|python")
def program_with_union_types_on_python_39(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/data.py", "import numpy as np\n\n\ndef load(path: str, limit: int | None = None) -> np.ndarray:\n    return np.zeros(limit or 3)\n\n\nprint(load('a'))\n")


@broken("", proof="import cv2; cv2.imshow('a', __import__('numpy').zeros((3, 3)))", error="not implemented", target="{work}/show.py", cause=r"imshow|headless", fix="opencv-python in place of the headless one", fix_text=r"opencv-python|matplotlib")
def program_with_imshow_and_a_headless_opencv(c):
    pip_env(c, "opencv-python-headless==4.10.0.84", "numpy==1.26.4")
    c.write("{work}/show.py", "import cv2\nimport numpy as np\n\ncv2.imshow('frame', np.zeros((64, 64, 3), 'uint8'))\ncv2.waitKey(0)\ncv2.destroyAllWindows()\n")


@broken("", **script("pages.py"), error="poppler", cause=r"poppler|pdftoppm|pdfinfo", fix="apt install poppler-utils", fix_text=r"poppler", env={"PATH": "{env}/bin"})
def program_with_pdf2image_and_no_poppler(c):
    pip_env(c, "pdf2image==1.17.0")
    c.write("{work}/pages.py", "from pdf2image import convert_from_path\n\npages = convert_from_path('paper.pdf', dpi=200)\n")
    c.write("{work}/paper.pdf", "%PDF-1.4\n%%EOF\n")


@broken("", proof=["{env}/bin/python", "-c", "import plotly.graph_objects as go; f = go.Figure(go.Bar(x=[1], y=[2])); f.show(renderer='notebook')"], error="nbformat", target="{work}/bars.ipynb", cause=r"nbformat", apply=True, fix="install nbformat")
def notebook_with_plotly_and_no_nbformat(c):
    pip_env(c, "plotly==5.24.1", "ipykernel==6.29.5", "pandas==2.2.3", "numpy==1.26.4")
    notebook(c, "bars.ipynb", ["import plotly.express as px", "fig = px.bar(x=['a', 'b'], y=[1, 3])\nfig.show()"])
