"""Runs keras_smoke.py on several versions of Keras, each put into a folder of its own by pip without its dependencies, which are those of
this Python, and prints a table.

    python python/tests/keras_versions.py                  the last five minor versions and the newest nightly
    python python/tests/keras_versions.py 3.13.2 nightly   some
"""
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
VERSIONS = ("3.11.3", "3.12.4", "3.13.2", "3.14.1", "3.15.1", "nightly")


def install(version, folder):
    what = ["--pre", "keras-nightly"] if version == "nightly" else [f"keras=={version}"]
    subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-deps", "--target", folder, *what], check=True)


def smoke(folder):
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(TESTS.parent)]), "KERAS_BACKEND": "plimsoll", "KERAS_HOME": str(folder)}
    code = f"import keras_plimsoll_bootstrap, runpy, sys; sys.argv[:] = ['smoke', {str(folder)!r}]; runpy.run_path({str(TESTS / 'keras_smoke.py')!r})"
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=600)


def main(versions):
    failed = 0
    for version in versions or VERSIONS:
        with tempfile.TemporaryDirectory() as folder:
            install(version, folder)
            done = smoke(folder)
        failed += done.returncode != 0
        print(f"{version:10} {done.stdout.strip() or 'failed'}", flush=True)
        if done.returncode != 0:
            print(done.stderr[-3000:], file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
