"""Programs and notebooks as tutorials wrote them."""
import json
from common import JAX, KERAS, broken, notebook, pip_env, script
from lib import run

@broken("", **script("train.py"), error="ImageDataGenerator", cause=r"ImageDataGenerator", fix="keras.utils.image_dataset_from_directory, or keras<3", fix_text=r"image_dataset|legacy|keras", env=JAX)
def program_with_imagedatagenerator(c):
    pip_env(c, *KERAS)
    c.write("{work}/train.py", "from keras.models import Sequential\nfrom keras.layers import Dense, Flatten\nfrom keras.preprocessing.image import ImageDataGenerator\n\ngen = ImageDataGenerator(rescale=1. / 255)\n")


@broken("", **script("train.py"), error="lr", cause=r"\blr\b|learning_rate", fix="learning_rate=", fix_text=r"learning_rate|keras", env=JAX)
def program_with_adam_lr(c):
    pip_env(c, *KERAS)
    c.write("{work}/train.py", "from keras.models import Sequential\nfrom keras.layers import Dense\nfrom keras.optimizers import Adam\n\nmodel = Sequential([Dense(1)])\nmodel.compile(loss='mse', optimizer=Adam(lr=0.001))\n")


@broken("", **script("digits.py"), error="predict_classes", cause=r"predict_classes", fix="predict(...).argmax(-1)", fix_text=r"argmax|predict|keras", env=JAX)
def program_with_predict_classes(c):
    pip_env(c, *KERAS)
    c.write("{work}/digits.py", "import numpy as np\nfrom keras.models import Sequential\nfrom keras.layers import Dense\n\nmodel = Sequential()\nmodel.add(Dense(3, activation='softmax'))\nmodel.compile('adam', 'mse')\n"
            "model.build((None, 2))\nprint(model.predict_classes(np.zeros((4, 2))))\n")


