"""What a notebook shows: curves of a History, the memory line under the progress bar, the magics; and text beside all HTML."""
import os

import nbformat
import pytest
from conftest import PYTHON
from nbclient import NotebookClient

MODEL = """
import numpy as np, keras
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
x, y = np.random.rand(64, 4), np.random.rand(64, 1)
"""


def run_cells(*cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    path = os.pathsep.join([str(PYTHON), str(PYTHON.parent / "build" / "bin")])
    env = os.environ | {"PYTHONPATH": str(PYTHON), "KERAS_BACKEND": "plimsoll", "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    NotebookClient(notebook, timeout=120, allow_errors=True).execute(env=env)
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(scope="module")
def outputs():
    names = {
        "load": "%load_ext plimsoll", "memory": "%plimsoll memory 2GiB", "model": MODEL,
        "plan": "import plimsoll\nplimsoll.plan(model, batch_size=16)", "over": "plimsoll.set_memory_limit('80MiB'); plimsoll.plan(model, 1 << 20)",
        "line again": "plimsoll.set_memory_limit('2GiB')",
        "fit": "history = model.fit(x, y, epochs=2, batch_size=8, validation_split=0.25)", "history": "history",
        "failing": "class Bad(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None): raise ValueError('mine')\n"
                   "model.fit(x, y, callbacks=[Bad()])",
        "evaluate": "_ = model.evaluate(x, y)", "cell": "%%plimsoll\nz = np.ones(3)\nz.sum()", "cell error": "%%plimsoll\n1 / 0",
        "doctor": "%plimsoll doctor", "usage": "%plimsoll nonsense", "no line": "%plimsoll memory none",
        "unload": "%unload_ext plimsoll\n_ = model.fit(x, y, verbose=1)"}
    return dict(zip(names, run_cells(*names.values())))


def errors(outputs):
    return [o for o in outputs if o.output_type == "error"]


def printed(outputs):
    return "".join(o.text for o in outputs if o.output_type == "stream" and o.name == "stdout")


def test_the_line_is_drawn_and_shown(outputs):
    data = outputs["memory"][0].data
    assert "of 2.0 GiB" in data["text/plain"] and "guarded" in data["text/plain"]
    assert "<svg" in data["text/html"] and "of 2.0 GiB" in data["text/html"]
    assert "no line" in outputs["no line"][0].data["text/plain"]


def test_fit_shows_one_display_with_the_memory_line_last(outputs):
    shown = [o for o in outputs["fit"] if o.output_type == "display_data"]
    assert len(shown) == 1 and not printed(outputs["fit"])
    lines = shown[0].data["text/plain"].splitlines()
    assert lines[0] == "Epoch 1/2" and lines[2] == "Epoch 2/2" and "val_loss" in lines[3]
    assert lines[4].startswith("memory ") and "of 2.0 GiB" in lines[4]
    assert "\x1b" not in shown[0].data["text/html"] and "<svg" in shown[0].data["text/html"]


def test_a_history_is_drawn(outputs):
    data = outputs["history"][0].data
    assert data["text/html"].count("<svg") == 2 and "val_mae" in data["text/html"]
    assert data["text/plain"].startswith("History of 2 epochs") and "val_loss" in data["text/plain"]


def test_a_plan_is_drawn_beside_the_line(outputs):
    data = outputs["plan"][0].data
    assert data["text/plain"].startswith("a batch of 16 needs ") and "fits under the line of 2.0 GiB" in data["text/plain"]
    assert "weights" in data["text/plain"] and "dense" in data["text/plain"]
    assert data["text/html"].count("<svg") == 2 and "optimizer and metrics" in data["text/html"]
    assert "does not fit under the line" in outputs["over"][0].data["text/html"]


def test_a_fit_that_fails_ends_its_display(outputs):
    assert [e.ename for e in errors(outputs["failing"])] == ["ValueError"]
    assert "loss" in printed(outputs["evaluate"])


def test_a_cell_is_measured(outputs):
    assert [o.data["text/plain"] for o in outputs["cell"] if o.output_type == "execute_result"] == ["np.float64(3.0)"]
    assert " s; engine " in printed(outputs["cell"]) and "; process " in printed(outputs["cell"])
    assert [e.ename for e in errors(outputs["cell error"])] == ["ZeroDivisionError"]
    assert " s; engine " in printed(outputs["cell error"])


def test_the_doctor_speaks_of_this_environment(outputs):
    import sys
    assert sys.prefix in printed(outputs["doctor"])


def test_words_that_it_does_not_know(outputs):
    assert "expected memory, status or doctor, got 'nonsense'" in str(outputs["usage"])


def test_unloaded_it_is_as_before(outputs):
    assert "loss" in printed(outputs["unload"]) and not [o for o in outputs["unload"] if o.output_type == "display_data"]
