"""Environments with nothing wrong, many of them odd: nothing above a note may be found in them."""

import json
import os
import shutil
import sys

from broken import bundled, framework, kernelspec, native_package, script
from maker import MACHINE, PYTHON, SUFFIX, TAG, library, macho, module, patch_machine, universal

CASES = []


def healthy(function):
    CASES.append((function.__name__, function))
    return function


@healthy
def empty(env):
    pass


@healthy
def requirements_met(env):
    env.package("fastlib", "2.1rc1")
    env.package("model-tools", requires=["fastlib>=2,!=2.0.*", "win-tools; sys_platform == 'win32'", "more; extra == 'all'",
                                         "old-tools (<1) ; python_version < '3'"])


@healthy
def native_module(env):
    native_package(env)


@healthy
def libraries_in_a_bundle(env):
    bundled(env)


@healthy
def libraries_loaded_by_another_package(env):
    """As PyTorch does with NVIDIA's: no search path leads there, the package loads them by name first."""
    helper = env.root / "libblas_gpu.so.12"
    helper.write_bytes(library("int blas(void) { return 1; }", "libblas_gpu.so.12"))
    env.package("vendor-blas", "12.1", {"vendor/blas/lib/libblas_gpu.so.12": helper.read_bytes()})
    native_package(env, binary=module("_core", "int blas(void); int f(void) { return blas(); }", [str(helper)]))


@healthy
def symbols_of_a_library_loaded_before(env):
    """Extensions of a framework often leave its symbols undefined, since it is loaded already."""
    framework(env, "2.17.0", ["tensor_add"])
    env.package("keras", "3.5.0")
    native_package(env, binary=module("_core", "int tensor_add(void); int f(void) { return tensor_add(); }"))


@healthy
def weak_symbols(env):
    native_package(env, binary=module("_core", "__attribute__((weak)) int maybe(void); int f(void) { return maybe ? maybe() : 0; }"))


@healthy
def stable_abi(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/_core.abi3.so": module("_core")},
                tag=f"cp38-abi3-manylinux_2_28_{MACHINE}", requires_python=">=3.8")


@healthy
def modules_for_many_pythons(env):
    files = {f"fastlib/_core.cpython-3{minor}-{MACHINE}-linux-gnu.so": module("_core") for minor in (8, 9, 10)}
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/_core{SUFFIX}": module("_core"), **files})


@healthy
def helpers_for_other_machines(env):
    """A debugger carries libraries for every processor to inject; Python never imports them."""
    tool = library("int attach(void) { return 1; }")
    env.package("debug-tool", files={"debug_tool/__init__.py": "", "debug_tool/attach_this.so": tool,
                                     "debug_tool/attach_other.so": patch_machine(tool)})


@healthy
def driver_not_installed(env):
    driver = env.root / "libcuda.so.1"
    driver.write_bytes(library("int cuInit(void) { return 1; }", "libcuda.so.1"))
    native_package(env, binary=module("_core", "int cuInit(void); int f(void) { return cuInit(); }", [str(driver)]))


@healthy
def sound_not_installed(env):
    """One module in six of a large package wants a library of the system that few have."""
    sound = env.root / "libsound.so.1"
    sound.write_bytes(library("int play(void) { return 1; }", "libsound.so.1"))
    files = {f"qt/_m{i}{SUFFIX}": module(f"_m{i}") for i in range(5)}
    files[f"qt/_sound{SUFFIX}"] = module("_sound", "int play(void); int f(void) { return play(); }", [str(sound)])
    env.package("qt", files=files)


@healthy
def stripped_modules(env):
    native_package(env)
    path = env.site / f"fastlib/_core{SUFFIX}"
    copy = path.with_suffix(".new")
    shutil.copy(path, copy)
    os.system(f"strip {copy}")
    assert copy.stat().st_size != path.stat().st_size
    copy.replace(path)


@healthy
def slimmed_down(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/tests/test_a.py": "", "fastlib/data.txt": "x",
                                  "fastlib/include/x.h": "", "../../../bin/fast": "#!x\n"})
    shutil.rmtree(env.site / "fastlib/tests")
    shutil.rmtree(env.site / "fastlib/include")


