"""HDF5 data sets against h5py."""
import numpy as np
import pytest

h5py = pytest.importorskip("h5py")

DTYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", ">i4", ">f8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(read, tmp_path, dtype):
    x = (np.random.default_rng(0).integers(0, 100, (20, 3)) % (2 if dtype == "?" else 100)).astype(dtype)
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["group/x"] = x
        file["y"] = np.arange(20)
    got = read("hdf5", tmp_path / "d.h5", x=["group/x"], then={"batch": 8})
    np.testing.assert_array_equal(got["x0"], x)
    np.testing.assert_array_equal(got["y0"], np.arange(20))
    assert got["x0"].dtype == np.dtype(dtype).newbyteorder("=")


@pytest.mark.parametrize("options", [{}, {"chunks": (7, 5)}, {"chunks": (16, 30), "compression": "gzip", "shuffle": True},
                                     {"chunks": (1, 30), "fletcher32": True}])
@pytest.mark.parametrize("window", [None, 0, 32])
def test_layouts_in_order_and_shuffled(read, tmp_path, options, window):
    x = np.random.default_rng(0).random((200, 30), "float32")
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file.create_dataset("x", data=x, **options)
        file["y"] = np.arange(200, dtype="int32")
    then = {} if window is None else {"shuffle": 3, "window": window, "prefetch": 2}
    got = read("hdf5", tmp_path / "d.h5", then=then)
    np.testing.assert_array_equal(got["x0"], x[got["y0"]])
    np.testing.assert_array_equal(np.sort(got["y0"]), np.arange(200))


def test_what_cannot_be_read_is_named(read, tmp_path):
    path = tmp_path / "d.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.zeros((4, 2))
        file["y"] = np.zeros(3)
        file["text"] = ["a", "b", "c", "d"]
        file["scalar"] = 1.0
    for options, message in [({}, "bad_file.*d.h5\\W+y.*expected 4 records"), ({"y": ["z"]}, "bad_file.*d.h5\\W+z"),
                             ({"y": ["text"]}, "unsupported.*d.h5\\W+text"), ({"y": ["scalar"]}, "unsupported.*d.h5\\W+scalar")]:
        with pytest.raises(read.Error, match=message):
            read("hdf5", path, **options)
    with pytest.raises(read.Error, match="not_found"):
        read("hdf5", tmp_path / "none.h5")


@pytest.mark.parametrize("keep", [0, 100, 1000, 3000])
def test_a_cut_file_is_a_bad_file(read, tmp_path, keep):
    path = tmp_path / "d.h5"
    with h5py.File(path, "w") as file:
        file["x"], file["y"] = np.zeros((100, 10)), np.zeros(100)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(read.Error, match="bad_file.*d.h5"):
        read("hdf5", path)


def test_a_damaged_chunk_names_its_records(read, tmp_path):
    path = tmp_path / "d.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.random.default_rng(0).random((64, 8)), chunks=(16, 8), compression="gzip")
        file["y"] = np.zeros(64)
        place = file["x"].id.get_chunk_info(2)
    data = bytearray(path.read_bytes())
    data[place.byte_offset + 20:place.byte_offset + 60] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(read.Error, match=r"bad_file.*d.h5\W+x.*records 32 to 47"):
        read("hdf5", path, then={"batch": 16})
