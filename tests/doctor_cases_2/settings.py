"""Variables, kernelspecs, model and data files."""

import json
import os
import subprocess

from kit import Env, broken


def _jax(place, **more):
    env = Env(place, **more)
    env.install("jax==0.4.30", "jaxlib==0.4.30", deps=True)
    return env


def _keras_jax(place):
    env = _jax(place)
    env.install("keras==3.8.0", deps=True)
    env.variables["KERAS_BACKEND"] = "jax"
    return env


@broken(["XLA_FLAGS"], "unset XLA_FLAGS (or take the unknown flag out)", "Unknown flag")
def unknown_xla_flag(place):
    env = _jax(place)
    env.variables["XLA_FLAGS"] = "--xla_gpu_enable_fast_min_max_of_2019=true"
    return env.probe("import jax; jax.numpy.ones(3)")


@broken(["JAX_PLATFORMS"], "unset JAX_PLATFORMS, or install jax[cuda12]", "cuda")
def jax_told_to_use_cuda_it_has_not(place):
    env = _jax(place)
    env.variables["JAX_PLATFORMS"] = "cuda"
    return env.probe("import jax; jax.numpy.ones(3)")


@broken(["PYTHONHOME"], "unset PYTHONHOME", "encodings|Fatal", made="hand")
def pythonhome_of_another_program(place):
    env = Env(place)
    env.install("numpy==1.26.4")
    env.write("lib/readme.txt", "a GIS program's own Python was here", base=place / "gis")
    env.variables["PYTHONHOME"] = str(place / "gis")
    return env.probe("import numpy")


