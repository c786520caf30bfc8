"""The other commands: predict, evaluate, inspect, convert, completion, man, devices, version."""

import json
import shutil
import subprocess
import xml.etree.ElementTree

import numpy as np
import pytest


def predictions(path):
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return arrays["y"]
    return np.load(path) if path.suffix == ".npy" else np.loadtxt(path, delimiter=",")


@pytest.mark.parametrize("data", ["x.npy", "d.npz", "x.csv"])
@pytest.mark.parametrize("output", ["p.npy", "p.npz", "p.csv"])
def test_predict_reads_and_writes_every_kind(trained, data, output):
    trained.run("predict", "m.keras", "--data", data, "--output", output)
    got = predictions(trained / output)
    assert got.shape == (200, 3)
    np.testing.assert_allclose(got.sum(axis=1), 1, atol=1e-5)


def test_predict_takes_columns_by_name(trained):
    trained.run("predict", "m.keras", "--data", "d.csv", "--x", "a", "b", "c", "d", "--output", "named.npy")
    trained.run("predict", "m.keras", "--data", "x.npy", "--output", "p.npy")
    np.testing.assert_allclose(np.load(trained / "named.npy"), np.load(trained / "p.npy"), atol=1e-6)


def test_several_inputs_are_found_by_their_names(place):
    left, right = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    np.savez(place / "both.npz", right=right, left=left)
    place.run("predict", "two.json", "--data", "both.npz", "--output", "p.npy")
    np.testing.assert_array_equal(np.load(place / "p.npy"), left - right)
    np.savez(place / "other.npz", b=right, a=left)
    place.run("predict", "two.json", "--data", "other.npz", "--x", "a", "b", "--output", "p.npy")
    np.testing.assert_array_equal(np.load(place / "p.npy"), left - right)
    said = place.refused("predict", "two.json", "--data", "other.npz", "--output", "p.npy")
    assert "It has: b float32(5, 3), a float32(5, 3). The model's inputs: left (None, 3), right (None, 3)." in said and "--x" in said


def test_one_array_needs_no_name(trained):
    trained.run("predict", "m.keras", "--data", "x.npy", "--output", "want.npy")
    np.savez(trained / "one.npz", measured=trained.x)
    trained.run("predict", "m.keras", "--data", "one.npz", "--output", "p.npy")
    np.testing.assert_array_equal(np.load(trained / "p.npy"), np.load(trained / "want.npy"))


def test_arrays_are_found_by_their_shapes(trained):
    """Where these leave one choice; what is left is the target."""
    np.savez(trained / "named.npz", labels=trained.y, measured=trained.x)
    want = trained.run("evaluate", "m.keras", "--data", "d.npz").out
    assert trained.run("evaluate", "m.keras", "--data", "named.npz").out == want
    trained.run("predict", "m.keras", "--data", "named.npz", "--output", "p.npy")
    np.savez(trained / "alike.npz", a=trained.x, b=trained.x, labels=trained.y)
    said = trained.refused("predict", "m.keras", "--data", "alike.npz", "--output", "p.npy")
    assert "a float32(200, 4), b float32(200, 4)" in said and "(None, 4)" in said
    said = trained.refused("evaluate", "m.keras", "--data", "alike.npz", "--x", "a")
    assert "--y" in said and "labels" in said


def test_one_input_by_name_leaves_the_other(place):
    left, right = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    np.savez(place / "both.npz", other=right, left=left)
    place.run("predict", "two.json", "--data", "both.npz", "--output", "p.npy")
    np.testing.assert_array_equal(np.load(place / "p.npy"), left - right)