@broken("", **script("rescale.py"), error="experimental", cause=r"experimental", fix="keras.layers.Rescaling", fix_text=r"Rescaling|experimental|keras|tensorflow")
def program_with_experimental_preprocessing(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")
    c.write("{work}/rescale.py", "import tensorflow as tf\nfrom tensorflow.keras import layers\n\nmodel = tf.keras.Sequential([layers.experimental.preprocessing.Rescaling(1. / 255), layers.Dense(2)])\nprint(model)\n")


@broken("", **script("slim.py"), error="contrib", cause=r"contrib", fix="tf_slim, or TensorFlow 1", fix_text=r"slim|tensorflow|contrib")
def program_with_tensorflow_contrib(c):
    pip_env(c, "tensorflow-cpu==2.17.0", "keras==3.5.0")
    c.write("{work}/slim.py", "import tensorflow as tf\nimport tensorflow.contrib.slim as slim\n\nnet = slim.conv2d(tf.zeros([1, 8, 8, 3]), 4, [3, 3])\n")


@broken("", **script("sales.py"), error="append", cause=r"append", fix="pd.concat", fix_text=r"concat|pandas")
def program_with_dataframe_append(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/sales.py", "import pandas as pd\n\ndf = pd.DataFrame({'a': [1, 2]})\ndf = df.append({'a': 3}, ignore_index=True)\nprint(df)\n")


@broken("", **script("report.py"), error="plot_confusion_matrix", cause=r"plot_confusion_matrix", fix="ConfusionMatrixDisplay", fix_text=r"ConfusionMatrixDisplay|scikit")
def program_with_plot_confusion_matrix(c):
    pip_env(c, "scikit-learn==1.5.2", "numpy==1.26.4")
    c.write("{work}/report.py", "from sklearn.linear_model import LogisticRegression\nfrom sklearn.metrics import plot_confusion_matrix, accuracy_score\n\nprint(LogisticRegression())\n")


@broken("", **script("encode.py"), error="sparse", cause=r"\bsparse\b", fix="sparse_output", fix_text=r"sparse_output|scikit")
def program_with_onehotencoder_sparse(c):
    pip_env(c, "scikit-learn==1.5.2", "numpy==1.26.4")
    c.write("{work}/encode.py", "from sklearn.preprocessing import OneHotEncoder\n\nenc = OneHotEncoder(sparse=False, handle_unknown='ignore')\nprint(enc.fit_transform([['a'], ['b']]))\n")


@broken("", proof="import en_core_web_sm", error="en_core_web_sm", target="{work}/entities.py", cause=r"en_core_web_sm", fix="python -m spacy download en_core_web_sm", fix_text=r"en_core_web_sm")
def program_loads_a_spacy_model_that_is_not_here(c):
    pip_env(c, "spacy==3.8.2", "numpy==2.0.2")
    c.write("{work}/entities.py", "import spacy\n\nnlp = spacy.load('en_core_web_sm')\nprint([e.text for e in nlp('Ada met Charles in London').ents])\n")


@broken("", **script("words.py"), error="punkt", cause=r"punkt", fix="nltk.download('punkt_tab')", fix_text=r"punkt")
def program_tokenizes_without_punkt(c):
    pip_env(c, "nltk==3.9.1")
    c.write("{work}/words.py", "import nltk\nfrom nltk.tokenize import word_tokenize\n\nprint(word_tokenize('The kernel appears to have died.'))\n")


@broken("", proof="import google.colab", error="google", target="{work}/mnist.ipynb", cause=r"google\.colab|colab", fix="leave the cell out: it is for Colab only", fix_text=r"Colab|remove|cell|leave", asked_for="undocumented")
def notebook_made_for_colab(c):
    pip_env(c, "ipykernel==6.29.5", "numpy==1.26.4")
    notebook(c, "mnist.ipynb", ["from google.colab import drive\ndrive.mount('/content/drive')", "import numpy as np\nx = np.load('/content/drive/MyDrive/mnist.npy')"])


@broken("", **script("net.py"), error="SyntaxError", cause=r"Python 2|print|syntax|line 4", fix="2to3 / print()", fix_text=r"2to3|print|Python")
def program_of_python_2(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/net.py", "import numpy as np\n\nfor epoch in xrange(3):\n    print 'epoch', epoch\n")


@broken("", **script("load.py"), error="unicodeescape", cause=r"unicode|\\\\U|escape|line 3", fix="r'C:\\Users...'", fix_text=r"r'|r\"|raw|backslash|/|line")
def program_with_a_windows_path(c):
    pip_env(c, "pandas==2.2.3", "numpy==1.26.4")
    c.write("{work}/load.py", "import pandas as pd\n\ndf = pd.read_csv('C:\\Users\\ada\\sales.csv')\n")


@broken("", **script("copied.py"), error="U\\+00A0|invalid", cause=r"00A0|non.?break|space|character|line 4", fix="put plain spaces", fix_text=r"space|sed|00A0|character|line")
def program_copied_from_a_web_page(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/copied.py", "import numpy as np\n\ndef f(x):\n\u00a0\u00a0\u00a0\u00a0return np.exp(x)\n\nprint(f(1))\n")


@broken("", **script("names.py"), error="utf-8|Non-UTF-8", cause=r"UTF-8|latin|encoding|cp1252", fix="save as UTF-8", fix_text=r"iconv|utf|coding")
def program_saved_in_latin_1(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/names.py", "import numpy as np\n\ncities = ['Malmö', 'Århus']\nprint(np.array(cities))\n".encode("latin-1"))


@broken("", **script("read.py"), error="runtime_version|Descriptors cannot", cause=r"protobuf|_pb2|runtime_version", fix="a newer protobuf, or generate anew", fix_text=r"protobuf|protoc|grpcio", asked_for="undocumented")
def own_pb2_of_a_newer_protoc(c):
    pip_env(c, "protobuf==4.25.5")
    c.write("{work}/sensor.proto", 'syntax = "proto3";\nmessage Sensor { string name = 1; }\n')
    from common import elsewhere
    elsewhere(c, "from grpc_tools import protoc; assert protoc.main(['', '-I.', '--python_out=.', 'sensor.proto']) == 0", "grpcio-tools==1.68.0", "setuptools==65.5.1")
    c.write("{work}/read.py", "import sensor_pb2\n\nprint(sensor_pb2.Sensor(name='a'))\n")


@broken("", **script("run.py"), error="fastloop", cause=r"fastloop|3\.10|cp310|cpython-310", fix="build it for this Python", fix_text=r"build|compile|setup|cython|3\.10")
def own_compiled_module_of_the_last_python(c):
    import subprocess
    pip_env(c, "numpy==1.26.4")
    src = c.write("{work}/fastloop.c", "#include <Python.h>\nstatic struct PyModuleDef d = {PyModuleDef_HEAD_INIT, \"fastloop\", 0, -1, 0};\nPyMODINIT_FUNC PyInit_fastloop(void) { return PyModule_Create(&d); }\n")
    import lib
    include = next(lib.PYTHONS.glob("3.10.*")) / "include/python3.10"
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{include}", str(src), "-o", str(c.work / "fastloop.cpython-310-x86_64-linux-gnu.so")], check=True)
    c.write("{work}/run.py", "import numpy as np\nimport fastloop\n\nprint(fastloop, np.pi)\n")


@broken("", **script("scripts/train.py"), error="partially initialized|has no attribute|cannot import", cause=r"types\.py|numbers\.py", fix="rename scripts/numbers.py", fix_text=r"mv |rename|numbers")
def program_in_a_folder_with_numbers_py(c):
    pip_env(c, "numpy==1.26.4")
    c.write("{work}/scripts/numbers.py", "ONE = 1\n")
    c.write("{work}/scripts/train.py", "import numpy as np\n\nprint(np.ones(2))\n")
