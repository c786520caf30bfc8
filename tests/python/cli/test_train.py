"""plimsoll train, as a user would try it."""

import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import xml.etree.ElementTree

import numpy as np
import pytest


def test_every_kind_of_model_trains(trained):
    for kind in ("m.h5", "m.json", "again.keras"):
        trained.run("convert", "m.keras", kind)
        trained.train(kind, "--save", "out.keras")
        assert "Dense" in trained.run("inspect", "out.keras").out


@pytest.mark.parametrize(
    "data",
    [
        ("--data", "d.npz"),
        ("--data", "d.npz", "--x", "x", "--y", "y"),
        ("--data", "x.npy", "--targets", "y.npy"),
        ("--data", "d.csv", "--y", "label"),
        ("--data", "d.csv", "--y", "-1"),
    ],
)
def test_every_kind_of_data_gives_the_same_run(place, data):
    place.train("m.yaml", "--seed", 3, "--no-shuffle", "--save", "expected.h5")
    place.train("m.yaml", "--seed", 3, "--no-shuffle", "--save", "got.h5", data=data)
    place.run("predict", "expected.h5", "--data", "x.npy", "--output", "expected.npy")
    place.run("predict", "got.h5", "--data", "x.npy", "--output", "got.npy")
    np.testing.assert_allclose(np.load(place / "got.npy"), np.load(place / "expected.npy"), atol=1e-6)


def test_training_learns_and_saves_what_it_learned(place):
    events = place.train("m.yaml", "--seed", 1, "--epochs", 30, "--learning-rate", 0.02, "--save", "m.keras", "--json").events
    accuracies = [e["accuracy"] for e in events if e["event"] == "epoch"]
    assert accuracies[-1] > 0.85 and accuracies[-1] > accuracies[0]
    measured = place.run("evaluate", "m.keras", "--data", "d.npz", "--json").events[0]
    assert measured["event"] == "evaluate" and measured["accuracy"] > 0.85


def test_what_is_not_a_terminal_gets_plain_lines(place):
    out = place.train("m.yaml", "--epochs", 2).out
    assert "\x1b" not in out and "\r" not in out
    assert re.search(r"memory forecast, batches of 32: [\d.]+ MiB", out)
    assert re.search(r"Epoch 2/2\n7/7 - .*accuracy: [\d.]+ - loss: [\d.]+ - memory: [\d.]+ MiB", out)
    assert re.search(r"measured peak: .* held by the engine, .* resident", out)


