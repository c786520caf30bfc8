"""TFRecord files and tf.train.Example beside bytes that TensorFlow 2.21 wrote, and files that are broken."""
import gzip
import zlib

import numpy as np
import pytest
import tensorflow as tf

# tf.io.TFRecordWriter(path).write(tf.train.Example(...).SerializeToString()) of {"a": int64 [1, -2, 300], "b": float [0.5, -1.5], "c": b"hi"}
WRITTEN = bytes.fromhex("3a000000000000001295eae20a380a160a016112111a0f0a0d01feffffffffffffffff01ac020a110a0162120c120a0a080000003f0000c0bf0a0b0a016312060a040a0268690c54ba03")


def example():
    make = tf.train.Feature
    return tf.train.Example(features=tf.train.Features(feature={
        "a": make(int64_list=tf.train.Int64List(value=[1, -2, 300])), "b": make(float_list=tf.train.FloatList(value=[0.5, -1.5])),
        "c": make(bytes_list=tf.train.BytesList(value=[b"hi"]))}))


WANTED = {"a": tf.io.FixedLenFeature([3], tf.int64), "b": tf.io.FixedLenFeature([2], tf.float32), "c": tf.io.FixedLenFeature([], tf.string)}


def test_a_file_is_written_as_tensorflow_writes_it(tmp_path):
    with tf.io.TFRecordWriter(str(tmp_path / "x")) as writer:
        writer.write(example().SerializeToString())
    assert (tmp_path / "x").read_bytes() == WRITTEN


def test_a_file_of_tensorflow_is_read(tmp_path):
    (tmp_path / "x").write_bytes(WRITTEN * 2)
    rows = list(tf.data.TFRecordDataset(str(tmp_path / "x")).map(lambda record: tf.io.parse_single_example(record, WANTED)))
    assert len(rows) == 2 and rows[1]["a"].numpy().tolist() == [1, -2, 300] and rows[1]["b"].numpy().tolist() == [0.5, -1.5]
    assert rows[0]["c"].numpy() == b"hi"


def broken():
    yield "cut", WRITTEN[:-1]
    yield "cut in the head", WRITTEN[:7]
    yield "a byte", WRITTEN[:20] + b"\xff" + WRITTEN[21:]
    yield "length", b"\xff" * 8 + WRITTEN[8:]


@pytest.mark.parametrize("data", [data for _, data in broken()], ids=[name for name, _ in broken()])
def test_a_broken_file_says_so(tmp_path, data):
    (tmp_path / "x").write_bytes(WRITTEN + data)
    rows = iter(tf.data.TFRecordDataset([str(tmp_path / "x")]))
    next(rows)
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at"):
        next(rows)


@pytest.mark.parametrize("data", [b"\x0a", b"\x0a\x05\x0a", b"\xff" * 12, b"\x0b"])
def test_bytes_that_are_no_example_are_refused(data):
    with pytest.raises(ValueError, match="parsing message"):
        tf.io.parse_single_example(data, WANTED)


def test_what_is_missing_takes_its_default_or_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key: d"):
        tf.io.parse_single_example(example().SerializeToString(), {"d": tf.io.FixedLenFeature([], tf.int64)})
    found = tf.io.parse_single_example(example().SerializeToString(), {"d": tf.io.FixedLenFeature([2], tf.int64, default_value=7)})
    assert found["d"].numpy().tolist() == [7, 7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 2 values"):
        tf.io.parse_single_example(example().SerializeToString(), {"a": tf.io.FixedLenFeature([2], tf.int64)})


# tf.io.serialize_tensor(tf.constant([[1, 2], [3, 4]], tf.int16))
SERIALIZED = bytes.fromhex("08051208120208021202080222080100020003000400")


def test_tensors_as_bytes():
    assert tf.io.serialize_tensor(tf.constant([[1, 2], [3, 4]], tf.int16)).numpy() == SERIALIZED
    assert tf.io.parse_tensor(SERIALIZED, tf.int16).numpy().tolist() == [[1, 2], [3, 4]]
    texts = tf.constant(["a", "", "bc"])
    assert np.array_equal(tf.io.parse_tensor(tf.io.serialize_tensor(texts), tf.string).numpy(), texts.numpy())
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
        tf.io.parse_tensor(SERIALIZED, tf.int32)


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_files_are_written_and_read_compressed(tmp_path, kind):
    path, rows = str(tmp_path / "x"), [example().SerializeToString(), b"", b"y" * 3_000_000]
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type=kind, compression_level=1)) as writer:
        for row in rows:
            writer.write(row)
    assert (tmp_path / "x").stat().st_size < 100_000
    assert list(tf.data.TFRecordDataset(path, compression_type=kind).as_numpy_iterator()) == rows
    data = (tmp_path / "x").read_bytes()
    unpacked = gzip.decompress(data) if kind == "GZIP" else zlib.decompress(data)
    (tmp_path / "plain").write_bytes(unpacked)
    assert list(tf.data.TFRecordDataset(str(tmp_path / "plain")).as_numpy_iterator()) == rows
    for broken in (data[: len(data) // 2], b"nonsense", unpacked):
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(tf.errors.DataLossError, match="corrupted"):
            list(tf.data.TFRecordDataset(str(tmp_path / "broken"), kind))
    with pytest.raises(ValueError, match="expected compression_type"):
        tf.data.TFRecordDataset(path, compression_type="BZIP2")


def test_sequences_of_unknown_length_are_parsed_and_filled_up():
    rows = [tf.train.Example(features=tf.train.Features(feature={"t": tf.train.Feature(int64_list=tf.train.Int64List(value=range(n)))})).SerializeToString() for n in (2, 4)]
    wanted = {"t": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True), "none": tf.io.FixedLenSequenceFeature([2], tf.float32, True)}
    found = tf.io.parse_single_example(rows[0], wanted)
    assert found["t"].numpy().tolist() == [0, 1] and found["none"].shape == (0, 2)
    pairs = {"t": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1)}
    assert tf.io.parse_example(rows, wanted)["t"].numpy().tolist() == [[0, 1, 0, 0], [0, 1, 2, 3]]
    assert tf.io.parse_example(rows, pairs)["t"].numpy().tolist() == [[[0, 1], [-1, -1]], [[0, 1], [2, 3]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="allow_missing is False"):
        tf.io.parse_single_example(rows[0], {"u": tf.io.FixedLenSequenceFeature([], tf.int64)})
