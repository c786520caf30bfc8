"""Environments broken on purpose. Each function breaks one; the decorator says which check must name it and a
word that must be in what it says. What else may rightly be found stands in `also`."""

import json
import os
import platform
import shutil
import sys
from pathlib import Path

from maker import GIB, MACHINE, PYTHON, SUFFIX, TAG, library, macho, module, patch_machine

CASES = []
X86_ONLY = MACHINE != "x86_64"
OTHER_MINOR = sys.version_info.minor - 1


def broken(check, word, also=(), skip=False):
    def add(function):
        if not skip:
            CASES.append((function.__name__, function, check, word, set(also)))
        return function
    return add


def native_package(env, name="fastlib", version="1.0", binary=None, files=None, **more):
    files = dict(files or {})
    files[f"{name}/__init__.py"] = "from . import _core\n"
    files[f"{name}/_core{SUFFIX}"] = binary or module("_core")
    return env.package(name, version, files, tag=f"{TAG}-{TAG}-manylinux_2_17_{MACHINE}", **more)


# --- architecture -------------------------------------------------------------------------------------------

@broken("architecture", "fastlib was built for")
def module_of_other_machine(env):
    native_package(env, binary=patch_machine(module("_core")))


@broken("architecture", "fastlib was built for s390x")
def module_of_mainframe(env):
    native_package(env, binary=patch_machine(module("_core"), 22))


@broken("architecture", "fastlib was built for")
def bundled_library_of_other_machine(env):
    helper = library("int helper(void) { return 1; }", "libhelper-1a2b.so")
    path = env.write("fastlib.libs/libhelper-1a2b.so", helper)
    binary = module("_core", "int helper(void); int f(void) { return helper(); }",
                    [str(path), "-Wl,-rpath,$ORIGIN/../fastlib.libs"])
    native_package(env, binary=binary, files={"fastlib.libs/libhelper-1a2b.so": patch_machine(helper)})


@broken("architecture", "Intel Macs")
def intel_wheel_on_apple_silicon(env):
    env.become_macos("arm64")
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/_core.cpython-311-darwin.so":
                                  macho("x86_64", defined=["_PyInit__core"])}, tag="cp311-cp311-macosx_10_9_x86_64")


@broken("architecture", "Intel Macs")
def intel_wheel_in_universal_python(env):
    env.become_macos("x86_64", "arm64")
    env.package("numpy", "2.1.0", {"numpy/__init__.py": "", "numpy/_core.abi3.so":
                                   macho("x86_64", defined=["_PyInit__core"])}, tag="cp311-abi3-macosx_10_9_x86_64")


@broken("interpreter", "runs translated")
def intel_python_on_apple_silicon(env):
    env.become_macos("x86_64")
    env.package("fastlib")


# --- another Python, libc or system -------------------------------------------------------------------------

@broken("other_python", "built for cpython-3")
def module_of_other_python(env):
    name = f"_core.cpython-3{OTHER_MINOR}-{MACHINE}-linux-gnu.so"
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/{name}": module("_core")},
                tag=f"cp3{OTHER_MINOR}-cp3{OTHER_MINOR}-manylinux_2_17_{MACHINE}")


@broken("other_python", "musllinux")
def musl_wheel_on_glibc(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", f"fastlib/_core{SUFFIX}": module("_core")},
                tag=f"{TAG}-{TAG}-musllinux_1_2_{MACHINE}")


@broken("other_python", "macosx")
def macos_wheel_on_linux(env):
    env.package("fastlib", tag=f"{TAG}-{TAG}-macosx_11_0_arm64")