def test_evaluate_measures_what_keras_would(trained):
    trained.run("predict", "m.keras", "--data", "x.npy", "--output", "p.npy")
    p = np.load(trained / "p.npy")
    out = dict(line.split(": ") for line in trained.run("evaluate", "m.keras", "--data", "d.npz").out.splitlines())
    assert float(out["accuracy"]) == pytest.approx((p.argmax(axis=1) == trained.y).mean(), abs=1e-6)
    assert float(out["loss"]) == pytest.approx(-np.log(p[np.arange(200), trained.y]).mean(), rel=1e-4)
    trained.run("convert", "m.keras", "m.json")
    other = trained.run("evaluate", "m.keras", "--data", "d.npz", "--metrics", "sparse_top_k_categorical_accuracy", "--json").events[0]
    assert other["sparse_top_k_categorical_accuracy"] == 1 and "accuracy" not in other


def test_inspect_shows_layers_sizes_and_what_wrote_it(trained):
    for name in ("m.keras", "m.h5"):
        if name != "m.keras":
            trained.run("convert", "m.keras", name)
        out = trained.run("inspect", name).out
        assert "dense (Dense)" in out and "(None, 8)" in out and "Total params: 67" in out
        assert "Keras 3." in out and "Compiled with Adam, learning rate 0.001" in out
    assert "written by plimsoll" in trained.run("inspect", "m.keras").out
    trained.run("convert", "m.keras", "m.weights.h5")
    assert "layers/dense/vars/0: float32(4, 8)" in trained.run("inspect", "m.weights.h5").out
    assert "Total params: 67" in trained.run("inspect", "m.yaml").out


def test_convert_goes_between_all_kinds_and_keeps_predictions(trained):
    trained.run("predict", "m.keras", "--data", "x.npy", "--output", "expected.npy")
    for source in ("m.keras", "m.h5"):
        for target in ("a.keras", "m.h5", "a.hdf5"):
            trained.run("convert", source, target)
            trained.run("predict", target, "--data", "x.npy", "--output", "got.npy")
            np.testing.assert_array_equal(np.load(trained / "got.npy"), np.load(trained / "expected.npy"))
    for source in ("m.keras", "m.yaml", "m.h5"):
        trained.run("convert", source, "a.json")
        trained.run("convert", "a.json", "a.keras")
        assert "Total params: 67" in trained.run("inspect", "a.keras").out
    trained.run("convert", "m.keras", "a.weights.h5")


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


@pytest.mark.parametrize("shell, option", [("bash", "--loss"), pytest.param("zsh", "--loss", marks=needs("zsh")),
                                           pytest.param("fish", "-l loss", marks=needs("fish"))])
def test_completion_is_valid_in_every_shell(place, shell, option):
    script = place.run("completion", shell).out
    assert "train" in script and option in script
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_bash_completes_commands_and_options(place):
    script = place.run("completion", "bash").out

    def complete(*words):
        run = f'{script}\nCOMP_WORDS=({" ".join(words)})\nCOMP_CWORD={len(words) - 1}\n_plimsoll\nprintf "%s\\n" "${{COMPREPLY[@]}}"\n'
        return subprocess.run(["bash", "-c", run], cwd=place.folder, capture_output=True, text=True, check=True).stdout.split()

    assert complete("plimsoll", "tr") == ["train"]
    assert complete("plimsoll", "train", "m.yaml", "--val") == ["--validation", "--validation-split"]
    assert complete("plimsoll", "train", "m.y") == ["m.yaml"]
    assert complete("plimsoll", "train", "m.yaml", "--data", "d.n") == ["d.npz"]


