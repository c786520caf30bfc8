"""What NumPy writes, we read alike, and the other way round (data_dump writes with our writer)."""
import numpy as np
import pytest

DTYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", ">i2", ">f4", ">f8", ">c16"]


def sample(dtype, shape, seed=0):
    bits = np.random.default_rng(seed).integers(0, 100, shape)
    return bits.astype(dtype) if np.dtype(dtype).kind != "b" else bits % 2 == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_of_every_type(read, tmp_path, dtype):
    x, y = sample(dtype, (10, 3, 2)), sample(dtype, (10,), 1)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    got = read("npy", tmp_path / "x.npy", y_path=str(tmp_path / "y.npy"), then={"batch": 4})
    np.testing.assert_array_equal(got["x0"], x)
    np.testing.assert_array_equal(got["y0"], y)
    assert got["x0"].dtype == np.dtype(dtype).newbyteorder("=")
    assert list(got["batch_sizes"]) == [4, 4, 2]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format(read, tmp_path, version):
    x = sample("f4", (5, 2))
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, x, version=version)
    np.testing.assert_array_equal(read("npy", tmp_path / "x.npy")["x0"], x)


def test_fortran_order(read, tmp_path):
    x = np.asfortranarray(sample("f8", (7, 3, 4, 2)))
    np.save(tmp_path / "x.npy", x)
    np.testing.assert_array_equal(read("npy", tmp_path / "x.npy")["x0"], x)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("unpack", [1 << 28, 0])
def test_npz_stored_and_compressed_whole_and_as_a_stream(read, tmp_path, save, unpack):
    a, b = sample("f4", (1000, 30)), sample(">i4", (1000, 2), 1)
    labels, weights = sample("i8", (1000,), 2), sample("f4", (1000,), 3)
    save(tmp_path / "d.npz", a=a, b=b, labels=labels, weights=weights)
    got = read("npz", tmp_path / "d.npz", x=["a", "b"], y=["labels"], weights=["weights"], unpack=unpack)
    for name, want in {"x0": a, "x1": b, "y0": labels, "weights0": weights}.items():
        np.testing.assert_array_equal(got[name], want)


def test_a_shuffle_keeps_rows_together(read, tmp_path):
    x = np.arange(1000, dtype="f4")
    np.savez(tmp_path / "d.npz", x=np.stack([x, -x], 1), y=x)
    for window in (0, 64):
        got = read("npz", tmp_path / "d.npz", then={"shuffle": 7, "window": window, "prefetch": 2})
        np.testing.assert_array_equal(got["x0"][:, 0], got["y0"])
        np.testing.assert_array_equal(got["x0"][:, 1], -got["y0"])
        assert not np.array_equal(got["y0"], x)
        np.testing.assert_array_equal(np.sort(got["y0"]), x)


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.array([object()] * 2), np.zeros(2, "M8[s]"),
                                   np.zeros(2, [("a", "f4")])])
def test_what_is_no_number_is_refused_by_name(read, tmp_path, array):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    with pytest.raises(read.Error, match="unsupported.*x.npy"):
        read("npy", tmp_path / "x.npy")


def test_a_damaged_compressed_member_is_a_bad_file(read, tmp_path):
    np.savez_compressed(tmp_path / "d.npz", x=np.random.default_rng(0).random((100, 10)), y=np.zeros(100))
    data = bytearray((tmp_path / "d.npz").read_bytes())
    data[3000] ^= 0xFF
    (tmp_path / "d.npz").write_bytes(data)
    for unpack in (0, 1 << 28):
        with pytest.raises(read.Error, match="bad_file.*d.npz: x.npy"):
            read("npz", tmp_path / "d.npz", unpack=unpack)