@broken("other_python", "win_amd64")
def windows_wheel_on_linux(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/_core.pyd": b"MZ"}, tag=f"{TAG}-{TAG}-win_amd64")


@broken("python_version", "does not support Python")
def package_for_newer_python(env):
    env.package("fastlib", requires_python=">=3.99")


@broken("python_version", "does not support Python")
def package_for_older_python(env):
    env.package("fastlib", requires_python=">=3.6,<3.8")


@broken("libc_too_old", "needs GLIBC_", skip=X86_ONLY)
def glibc_too_old(env):
    binary = module("_core", "int puts(const char*); int f(void) { return puts(\"\"); }")
    native_package(env, binary=binary.replace(b"GLIBC_2.2.5", b"GLIBC_9.9.9"))


@broken("libc_too_old", "needs HELPER_2.0")
def library_lost_a_version(env):
    scripts = env.root / "scripts"
    scripts.mkdir()
    (scripts / "both.map").write_text("HELPER_1.0 { global: old; };\nHELPER_2.0 { global: helper; };\n")
    (scripts / "one.map").write_text("HELPER_1.0 { global: old; helper; };\n")
    source = "int old(void) { return 1; } int helper(void) { return 2; }"
    versions = [library(source, "libhelper.so.1", [f"-Wl,--version-script={scripts}/{name}.map"]) for name in ("both", "one")]
    path = env.write("fastlib.libs/libhelper.so.1", versions[0])
    binary = module("_core", "int helper(void); int f(void) { return helper(); }",
                    [str(path), "-Wl,-rpath,$ORIGIN/../fastlib.libs"])
    native_package(env, binary=binary, files={"fastlib.libs/libhelper.so.1": versions[1]})


# --- symbols ------------------------------------------------------------------------------------------------

@broken("undefined_symbols", "symbols that no library provides")
def symbol_of_nobody(env):
    native_package(env, binary=module("_core", "int gone(void); int f(void) { return gone(); }"))


@broken("undefined_symbols", "another version of Python")
def function_of_later_python(env):
    native_package(env, binary=module("_core", "int PyFuture_New(void); int f(void) { return PyFuture_New(); }"))


def framework(env, version, symbols):
    source = "".join(f"int {name}(void) {{ return 1; }}\n" for name in symbols)
    binary = library(source, "libtensorflow_framework.so.2")
    env.package("tensorflow-cpu", version, {"tensorflow/__init__.py": "", "tensorflow/libtensorflow_framework.so.2": binary})
    return env.site / "tensorflow/libtensorflow_framework.so.2"


def plug_in(env, path, name):
    old = framework(env, "2.14.0", ["_ZN10tensorflow4openEv", "_ZN10tensorflow5closeEv"])
    binary = library("int _ZN10tensorflow4openEv(void); int TF_InitPlugin(void) { return _ZN10tensorflow4openEv(); }",
                     flags=[str(old), "-Wl,-rpath,$ORIGIN/../tensorflow"])
    shutil.rmtree(env.site / "tensorflow_cpu-2.14.0.dist-info")
    framework(env, "2.17.0", ["_ZN10tensorflow5closeEv", "_ZN10tensorflow6reopenEv"])
    env.package(name, "1.0", {path: binary})


@broken("undefined_symbols", "does not fit tensorflow-cpu 2.17.0")
def plug_in_of_older_framework(env):
    plug_in(env, "tensorflow-plugins/libfast_pluggable.so", "tensorflow-fast")


@broken("undefined_symbols", "does not fit tensorflow-cpu 2.17.0")
def custom_op_of_older_framework(env):
    plug_in(env, "tensorflow_addons/_resampler_ops.so", "tensorflow-addons")


@broken("undefined_symbols", "does not fit tensorflow 2.20.0")
def metal_plug_in_of_older_framework(env):
    env.become_macos("arm64")
    env.package("tensorflow", "2.20.0", {
        "tensorflow/__init__.py": "", "tensorflow/libtensorflow_framework.2.dylib": macho("arm64", defined=["__ZN3tsl3newEv"])})
    env.package("tensorflow-metal", "1.1.0", {"tensorflow-plugins/libmetal_plugin.dylib": macho(
        "arm64", ["@rpath/libtensorflow_framework.2.dylib"], undefined=[("__ZN3tsl3oldEv", 1)],
        rpaths=["@loader_path/../tensorflow"])})


# --- missing and damaged libraries --------------------------------------------------------------------------

@broken("missing_libraries", "libgone.so.3 is missing")
def system_library_missing(env):
    helper = library("int helper(void) { return 1; }", "libgone.so.3")
    path = env.root / "libgone.so.3"
    path.write_bytes(helper)
    native_package(env, binary=module("_core", "int helper(void); int f(void) { return helper(); }", [str(path)]))


def bundled(env):
    second = env.write("fastlib.libs/libsecond.so", library("int second(void) { return 1; }", "libsecond.so"))
    first = env.write("fastlib.libs/libfirst.so", library("int second(void); int first(void) { return second(); }",
                                                          "libfirst.so", [str(second), "-Wl,-rpath,$ORIGIN"]))
    binary = module("_core", "int first(void); int f(void) { return first(); }",
                    [str(first), "-Wl,-rpath,$ORIGIN/../fastlib.libs", "-Wl,-rpath-link," + str(first.parent)])
    native_package(env, binary=binary, files={f"fastlib.libs/{p.name}": p.read_bytes() for p in (first, second)})
    return first, second


@broken("missing_libraries", "libfirst.so is missing", also=["broken_packages"])
def bundled_library_removed(env):
    bundled(env)[0].unlink()


@broken("missing_libraries", "libsecond.so is missing", also=["broken_packages"])
def library_behind_a_library_removed(env):
    bundled(env)[1].unlink()


@broken("missing_libraries", "libomp.dylib is missing")
def dylib_removed_on_macos(env):
    env.become_macos("arm64")
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/_core.abi3.so": macho(
        "arm64", ["@loader_path/.dylibs/libomp.dylib", "/usr/lib/libSystem.B.dylib"], defined=["_PyInit__core"])},
        tag="cp311-abi3-macosx_11_0_arm64")


