"""Variables, settings files, machines that do not fit, other platforms."""

import json
import struct

from cases import broken
from damage import JAX
from versions import TF

MACHO_ARM64 = struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 2, 0, 0, 0x200085, 0) + bytes(4064)


def machine(env, **readings):
    """Asks about another machine: this one's readings with some replaced."""
    env.readings = readings


@broken("keras.json with a backend of old", r"keras\.json|theano", "import keras", fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.write(
        env.home / ".keras/keras.json",
        json.dumps({"floatx": "float32", "epsilon": 1e-07, "backend": "theano", "image_data_format": "channels_last"}),
    )


@broken("keras.json with a wrong image format", r"keras\.json|image_data_format", "import keras", fix=False)
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "jax"
    env.write(
        env.home / ".keras/keras.json",
        json.dumps({"floatx": "float32", "backend": "jax", "image_dim_ordering": "th", "image_data_format": "tf"}),
    )


@broken("KERAS_BACKEND of a framework that is not there", ["KERAS_BACKEND", "torch"], "import keras")
def _(env):
    env.venv().install(*JAX, "keras==3.4.1")
    env.environ["KERAS_BACKEND"] = "torch"


@broken("unknown flag in XLA_FLAGS", "XLA_FLAGS", "import jax; jax.numpy.ones(3).sum()")
def _(env):
    env.venv().install(*JAX)
    env.environ["XLA_FLAGS"] = "--xla_gpu_enable_cuda_graphs=true --xla_gpu_simplify_all_fp_conversions"


@broken("JAX_PLATFORMS that jaxlib has not", "JAX_PLATFORMS", "import jax; jax.devices()")
def _(env):
    env.venv().install(*JAX)
    env.environ["JAX_PLATFORMS"] = "cuda"


@broken("protobuf implementation that is gone", "PROTOCOL_BUFFERS", "import tensorflow")
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0")
    env.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "cpp"


@broken("LD_LIBRARY_PATH with a broken libstdc++", ["LD_LIBRARY_PATH", r"libstdc\+\+"], "import jax")
def _(env):
    env.venv().install(*JAX)
    env.write(env.root / "matlab/sys/os/glnxa64/libstdc++.so.6", b"\x7fELF")
    env.environ["LD_LIBRARY_PATH"] = str(env.root / "matlab/sys/os/glnxa64")


@broken("LD_LIBRARY_PATH with the nvJitLink of another CUDA", ["LD_LIBRARY_PATH", "nvjitlink"], "import torch")
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2")
    env.compile("int nothing;", env.root / "cuda-12.0/lib64/libnvJitLink.so.12", "-Wl,-soname,libnvJitLink.so.12")
    env.environ["LD_LIBRARY_PATH"] = str(env.root / "cuda-12.0/lib64")


@broken("processor without AVX", "AVX", fix=False, real=False)
def _(env):
    env.venv().install("tensorflow-cpu==2.15.1")
    machine(env, cpu_features=["fpu", "sse", "sse2", "pni", "ssse3", "sse4_1", "sse4_2", "popcnt", "cx16", "lahf_lm"])


@broken("driver too old for PyTorch's CUDA", "driver", fix=False, real=False)
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2")
    machine(env, nvidia_driver="460.32.03")


@broken("/dev/shm of a container", "shm", fix=False, real=False)
def _(env):
    env.venv().install("torch==2.2.2", "numpy<2")
    disk = {"free": 1 << 20, "total": 64 << 20, "path": "/dev/shm", "what": "/dev/shm"}
    machine(env, disks=[disk])


@broken("home folder full", "full|free|space|disk", fix=False, real=False)
def _(env):
    env.venv().install(*JAX)
    machine(
        env,
        disks=[
            {"free": 0, "total": 10 << 30, "path": str(env.home), "what": "home"},
            {"free": 0, "total": 10 << 30, "path": "/tmp", "what": "temporary files"},
        ],
    )


@broken("jax plug-in for CUDA of another version", "plugin|pjrt", fix=False, real=False)
def _(env):
    env.venv().install(*JAX).dist("jax-cuda12-plugin", "0.4.26", ["jax-cuda12-pjrt==0.4.26"]).dist("jax-cuda12-pjrt", "0.4.26")


@broken("cuDNN 8 beside a TensorFlow that wants 9", "cudnn", fix=False, real=False)
def _(env):
    env.venv("3.12").install("tensorflow-cpu==2.18.0")
    requires = ["numpy>=1.26", 'nvidia-cudnn-cu12==9.3.0.75; extra == "and-cuda"', 'nvidia-cublas-cu12==12.5.3.2; extra == "and-cuda"']
    info = {
        "tensorflow/python/platform/build_info.py": 'build_info = {"cuda_version": "12.5.1", "cudnn_version": "9", "is_cuda_build": True}\n',
        "tensorflow/__init__.py": (env.site / "tensorflow/__init__.py").read_bytes(),
    }
    env.uninstall("tensorflow-cpu").dist("tensorflow", "2.18.0", requires, info)
    stub = env.compile("int cudnnGetVersion(void) { return 8907; }", env.root / "c/libcudnn.so.8", "-Wl,-soname,libcudnn.so.8")
    env.dist("nvidia-cudnn-cu12", "8.9.7.29", [], {"nvidia/cudnn/lib/libcudnn.so.8": stub.read_bytes()}).dist(
        "nvidia-cublas-cu12", "12.5.3.2", [], {"nvidia/cublas/__init__.py": ""}
    )


@broken("Apple's metal plug-in of another TensorFlow", ["metal", "fit|symbol|expects|pywrap|load"], fix=False, real=False)
def _(env):
    env.foreign(MACHO_ARM64)
    env.install("tensorflow==2.20.0", "tensorflow-metal==1.2.0", "numpy==1.26.4", to=env.site, platform="aarch64-apple-darwin")
    machine(env, os="darwin", machine="arm64", apple_silicon=True, cpu_features=[])


@broken("Intel wheel on an Apple processor", ["numpy", "x86_64|arch|processor|Intel"], fix=False, real=False)
def _(env):
    env.foreign(MACHO_ARM64).install("numpy==1.26.4", to=env.site, platform="x86_64-apple-darwin")
    machine(env, os="darwin", machine="arm64", apple_silicon=True, cpu_features=[])


@broken("Linux wheel copied to a Mac", ["scipy", "linux|ELF|platform|arch"], fix=False, real=False)
def _(env):
    env.foreign(MACHO_ARM64).install("numpy==1.26.4", to=env.site, platform="aarch64-apple-darwin")
    env.install("scipy==1.14.1", to=env.site, platform="aarch64-manylinux_2_28")
    machine(env, os="darwin", machine="arm64", apple_silicon=True, cpu_features=[])


@broken("two distributions of TensorFlow in one folder", ["tensorflow", "both|two|same|overwr|share|mix"], fix=False, real=False)
def _(env):
    env.venv().install("tensorflow-cpu==2.15.1")
    same = {path: (env.site / path).read_bytes() for path in ("tensorflow/__init__.py", "tensorflow/python/__init__.py")}
    env.dist("tensorflow", "2.12.0", ["numpy<1.24"], same)
