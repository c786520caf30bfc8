"""Environments that work, each with something that looks like a fault."""

import json
import shutil
import subprocess

from kit import Env, healthy
from settings import START, _jax, _jupyter, _kernel, _keras_jax, _saved


@healthy()
def healthy_tensorflow_221(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.21.0", deps=True)
    return env.probe("import tensorflow as tf; assert float(tf.reduce_sum(tf.ones(3))) == 3; tf.keras.layers.Dense(2)(tf.ones((1, 2)))")


@healthy()
def healthy_tensorflow_215_with_keras_2(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.15.1", deps=True)
    return env.probe("import tensorflow as tf; tf.keras.layers.Dense(2)(tf.ones((1, 2)))")


@healthy()
def healthy_legacy_keras(place):
    env = Env(place)
    env.install("tensorflow-cpu==2.17.1", deps=True)
    env.install("tf-keras==2.17.0")
    env.variables["TF_USE_LEGACY_KERAS"] = "1"
    return env.probe("import tensorflow as tf; tf.keras.layers.Dense(2)(tf.ones((1, 2)))")


@healthy()
def healthy_torch_pair(place):
    env = Env(place, "3.10")
    env.install("torch==1.12.1", "torchvision==0.13.1", "torchaudio==0.12.1", "numpy==1.26.4", "typing_extensions", "pillow", "requests", "urllib3",
                "idna", "certifi", "charset-normalizer")
    return env.probe("import torch, torchvision, torchaudio, numpy; torchvision.ops.nms; torch.from_numpy(numpy.ones(3))")


@healthy()
def healthy_uv_environment_without_pip(place):
    env = Env(place, uv_made=True)
    env.install("keras==3.8.0", "jax==0.4.30", "jaxlib==0.4.30", deps=True)
    env.variables["KERAS_BACKEND"] = "jax"
    return env.probe("import keras; keras.layers.Dense(2)(keras.ops.ones((1, 2)))")


@healthy()
def healthy_symlinks_into_a_living_cache(place):
    env = Env(place, uv_made=True)
    env.uv("install", "-q", "--python", env.bin / "python", "--link-mode", "symlink", "--cache-dir", place / "cache", "numpy==1.26.4", "h5py==3.11.0")
    return env.probe("import h5py")


@healthy()
def healthy_path_with_spaces_and_umlauts(place):
    env = Env(place, folder="Jürgens Umgebung (neu)")
    env.install("ipykernel==6.29.5", "numpy==1.26.4", deps=True)
    return env.probe(START)


@healthy()
def healthy_backports_that_python_never_sees(place):
    env = Env(place)
    env.install("numpy==1.26.4", "dataclasses==0.6", "typing==3.7.4.3", "enum34==1.1.10")
    return env.probe("import numpy, dataclasses, enum, typing; enum.IntFlag; typing.Protocol")


@healthy()
def healthy_editable_install(place):
    env = Env(place)
    env.install("numpy==1.26.4", "setuptools==75.0.0")
    project = place / "my project"
    env.write("src/mymodel/__init__.py", "import numpy\n", base=project)
    env.write("pyproject.toml", '[project]\nname = "mymodel"\nversion = "0.1"\ndependencies = ["numpy<2"]\n[build-system]\nrequires = ["setuptools"]\n'
              'build-backend = "setuptools.build_meta"\n', base=project)
    env.install(more=["-e", project])
    return env.probe("import mymodel")


@healthy()
def healthy_names_beside_the_notebook(place):
    """Folders without __init__.py hide nothing that is installed, and a file that is nobody's name hides nothing."""
    env = Env(place)
    env.install("numpy==1.26.4", "h5py==3.11.0")
    env.write("numpy/train_images.txt", "1\n", base=env.cwd)
    env.write("keras_model.py", "x = 1\n", base=env.cwd)
    env.write("tensorflow.ipynb", "{}", base=env.cwd)
    env.write("data/io/__init__.py", "", base=env.cwd)
    return env.probe("import numpy, h5py; numpy.ones(2)")


@healthy()
def healthy_stripped_libraries(place):
    env = Env(place)
    env.install("scipy==1.13.1", "numpy==1.26.4", "h5py==3.11.0")
    for path in sorted((env.site / "scipy").rglob("*.so"))[:60] + sorted((env.site / "h5py").glob("*.so")):
        subprocess.run(["strip", "--strip-unneeded", env.own(path.relative_to(env.site))], check=True)
    return env.probe("import scipy.linalg, scipy.special, scipy.sparse, h5py")


@healthy()
def healthy_pythonpath_to_ones_own_modules(place):
    env = Env(place)
    env.install("numpy==1.26.4", "pandas==2.2.3", "python-dateutil", "pytz", "tzdata", "six")
    env.write("project/utils/__init__.py", "", base=place)
    env.write("project/model.py", "import pandas\n", base=place)
    env.variables["PYTHONPATH"] = f"{place / 'project'}:{place / 'not_there_yet'}"
    return env.probe("import model")


@healthy()
def healthy_kernelspec_with_settings(place):
    env = _jupyter(place)
    env.install("matplotlib-inline")
    _kernel(env, {"argv": [str(env.bin / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3 (quiet)",
                  "language": "python", "env": {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
                                                "MPLBACKEND": "module://matplotlib_inline.backend_inline"}}, env.path / "share/jupyter")
    return env.probe(START)


@healthy()
def healthy_xla_flags(place):
    env = _jax(place)
    env.variables |= {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    return env.probe("import jax; assert len(jax.devices()) == 4")


@healthy()
def healthy_model_of_the_same_keras(place):
    env = _keras_jax(place)
    _saved(env, "model.keras")
    return env.probe("import keras; keras.models.load_model('model.keras')")


@healthy()
def healthy_numpy_2_with_what_was_built_for_both(place):
    env = Env(place)
    env.install("numpy==2.1.3", "pandas==2.2.3", "h5py==3.12.1", "scipy==1.14.1", "scikit-learn==1.5.2", "joblib", "cloudpickle", "threadpoolctl", "python-dateutil",
                "pytz", "tzdata", "six", "ml_dtypes==0.5.0")
    return env.probe("import pandas, h5py, scipy.linalg, sklearn.linear_model, ml_dtypes")


@healthy(made="hand")
def healthy_system_site_packages(place):
    env = Env(place, "/usr/bin/python3", pip=False, system_site=True)
    env.install("numpy==1.26.4")
    return env.probe("import numpy")


@healthy()
def healthy_conda_layout(place):
    """Packages as conda leaves them: records in conda-meta, INSTALLER conda, another RECORD."""
    env = Env(place)
    env.install("numpy==1.26.4", "h5py==3.11.0")
    for name, version in (("numpy", "1.26.4"), ("h5py", "3.11.0")):
        info = env.site / f"{name}-{version}.dist-info"
        (info / "INSTALLER").unlink()
        (info / "INSTALLER").write_text("conda")
        (info / "RECORD").unlink()
        env.write(f"conda-meta/{name}-{version}-py311_0.json", json.dumps({"name": name, "version": version, "build": "py311_0", "files": []}), base=env.path)
    shutil.rmtree(env.site / "pip", ignore_errors=True)
    shutil.rmtree(next(env.site.glob("pip-*")), ignore_errors=True)
    return env.probe("import h5py")