@healthy
def stand_in_for_tensorflow(env):
    env.package("tensorflow-cpu", "2.17.0", {"tensorflow/__init__.py": ""}, requires=["keras>=3.2.0", "numpy<2.0.0,>=1.23.5"])
    env.package("keras", "3.5.0")
    env.package("numpy", "1.26.4")
    env.package("tf-keras", "2.17.0", requires=["tensorflow<2.18,>=2.17"])


@healthy
def keras_on_jax(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")


@healthy
def keras_on_torch_chosen_in_the_notebook(env):
    env.package("keras", "3.5.0")
    env.package("torch", "2.5.0")


@healthy
def editable(env):
    source = env.root / "source"
    source.mkdir()
    info = env.package("my-model", "0.1.dev3+gabc", files={"__editable__.my_model.pth": f"{source}\n"})
    (info / "direct_url.json").write_text(json.dumps({"url": f"file://{source}", "dir_info": {"editable": True}}))


@healthy
def several_gnu_openmp(env):
    for name in ("torch", "scikit-learn"):
        env.package(name, "2.0", {f"{name.replace('-', '_')}/__init__.py": name,
                                  f"{name.replace('-', '_')}.libs/libgomp-{len(name)}.so.1": library("int g(void) { return 1; }")})


@healthy
def generated_code_older_than_runtime(env):
    env.package("protobuf", "6.31.1", {"google/protobuf/__init__.py": "", "google/_upb/_message.abi3.so": module("_message")})
    env.package("model-tools", files={"model_tools/x_pb2.py": "_runtime_version.ValidateProtobufRuntimeVersion(\n"
                                      "    _runtime_version.Domain.PUBLIC,\n    5,\n    28,\n    1,\n    '',\n    'x')\n"})


@healthy
def namespace_shared_by_packages(env):
    for name in ("cublas", "cudnn"):
        env.package(f"nvidia-{name}", files={"nvidia/__init__.py": "", f"nvidia/{name}/__init__.py": name})


@healthy
def kernels_in_order(env):
    env.package("ipykernel", "7.0")
    kernelspec(env.prefix / "share/jupyter/kernels", env.prefix / "bin/python3")
    kernelspec(env.prefix / "share/jupyter/kernels", "bash", "bash")
    other = env.root / "other"
    (other / "bin").mkdir(parents=True)
    (other / "bin/python3").symlink_to(os.path.realpath(sys.executable))
    (other / "lib" / PYTHON / "site-packages/ipykernel").mkdir(parents=True)
    kernelspec(env.home / ".local/share/jupyter/kernels", other / "bin/python3", "other")
    guard = env.root / "guard"
    guard.write_text("#!/bin/sh\n")
    guard.chmod(0o755)
    kernelspec(env.prefix / "share/jupyter/kernels", guard, "python3-guarded")


@healthy
def programs_in_order(env):
    script(env, "jupyter", env.prefix / "bin/python3")
    script(env, "tool", "/usr/bin/env python3")
    (env.prefix / "bin/other").write_text("#!/nowhere/bin/perl\n")
    (env.prefix / "bin/native").write_bytes(b"\x7fELF" + bytes(64))


@healthy
def macos(env):
    env.become_macos("x86_64", "arm64")
    both = universal(*[macho(cpu, ["@loader_path/.dylibs/libfast.dylib"], ["_PyInit__core"], [("_fast", 1)])
                       for cpu in ("x86_64", "arm64")])
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/_core.abi3.so": both,
                                  "fastlib/.dylibs/libfast.dylib": macho("arm64", defined=["_fast"])},
                tag="cp311-abi3-macosx_11_0_universal2")


@healthy
def conda(env):
    (env.prefix / "pyvenv.cfg").unlink()
    (env.prefix / "conda-meta").mkdir()
    native_package(env)


@healthy
def graphics_card(env):
    env.package("torch", "2.5.0")
    env.package("nvidia-cuda-runtime-cu12", "12.4.127")
    env.system["nvidia_driver"] = "550.54.14"
    env.setenv(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True,max_split_size_mb:128", TF_FORCE_GPU_ALLOW_GROWTH="true")


@healthy
def container_with_room(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    env.system.update(container_limit=4 << 30, container_room=3 << 30, swap_total=0)


@healthy
def real_numpy(env):
    env.copy_installed("numpy")


@healthy
def real_science(env):
    env.copy_installed("numpy", "scipy", "h5py", "packaging")


@healthy
def real_jupyter(env):
    env.copy_installed("pyzmq", "tornado", "psutil", "debugpy", "traitlets")
