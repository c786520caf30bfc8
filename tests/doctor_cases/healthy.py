"""Environments that work: the doctor must find nothing above a note."""

import json

from cases import healthy
from damage import JAX
from paths import start_kernel
from settings import MACHO_ARM64, machine
from versions import TF


@healthy("TensorFlow 2.15 alone", TF)
def _(env):
    env.venv().install("tensorflow-cpu==2.15.1")


@healthy("TensorFlow 2.18, no pip in the environment", TF)
def _(env):
    env.venv("3.12", pip=False).install("tensorflow-cpu==2.18.0")


@healthy("PyTorch with its CUDA libraries", "import torch")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2")


@healthy("jax with jaxlib one patch older", "import jax; jax.numpy.ones(1)")
def _(env):
    env.venv().install("jax==0.4.31", "jaxlib==0.4.30", "numpy==1.26.4")


@healthy("Keras on jax by keras.json", "import keras; keras.layers.Dense(1)")
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.write(
        env.home / ".keras/keras.json",
        json.dumps({"floatx": "float32", "epsilon": 1e-07, "backend": "jax", "image_data_format": "channels_last"}),
    )


@healthy("Keras on NumPy by variable", "import keras; keras.layers.Dense(1)")
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "numpy"


@healthy("folder of data called keras", "import keras; keras.layers.Dense(1)")
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.write(env.cwd / "keras/weights.csv", "1,2\n")
    env.write(env.cwd / "utils.py", "import numpy as np\n")


@healthy("PYTHONPATH with code of one's own", "import jax, helpers")
def _(env):
    env.venv().install(*JAX)
    env.write(env.root / "src/helpers/__init__.py", "import jax\n")
    env.environ["PYTHONPATH"] = f"{env.root / 'src'}:"


@healthy("legacy Keras with a tf-keras that fits", TF)
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0").install("tf-keras==2.18.0", deps=False)
    env.environ["TF_USE_LEGACY_KERAS"] = "1"


@healthy("environment that takes NumPy from its base", "import jax; jax.numpy.ones(1)")
def _(env):
    env.prefix_copy().install(*JAX, "keras==3.4.1")
    env.venv(system=True, base=env.python, name="child").install("h5py==3.11.0", "tqdm", deps=False)
    env.environ["KERAS_BACKEND"] = "jax"


@healthy("path with spaces and accents", "import jax; jax.numpy.ones(1)")
def _(env):
    env.venv(name="Übungen für Keras").install(*JAX)


@healthy("kernelspec with variables", start_kernel)
def _(env):
    env.venv().install(*JAX, "ipykernel==6.29.5", "keras==3.4.1")
    env.kernelspec(
        env.python, env={"KERAS_BACKEND": "jax", "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "OMP_NUM_THREADS": "2"}
    )


@healthy("editable project", "import mylayers")
def _(env):
    env.venv().install(*JAX)
    project = env.root / "projects/mylayers"
    env.write(
        project / "pyproject.toml",
        '[project]\nname = "mylayers"\nversion = "0.3"\ndependencies = ["jax"]\n[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
    )
    env.write(project / "mylayers/__init__.py", "import jax\n")
    env.tools.run_uv("pip", "install", "-q", "-p", env.python, "-e", project)


@healthy("user site with something else", "import jax; jax.numpy.ones(1)")
def _(env):
    env.prefix_copy().install(*JAX)
    env.install("tqdm==4.66.4", to=env.home / ".local/lib/python3.11/site-packages")


@healthy("pandas, SciPy, scikit-learn and OpenCV together", "import pandas, scipy.linalg, sklearn, cv2, matplotlib")
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0", "pandas", "scikit-learn", "matplotlib", "opencv-python-headless", "numpy<2.1")


@healthy("conda environment with packages by pip", "import jax; jax.numpy.ones(1)")
def _(env):
    env.prefix_copy().install(*JAX)
    for name, version in (("python", "3.11.7"), ("pip", "24.0"), ("openssl", "3.2.1")):
        meta = {"name": name, "version": version, "build": "h0_0", "files": [], "channel": "conda-forge"}
        env.write(env.prefix / f"conda-meta/{name}-{version}-h0_0.json", json.dumps(meta))
    env.write(env.prefix / "conda-meta/history", "")


@healthy("Apple's TensorFlow with a metal plug-in that fits", real=False)
def _(env):
    env.foreign(MACHO_ARM64)
    wheels = """
        tensorflow-macos==2.15.0 tensorflow-metal==1.1.0 numpy==1.26.4 h5py==3.11.0 ml-dtypes==0.2.0 wrapt==1.14.1 grpcio==1.60.0
        protobuf==4.25.3 absl-py==2.1.0 astunparse==1.6.3 flatbuffers==24.3.25 gast==0.5.4 google-pasta==0.2.0 libclang==16.0.6 opt-
        einsum==3.3.0 packaging==24.0 setuptools==69.5.1 six==1.16.0 termcolor==2.4.0 typing-extensions==4.11.0 tensorflow-io-gcs-
        filesystem==0.37.0 tensorboard==2.15.2 tensorflow-estimator==2.15.0 keras==2.15.0 wheel==0.43.0 markdown==3.6 werkzeug==3.0.2
        requests==2.31.0 tensorboard-data-server==0.7.2 google-auth==2.29.0 google-auth-oauthlib==1.2.0 cachetools==5.3.3
        pyasn1-modules==0.4.0 pyasn1==0.6.0 rsa==4.9 requests-oauthlib==2.0.0 oauthlib==3.2.2 markupsafe==2.1.5 charset-
        normalizer==3.3.2 idna==3.7 urllib3==2.2.1 certifi==2024.2.2
    """
    env.install(*wheels.split(), to=env.site, platform="aarch64-apple-darwin")
    machine(env, os="darwin", machine="arm64", apple_silicon=True, cpu_features=[])
