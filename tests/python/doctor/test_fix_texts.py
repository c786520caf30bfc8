"""What the printed fixes ask for, where running them would need an index (see test_fixes.py for those that are run)."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import broken_blind_e  # noqa: E402
import maker  # noqa: E402

CASES = []


def fix(check, has, lacks="[^ ]>[^=]"):
    def keep(makes):
        CASES.append((makes.__name__, makes, check, has, lacks))
        return makes
    return keep


@fix("needed_modules", r"--upgrade 'templates>=1\.0'")
def newer_version_that_may_not_exist(env):
    env.package("markup", "2.1", {"markup/__init__.py": "def hard_text(): pass\n"})
    env.package("templates", "1.0", {"templates/__init__.py": "from markup import soft_text\n"}, requires=["markup"])


@fix("needed_modules", r"install 'scipy<1\.14'", "curves")
def name_that_scipy_had(env):
    env.package("scipy", "1.17.1", {"scipy/__init__.py": "", "scipy/integrate/__init__.py": "def trapezoid(): pass\n"})
    env.package("curves", "1.0", {"curves/__init__.py": "from scipy.integrate import trapz\n"}, requires=["scipy"])


@fix("needed_modules", r"uninstall -y missingpy$", "install 'missingpy")
def project_that_nobody_makes_any_more(env):
    env.package("scikit-learn", "1.9.1", {"sklearn/__init__.py": "", "sklearn/neighbors/__init__.py": ""})
    env.package("missingpy", "0.2.0", {"missingpy/__init__.py": "from sklearn.neighbors.base import _get_weights\n"}, requires=["scikit-learn"])


@fix("needed_modules", r"uninstall -y docx && .*install python-docx", "exceptions")
def docx_in_place_of_python_docx(env):
    env.package("docx", "0.2.4", {"docx.py": "from exceptions import PendingDeprecationWarning\n"})


@fix("needed_modules", r"uninstall -y jose && .*install python-jose")
def jose_of_python_2(env):
    env.package("jose", "1.0.0", {"jose.py": "print 'x'\n"})


@fix("other_python", r"install .*-e .*/fastmath$", "sed|rm ")
def editable_project_built_for_another_python(env):
    source = env.root / "fastmath/src/fastmath"
    source.mkdir(parents=True)
    (env.root / "fastmath/pyproject.toml").write_text('[project]\nname = "fastmath"\nversion = "0.3"\n')
    (source / "__init__.py").write_text("from ._native import twice\n")
    (source / "_native.cpython-38-x86_64-linux-gnu.so").write_bytes(maker.module("_native"))
    env.package("fastmath", "0.3", {"__editable__.fastmath-0.3.pth": f"{source.parent}\n"})


@fix("mounts", r"tmpfs /tmp", "HOME/tmp")
def nothing_may_be_written(env):
    env.system.update(no_temporary_folder=True, home_unwritable=True)


@fix("leftovers", r"ensurepip --upgrade")
def half_of_pip(env):
    env.write("pip/__main__.py")
    env.write("~ip-24.2.dist-info/METADATA", "Name: pip\nVersion: 24.2\n")


@fix("undefined_symbols", r"--upgrade .*nvidia-nvjitlink-cu12>=12\.1", "cusparse-cu12!=")
def library_of_nvidia_newer_than_the_one_below(env):
    """NVIDIA's libraries gain functions: the older of the two is upgraded."""
    new = maker.library("int old_part(void) { return 1; } int new_part(void) { return 2; }", "libnvJitLink.so.12")
    env.write("nvidia/lib/libnvJitLink.so.12", new)
    flags = (f"-L{env.site}/nvidia/lib", "-l:libnvJitLink.so.12", "-Wl,-rpath,$ORIGIN")
    sparse = maker.module("sparse", "int new_part(void); int go(void) { return new_part(); }", flags)
    env.package("nvidia-cusparse-cu12", "12.3", {f"nvidia/lib/sparse{maker.SUFFIX}": sparse})
    env.package("nvidia-nvjitlink-cu12", "12.1", {"nvidia/lib/libnvJitLink.so.12": maker.library("int old_part(void) { return 1; }", "libnvJitLink.so.12")})


@fix("needed_modules", r"install .*'?tensorflow==2\.13\.\*", "venv --clear")
def keras_2_alone(env):
    """What no metadata asks for, making the environment anew would not bring."""
    env.package("keras", "2.13.1", {"keras/__init__.py": "".join(f"import {name}\n" for name in ("tensorflow", "one_of", "two_of", "three_of", "four_of", "five_of", "six_of"))})


@fix("program", r"install 'films<2'", "<2\\.1")
def program_with_a_module_of_an_earlier_major_version(env):
    env.package("films", "2.1.2", {"films/__init__.py": "class Clip: pass\n"})
    script = env.folder / "cut.py"
    script.write_text("from films.editor import Clip\n")
    env.arguments = [str(script)]


@fix("program", "fetch_california_housing", "<1")
def program_with_boston_housing(env):
    env.package("scikit-learn", "1.5.2", {"sklearn/__init__.py": "", "sklearn/datasets/__init__.py": "def load_iris(): pass\n"})
    script = env.folder / "train.py"
    script.write_text("from sklearn.datasets import load_boston\n")
    env.arguments = [str(script)]


@fix("protobuf", r"'tables-metadata<1\.21\.0'", "protobuf>=6")
def generated_code_newer_than_a_framework_takes(env):
    broken_blind_e.metadata_files(env, "protobuf<5,>=3.20")


@fix("protobuf", r"protobuf>=6\.31\.1", "tables-metadata<")
def generated_code_newer_than_the_runtime_alone(env):
    broken_blind_e.metadata_files(env, "protobuf>=3.20")


@fix("known_pairs", r"'tensorflow-hub>=0\.16\.1'.*'tf-keras==2\.17\.\*'|'tf-keras==2\.17\.\*'.*'tensorflow-hub>=0\.16\.1'", "protobuf<3")
def hub_that_keeps_its_tensorflow(env):
    env.package("tensorflow-cpu", "2.17.0")
    env.package("tensorflow-hub", "0.12.0")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_fix_asks_for_what_can_be_had(case, tmp_path, program):
    _, makes, check, has, lacks = case
    env = maker.Environment(tmp_path / "env")
    makes(env)
    _, diagnosis = env.examine(program)
    fixes = [f["fix"] for f in diagnosis["findings"] if f["id"] == check and f["severity"] == "error"]
    assert any(re.search(has, text) for text in fixes), diagnosis["findings"]
    assert not any(re.search(lacks, text) for text in fixes), fixes
