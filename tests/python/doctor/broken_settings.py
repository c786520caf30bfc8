"""Settings that stop an import: keras.json, variables of the shell and of kernelspecs, LD_LIBRARY_PATH."""

import json
import sysconfig

from broken import broken, kernelspec, native_package
from maker import library, module


def keras(env):
    env.package("keras", "3.5.0")
    env.package("jax", "0.4.30")
    env.setenv(KERAS_BACKEND="jax")


def settings_file(env, **values):
    keras(env)
    (env.home / ".keras").mkdir()
    (env.home / ".keras/keras.json").write_text(json.dumps(values))


@broken("keras_backend", "floatx")
def unknown_floatx(env):
    settings_file(env, backend="jax", floatx="float31")


@broken("keras_backend", "image_data_format")
def unknown_data_format(env):
    settings_file(env, backend="jax", image_data_format="channels_middle")


@broken("keras_backend", "epsilon")
def epsilon_as_text(env):
    settings_file(env, epsilon="1e-7")


def spec_with(env, **variables):
    env.package("ipykernel", "7.0")
    kernelspec(env.prefix / "share/jupyter/kernels", env.prefix / "bin/python3")
    path = env.prefix / "share/jupyter/kernels/python3/kernel.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"env": variables}))


@broken("tensorflow_mix", "TF_USE_LEGACY_KERAS")
def kernelspec_asks_for_legacy_keras(env):
    env.package("tensorflow", "2.17.0")
    env.package("keras", "3.5.0")
    spec_with(env, TF_USE_LEGACY_KERAS="1")


@broken("keras_backend", "torch, which is not installed")
def kernelspec_asks_for_another_backend(env):
    keras(env)
    spec_with(env, KERAS_BACKEND="torch")


@broken("gpu_settings", "below the low watermark")
def mps_watermark_too_low(env):
    env.become_macos("arm64")
    env.package("torch", "2.5.0")
    env.setenv(PYTORCH_MPS_HIGH_WATERMARK_RATIO="0.7")


@broken("gpu_settings", "not between 0 and 2")
def mps_watermark_in_percent(env):
    env.become_macos("arm64")
    env.package("torch", "2.5.0")
    env.setenv(PYTORCH_MPS_HIGH_WATERMARK_RATIO="70")


@broken("gpu_settings", "cannot be understood: expandable_segment:True")
def allocator_option_unknown(env):
    env.package("torch", "2.5.0")
    env.setenv(PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:128,expandable_segment:True")


@broken("settings", "PYTHONHASHSEED")
def hash_seed_is_text(env):
    env.setenv(PYTHONHASHSEED="fixed")


@broken("settings", "JAX_ENABLE_X64")
def jax_switch_is_no_switch(env):
    env.package("jax", "0.4.30", {"jax/__init__.py": "", "jax/_src/config.py": "enable_x64 = define_bool_state(\n    name='jax_enable_x64', default=False)\n"})
    env.setenv(JAX_ENABLE_X64="64")


@broken("settings", "asks for cuda")
def jax_platform_without_plug_in(env):
    env.package("jax", "0.4.30")
    env.setenv(JAX_PLATFORMS="cuda")


@broken("settings", "matplotlib_inline")
def plot_backend_not_installed(env):
    env.package("matplotlib", "3.9")
    env.setenv(MPLBACKEND="module://matplotlib_inline.backend_inline")


@broken("settings", "--xla_gone_flag")
def compiler_flag_unknown(env):
    env.package("jaxlib", "0.4.30", {"jaxlib/__init__.py": "", "jaxlib/xla_extension.so": library(
        'const char flag[] = "xla_force_host_platform_device_count"; void* PyInit_xla_extension(void) { return 0; }')})
    env.setenv(XLA_FLAGS="--xla_force_host_platform_device_count=4 --xla_gone_flag=true")


@broken("python_path", "libpython of another", skip=not sysconfig.get_config_var("Py_ENABLE_SHARED"))
def libpython_of_another(env):
    folder = env.root / "more libs"
    folder.mkdir()
    name = sysconfig.get_config_var("INSTSONAME")
    (folder / name).write_bytes(library("int Py_BytesMain(void) { return 0; }", name))
    env.setenv(LD_LIBRARY_PATH=str(folder))
    native_package(env)


def old_runtime(env):
    """A libstdc++ as an old MATLAB brings it: the name, and none of today's versions."""
    folder = env.root / "MATLAB R2016/sys/os"
    folder.mkdir(parents=True)
    script = env.root / "old.map"
    script.write_text("GLIBCXX_3.4 { global: *; };\nGLIBCXX_3.4.20 { global: nothing; } GLIBCXX_3.4;\n")
    (folder / "libstdc++.so.6").write_bytes(library("int nothing(void) { return 0; } int something;", "libstdc++.so.6",
                                                    [f"-Wl,--version-script={script}"]))
    return folder


@broken("libc_too_old", "LD_LIBRARY_PATH puts an older libstdc++.so.6")
def old_libstdcxx_on_the_library_path(env):
    env.setenv(LD_LIBRARY_PATH=str(old_runtime(env)))


@broken("libc_too_old", "LD_LIBRARY_PATH puts an older libstdc++.so.6")
def old_libstdcxx_that_a_module_meets(env):
    scripts = env.root / "new.map"
    scripts.write_text("GLIBCXX_3.4.29 { global: *; };\n")
    new = env.root / "libstdc++.so.6"
    new.write_bytes(library("int helper(void) { return 1; }", "libstdc++.so.6", [f"-Wl,--version-script={scripts}"]))
    native_package(env, binary=module("_core", "int helper(void); int f(void) { return helper(); }", [str(new)]))
    env.setenv(LD_LIBRARY_PATH=f"{old_runtime(env)}:/opt/more")
