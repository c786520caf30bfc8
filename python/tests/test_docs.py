"""The Python of docs/ runs as it stands there (tests/docs_test.py has the rest of its blocks)."""
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"


def test_python_blocks_of_the_docs_run():
    done = subprocess.run([sys.executable, TESTS / "docs_test.py", "python"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-4000:]
