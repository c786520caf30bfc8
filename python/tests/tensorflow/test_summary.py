"""tf.summary's event files, read back by their own layout: Event{2: step, 5: Summary{1: Value{1: tag, 8: TensorProto{4: content}}}}."""
import os
import struct

import numpy as np
import tensorflow as tf
from plimsoll_tensorflow.example_proto import fields
from plimsoll_tensorflow.records import read_records


def values(folder):
    """[(tag, step, the tensor's bytes)]"""
    found = []
    for name in sorted(os.listdir(folder)):
        for record in read_records(os.path.join(folder, name)):
            event = dict((number, value) for number, _, value in fields(record))
            if 5 in event:
                value = dict((n, v) for n, _, v in fields(dict((n, v) for n, _, v in fields(event[5]))[1]))
                tensor = dict((n, v) for n, _, v in fields(value[8]))
                found.append((value[1].decode(), event.get(2, 0), tensor.get(4)))
    return found


def test_scalars_have_their_step_and_value(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(3):
            tf.summary.scalar("loss", 0.5 * step, step=step)
        with tf.summary.record_if(False):
            tf.summary.scalar("unseen", 1.0, step=9)
    assert [(tag, step, struct.unpack("<f", data)[0]) for tag, step, data in values(tmp_path)] == [("loss", 0, 0.0), ("loss", 1, 0.5), ("loss", 2, 1.0)]


def test_a_histogram_counts_every_value(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=4):
        tf.summary.histogram("weights", np.arange(100.0))
    (tag, step, data), = values(tmp_path)
    rows = np.frombuffer(data, "float64").reshape(-1, 3)
    assert (tag, step, rows[:, 2].sum(), rows[0, 0], rows[-1, 1]) == ("weights", 4, 100.0, 0.0, 99.0)


def test_without_a_writer_nothing_is_written():
    assert tf.summary.scalar("loss", 1.0, step=0) is False