@needs("fish")
def test_fish_completes_commands_and_options(place):
    (place / "plimsoll.fish").write_text(place.run("completion", "fish").out)

    def complete(line):
        run = f"source plimsoll.fish; complete -C '{line}'"
        done = subprocess.run(["fish", "--no-config", "-c", run], cwd=place.folder, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    assert complete("plimsoll tr") == ["train"]
    assert complete("plimsoll train m.yaml --val") == ["--validation", "--validation-split"]
    assert complete("plimsoll kernel ") == ["install", "list", "remove"]
    assert complete("plimsoll kernel install --mem") == ["--memory"]
    assert complete("plimsoll train m.yaml --data d.n") == ["d.npz"]


@needs("zsh")
def test_zsh_completes_without_a_configuration(place):
    (place / "plimsoll.zsh").write_text(place.run("completion", "zsh").out)

    def complete(*words):
        run = f"""source ./plimsoll.zsh
            called() {{ emulate -L sh; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _plimsoll; printf '%s\\n' "${{COMPREPLY[@]}}" }}
            [[ ${{_comps[plimsoll]}} == *_plimsoll* ]] && called"""  # as bashcompinit calls it
        done = subprocess.run(["zsh", "-f", "-c", run], cwd=place.folder, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == ""
        return done.stdout.split()

    # zsh itself leaves out what does not begin as the word does.
    assert {"--validation", "--validation-split"} <= set(complete("plimsoll", "train", "m.yaml", "--val"))
    assert {"install", "list", "remove"} <= set(complete("plimsoll", "kernel", ""))
    assert "m.yaml" in complete("plimsoll", "train", "m.y")


def test_the_manual_page_has_every_command(place):
    page = place.run("man").out
    for word in ("train", "predict", "evaluate", "inspect", "convert", "devices", "demo", "version", "EXIT STATUS"):
        assert word in page


@needs("man")
def test_the_manual_page_renders(place):
    (place / "plimsoll.1").write_text(place.run("man").out)
    shown = subprocess.run(["man", "--warnings", "-l", "plimsoll.1"], cwd=place.folder, capture_output=True, text=True, check=True,
                           env={"MANPAGER": "cat", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "100"})
    assert shown.stderr == ""
    assert "--validation-split" in shown.stdout


def test_version_and_devices_answer(place):
    assert place.run("version").out.strip()
    assert place.run("--version").out.strip()
    assert "cpu: " in place.run("devices").out


def test_every_command_explains_itself(place):
    names = [line.split()[0] for line in place.run("--help").out.split("Subcommands:")[1].splitlines() if line.startswith("  ")]
    assert {"train", "predict", "evaluate", "inspect", "convert", "devices", "demo", "version"} <= set(names)
    for name in names:
        if name != "guard":  # hands over to a program of its own
            assert "Usage:" in place.run(name, "--help").out


def test_plan_says_what_fits_without_running(trained):
    free = json.loads(trained.run("plan", "m.keras", "--batch", 200, "--json").out)
    assert free["fits"] and free["run_again"] == 0 and free["bytes"] == sum(free["kinds"].values())
    least = json.loads(trained.run("plan", "m.keras", "--batch", 200, "--memory", "1GiB", "--json").out)["least_line"]
    assert 0 < least <= 1.05 * free["bytes"]  # what the system counts is never twice the same
    tight = json.loads(trained.run("plan", "m.keras", "--batch", 200, "--memory", least, "--json").out)
    assert tight["fits"] and tight["bytes"] <= least and tight["largest_batch"] >= 200
    trained.run("plan", "m.keras", "--batch", 200, "--memory", least, "--html", "p.html")
    page = (trained / "p.html").read_text()
    assert page.startswith("<!doctype html>") and "<polygon" in page and ">line " in page
    assert "http" not in page  # needs no network
    trained.run("plan", "m.keras", "--batch", 200, "--svg", "p.svg")
    assert xml.etree.ElementTree.parse(trained / "p.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    held = json.loads(trained.run("plan", "m.keras", "--batch", 200, "--hold-updates", "--json").out)
    planned = [sum(bytes for kind, bytes in plan["kinds"].items() if kind != "process") for plan in (held, free)]
    assert held.get("held_updates", 0) == planned[0] - planned[1]
    assert "least line for this batch" in trained.run("plan", "m.keras", "--batch", 200, "--memory", "1GiB").out


def test_plan_exits_with_3_where_nothing_fits(trained):
    said = trained.refused("plan", "m.keras", "--batch", 200, "--memory", "1KiB", "--svg", "p.svg", status=3)
    assert said == "" and "<polygon" in (trained / "p.svg").read_text()  # of the least that it takes


def test_devices_shows_where_the_line_comes_from(place):
    said = place.run("devices").out
    assert "PLIMSOLL_MEMORY: not set" in said and "available memory" in said
