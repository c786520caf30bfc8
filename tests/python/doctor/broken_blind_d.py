"""Small copies of what the fourth blind set (tests/blind/2026_11d) showed."""

import gzip
import json
import sys
import zipfile

from broken import broken
from healthy import healthy


def kernelspec(env, argv, variables=None):
    env.package("ipykernel", "7.0", {"ipykernel/__init__.py": "", "ipykernel_launcher.py": ""})
    folder = env.prefix / "share/jupyter/kernels/python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python", "env": variables or {}}))


@broken("broken_packages", "certificates 1.0 has lost 1 data files that it opens")
def data_file_that_the_sources_name(env):
    env.package("certificates", files={"certificates/__init__.py": "", "certificates/core.py": "def where(): return path('certificates', 'cacert.pem')\n",
                                       "certificates/cacert.pem": "-----", "certificates/LICENCE": "free"})
    (env.site / "certificates/cacert.pem").unlink()


@broken("broken_packages", "plots 1.0 has lost 2 data files that it opens")
def data_folder_that_the_sources_name(env):
    env.package("plots", files={"plots/__init__.py": "ROOT = here / 'plot-data'\n", "plots/plot-data/styles.rc": "x", "plots/plot-data/fonts/a.ttf": "x"})
    for file in ("styles.rc", "fonts/a.ttf"):
        (env.site / "plots/plot-data" / file).unlink()
    (env.site / "plots/plot-data/fonts").rmdir()
    (env.site / "plots/plot-data").rmdir()


@healthy
def data_files_that_nobody_names(env):
    files = {"plots/__init__.py": "HELP = 'see the styles'\n", "plots/styles.rc": "x", "plots/py.typed": "", "plots/core.pyi": "", "plots/big.c": "int x;"}
    env.package("plots", files=files)
    for file in ("styles.rc", "py.typed", "core.pyi", "big.c"):
        (env.site / "plots" / file).unlink()


@broken("hidden_packages", "random.pyc, which hides the module of Python's own library")
def compiled_module_left_beside_the_notebook(env):
    (env.folder / "random.pyc").write_bytes(b"\x03\xf3\r\n" + bytes(60))


def archive_on_the_path(env, version):
    env.package("typing-tools", "4.12", {"typing_tools.py": "x = 1\n"})
    env.package("checks", files={"checks/__init__.py": "import typing_tools\n"}, requires=["typing-tools>=4.6"])
    archive = env.folder / "deps.zip"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("typing_tools.py", "x = 1\n")
        z.writestr(f"typing_tools-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: typing-tools\nVersion: {version}\n")
    env.setenv(PYTHONPATH=str(archive))


@broken("requirements", "checks 1.0 requires typing-tools >=4.6, but 4.1 is installed", also=("leftovers",))
def archive_on_the_path_with_an_old_project(env):
    archive_on_the_path(env, "4.1")


@broken("leftovers", "typing-tools 4.13 hides typing-tools 4.12")
def archive_on_the_path_with_a_new_project(env):
    archive_on_the_path(env, "4.13")


@broken("needed_modules", "SETUPTOOLS_USE_DISTUTILS=stdlib", skip=sys.version_info < (3, 12))  # older ones have their own
def setuptools_told_not_to_give_distutils(env):
    env.package("setuptools", "75.1.0", {"setuptools/__init__.py": "", "setuptools/_distutils/__init__.py": ""})
    env.package("ships", files={"ships/__init__.py": "from distutils.version import StrictVersion\n"})
    env.setenv(SETUPTOOLS_USE_DISTUTILS="stdlib")


@broken("settings", "NPY_DISABLE_CPU_FEATURES names SSE2")
def numpy_without_what_it_was_compiled_for(env):
    env.package("numpy", "1.26.4")
    env.setenv(NPY_DISABLE_CPU_FEATURES="AVX2 SSE2")


@healthy
def numpy_without_what_it_can_do_without(env):
    env.package("numpy", "1.26.4")
    env.setenv(NPY_DISABLE_CPU_FEATURES="AVX512F, AVX2")


@broken("settings", "PYTHONPLATLIBDIR")
def library_folder_that_is_not_there(env):
    """A name that some systems have, and this Python does not."""
    env.setenv(PYTHONPLATLIBDIR="lib64")


CONFIG = """enable_x64 = bool_state(
    name='jax_enable_x64', default=False)
precision = optional_enum_state(
    name='jax_default_matmul_precision',
    enum_values=[
        # as people say it
        'default', 'high', 'float32',
        "BF16_BF16_F32",
    ], default=None)
"""


@broken("settings", "JAX_DEFAULT_MATMUL_PRECISION has a value that JAX does not know")
def jax_switch_with_an_unknown_value(env):
    env.package("jax", "0.10.2", {"jax/__init__.py": "", "jax/_src/config.py": CONFIG})
    env.setenv(JAX_DEFAULT_MATMUL_PRECISION="fp32", JAX_ENABLE_X64="1")


@healthy
def jax_switches_with_known_values(env):
    env.package("jax", "0.10.2", {"jax/__init__.py": "", "jax/_src/config.py": CONFIG})
    env.setenv(JAX_DEFAULT_MATMUL_PRECISION="BF16_BF16_F32", JAX_ENABLE_X64="off", JAX_SOMETHING_NEW="x")