@broken("damaged_libraries", "_core")
def module_cut_off(env):
    native_package(env)
    path = env.site / f"fastlib/_core{SUFFIX}"
    path.write_bytes(path.read_bytes()[:-2000])


@broken("damaged_libraries", "it is empty")
def module_empty(env):
    native_package(env)
    (env.site / f"fastlib/_core{SUFFIX}").write_bytes(b"")


@broken("damaged_libraries", "no native library")
def module_is_a_pointer_to_storage(env):
    native_package(env)
    (env.site / f"fastlib/_core{SUFFIX}").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")


# --- packages -----------------------------------------------------------------------------------------------

@broken("requirements", "requires fastlib <2, but 2.1 is installed")
def version_conflict(env):
    env.package("fastlib", "2.1")
    env.package("model-tools", "1.0", requires=["fastlib<2"])


@broken("requirements", "requires fastlib, which is not installed")
def dependency_missing(env):
    env.package("model-tools", "1.0", requires=["fastlib>=1", "nothing; extra == 'dev'"])


@broken("requirements", "requires fastlib")
def dependency_missing_by_marker(env):
    env.package("model-tools", requires=["fastlib ; python_version >= '3.8' and sys_platform == 'linux'"])


@broken("requirements", "requires numpy <2")
def framework_wants_older_numpy(env):
    env.package("numpy", "2.1.0")
    env.package("tensorflow-cpu", "2.15.0", {"tensorflow/__init__.py": ""}, requires=["numpy<2.0.0,>=1.23.5"])


@broken("broken_packages", "has lost 1 of its")
def python_file_gone(env):
    env.package("fastlib", files={"fastlib/__init__.py": "", "fastlib/util.py": "x = 1\n"})
    (env.site / "fastlib/util.py").unlink()


@broken("broken_packages", "its files are gone")
def only_metadata_left(env):
    env.package("fastlib")
    shutil.rmtree(env.site / "fastlib")


@broken("broken_packages", "not those it installed")
def file_overwritten(env):
    env.package("fastlib")
    env.write("fastlib/__init__.py", "x = 1\nfrom os import everything\n")


