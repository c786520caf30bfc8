"""plimsoll run and plimsoll check: which interpreter they find, and what they hand over to it."""

import os
import subprocess

import pytest

from conftest import PROGRAM


@pytest.fixture
def python(tmp_path):
    """python(folder, has_package): an interpreter there that prints how it was called."""

    def make(folder, has_package=True):
        path = tmp_path / folder / "bin" / "python3"
        path.parent.mkdir(parents=True)
        path.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit {0 if has_package else 1}\necho "{folder}" "$@"\nexit 7\n')
        path.chmod(0o755)
        return path

    return make


def run(*words, path="", **env):
    kept = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    done = subprocess.run([str(PROGRAM), *map(str, words)], env=kept | {"PATH": f"{path}:/nowhere"} | env, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.split(), done.stderr


def test_the_active_environment_comes_before_path(python):
    active, other = python("active"), python("other")
    status, said, _ = run("run", "train.py", path=other.parent, VIRTUAL_ENV=str(active.parents[1]))
    assert (status, said) == (7, ["active", "-m", "plimsoll.run", "train.py"])


def test_an_interpreter_without_the_package_is_passed_over(python):
    bare, other = python("bare", has_package=False), python("other")
    assert run("check", "a.py", "b.py", path=other.parent, VIRTUAL_ENV=str(bare.parents[1]))[1] == ["other", "-m", "plimsoll.check", "a.py", "b.py"]
    status, _, error = run("run", "a.py", path=bare.parent)
    assert status == 1 and str(bare) in error and "pip install plimsoll" in error


def test_python_is_taken_as_given(python):
    given, active = python("given"), python("active")
    assert run("run", "--python", given, "a.py", VIRTUAL_ENV=str(active.parents[1]))[1][0] == "given"
    bare = python("bare", has_package=False)
    status, _, error = run("run", "--python", bare, "a.py", VIRTUAL_ENV=str(active.parents[1]))
    assert status == 1 and "expected an interpreter with the package plimsoll" in error


def test_what_follows_the_file_is_the_scripts(python):
    active = python("active")
    _, said, _ = run("run", "--memory", "1GiB", "--shadow", "a.py", "--output", "x", "--memory", "y", "--help", VIRTUAL_ENV=str(active.parents[1]))
    assert said[3:] == ["--memory", "1GiB", "--shadow", "a.py", "--output", "x", "--memory", "y", "--help"]


def test_a_file_is_needed(python):
    assert run("run")[0] == 2
    assert run("run", "--no-such-option", "a.py")[0] == 2
