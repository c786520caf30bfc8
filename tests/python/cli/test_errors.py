"""Every error says what to do next, on standard error, with a documented exit status."""

import re
import resource
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import PROGRAM

TRAIN = ("train", "m.yaml", "--data", "d.npz")


@pytest.mark.parametrize("arguments", [(), ("trian",), ("train",), ("train", "none.yaml"), (*TRAIN, "--batch", "0"), (*TRAIN, "--what"),
                                       ("predict", "m.yaml", "--data", "none.npz"), ("completion", "tcsh")])
def test_a_command_line_that_is_not_understood_ends_with_2(place, arguments):
    assert "--help" in place.refused(*arguments, status=2)


@pytest.mark.parametrize(
    "arguments, hint",
    [
        (TRAIN, "such as --loss sparse_categorical_crossentropy"),
        (("evaluate", "m.yaml", "--data", "d.npz"), "--loss"),
        ((*TRAIN, "--loss", "nll"), "there are: "),
        ((*TRAIN, "--loss", "mse", "--optimizer", "adm"), "there are: "),
        ((*TRAIN, "--loss", "mse", "--metrics", "acuracy"), "there are: "),
        ((*TRAIN, "--loss", "mse", "--memory", "lots"), "expected a size such as 4GiB, 300MB or 60%"),
        ((*TRAIN, "--loss", "mse", "--save", "none/m.keras"), "make it first"),
        ((*TRAIN, "--loss", "mse", "--save", "m.pt"), "expected a name that ends in .keras"),
        ((*TRAIN, "--loss", "mse", "--plot", "c.png"), "expected a name that ends in .svg"),
        ((*TRAIN, "--loss", "mse", "--y", "z"), "'z'"),
        (("train", "m.yaml", "--data", "x.npy", "--loss", "mse"), "--targets"),
        (("train", "m.yaml", "--data", "d.csv", "--loss", "mse"), "expected the column of the target"),
        (("train", "m.yaml", "--data", "d.csv", "--loss", "mse", "--y", "price"), "label"),
        (("train", "m.yaml", "--data", "m.yaml", "--loss", "mse"), "expected .npz, .npy, .csv, .h5 or a folder"),
        (("predict", "m.yaml", "--data", "x.npy", "--output", "p.txt"), "expected a name that ends in .npy or .npz or .csv"),
        (("predict", "m.yaml", "--data", "x.npy", "--output", "none/p.npy"), "make it first"),
        (("predict", "m.yaml", "--data", "d.csv", "--output", "p.npy"), "--x"),
        (("convert", "m.yaml", "m.onnx"), "expected a name that ends in .keras, .h5, .weights.h5 or .json"),
        (("inspect", "d.npz"), "config.json"),
        (("inspect", "d.csv"), "expected a .keras, .h5 or JSON file"),
    ],
)
def test_an_error_ends_with_1_and_says_what_to_do(place, arguments, hint):
    said = place.refused(*arguments)
    assert said.startswith("plimsoll: [") and hint in said


