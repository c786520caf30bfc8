"""python -m plimsoll.run and plimsoll.check."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[2]


def plimsoll(*words, **env):
    inherited = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    return subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, timeout=600,
                          env=inherited | {"PYTHONPATH": str(PYTHON)} | env)


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": c, "outputs": [], "execution_count": None, "id": f"c{i}"}
                                 for i, c in enumerate(cells)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_script_has_its_arguments_and_its_folder(script):
    script("value = 7", "beside.py")
    path = script("import sys, tensorflow as tf, beside\nprint(sys.argv[1:], beside.value, float(tf.reduce_sum([1.0, 2.0])), __name__)")
    done = plimsoll("plimsoll.run", "--shadow", path, "--epochs", "3")
    assert done.stdout.split() == ["['--epochs',", "'3']", "7", "3.0", "__main__"], done.stderr


def test_the_exit_status_is_the_scripts(script):
    assert plimsoll("plimsoll.run", "--shadow", script("import sys; sys.exit(5)")).returncode == 5
    failed = plimsoll("plimsoll.run", "--shadow", script("1 / 0"))
    assert failed.returncode == 1 and "ZeroDivisionError" in failed.stderr


def test_the_line_is_drawn(script):
    path = script("import plimsoll, tensorflow\nprint(plimsoll.memory_use().limit)")
    assert plimsoll("plimsoll.run", "--shadow", "--memory", "300MiB", path).stdout.strip() == str(300 * 2**20)


def test_a_notebook_is_saved_with_its_outputs(script):
    path = script(notebook("import tensorflow as tf\nprint(tf.constant([1, 2]))", "tf.constant(3.0)"), "n.ipynb")
    done = plimsoll("plimsoll.run", "--shadow", path)
    assert done.returncode == 0, done.stderr
    cells = json.loads(path.read_text())["cells"]
    assert cells[0]["outputs"][0]["text"] in ("tf.Tensor([1 2], shape=(2,), dtype=int32)\n", ["tf.Tensor([1 2], shape=(2,), dtype=int32)\n"])
    assert "numpy=3.0" in str(cells[1]["outputs"]) and cells[0]["execution_count"] == 1


def test_a_notebook_that_fails_is_saved_with_the_error(script, tmp_path):
    path = script(notebook("import tensorflow as tf", "tf.saved_model.save"), "n.ipynb")
    done = plimsoll("plimsoll.run", "--shadow", "--output", tmp_path / "out.ipynb", path)
    assert done.returncode == 1 and "a cell failed" in done.stderr
    assert "is not covered" in (tmp_path / "out.ipynb").read_text() and "is not covered" not in path.read_text()


def test_a_real_tensorflow_is_not_shadowed_unasked(script, tmp_path):
    (tmp_path / "real" / "tensorflow").mkdir(parents=True)
    (tmp_path / "real" / "tensorflow" / "__init__.py").write_text("__version__ = 'real'")
    env = {"PYTHONPATH": f"{tmp_path / 'real'}:{PYTHON}"}
    done = plimsoll("plimsoll.run", script("import tensorflow"), **env)
    assert done.returncode == 1 and "--shadow" in done.stderr
    done = plimsoll("plimsoll.run", script("print('no framework here')"), **env)
    assert done.returncode == 0 and "no framework" in done.stdout, done.stderr


def check(capsys, *files):
    from plimsoll import check

    status = check.main([str(f) for f in files])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_check_lists_what_is_not_covered_with_lines_and_runs_nothing(script, tmp_path, capsys):
    path = script("import tensorflow as tf\nfrom tensorflow.keras import layers as L\nfrom tensorflow.python.keras import backend\n"
                  f"open({str(tmp_path / 'ran')!r}, 'w')\nx = tf.constant(1).numpy()\ntf.saved_model.save\nL.Dense(3)\nL.CuDNNLSTM(3)\n"
                  "K = tf.keras.backend\nK.clear_session()\ntf.raw_ops.Add\nmodel.fit_generator(1)\n")
    status, out, _ = check(capsys, path)
    found = [line.removeprefix(f"{path}:").split(" ")[:2] for line in out.splitlines()[:-1]]
    assert found == [["3:", "tf.python.keras.backend"], ["6:", "tf.saved_model.save"], ["8:", "tf.keras.layers.CuDNNLSTM"],
                     ["11:", "tf.raw_ops.Add"], ["12:", "tf.keras.models.Model.fit_generator"]], out
    assert status == 1 and not (tmp_path / "ran").exists()


def test_check_of_notebooks_and_files_that_are_none(script, capsys):
    good = script(notebook("%matplotlib inline\n!ls\nimport tensorflow as tf", "%%bash\nls", "tf.reduce_sum([1])\ntf.lite.TFLiteConverter"), "n.ipynb")
    status, out, _ = check(capsys, good)
    assert "cell 3:2: tf.lite.TFLiteConverter" in out and status == 1
    assert check(capsys, script("print(1)"))[0] == 0
    assert check(capsys, script("def ("))[0] == check(capsys, "no_such_file.py")[0] == check(capsys, script("[]", "bad.ipynb"))[0] == 2


def test_the_scripts_of_this_folder_are_covered(capsys):
    status, out, _ = check(capsys, *sorted((pathlib.Path(__file__).parent / "scripts").glob("*.py")))
    assert status == 0, [line for line in out.splitlines() if "not covered" in line]


def test_check_is_a_program_too(script):
    done = plimsoll("plimsoll.check", script("import tensorflow as tf\ntf.lite.x"))
    assert done.returncode == 1 and "1 name not covered" in done.stdout, done.stderr
