"""Real wheels in combinations that users report, each of which fails when imported."""

from cases import broken

TF = "import tensorflow as tf; tf.keras.layers.Dense(2)"


@broken("numpy 2 under TensorFlow 2.15", ["numpy", "tensorflow|ml.dtypes"], TF)
def _(env):
    env.venv().install("tensorflow-cpu==2.15.1").install("numpy==2.1.0", deps=False)


@broken("protobuf 4 under TensorFlow 2.8", ["protobuf", "tensorflow|tensorboard"], "import tensorflow")
def _(env):
    env.venv("3.10").install("tensorflow-cpu==2.8.4", "protobuf<3.21", "numpy<1.24").install("protobuf==4.25.3", deps=False)


@broken("protobuf 4 under TensorFlow 2.20", ["protobuf", "tensorflow"], "import tensorflow")
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.20.0").install("protobuf==4.25.8", deps=False)


@broken("Keras 3 under TensorFlow 2.15", ["keras", "tensorflow"], "import tensorflow as tf; tf.keras.optimizers.legacy.Adam()")
def _(env):
    env.venv().install("tensorflow-cpu==2.15.1").install("keras==3.4.1", "rich", "namex", "optree")


@broken("Keras 2 under TensorFlow 2.18", ["keras", "tensorflow"], TF)
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0").install("keras==2.15.0", deps=False)


@broken("jaxlib too old for jax", ["jaxlib", r"0\.4\.20"], "import jax")
def _(env):
    env.venv().install("jax==0.4.30", "jaxlib==0.4.30", "numpy<2").install("jaxlib==0.4.20", deps=False)


@broken("jaxlib newer than jax", ["jaxlib", r"0\.4\.30"], "import jax")
def _(env):
    env.venv().install("jax==0.4.20", "jaxlib==0.4.20", "numpy<2", "scipy<1.13").install("jaxlib==0.4.30", deps=False)


@broken("SciPy too new for jax", "scipy", "import jax.scipy.linalg")
def _(env):
    env.venv().install("jax==0.4.20", "jaxlib==0.4.20", "numpy<2", "scipy==1.14.1")


@broken("h5py built for NumPy 1 beside NumPy 2", ["h5py", "numpy"], "import h5py")
def _(env):
    env.venv().install("keras==3.4.1", "jax==0.4.30", "jaxlib==0.4.30", "numpy==2.1.0").install("h5py==3.10.0", deps=False)


@broken("pandas built for NumPy 1 beside NumPy 2", ["pandas", "numpy"], "import pandas")
def _(env):
    env.venv().install("jax==0.4.30", "jaxlib==0.4.30", "numpy==2.1.0", "pandas==2.2.3").install("pandas==2.1.4", deps=False)


@broken("ml_dtypes too old for jax", "ml.dtypes", "import jax")
def _(env):
    env.venv().install("jax==0.4.30", "jaxlib==0.4.30", "numpy<2").install("ml_dtypes==0.1.0", deps=False)


@broken("tensorflow-text of another TensorFlow", "tensorflow.text", "import tensorflow_text")
def _(env):
    env.venv().install("tensorflow-cpu==2.18.0").install("tensorflow-text==2.16.1", deps=False)


@broken("tensorflow-addons with Keras 3", "addons", "import tensorflow_addons", fix=False)
def _(env):
    env.venv().install("tensorflow-cpu==2.18.0", "typeguard<3").install("tensorflow-addons==0.23.0", deps=False)


@broken("tensorflow-probability without tf-keras", "tf.keras", "import tensorflow_probability")
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0", "tensorflow-probability==0.25.0")


@broken("six of old on Python 3.12", "six", "import tensorflow")
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0").install("six==1.15.0", deps=False)


@broken("typing_extensions of old", "typing.extensions", "import tensorflow")
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0").install("typing_extensions==3.7.4.3", deps=False)


@broken("NumPy 2 under PyTorch 2.2", ["numpy", "torch"], "import torch; torch.ones(1).numpy()")
def _(env):
    env.venv().install("torch==2.2.2", "numpy==2.1.0")


@broken("torchvision of another PyTorch", "torchvision", "import torchvision")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2", "pillow").install("torchvision==0.18.1", deps=False)


@broken("torchaudio of another PyTorch", "torchaudio", "import torchaudio")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2").install("torchaudio==2.4.1", deps=False)


@broken("cuDNN 9 under a PyTorch that wants 8", "cudnn", "import torch")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2").install("nvidia-cudnn-cu12==9.1.0.70", deps=False)


@broken("nvJitLink older than cuSPARSE", "nvjitlink", "import torch")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2").install("nvidia-nvjitlink-cu12==12.0.140", deps=False)


@broken("PyTorch without its CUDA libraries", "cublas", "import torch")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2").uninstall("nvidia-cublas-cu12")


@broken("Keras without any backend", "backend|tensorflow|jax|torch", "import keras")
def _(env):
    env.venv().install("keras==3.4.1")


@broken("MarkupSafe too new for Jinja2 of nbconvert", "markupsafe", "import nbconvert, jinja2")
def _(env):
    env.venv("3.9").install("nbconvert==6.0.7", "jinja2==2.11.3", "markupsafe==2.1.5", "ipykernel")


@broken("tf-keras of another TensorFlow, asked for", "tf.keras", TF)
def _(env):
    env.venv().install("tensorflow-cpu==2.18.0").install("tf-keras==2.15.1", deps=False)
    env.environ["TF_USE_LEGACY_KERAS"] = "1"