@broken("leftovers", "interrupted")
def removal_interrupted(env):
    env.package("numpy", "2.1.0")
    env.write("~umpy/__init__.py")
    env.write("~umpy-2.0.0.dist-info/METADATA", "Name: numpy\n")


@broken("leftovers", "has lost its METADATA")
def metadata_gone(env):
    (env.package("fastlib") / "METADATA").unlink()


@broken("leftovers", "installed twice", also=["broken_packages", "overlapping_files"])
def installed_twice(env):
    env.package("numpy", "1.26.4")
    env.package("numpy", "2.1.0")


@broken("leftovers", "empty shell")
def hollow_package(env):
    env.write("tensorflow/python/__pycache__/x.pyc", b"x")


@broken("leftovers", "hides", also=["leftovers"])
def home_hides_environment(env):
    text = (env.prefix / "pyvenv.cfg").read_text()
    (env.prefix / "pyvenv.cfg").unlink()
    (env.prefix / "conda-meta").mkdir()
    env.package("numpy", "2.1.0")
    local = env.home / ".local/lib" / PYTHON / "site-packages"
    local.mkdir(parents=True)
    (local / "numpy-1.20.0.dist-info").mkdir()
    (local / "numpy-1.20.0.dist-info/METADATA").write_text("Name: numpy\nVersion: 1.20.0\n")
    assert "home" in text


@broken("overlapping_files", "overwrite each other's files", also=["broken_packages"])
def two_owners_of_one_folder(env):
    env.package("opencv-python", "4.10.0", {"cv2/__init__.py": "gui = True\n"})
    env.package("opencv-python-headless", "4.9.0", {"cv2/__init__.py": "gui = False\nno_gui = True\n"})


# --- frameworks ---------------------------------------------------------------------------------------------

@broken("tensorflow_mix", "are both installed", also=["overlapping_files", "broken_packages"])
def two_tensorflows(env):
    env.package("tensorflow", "2.16.1", {"tensorflow/__init__.py": "v = 16\n"})
    env.package("tensorflow-cpu", "2.21.0", {"tensorflow/__init__.py": "v = 2021\n"})


@broken("tensorflow_mix", "are both installed", also=["overlapping_files", "broken_packages"])
def tensorflow_and_tensorflow_macos(env):
    env.become_macos("arm64")
    env.package("tensorflow", "2.17.0", {"tensorflow/__init__.py": "v = 17\n"})
    env.package("tensorflow-macos", "2.12.0", {"tensorflow/__init__.py": "v = 2012\n"})


@broken("tensorflow_mix", "too new")
def keras_3_in_old_tensorflow(env):
    env.package("tensorflow", "2.15.0")
    env.package("keras", "3.3.0")


@broken("tensorflow_mix", "too old")
def keras_2_in_new_tensorflow(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "2.15.0")