@broken("kernelspecs", "has a command (argv) that is no list of strings")
def kernelspec_with_a_command_in_one_string(env):
    kernelspec(env, f"{env.prefix}/bin/python3 -m ipykernel_launcher -f {{connection_file}}")


@broken("kernelspecs", "starts a program that this user may not run")
def kernelspec_with_a_script_that_may_not_be_run(env):
    script = env.home / "start.sh"
    script.write_text("#!/bin/sh\nexec python -m ipykernel_launcher \"$@\"\n")
    script.chmod(0o644)
    kernelspec(env, [str(script), "-f", "{connection_file}"])


@broken("requirements", "runtime-lib >=5, but 4.3 is installed", also=("python_path",))
def kernelspec_whose_pythonpath_brings_an_old_project(env):
    env.package("runtime-lib", "5.14")
    env.package("shell", requires=["runtime-lib>=5"])
    old = env.root / "course"
    (old / "runtime_lib").mkdir(parents=True)
    (old / "runtime_lib/__init__.py").write_text("")
    (old / "runtime_lib-4.3.dist-info").mkdir()
    (old / "runtime_lib-4.3.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: runtime-lib\nVersion: 4.3\n")
    (old / "runtime_lib-4.3.dist-info/RECORD").write_text("runtime_lib/__init__.py,,\n")
    kernelspec(env, [str(env.prefix / "bin/python3"), "-m", "ipykernel_launcher", "-f", "{connection_file}"], variables={"PYTHONPATH": str(old)})


@broken("needed_modules", "does not fit schemas 4.0.0: it uses schemas.__version_info__")
def version_of_another_name_asked_for(env):
    env.package("schemas", "4.0.0", {"schemas/__init__.py": "from .base import Schema\n", "schemas/base.py": "class Schema: pass\n"})
    env.package("settings-lib", "9.5.0", {"settings_lib/__init__.py": "import schemas as s\nNEW = s.__version_info__ >= (3, 13)\n"}, requires=["schemas>=3"])


@healthy
def version_that_the_other_has(env):
    env.package("schemas", "4.0.0", {"schemas/__init__.py": "from ._version import __version__\nfrom ._version import version_tuple as __version_info__\n",
                                     "schemas/_version.py": "__version__ = '4'\nversion_tuple = (4,)\n"})
    env.package("settings-lib", "9.5.0", {"settings_lib/__init__.py": "import schemas as s\nNEW = s.__version_info__ >= (3, 13) and s.__version__ and s.__file__\n"}, requires=["schemas>=3"])


@broken("needed_modules", "does not fit charts 5.0: it uses charts.lite.v4, which that does not have")
def module_beside_a_star_import(env):
    env.package("charts", "5.0", {"charts/__init__.py": "", "charts/lite/__init__.py": "from .v5 import *\n", "charts/lite/v5/__init__.py": "class Chart: pass\n"})
    env.package("pages", "1.12", {"pages/__init__.py": "from charts.lite.v4.api import Chart\n"}, requires=["charts>=3"])


@broken("model", "train.csv.gz is a compressed file (gzip), and damaged: it is cut off")
def table_cut_off_in_its_compressed_data(env):
    whole = gzip.compress(b"\n".join(b"%d,%d" % (i, i * 7919 % 1000) for i in range(20000)))
    file = env.folder / "train.csv.gz"
    file.write_bytes(whole[:len(whole) * 2 // 3])
    env.arguments = [str(file)]


@healthy
def table_of_two_compressed_members(env):
    file = env.folder / "train.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n" * 5000))
    env.arguments = [str(file)]


@healthy
def table_that_is_no_model(env):
    file = env.folder / "train.csv"
    file.write_text("a,b\n1,2\n")
    env.arguments = [str(file)]


@broken("needed_modules", "a dataclass of it has a default that can change (name: Name)", skip=sys.version_info < (3, 11))
def dataclass_written_for_an_older_python(env):
    source = "from dataclasses import dataclass\n@dataclass\nclass Name:\n    text: str = ''\n@dataclass\nclass Job:\n    name: Name = Name()\n"
    env.package("jobs", "1.0.7", {"jobs/__init__.py": "from jobs.conf import Job\n", "jobs/conf/__init__.py": source})


@healthy
def dataclass_with_a_default_that_cannot_change(env):
    source = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Name:\n    text: str = ''\n@dataclass\nclass Job:\n    name: Name = Name()\n"
    env.package("jobs", "1.0.7", {"jobs/__init__.py": "from jobs.conf import Job\n", "jobs/conf/__init__.py": source})


@broken("python_version", "is older than Python", skip=sys.version_info < (3, 13))
def sqlalchemy_from_before_this_python(env):
    env.package("sqlalchemy", "2.0.25")


@healthy
def empty_init_that_another_project_took_along(env):
    """Two projects record nvidia/__init__.py; the upgrade of one removes it."""
    env.package("nvidia-sparse", "12.3", {"nvidia/__init__.py": "", "nvidia/sparse/__init__.py": "x = 1\n"})
    (env.site / "nvidia/__init__.py").unlink()
