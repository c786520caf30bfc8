"""The wheel in an environment of its own: the backend, the program, the guard and the doctor work, and nothing is left when it goes."""
import json
import pathlib

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from wheel_place import ROOT, Place, find_wheel


def test_its_name_says_where_it_runs():
    assert "-manylinux_2_" in find_wheel().name, "auditwheel has not been over it"


def test_no_path_of_the_build_machine_is_in_it(place):
    ours = [p for name in ("plimsoll", "plimsoll_program", "keras_plimsoll") for p in (place.packages / name).rglob("*") if p.is_file()]
    assert not [str(p) for p in ours if str(ROOT).encode() in p.read_bytes()]


def test_keras_trains_on_the_engine(place):
    code = """
import keras, numpy as np, sys
model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
history = model.fit(np.ones((64, 8, 8, 1)), np.ones((64, 1)), epochs=3, verbose=0).history["loss"]
model.save(sys.argv[1])
print(keras.backend.backend(), history[2] < history[0], sys.modules["plimsoll"].__file__)
"""
    backend, better, file = place.run("python", "-c", code, str(place.folder.parent / "model.keras")).split()
    assert (backend, better) == ("plimsoll", "True") and pathlib.Path(file).is_relative_to(place.packages)
    assert "conv2d" in place.run("plimsoll", "inspect", str(place.folder.parent / "model.keras"))  # plimsoll-h5 reads the weights


def test_the_program_and_the_doctor(place):
    assert place.run("plimsoll", "--version").strip()
    diagnosis = json.loads(place.run("plimsoll", "doctor", "--json", allowed=(0, 1, 2)))
    assert str(place.folder) in json.dumps(diagnosis)
    assert place.run("plimsoll", "guard", "--memory", "1GiB", "--", "python", "-c", "print(6 * 7)").strip() == "42"


def test_a_guarded_kernel_explains_itself_and_goes_on(place, monkeypatch):
    place.run("plimsoll", "kernel", "install", "--memory", "1GiB")
    cells = ["import sys; print(sys.prefix)", "x = bytearray(8 << 30)", "print('same kernel', 'sys' in dir())",
             "import ctypes; ctypes.string_at(0)", "print('goes on')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(place.home / ".local" / "share" / "jupyter"))
    manager = KernelManager(kernel_name="python3-guarded")
    client = NotebookClient(notebook, km=manager, timeout=120, allow_errors=True)
    client.execute(env=place.env)
    printed = [cell.outputs[-1].get("text", "") + cell.outputs[-1].get("evalue", "") for cell in notebook.cells]
    assert printed[0].strip() == str(place.folder)
    assert "MemoryError" in [output.get("ename") for output in notebook.cells[1].outputs]
    assert printed[2].strip() == "same kernel True"
    assert "segmentation fault" in json.dumps(notebook.cells[3].outputs)
    assert printed[4].strip() == "goes on"
    place.run("plimsoll", "kernel", "remove", "python3-guarded")


def test_nothing_is_left_when_it_goes(tmp_path):
    place = Place(tmp_path / "venv")
    place.run("python", "-c", "import keras")
    new = place.files() - place.before
    assert any(path.name == "plimsoll" for path in new)
    place.pip("uninstall", "-y", "plimsoll")
    left = place.files() - place.before
    assert not [path for path in left if "plimsoll" in str(path.relative_to(place.folder))], left