@broken("tensorflow_mix", "belongs to another TensorFlow")
def tf_keras_of_other_tensorflow(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    env.package("tf-keras", "2.15.0")


@broken("tensorflow_mix", "TF_USE_LEGACY_KERAS")
def legacy_keras_not_there(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    env.setenv(TF_USE_LEGACY_KERAS="1")


@broken("tensorflow_mix", "macOS only")
def metal_on_linux(env):
    env.package("tensorflow", "2.17.0")
    env.package("tensorflow-metal", "1.1.0")


@broken("keras_backend", "torch, which is not installed")
def backend_not_installed(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="torch")


@broken("keras_backend", "does not know")
def backend_unknown(env):
    env.package("keras", "3.5.0")
    env.package("tensorflow", "2.17.0")
    (env.home / ".keras").mkdir()
    (env.home / ".keras/keras.json").write_text(json.dumps({"backend": "theano", "floatx": "float32"}))


@broken("numpy_abi", "compiled for NumPy 1")
def module_of_numpy_1(env):
    env.package("numpy", "2.1.0")
    native_package(env, binary=module("_core", 'const char* api = "numpy.core._multiarray_umath"; void* PyCapsule_GetPointer('
                                      'void*, void*); void* f(void) { return PyCapsule_GetPointer(0, 0); }'))


@broken("protobuf", "code generated by protobuf 6.30.0")
def protobuf_runtime_too_old(env):
    env.package("protobuf", "5.28.3", {"google/protobuf/__init__.py": "", "google/_upb/_message.abi3.so": module("_message")})
    env.package("model-tools", files={"model_tools/x_pb2.py": "_runtime_version.ValidateProtobufRuntimeVersion(\n"
                                      "    _runtime_version.Domain.PUBLIC,\n    6,\n    30,\n    0,\n    '',\n    'x')\n"})


@broken("protobuf", "before 3.20")
def protobuf_code_too_old(env):
    env.package("protobuf", "5.28.3", {"google/protobuf/__init__.py": "", "google/_upb/_message.abi3.so": module("_message")})
    env.package("model-tools", files={"model_tools/x_pb2.py": "DESCRIPTOR = _descriptor.FileDescriptor(\n  name='x')\n"})


@broken("protobuf", "asks for cpp")
def protobuf_core_not_there(env):
    env.package("protobuf", "5.28.3", {"google/protobuf/__init__.py": "", "google/_upb/_message.abi3.so": module("_message")})
    env.setenv(PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="cpp")


@broken("protobuf_runtimes", "two copies of the protobuf runtime")
def two_protobuf_runtimes(env):
    pool = "_ZN6google8protobuf14DescriptorPool14generated_poolEv"
    one = env.write("liba.libs/libprotobuf.so.23", library(f"int {pool}(void) {{ return 1; }} int a(void) {{ return 1; }}",
                                                           "libprotobuf.so.23"))
    two = env.write("libb.libs/libprotobuf-lite.so.25", library(
        f"int {pool}(void) {{ return 2; }} int b(void) {{ return 1; }}", "libprotobuf-lite.so.25"))
    native_package(env, binary=module("_core", "int a(void); int b(void); int f(void) { return a() + b(); }", [
        str(one), str(two), "-Wl,-rpath,$ORIGIN/../liba.libs:$ORIGIN/../libb.libs"]))


@broken("openmp", "OpenMP runtime")
def two_openmp_runtimes(env):
    env.package("mkl-tools", files={"mkl_tools/__init__.py": "", "mkl_tools/libiomp5.so": library("int o(void) { return 1; }")})
    env.package("tree-boost", files={"tree_boost/__init__.py": "", "tree_boost.libs/libomp-8a2b.so": library("int p(void) { return 1; }")})


@broken("hdf5", "libhdf5.so.310")
def two_hdf5_libraries(env):
    for name, version in (("h5py", "1.14.2"), ("tables", "1.14.6")):
        source = f'const char version[] = "HDF5 library version: {version}"; int H5open_{name}(void) {{ return 1; }}'
        env.package(name, files={f"{name}/__init__.py": "", f"{name}/lib/libhdf5.so.310": library(source, "libhdf5.so.310")})


# --- machine and settings -----------------------------------------------------------------------------------

@broken("cpu_features", "lacks: avx", skip=X86_ONLY)
def processor_without_avx(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    env.system["cpu_features"] = "sse sse2 pni ssse3 sse4_1 sse4_2 popcnt cx16 lahf_lm".split()


@broken("cpu_features", "needs x86-64-v4", skip=X86_ONLY)
def module_for_newer_processor(env):
    native_package(env, binary=module("_core", flags=["-Wl,-z,x86-64-v4"]))


@broken("disk_space", "/dev/shm is too small")
def tiny_shared_memory(env):
    env.package("torch", "2.5.0")
    env.system["disks"][3].update(total=64 << 20, free=64 << 20)


@broken("disk_space", "left")
def disk_full(env):
    env.system["disks"][0].update(free=5 << 20)


@broken("memory_limit", "The container may use 512 MiB")
def container_too_small(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    env.system["container_limit"] = 512 << 20


@broken("memory_limit", "of memory is free")
def memory_used_up(env):
    env.package("torch", "2.5.0")
    env.system["memory_available"] = 100 << 20


@broken("memory_limit", "no swap")
def small_machine_without_swap(env):
    env.package("torch", "2.5.0")
    env.system.update(memory_total=GIB, memory_available=GIB // 2, swap_total=0)


@broken("resource_limits", "address space")
def address_space_limited(env):
    env.system["limits"]["as"] = 2 * GIB


@broken("resource_limits", "Processes and threads")
def threads_limited(env):
    env.system["limits"]["nproc"] = 20


@broken("gpu_settings", "TF_FORCE_GPU_ALLOW_GROWTH")
def setting_not_understood(env):
    env.package("fastlib")
    env.setenv(TF_FORCE_GPU_ALLOW_GROWTH="please")


@broken("gpu_settings", "driver is too old")
def driver_too_old(env):
    env.package("nvidia-cuda-runtime-cu12", "12.4.127")
    env.system["nvidia_driver"] = "470.199.02"


@broken("python_path", "PYTHONPATH brings in the packages of")
def path_of_other_python(env):
    other = env.root / f"other/lib/python3.{OTHER_MINOR}/site-packages"
    other.mkdir(parents=True)
    env.setenv(PYTHONPATH=str(other))


@broken("stale_caches", "no source any more")
def compiled_module_without_source(env):
    env.write("oldtool.pyc", b"\0" * 32)


# --- interpreter and kernels --------------------------------------------------------------------------------

@broken("interpreter", "is gone")
def interpreter_gone(env):
    python = env.prefix / "bin/python3"
    python.unlink()
    python.symlink_to("/nowhere/bin/python3")


@broken("interpreter", "its interpreter is now")
def interpreter_replaced(env):
    library_folder = env.prefix / "lib" / PYTHON
    library_folder.rename(library_folder.with_name(f"python3.{OTHER_MINOR}"))
    (env.prefix / "pyvenv.cfg").write_text(
        (env.prefix / "pyvenv.cfg").read_text().replace(platform.python_version(), f"3.{OTHER_MINOR}.1"))
    python = env.root / PYTHON
    shutil.copy(os.path.realpath(sys.executable), python)
    (env.prefix / "bin/python3").unlink()
    (env.prefix / "bin/python3").symlink_to(python)


def script(env, name, interpreter):
    path = env.prefix / "bin" / name
    path.write_text(f"#!{interpreter}\nfrom jupyter_core.command import main\nmain()\n")
    path.chmod(0o755)


@broken("scripts", "was moved")
def environment_moved(env):
    script(env, "jupyter", "/home/ada/before/bin/python3")
    script(env, "pip", "/home/ada/before/bin/python3")


@broken("scripts", "was moved")
def environment_with_long_path_moved(env):
    (env.prefix / "bin/jupyter").write_text(f"#!/bin/sh\n'''exec' \"/{'x' * 200}/bin/python3\" \"$0\" \"$@\"\n' '''\n")


def kernelspec(folder, program, name="python3"):
    spec = folder / name
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(json.dumps(
        {"argv": [str(program), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": name, "language": "python"}))


@broken("kernelspecs", "not there")
def kernel_of_removed_environment(env):
    kernelspec(env.home / ".local/share/jupyter/kernels", "/home/ada/old/bin/python", "old")


@broken("kernelspecs", "interpreter of another")
def kernel_of_other_environment(env):
    other = env.root / "other"
    (other / "bin").mkdir(parents=True)
    (other / "bin/python3").symlink_to(os.path.realpath(sys.executable))
    (other / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (other / "lib" / PYTHON / "site-packages/ipykernel").mkdir(parents=True)
    kernelspec(env.prefix / "share/jupyter/kernels", other / "bin/python3")


@broken("kernelspecs", "without ipykernel")
def kernel_without_ipykernel(env):
    kernelspec(env.prefix / "share/jupyter/kernels", env.prefix / "bin/python3")
