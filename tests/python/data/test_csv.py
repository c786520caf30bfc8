"""CSV rows against pandas."""
import numpy as np
import pytest

pd = pytest.importorskip("pandas")
# Newer versions always read floats exactly, and say so.
pytestmark = pytest.mark.filterwarnings("ignore:The 'float_precision'")


def frame(rows=500, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame({
        "small": random.normal(size=rows) * 10.0 ** random.integers(-300, 300, rows),
        "whole": random.integers(-(1 << 62), 1 << 62, rows),
        'odd, "name"': random.normal(size=rows),
        "text": [f'a "quoted", text\nof {i} lines' for i in range(rows)],
        "flag": random.integers(0, 2, rows).astype(bool),
    })


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_rows_equal_those_of_pandas(read, tmp_path, end, delimiter):
    path = tmp_path / "d.csv"
    frame().to_csv(path, index=False, sep=delimiter, lineterminator=end)
    want = pd.read_csv(path, sep=delimiter, float_precision="round_trip")
    columns = ["small", 'odd, "name"', "flag"]
    got = read("csv", path, columns=columns, label=["whole"], dtype="float64", label_dtype="int64", delimiter=delimiter)
    np.testing.assert_array_equal(got["x0"], want[columns].astype("float64"))
    np.testing.assert_array_equal(got["y0"], want["whole"])
    narrow = read("csv", path, columns=columns, delimiter=delimiter)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(narrow["x0"], want[columns].astype("float64").astype("float32"))


def test_missing_values_are_those_of_pandas(read, tmp_path):
    path = tmp_path / "d.csv"
    words = ["", "#N/A", "NA", "N/A", "NULL", "NaN", "None", "n/a", "nan", "null", "<NA>", "-nan", "1.#IND", "1.5", " 2 "]
    path.write_text("a,b\n" + "".join(f"{word},{i}\n" for i, word in enumerate(words)))
    want = pd.read_csv(path)
    got = read("csv", path, dtype="float64", missing=None)
    np.testing.assert_array_equal(got["x0"], want.astype("float64"))
    with pytest.raises(read.Error, match="bad_file.*line 2, column 0 .'a'.*missing"):
        read("csv", path)


def test_quotes_as_pandas_reads_them(read, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('\ufeff"a","b ""c""",d\n"1",2,"3"\n\n4,"5"6,7\n', encoding="utf-8")
    want = pd.read_csv(path)
    got = read("csv", path, dtype="float64")
    np.testing.assert_array_equal(got["x0"], want.astype("float64"))


def test_without_a_header(read, tmp_path):
    path = tmp_path / "d.csv"
    frame()[["small", "flag"]].to_csv(path, index=False, header=False)
    want = pd.read_csv(path, header=None, float_precision="round_trip")
    got = read("csv", path, header=False, label=["-1"], dtype="float64")
    np.testing.assert_array_equal(got["x0"][:, 0], want[0])
    np.testing.assert_array_equal(got["y0"], want[1])


def test_bad_rows_are_named_or_skipped(read, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\nred,3\n4,5,6\n7,8\n")
    with pytest.raises(read.Error, match="line 3, column 0 .'a'.*expected a number, got 'red'"):
        read("csv", path)
    got = read("csv", path, then={"skip_bad": True, "batch": 2})
    np.testing.assert_array_equal(got["x0"], [[1, 2], [7, 8]])
    assert got["skipped"] == [2]
    assert list(got["batch_sizes"]) == [2]
