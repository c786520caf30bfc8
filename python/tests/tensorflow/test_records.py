"""TFRecord files and tf.train.Example beside bytes that TensorFlow 2.21 wrote, and files that are broken."""
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