@pytest.mark.parametrize(
    "text, hint",
    [
        ("layers: 3", "expected a map with 'layers', a list"),
        ("input: [4]\nlayers:\n  - Dens: 3\n", "there is none called 'Dens'"),
        ("input: [4]\nlayers:\n  - Dense: {units: 3, unit: 0}\n", "does not know the argument 'unit'"),
        ("input: [4]\nlayers:\n  - Dense\n", "wrong.yaml] line 3, column 5: expected the argument 'units' of Dense, which has no default"),
        ("input: [4, 3]\nlayers:\n  - LSTM: {units: 3, return_sequences: 1}\n", "expected true or false for 'return_sequences', got 1"),
        ("input: [4]\nlayers:\n  - Dense: {units: 3, units: 4}\n", "line 3, column 23: 'units' is given twice"),
        ("input: [4]\nlayers:\n  - ReLU: .inf\n", "line 3, column 11: expected a finite number"),
        ("input: {a: 4}\nlayers:\n  - Flatten\n", "expected sizes"),
        ("input: [4]\nlayer:\n  - Dense: 3\n", "expected a map with 'layers'"),
        ("input: [4]\nlayers:\n  - Flatten: [\n", "line "),
        ("input: [4\nlayers: [a: b: c]", "line "),
        ("input: [4]\nlayers:\n  - Conv2D: {filters: 2, kernel_size: 3}\n", "conv2d"),
        ("input: [4]\nlayers:\n  - Flatten\n  - Dens: 3\n", "[wrong.yaml] line 4, column 5: [layer] there is none called 'Dens'; there are: Dense"),
        ("input: [4]\nlayers:\n  - Dense: 8\n  - Dense: {units: 2, activation: rellu}\n  - Flatten\n", "[wrong.yaml] line 4, column 5: [activation] there is none called 'rellu'"),
        ("input: [4]\nlayers:\n  - Dense: 8\n  - Dense: 0\n", "[wrong.yaml] line 4, column 5: [dense"),
        ("input: [4]\nlayers:\n  - Dense: 8\n  - Conv2D: {filters: 2, kernel_size: 3}\n  - Flatten\n", "[wrong.yaml] line 4, column 5: [conv2d"),
        ("input: [4]\nlayers:\n  - Dense: {units: 2, name: a}\n  - Dense: {units: 2, name: a}\n", "[wrong.yaml] line 4, column 5: two layers are called 'a'"),
        ("layers:\n  - Input: 4\n  - Dense: 8\n  - Reshape: [3]\n", "[wrong.yaml] line 4, column 5: [reshape"),
        ("input: [4]\nlayers:\n  - Dense: {units: 2, activaton: relu}\n", "does not know the argument 'activaton' (given as \"relu\"); there are: activation"),
        ("input: [4]\nlayers:\n  - Bidirectional: {LSTN: 6}\n", "line 3, column 20: [layer] there is none called 'LSTN'; there are: LSTM"),
        ("input: [8, 8, 1]\nlayers:\n  - Conv2D: {filters: 2, kernel_size: (3, 3)}\n", "line 3, column 39: expected a list such as [3, 3], got (3"),
        ("input: (4,)\nlayers:\n  - Flatten\n", "line 1, column 8: expected a list"),
        ("input: four\nlayers:\n  - Flatten\n", "line 1, column 8: expected the sizes of one record, such as [28, 28, 1], got \"four\""),
        ("input: [-4]\nlayers:\n  - Flatten\n", "expected the sizes of one record"),
        ("input: 4\nlayers:\n  - Input: 4\n  - Flatten\n", "line 3, column 5: the input is given twice"),
        ("input: [4]\nlayers: []\n", "line 2, column 9: expected layers, got none"),
        ("input: [4]\nlayers:\n  - Flatten\noptimizer: adam\n", "line 4, column 1: there is no 'optimizer' here; there are: input, layers, name"),
        ("input: [4]\nlayers:\n  - Flatten\n---\ninput: [4]\nlayers: []\n", "expected one model in a file"),
        ("", "[wrong.yaml] expected a map with 'layers', a list"),
    ],
)
def test_a_wrong_description_is_refused_with_the_place(place, text, hint):
    (place / "wrong.yaml").write_text(text)
    said = place.refused("inspect", "wrong.yaml")
    assert hint in said, said


TABLES = {
    "apart by semicolons": (";", "", (), "expected columns apart by ',', got 'a;b;c;d;label'. If they are apart by ';', say --delimiter ';'"),
    "apart by tabs": ("\t", "", (), "say --delimiter tab"),
    "an empty field": (",", "", (), "line 4, column 1 ('b'): a missing value: say what it stands for (CsvOptions::missing, --missing)"),
    "a word": (",", "tall", ("--missing", 0), "line 4, column 1 ('b'): expected a number, got 'tall'"),
    "no such delimiter": (",", "1", ("--delimiter", ";;"), "[--delimiter] expected one character, or tab, got ';;'"),
}


