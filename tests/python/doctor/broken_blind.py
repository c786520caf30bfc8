"""Small copies of what tests/blind/2026_11 showed to be missed, one or two for each class."""

import json

from broken import broken
from healthy import healthy
from maker import SUFFIX, module


def spec(where, **more):
    folder = where.prefix / "share/jupyter/kernels/python3"
    folder.mkdir(parents=True)
    where.package("ipykernel", "6.29.5")
    (folder / "kernel.json").write_text(json.dumps({"argv": [str(where.prefix / "bin/python3"), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                    "display_name": "x", "language": "python", **more}))


@broken("kernelspecs", "values that are no strings: CUDA_VISIBLE_DEVICES: 0")
def kernelspec_with_a_number(env):
    spec(env, env={"CUDA_VISIBLE_DEVICES": 0})


@broken("needed_modules", "imports pkg_resources, which is not there")
def dropped_module_deep_in_a_package(env):
    env.package("gymlike", "0.23", {"gymlike/__init__.py": "from gymlike.wrappers import video\n", "gymlike/wrappers/__init__.py": "",
                                    "gymlike/wrappers/video.py": "import pkg_resources\n"})


@broken("needed_modules", "imports old_utils, which is not there")
def project_that_another_names_under_an_extra(env):
    env.package("launcher", "5.1", {"launcher/__init__.py": "import old_utils\n"})
    env.package("shell", "7.3", requires=['launcher; extra == "kernel"'])


@broken("tensorflow_mix", "requires TensorFlow 2.18 or newer")
def version_that_only_the_code_asks_for(env):
    env.package("tensorflow-cpu", "2.17.1", {"tensorflow/__init__.py": ""})
    env.package("keras", "3.5.0")
    env.package("tf-keras", "2.17.0", {"tf_keras/__init__.py": ""})
    env.package("tensorflow-probability", "0.25.0", {"tensorflow_probability/__init__.py": "", "tensorflow_probability/python/__init__.py":
                "def check():\n  required_tensorflow_version = '2.18'\n"})


@broken("tensorflow_mix", "need tf-keras, which is not installed")
def transformers_beside_keras_3(env):
    env.package("tensorflow-cpu", "2.17.1", {"tensorflow/__init__.py": ""})
    env.package("keras", "3.5.0")
    env.package("transformers", "4.44.2", {"transformers/__init__.py": "", "transformers/activations_tf.py": "try:\n    import tf_keras as keras\nexcept ImportError:\n    import keras\n"})


@broken("hidden_packages", "which hides fastlib 1.0")
def sources_without_their_built_modules(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/_core{SUFFIX}": module("_core")})
    (env.folder / "fastlib").mkdir()
    (env.folder / "fastlib/__init__.py").write_text("")
    (env.folder / "setup.py").write_text("")


@broken("openmp", "2 copies of the LLVM/Intel OpenMP runtime")
def openmp_in_lib_of_the_environment(env):
    body = module("omp", "int omp_get_max_threads(void) { return 1; }")
    env.package("intel-openmp", "2023.2", {"../../libiomp5.so": body})
    env.package("fastops", files={"fastops/__init__.py": "", "fastops.libs/libiomp5-9f2c.so": body})


@broken("mounts", "mounted noexec")
def packages_that_may_not_be_run(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/_core{SUFFIX}": module("_core")})
    env.system["disks"].append({"what": "packages", "path": "/env", "total": 100 << 30, "free": 50 << 30, "noexec": True})


@broken("mounts", "may not be written: /nonexistent")
def home_of_nobody(env):
    env.package("ipykernel", "6.29.5")
    env.setenv(HOME="/nonexistent")
    env.system["home_unwritable"] = True


@broken("settings", "Python reads and writes text as ASCII")
def locale_that_is_kept_from_utf_8(env):
    env.setenv(LC_ALL="C", PYTHONUTF8="0")


@broken("disk_space", "/dev/shm is too small")
def shared_memory_of_a_few_kilobytes(env):
    env.system["disks"][-1].update(total=64 << 10, free=64 << 10)


@broken("model", "is a SavedModel of TensorFlow")
def folder_that_keras_3_does_not_load(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")
    (env.folder / "saved").mkdir()
    (env.folder / "saved/saved_model.pb").write_bytes(b"x")
    env.arguments = [str(env.folder / "saved")]


@healthy
def kernelspec_found_by_two_paths(env):
    spec(env)
    env.setenv(JUPYTER_PATH=str(env.prefix / "share/jupyter"), LANG="C", LC_CTYPE="")


@healthy
def generated_code_that_is_imported_on_demand(env):
    env.package("protobuf", "4.25.9", {"google/protobuf/__init__.py": ""})
    env.package("models", files={"models/__init__.py": "", "models/old_pb2.py": "x = _descriptor.FileDescriptor(name='a')\n"},
                requires=["tools", 'protobuf; extra == "sentencepiece"'])
    env.package("tools")
