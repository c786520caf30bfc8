"""plimsoll with a device plug-in: the interpreter of examples/device, found by PLIMSOLL_DEVICES as a user's is."""
import os
import pathlib

import numpy as np
import pytest

PLUGIN = pathlib.Path(os.environ.get("PLIMSOLL_BUILD", pathlib.Path(__file__).parents[3] / "build")) / "examples/device/interpreter_device.so"
LOSS = ("--loss", "sparse_categorical_crossentropy", "--metrics", "accuracy")


@pytest.fixture
def there(place, monkeypatch):
    if not PLUGIN.exists():
        pytest.skip(f"{PLUGIN} is not built")
    monkeypatch.setenv("PLIMSOLL_DEVICES", str(PLUGIN))
    return place


def test_it_is_listed_with_its_memory_and_its_file(there):
    out = there.run("devices").out
    assert "interpreter:0: interpreter: 0 copies to the device" in out
    assert f"plug-in: {PLUGIN}\n  memory: 1.0 GiB, 1.0 GiB available" in out


def test_one_that_cannot_be_used_says_why(there, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_DEVICES", f"{there.folder}/none.so")
    assert f"none.so: cannot be used: [device] there is no file {there.folder}/none.so" in there.run("devices").out
    assert "there is no device 'interpreter'; there are cpu; none.so cannot be used" in there.refused(
        "train", "m.yaml", "--data", "d.npz", *LOSS, "--device", "interpreter")


def test_training_there_is_training_here(there):
    for device in ("interpreter", "cpu"):
        there.train("m.yaml", "--seed", 3, "--epochs", 2, "--device", device, "--save", f"{device}.keras")
        there.run("predict", f"{device}.keras", "--data", "x.npy", "--device", "cpu", "--output", f"{device}.npy")
    np.testing.assert_allclose(np.load(there / "interpreter.npy"), np.load(there / "cpu.npy"), atol=1e-5)


def test_a_line_of_the_device_is_planned_and_kept(there):
    arguments = ("m.yaml", "--batch", 64, *LOSS, "--device", "interpreter")
    free = there.run("plan", *arguments, "--json").json
    assert free["on_device"]["device"] == "interpreter:0" and free["on_device"]["bytes"] > free["on_device"]["kinds"]["arena"] > 0
    assert free["kinds"]["arena"] == 0
    tight = there.try_run("plan", *arguments, "--json", "--memory", "interpreter:0=2KiB")
    assert tight.status == 3
    least = tight.json["least_line"]
    assert 2048 < least <= free["on_device"]["bytes"]
    assert "line of interpreter:0: " in (out := there.run("plan", *arguments, "--memory", f"interpreter:0={least}").out) and "fits" in out
    run = ("train", "m.yaml", "--data", "d.npz", *LOSS, "--batch", 64, "--device", "interpreter", "--memory")
    assert "on interpreter:0" in there.run(*run, f"interpreter:0={least}").out
    said = there.refused(*run, "interpreter:0=2KiB", status=3)
    assert "on interpreter:0, allowed are 2.0 KiB" in said and "the least line that would do is" in said