@broken(["MPLBACKEND"], "unset MPLBACKEND, or install matplotlib-inline", "backend_inline|matplotlib_inline")
def mplbackend_of_a_notebook(place):
    env = Env(place)
    env.install("matplotlib==3.9.2", deps=True)
    env.variables["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    return env.probe("import matplotlib.pyplot as plt; plt.plot([1, 2])")


@broken(["SSL_CERT_FILE"], "unset SSL_CERT_FILE, or point it to certifi's file", "No such file")
def ssl_cert_file_that_is_gone(place):
    env = Env(place)
    env.install("huggingface-hub==1.0.0", "httpx==0.28.1", deps=True)
    env.variables["SSL_CERT_FILE"] = str(place / "miniconda3/ssl/cacert.pem")
    return env.probe("import httpx; httpx.Client()")


def _kernel(env, text, where, name="python3"):
    env.write(f"kernels/{name}/kernel.json", text if isinstance(text, str) else json.dumps(text), base=where)


START = ("import jupyter_client; m, c = jupyter_client.manager.start_new_kernel(kernel_name='python3', startup_timeout=20); "
         "m.shutdown_kernel(now=True)")


def _jupyter(place):
    env = Env(place)
    env.install("ipykernel==6.29.5", deps=True)
    return env


@broken(["kernel", "tf2", "gone|not there|does not exist|none|missing|points"], "remove the kernelspec tf2, or point it to this environment", "No such file|FileNotFound",
        made="hand")
def users_kernelspec_of_a_removed_conda_environment(place):
    env = _jupyter(place)
    _kernel(env, {"argv": ["/opt/miniconda3/envs/tf2/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python (tf2)",
                  "language": "python"}, env.home / ".local/share/jupyter", "tf2")
    return env.probe(START.replace("'python3'", "'tf2'"))


@broken(["kernel", "JSON|json"], "write kernel.json anew: python -m ipykernel install --sys-prefix", "JSON|Error", made="hand")
def kernel_json_with_a_comma_too_many(place):
    env = _jupyter(place)
    _kernel(env, '{\n "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],\n "display_name": "Python 3",\n "language": "python",\n}\n',
            env.path / "share/jupyter")
    return env.probe(START)


@broken(["connection_file|-f|argv"], "write kernel.json anew: python -m ipykernel install --sys-prefix", "Error|timeout|did not|died", made="hand")
def kernelspec_without_connection_file(place):
    env = _jupyter(place)
    _kernel(env, {"argv": [str(env.bin / "python"), "-m", "ipykernel_launcher"], "display_name": "Python 3", "language": "python"},
            env.path / "share/jupyter")
    return env.probe(START)


@broken(["PYTHONPATH|LD_LIBRARY_PATH|kernel", "3.10|other|another"], "take PYTHONPATH out of the kernelspec", "Error|died", made="wheels")
def kernelspec_with_pythonpath_of_another_python(place):
    env = _jupyter(place)
    env.install("pyzmq==26.2.0", "psutil==6.0.0", "tornado==6.4.1", target=place / "py310", more=["--python-version", "3.10"])
    _kernel(env, {"argv": [str(env.bin / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3",
                  "language": "python", "env": {"PYTHONPATH": str(place / "py310")}}, env.path / "share/jupyter")
    return env.probe(START)


@broken(["LFS|pointer|HTML|not an? HDF5|not HDF5|no HDF5"], "git lfs pull", "signature|Error")
def model_is_a_pointer_of_git_lfs(place):
    env = _keras_jax(place)
    env.arguments = [str(env.write("model.h5", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d7a" * 16 + "\nsize 23564800\n", base=env.cwd))]
    return env.probe("import keras; keras.models.load_model('model.h5')")


@broken(["HTML|web page|not an? HDF5|not HDF5|no HDF5"], "download the file itself", "signature|Error")
def model_is_a_web_page(place):
    env = _keras_jax(place)
    page = "<!DOCTYPE html>\n<html lang=en><head><title>vgg16_weights.h5</title></head><body>Sign in</body></html>\n" * 40
    env.arguments = [str(env.write("vgg16.h5", page, base=env.cwd))]
    return env.probe("import keras; keras.models.load_model('vgg16.h5')")


SAVE = "import keras; m = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64, activation='relu'), keras.layers.Dense(1)]); m.save({!r})"


def _saved(env, name):
    path = env.cwd / name
    subprocess.run([env.bin / "python", "-c", SAVE.format(str(path))], check=True, env=env.environment(), cwd=env.cwd)
    env.arguments = [str(path)]
    return path


@broken(["cut|truncat|incomplete|central directory|end"], "copy or download the file again", "zip|Error")
def keras_file_cut_off(place):
    env = _keras_jax(place)
    path = _saved(env, "model.keras")
    os.truncate(path, path.stat().st_size * 2 // 3)
    return env.probe("import keras; keras.models.load_model('model.keras')")


@broken(["HDF5|h5"], "rename it to .h5", "zip|Error")
def hdf5_model_named_keras(place):
    env = _keras_jax(place)
    path = _saved(env, "model.h5")
    path.rename(env.cwd / "model.keras")
    env.arguments = [str(env.cwd / "model.keras")]
    return env.probe("import keras; keras.models.load_model('model.keras')")


@broken(["Keras 3|keras 3|3\\.8", "2\\.15|Keras 2|keras<3|keras 2"], "Keras 3 (TensorFlow>=2.16)", "Error")
def model_of_keras_3_for_keras_2(place):
    writer = _keras_jax(place / "writer")
    path = _saved(writer, "model.keras")
    env = Env(place / "reader")
    env.install("tensorflow-cpu==2.15.1", deps=True)
    env.arguments = [str(path)]
    return env.probe(f"import tensorflow as tf; tf.keras.models.load_model({str(path)!r})")


@broken(["weights", "config|only|architecture"], "build the model, then load_weights", "No model config|Error")
def weights_given_as_a_model(place):
    env = _keras_jax(place)
    path = env.cwd / "w.weights.h5"
    subprocess.run([env.bin / "python", "-c", "import keras; m = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)]); "
                    f"m.save_weights({str(path)!r})"], check=True, env=env.environment())
    path = path.rename(env.cwd / "model.h5")
    env.arguments = [str(path)]
    return env.probe("import keras; keras.models.load_model('model.h5')")


@broken(["resnet18|checkpoint|torch", "cut|truncat|incomplete|damage"], "delete the file, it is downloaded again", "central directory|Error")
def torch_checkpoint_cut_off_in_the_cache(place):
    env = Env(place, "3.10")
    env.install("torch==1.12.1", "torchvision==0.13.1", "numpy==1.26.4", "typing_extensions", "pillow", "requests", "urllib3", "idna", "certifi",
                "charset-normalizer")
    path = env.home / ".cache/torch/hub/checkpoints/resnet18-f37072fd.pth"
    path.parent.mkdir(parents=True)
    subprocess.run([env.bin / "python", "-c", f"import torch; torch.save({{'fc.weight': torch.zeros(1000, 512)}}, {str(path)!r})"], check=True,
                   env=env.environment())
    os.truncate(path, path.stat().st_size // 2)
    return env.probe("import torchvision; torchvision.models.resnet18(pretrained=True)")


@broken(["read|permission|mode", "numpy"], "sudo chmod -R a+rX, or install as the user", "Permission|No module named|no attribute")
def packages_that_only_root_may_read(place):
    env = Env(place, "/usr/bin/python3", pip=False)
    env.install("numpy==1.26.4", "h5py==3.11.0")
    subprocess.run(["cp", "-a", env.site / "numpy", env.site / "numpy.own"], check=True)
    subprocess.run(["rm", "-rf", env.site / "numpy"], check=True)
    (env.site / "numpy.own").rename(env.site / "numpy")
    subprocess.run(["chmod", "-R", "go-rwx", env.site / "numpy"], check=True)
    env.user = 65534
    return env.probe("import h5py")
