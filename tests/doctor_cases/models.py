"""Model files an environment cannot load. They are laid out as Keras writes them."""

import io
import json
import zipfile

import h5py
import numpy as np

from cases import broken, healthy
from damage import JAX

KERAS2 = ("tensorflow-cpu==2.15.1",)
LOAD = "import sys, glob, keras; keras.models.load_model(glob.glob('model*')[0])"


def sequential(first, dense):
    return {"class_name": "Sequential", "config": {"name": "sequential", "layers": [first, dense]}}


INPUT2 = {
    "class_name": "InputLayer",
    "config": {"batch_input_shape": [None, 3], "dtype": "float32", "sparse": False, "ragged": False, "name": "dense_input"},
}
INPUT3 = {
    "class_name": "InputLayer",
    "config": {"batch_shape": [None, 3], "dtype": "float32", "sparse": False, "name": "input_layer"},
    "module": "keras.layers",
    "registered_name": None,
}
POLICY = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}


def dense(dtype):
    made = {"module": "keras.initializers", "class_name": "Zeros", "config": {}, "registered_name": None}
    config = {
        "name": "dense",
        "trainable": True,
        "dtype": dtype,
        "units": 2,
        "activation": "linear",
        "use_bias": True,
        "kernel_initializer": made,
        "bias_initializer": made,
    }
    return {
        "class_name": "Dense",
        "module": "keras.layers",
        "registered_name": None,
        "config": config,
        "build_config": {"input_shape": [None, 3]},
    }


def h5(config, version, weights_only=False, rows=3):
    """The bytes of an .h5 file with one Dense layer."""
    body = io.BytesIO()
    with h5py.File(body, "w") as f:
        root = f if weights_only else f.create_group("model_weights")
        if not weights_only:
            f.attrs["model_config"] = json.dumps(config)
            f.attrs["keras_version"], f.attrs["backend"] = version, "tensorflow"
        root.attrs["layer_names"], root.attrs["keras_version"], root.attrs["backend"] = [b"dense"], version, "tensorflow"
        group = root.create_group("dense")
        group.attrs["weight_names"] = [b"dense/kernel:0", b"dense/bias:0"]
        group["dense/kernel:0"] = np.ones((rows, 2), "float32")
        group["dense/bias:0"] = np.zeros(2, "float32")
    return body.getvalue()


def keras_zip(config, version):
    weights = io.BytesIO()
    with h5py.File(weights, "w") as f:
        values = f.create_group("layers/dense/vars")
        values["0"], values["1"] = np.ones((3, 2), "float32"), np.zeros(2, "float32")
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as z:
        z.writestr("metadata.json", json.dumps({"keras_version": version, "date_saved": "2025-03-01@10:00:00"}))
        z.writestr(
            "config.json", json.dumps({**config, "module": "keras", "registered_name": None, "build_config": {"input_shape": [None, 3]}})
        )
        z.writestr("model.weights.h5", weights.getvalue())
    return body.getvalue()


@broken("model of Keras 3 in .h5 for Keras 2", ["Keras 3|batch_shape|newer|3\\.", "model"], LOAD, fix=False)
def _(env):
    env.venv().install(*KERAS2)
    env.model("model.h5", h5(sequential(INPUT3, dense(POLICY)), "3.4.1"))


@broken("model of Keras 3 in .keras for Keras 2", ["Keras 3|DTypePolicy|newer|3\\.", "model|keras"], LOAD, fix=False)
def _(env):
    env.venv().install(*KERAS2)
    env.model("model.keras", keras_zip(sequential(INPUT3, dense(POLICY)), "3.4.1"))


@broken("model that is a pointer of Git LFS", "LFS|pointer", LOAD, fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.model(
        "model.h5",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 94765736\n",
    )


@broken("model that is a web page", "HTML|web page|not an? (HDF5|h5)|signature", LOAD, fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.model(
        "model.h5",
        "<!DOCTYPE html>\n<html><head><title>Google Drive - Virus scan warning</title></head><body>" + "x" * 3000 + "</body></html>\n",
    )


@broken("download of a .keras cut off", "cut|truncat|incomplete|end|damaged|zip", LOAD, fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    body = keras_zip(sequential(INPUT3, dense(POLICY)), "3.4.1")
    env.model("model.keras", body[: len(body) * 2 // 3])


@broken("weights taken for a model", "weights|model_config|no (model )?config", LOAD, fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.model("model.h5", h5(None, "2.12.0", weights_only=True))


@broken("weights of another shape than the layers", "shape|\\b4\\b", LOAD, fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.model("model.h5", h5(sequential(INPUT3, dense(POLICY)), "3.4.1", rows=4))


@healthy("model of Keras 3 in Keras 3", LOAD)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.model("model.keras", keras_zip(sequential(INPUT3, dense(POLICY)), "3.4.1"))


@healthy("model of Keras 2 in Keras 2", LOAD)
def _(env):
    env.venv().install(*KERAS2)
    env.model("model.h5", h5(sequential(INPUT2, dense("float32")), "2.15.0"))