def table(place, between, field):
    rows = [["a", "b", "c", "d", "label"], *[["1", "2", "3", "4", "1"]] * 2, ["1", field, "3", "4", "0"]]
    (place / "t.csv").write_text("".join(between.join(row) + "\n" for row in rows))
    return ("train", "m.yaml", "--data", "t.csv", "--y", "label", "--loss", "sparse_categorical_crossentropy", "--no-shuffle")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_another_kind_is_told_what_reads_it(place, name):
    between, field, more, hint = TABLES[name]
    said = place.refused(*table(place, between, field), *more)
    assert hint in said, said


@pytest.mark.parametrize("between, more", [(";", ("--delimiter", ";")), ("\t", ("--delimiter", "tab")), (",", ("--missing", "2"))])
def test_what_it_was_told_reads_the_table(place, between, more):
    def losses(*command):
        return re.findall(r'"loss":[^,}]*', place.run(*command, "--json", "--seed", 1).out)

    plain = losses(*table(place, ",", "2"))
    assert plain and losses(*table(place, between, "" if "--missing" in more else "2"), *more) == plain


def test_a_first_line_of_numbers_is_a_record_if_asked_and_pointed_out_if_not(place):
    (place / "t.csv").write_text("1,2,3,4\n" * 3)
    said = place.try_run("predict", "m.yaml", "--data", "t.csv", "--output", "p.npy").err
    assert "--no-header" in said and np.load(place / "p.npy").shape == (2, 3)
    place.run("predict", "m.yaml", "--data", "t.csv", "--output", "p.npy", "--no-header")
    assert np.load(place / "p.npy").shape == (3, 3)


def test_bad_names_are_refused_before_training(place):
    """Not after hours of it."""
    done = place.try_run(*TRAIN, "--loss", "sparse_categorical_crossentropy", "--save", "none/m.keras")
    assert done.status == 1 and "Epoch" not in done.out


def test_damaged_files_are_errors(trained):
    whole = (trained / "m.keras").read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 4):
        (trained / "cut.keras").write_bytes(whole[:size])
        assert "cut.keras" in trained.refused("inspect", "cut.keras")
    np.save(trained / "short.npy", trained.x[:150])
    assert "150" in trained.refused("train", "m.keras", "--data", "short.npy", "--targets", "y.npy")
    (trained / "bad.csv").write_text("a,b,c,d,label\n1,2,3,4,0\n1,n.v.,3,4,1\n")
    said = trained.refused("train", "m.keras", "--data", "bad.csv", "--y", "label")
    assert "line 3" in said and "'n.v.'" in said
    said = trained.run("train", "m.keras", "--data", "bad.csv", "--y", "label", "--skip-bad", "--epochs", 3).err
    assert said.count("1 record could not be read and was left out") == 1


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_a_limit_on_file_sizes_is_an_error_and_keeps_the_old_file(place):
    place.run(*TRAIN, "--loss", "sparse_categorical_crossentropy", "--save", "m.keras")
    before = (place.folder / "m.keras").read_bytes(), sorted(p.name for p in place.folder.iterdir())
    for command in ((*TRAIN, "--loss", "sparse_categorical_crossentropy", "--save", "m.keras"), ("convert", "m.keras", "m.keras")):
        done = subprocess.run([PROGRAM, *command], cwd=place.folder, capture_output=True, text=True, preexec_fn=limit_files)
        assert done.returncode == 1 and "m.keras" in done.stderr, done
        assert ((place.folder / "m.keras").read_bytes(), sorted(p.name for p in place.folder.iterdir())) == before


def test_what_cannot_be_printed_is_an_error(place):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "inspect", "m.yaml"], cwd=place.folder, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "No space left" in done.stderr


def test_closed_descriptors_do_not_get_into_files(place):
    done = subprocess.run(f"{PROGRAM} train m.yaml --data d.npz --loss sparse_categorical_crossentropy --save m.keras <&- >&- 2>&-",
                          cwd=place.folder, shell=True)
    assert done.returncode == 0 and zipfile.ZipFile(place.folder / "m.keras").testzip() is None


def test_complex_numbers_are_refused_by_a_model_of_real_ones(place):
    np.savez(place.folder / "c.npz", x=np.ones((8, 4), "complex64"), y=np.zeros(8, "int32"))
    assert "complex64" in place.refused("train", "m.yaml", "--data", "c.npz", "--loss", "sparse_categorical_crossentropy")
