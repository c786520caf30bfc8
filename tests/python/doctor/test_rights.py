"""Packages that another user installed for himself alone."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import maker

NOBODY = 65534


def use_open_python(env):
    """Root's own Python may be closed to others."""
    system_python = Path("/usr/bin") / maker.PYTHON
    if os.getuid() == 0 and system_python.exists():
        (env.prefix / "bin/python3").unlink()
        (env.prefix / "bin/python3").symlink_to(system_python)
        (env.prefix / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")


def test_packages_that_may_not_be_read_are_told_and_stay(program):
    # pytest's own folders are closed to other users.
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        root.chmod(0o755)
        (root / "bin").mkdir()
        shutil.copy(program, root / "bin/plimsoll")
        (root / "lib").mkdir()
        for library in Path(program).parents[1].glob("lib/libplimsoll_onednn.so*"):  # where the program has the engine
            shutil.copy(library, root / "lib")
        env = maker.Environment(root / "env")
        use_open_python(env)
        env.package("pandas", "2.2.3")
        for name in ("pandas", "pandas-2.2.3.dist-info"):
            (env.site / name).chmod(0)
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        (root / "system.json").write_text(json.dumps({"system": env.system}))
        done = subprocess.run([root / "bin/plimsoll", "doctor", "--json", "--env", env.prefix, "--system", root / "system.json"],
                              capture_output=True, text=True, cwd=root, **other)
        assert done.returncode in (0, 1, 2), done.stderr
        found = json.loads(done.stdout)["findings"]
        if any(f["id"] == "interpreter" for f in found):
            pytest.skip(f"this machine: another user cannot reach this Python: {found[0]['what']}")
        told = [f for f in found if "may not be read" in f["what"]]
        assert told and "chmod" in told[0]["fix"], found
        assert not any("rm -r" in f["fix"] for f in found), found
    finally:
        for name in ("pandas", "pandas-2.2.3.dist-info"):
            (env.site / name).chmod(0o755)
        shutil.rmtree(root)


def test_numba_that_may_write_nowhere_is_told(program):
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        root.chmod(0o755)
        (root / "bin").mkdir()
        shutil.copy(program, root / "bin/plimsoll")
        (root / "lib").mkdir()
        for library in Path(program).parents[1].glob("lib/libplimsoll_onednn.so*"):
            shutil.copy(library, root / "lib")
        env = maker.Environment(root / "env")
        use_open_python(env)
        env.package("numba", "0.60.0")
        env.system["home_unwritable"] = True
        if os.getuid() != 0:
            env.site.chmod(0o555)
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}

        def told():
            (root / "system.json").write_text(json.dumps({"system": env.system}))
            done = subprocess.run([root / "bin/plimsoll", "doctor", "--json", "--env", env.prefix, "--system", root / "system.json"],
                                  capture_output=True, text=True, cwd=root, **other)
            assert done.returncode in (0, 1, 2), done.stderr
            return [f for f in json.loads(done.stdout)["findings"] if "no place for what it compiles" in f["what"]]

        assert told() and "NUMBA_CACHE_DIR" in told()[0]["fix"]
        env.setenv(NUMBA_CACHE_DIR="/tmp/numba")
        assert not told()
    finally:
        env.site.chmod(0o755)
        shutil.rmtree(root)