def test_a_terminal_gets_a_bar_with_loss_metrics_time_and_memory(place):
    ours, theirs = pty.openpty()
    command = place.command("train", "m.yaml", "--data", "d.npz", "--loss", "sparse_categorical_crossentropy", "--metrics", "accuracy")
    with subprocess.Popen(command, cwd=place.folder, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                out += (got := os.read(ours, 4096))
            except OSError:
                break
            if not got:
                break
    os.close(ours)
    assert process.returncode == 0
    assert re.search(r"\r7/7 \x1b\[32m━+.*\ds .*/step - accuracy: [\d.]+ - loss: [\d.]+ - memory: ", out.decode())


def test_json_events_are_for_programs(place):
    events = place.train("m.yaml", "--epochs", 2, "--validation-split", 0.25, "--json", "--save", "m.keras", "--plot", "c.svg").events
    assert [e["event"] for e in events] == ["train_begin", *(["batch"] * 5 + ["epoch"]) * 2, "train_end", "saved", "drew"]
    assert events[0]["epochs"] == 2 and events[0]["steps"] == 5
    epoch = [e for e in events if e["event"] == "epoch"][1]
    assert epoch["epoch"] == 1 and {"loss", "accuracy", "val_loss", "val_accuracy"} <= epoch.keys()
    assert all(e["memory"]["engine"] > 0 and e["memory"]["resident"] > 0 for e in events)
    assert events[-2]["file"] == "m.keras" and events[-1]["file"] == "c.svg"


def test_a_nan_in_the_data_is_named_or_skipped_as_asked(place):
    x = place.x.copy()
    x[70, 2] = np.nan  # of the third batch
    np.save(place / "bad.npy", x)
    data = ("--data", "bad.npy", "--targets", "y.npy", "--loss", "sparse_categorical_crossentropy", "--no-shuffle")
    said = place.refused("train", "m.yaml", *data, "--on-nan", "raise")
    assert re.search(r"batch 2: .*not finite.* x0 float32\(32, 4\): .* 1 NaN of 128, the first at index 26", said), said
    losses = lambda *more: [e["loss"] for e in place.run("train", "m.yaml", *data, "--seed", 1, "--json", *more).events if e["event"] == "epoch"]
    assert np.isfinite(losses("--on-nan", "skip")[0])
    assert losses()[0] is None or np.isnan(losses()[0])
    assert "--on-nan" in place.refused("train", "m.yaml", *data, "--on-nan", "panic", status=2)
    assert "--on-nan" in place.refused("train", "m.yaml", *data, "--hold-updates", status=2)


def test_a_trace_and_a_log_of_memory_are_written(place):
    place.train("m.yaml", "--epochs", 2, "--trace", "run.json", "--memory-log", "memory.csv")
    names = {e["name"] for e in json.loads((place / "run.json").read_text())["traceEvents"]}
    assert {"epoch 1", "epoch 2", "step 1", "memory: weights", "wait for data"} <= names
    lines = (place / "memory.csv").read_text().splitlines()
    assert lines[0].startswith("seconds,epoch,step,engine") and len(lines) >= 2
    assert "--trace" in place.refused("train", "m.yaml", "--data", "d.npz", "--trace", "run.txt")


def test_the_plot_is_a_picture_of_each_curve(place):
    place.train("m.yaml", "--epochs", 3, "--validation", "d.npz", "--plot", "c.svg")
    root = xml.etree.ElementTree.parse(place / "c.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = "".join(root.itertext())
    assert "loss" in text and "accuracy" in text
    assert len(root.findall(".//{*}polyline")) + len(root.findall(".//{*}path")) >= 4


@pytest.mark.parametrize("order", [("--no-shuffle",), ()])
def test_the_same_seed_gives_the_same_run(place, order):
    for name in ("a.h5", "b.h5"):
        place.train("m.yaml", "--seed", 7, "--epochs", 2, "--save", name, *order)
        place.run("predict", name, "--data", "x.npy", "--output", name + ".npy")
    np.testing.assert_array_equal(np.load(place / "a.h5.npy"), np.load(place / "b.h5.npy"))
    place.train("m.yaml", "--seed", 8, "--epochs", 2, "--save", "c.h5", *order)
    place.run("predict", "c.h5", "--data", "x.npy", "--output", "c.npy")
    assert not np.array_equal(np.load(place / "c.npy"), np.load(place / "a.h5.npy"))


def test_what_does_not_fit_is_refused_with_the_numbers_and_nothing_changed(trained):
    before = (trained / "m.keras").read_bytes()
    files = trained.files()
    line = json.loads(trained.run("plan", "m.keras", "--batch", 200, "--json").out)["bytes"] - (2 << 20)
    said = trained.refused("train", "m.keras", "--data", "d.npz", "--batch", 200, "--memory", line, "--save", "m.keras", status=3)
    assert re.search(r"a batch of 200 needs [\d.]+ MiB, allowed are [\d.]+ MiB", said)
    assert re.search(r"heaviest layers: .*\bdense [\d.]+ KiB", said)
    assert (trained / "m.keras").read_bytes() == before and trained.files() == files
    least = re.search(r"the least line that would do is ([\d.]+) MiB", said)[1]
    out = trained.run("train", "m.keras", "--data", "d.npz", "--batch", 200, "--memory", f"{float(least) + 0.1}MiB").out
    assert float(re.search(r"([\d.]+) MiB resident in the process", out)[1]) <= float(least) + 0.1


@pytest.mark.parametrize("line", ["12MiB", "34MiB"])  # below the program itself, below the weights
def test_a_line_below_the_weights_is_refused_with_one_that_does(place, line):
    (place / "wide.yaml").write_text("input: [4]\nlayers:\n  - Dense: 2000\n  - Dense: 2000\n  - Dense: 3\n")
    place.train("wide.yaml", "--save", "wide.keras")
    command = ["train", "wide.keras", "--data", "d.npz", "--batch", 50, "--memory"]
    said = place.refused(*command, line, status=3)
    least = float(re.search(r"the least line that would do is ([\d.]+) MiB", said)[1])
    assert float(re.search(r"([\d.]+) MiB resident in the process", place.run(*command, f"{least}MiB").out)[1]) <= least + 0.05
    assert "least line" in place.refused(*command, f"{0.95 * least}MiB", status=3)


def test_planning_and_compiling_stay_under_the_line_too(place):
    """Many small layers: to plan and to compile the step takes more than to run it."""
    layers = "".join(f"  - Dense: {{units: 12, activation: {kind}}}\n  - BatchNormalization\n" for kind in ["relu", "tanh"] * 30)
    (place / "deep.yaml").write_text(f"input: [4]\nlayers:\n{layers}  - Dense: 3\n")
    command = ["train", "deep.yaml", "--data", "d.npz", "--loss", "sparse_categorical_crossentropy", "--batch", 80, "--validation-split", 0.3]
    peak_of = lambda done: float(re.search(r"([\d.]+) MiB resident in the process", done.out)[1])
    free = peak_of(place.run(*command))
    for line in [free - 1, free - 4]:
        tried = place.try_run(*command, "--memory", f"{line}MiB")
        if tried.status == 0:
            assert peak_of(tried) <= line + 0.05
            continue
        assert tried.status == 3, tried.err
        least = float(re.search(r"the least line that would do is ([\d.]+) MiB", tried.err)[1])
        assert peak_of(place.run(*command, "--memory", f"{least}MiB")) <= least + 0.05


def test_a_line_below_the_program_itself_is_refused(trained):
    assert "the program itself takes" in trained.refused("train", "m.keras", "--data", "d.npz", "--memory", "1MiB", status=3)


def test_the_file_says_what_is_not_given(trained):
    """Optimizer and its state, loss and metrics go on; an option replaces its part only."""
    trained.train("m.keras", "--no-shuffle", "--save", "once.keras")
    trained.train("once.keras", "--no-shuffle", "--save", "twice.keras")
    trained.train("m.keras", "--no-shuffle", "--epochs", 2, "--save", "both.keras")
    for name in ("twice", "both"):
        trained.run("predict", f"{name}.keras", "--data", "x.npy", "--output", f"{name}.npy")
    # Dropout's state is in the file as well, so two runs of one epoch are one of two.
    np.testing.assert_array_equal(np.load(trained / "twice.npy"), np.load(trained / "both.npy"))
    trained.run("train", "m.keras", "--data", "d.npz", "--optimizer", "sgd", "--learning-rate", 0.5, "--save", "sgd.keras")
    said = trained.run("inspect", "sgd.keras").out
    assert "Compiled with SGD, learning rate 0.5, loss SparseCategoricalCrossentropy" in said


def test_ctrl_c_stops_between_steps_and_saves(place):
    command = place.command("train", "m.yaml", "--data", "d.npz", "--loss", "sparse_categorical_crossentropy")
    command += ["--epochs", "1000000", "--json", "--save", "m.keras"]
    with subprocess.Popen(command, cwd=place.folder, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(20):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 130
    assert '"event":"saved"' in rest
    place.run("predict", "m.keras", "--data", "x.npy", "--output", "y_hat.npy")
    assert np.isfinite(np.load(place / "y_hat.npy")).all()


def test_a_save_that_fails_at_any_byte_leaves_the_old_file(trained):
    """The system refuses bytes past a size: in the middle of a save, at the byte that the test wants. They are written by the program
    that writes HDF5, or the one that puts it into the .keras file. tests/resume kills while files are written."""
    before = (trained / "m.keras").read_bytes()
    command = trained.command("train", "m.keras", "--data", "d.npz", "--epochs", "1", "--save", "m.keras")
    for size in sorted({0, 1, 4096, *(len(before) * k // 8 for k in range(1, 8)), len(before) - 100}):
        done = subprocess.run(command, cwd=trained.folder, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        assert "Epoch 1/1" in done.stdout and "saved" not in done.stdout, f"{size} bytes: {done.stdout} {done.stderr}"
        assert done.returncode == 1 and done.stderr.startswith("plimsoll: ["), f"{size} bytes: {done.stderr}"
        assert (trained / "m.keras").read_bytes() == before, f"{size} bytes"
    trained.run("inspect", "m.keras")
    trained.run(*command[1:])
    assert (trained / "m.keras").read_bytes() != before
    trained.run("inspect", "m.keras")


def test_a_folder_of_images_trains(place):
    image = pytest.importorskip("PIL.Image")
    for name, grey in (("dark", 20), ("light", 220)):
        (place / "pictures" / name).mkdir(parents=True)
        for i in range(6):
            image.new("RGB", (20, 16), (grey, grey + i, grey)).save(place / "pictures" / name / f"{i}.png")
    (place / "i.yaml").write_text("input: [8, 8, 3]\nlayers:\n  - Rescaling: 0.01\n  - Flatten\n  - Dense: {units: 1, activation: sigmoid}\n")
    place.run("train", "i.yaml", "--data", "pictures", "--loss", "binary_crossentropy", "--metrics", "accuracy", "--epochs", 20,
              "--learning-rate", 0.01, "--save", "i.keras")
    (place / "pictures" / "dark" / "broken.png").write_bytes(b"no picture")
    assert "broken.png" in place.refused("evaluate", "i.keras", "--data", "pictures")
    place.run("evaluate", "i.keras", "--data", "pictures", "--skip-bad")


def test_hdf5_data_trains(place):
    h5py = pytest.importorskip("h5py")
    with h5py.File(place / "d.h5", "w") as file:
        file["x"], file["y"] = place.x, place.y
    place.train("m.yaml", data=("--data", "d.h5"))


def test_the_demo_ends_with_a_model_and_two_pictures(place):
    data = pathlib.Path(__file__).parents[3] / "data/fashion_mnist_12k.npz"
    with np.load(data) as whole:
        np.savez(place / "few.npz", **{name: whole[name][:300] for name in whole.files})
    out = place.run("demo", "--data", "few.npz", "--epochs", 1, "--output", "shown").out
    assert out.index("memory forecast") < out.index("Epoch 1/1") < out.index("measured peak") < out.index("same predictions")
    assert sorted(p.name for p in (place / "shown").iterdir()) == ["curves.svg", "fashion.keras", "predictions.svg"]
    for picture in (place / "shown").glob("*.svg"):
        xml.etree.ElementTree.parse(picture)
