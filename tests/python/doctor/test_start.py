"""The program that people call when native libraries are broken starts with broken native libraries, and names them."""

import json
import os
import subprocess

import broken_settings
import maker
import pytest


@pytest.fixture
def spoiled(tmp_path):
    env = maker.Environment(tmp_path / "one")
    folder = broken_settings.old_runtime(env)
    for name in ("libz.so.1", "libgcc_s.so.1", "libfmt.so.9", "libcrypto.so.3", "libzmq.so.5"):
        (folder / name).write_bytes(maker.library("int nothing(void) { return 0; }", name))
    return env, folder


def test_it_starts_and_names_the_path(spoiled, program):
    env, folder = spoiled
    done = subprocess.run([str(program), "doctor", "--json", "--env", str(env.prefix)], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(folder)}, cwd=env.folder)
    assert done.stdout, done.stderr
    found = [f for f in json.loads(done.stdout)["findings"] if f["id"] == "libc_too_old"]
    assert found and "LD_LIBRARY_PATH" in found[0]["what"] and "unset LD_LIBRARY_PATH" in found[0]["fix"]


def test_the_guard_starts_too(spoiled, program):
    guard = program.with_name("plimsoll-guard")
    if not guard.exists():
        pytest.skip("plimsoll-guard is not built")
    done = subprocess.run([str(guard), "--help"], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": str(spoiled[1])})
    assert done.returncode == 0, done.stderr
