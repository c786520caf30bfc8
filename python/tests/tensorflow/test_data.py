import gc
import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]


def test_a_dataset_trains_a_model_with_class_weights():
    x, y = np.ones((8, 2), "float32"), np.array([0, 1] * 4, "float32")
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros", use_bias=False)])
    model.compile("sgd", "mse")
    loss = model.fit(Dataset.from_tensor_slices((x, y)).batch(8), epochs=1, verbose=0, class_weight={0: 1.0, 1: 3.0}).history["loss"][0]
    assert loss == pytest.approx(3.0 * 4 / 8)


def test_prefetch_raises_where_the_element_would_be_and_ends_with_its_reader():
    def failing():
        yield 1
        raise OSError("disk")

    it = iter(Dataset.from_generator(failing, output_types=tf.int32).prefetch(2))
    assert int(next(it)) == 1
    with pytest.raises(OSError, match="disk"):
        next(it)
    endless = iter(Dataset.range(3).repeat().prefetch(1))
    next(endless)
    del endless
    gc.collect()
    for thread in [t for t in threading.enumerate() if t.name == "dataset-prefetch"]:
        thread.join(timeout=10)
        assert not thread.is_alive()


def test_shuffles_with_a_seed_are_the_same_in_two_runs_and_differ_between_epochs():
    a, b = Dataset.range(50).shuffle(50, seed=3), Dataset.range(50).shuffle(50, seed=3)
    assert values(a) == values(b) and values(a) != values(Dataset.range(50))
    fixed = Dataset.range(50).shuffle(50, seed=3, reshuffle_each_iteration=False)
    assert values(fixed) == values(fixed)
    again = Dataset.range(50).shuffle(50, seed=3)
    assert values(again) != values(again)


def test_structures_stay():
    ds = Dataset.from_tensor_slices(({"a": [1, 2], "b": [3.0, 4.0]}, [0, 1])).map(lambda x, y: ({"a": x["a"] + 1, "b": x["b"]}, y)).batch(2)
    (features, labels), = list(ds)
    assert sorted(features) == ["a", "b"] and features["a"].numpy().tolist() == [2, 3] and labels.dtype == tf.int32


def test_sizes_are_known_or_said_to_be_unknown():
    assert len(Dataset.range(10).batch(3)) == 4 and len(Dataset.range(10).batch(3, drop_remainder=True)) == 3
    assert len(Dataset.range(10).skip(4).take(3).repeat(2)) == 6
    with pytest.raises(TypeError, match="unknown"):
        len(Dataset.range(10).filter(lambda x: x > 3))
    with pytest.raises(TypeError, match="infinite"):
        len(Dataset.range(10).repeat())


def test_strings_into_a_model_are_refused_with_the_way_out():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="map them to numbers first"):
        model.fit(Dataset.from_tensor_slices((["a", "b"], [0.0, 1.0])).batch(2), verbose=0)


def test_a_model_that_begins_with_a_layer_for_text_trains_on_strings():
    lookup = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")
    model = keras.Sequential([keras.Input((1,), dtype="string"), lookup, keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    losses = model.fit(Dataset.from_tensor_slices((["a", "b"], [0.0, 1.0])).batch(2), epochs=20, verbose=0).history["loss"]
    assert losses[-1] < 0.01 * losses[0]
    assert model.predict(np.array(["a", "b"]), verbose=0).round().ravel().tolist() == [0.0, 1.0]


def test_files_of_elements_come_back(tmp_path):
    ds = Dataset.from_tensor_slices({"x": [1.0, 2.0], "name": ["one", "two words"]})
    ds.save(str(tmp_path))
    assert [(float(e["x"]), e["name"].numpy()) for e in Dataset.load(str(tmp_path))] == [(1.0, b"one"), (2.0, b"two words")]


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="expected arrays of one length"):
        Dataset.from_tensor_slices((np.ones(3), np.ones(4)))


def test_a_table_of_pandas_is_one_tensor_unless_it_is_made_a_dict():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    assert values(Dataset.from_tensor_slices(frame)) == [[1.0, 3.0], [2.0, 4.0]]
    assert Dataset.from_tensors((frame, frame["b"])).element_spec[0] == tf.TensorSpec((2, 2), tf.float64)
    assert Dataset.from_tensor_slices(dict(frame)).element_spec == {"a": tf.TensorSpec((), tf.float64), "b": tf.TensorSpec((), tf.int64)}
    windows = keras.utils.timeseries_dataset_from_array(frame, frame[["b"]], sequence_length=1, batch_size=2)
    x, y = next(iter(windows))
    assert (x.numpy().tolist(), y.numpy().tolist()) == ([[[1.0, 3.0]], [[2.0, 4.0]]], [[3], [4]])


def test_iterators_have_next_and_arrays_are_not_to_be_written_to():
    source = np.arange(4.0)
    rows = Dataset.from_tensor_slices(source).batch(2).as_numpy_iterator()
    assert rows.next().tolist() == [0.0, 1.0] and iter(rows) is rows
    whole = Dataset.from_tensors(source).as_numpy_iterator().next()
    with pytest.raises(ValueError, match="read-only"):
        whole += 1
    assert source.flags.writeable and iter(Dataset.range(2)).next().numpy() == 0
    with pytest.raises(StopIteration):
        Dataset.range(0).as_numpy_iterator().next()


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function])
def test_python_functions_give_as_many_results_as_they_have_dtypes(call):
    def swapped(x):
        return np.asarray(x)[::-1].copy()

    x = np.arange(4, dtype="float32").reshape(2, 2)
    (one,) = call(swapped, [x], [tf.float32])  # not the array's first row
    assert one.numpy().tolist() == [[2.0, 3.0], [0.0, 1.0]]
    assert call(swapped, [x], tf.float32).shape == (2, 2)
    assert [int(v) for v in call(lambda x: (1, 2), [x], (tf.int32, tf.int64))] == [1, 2]
    assert call(lambda x: None, [x], []) == []
    mapped = Dataset.from_tensors(x).map(lambda x: call(swapped, [x], [tf.float32])[0])
    assert values(mapped) == [[[2.0, 3.0], [0.0, 1.0]]]
    with pytest.raises(ValueError, match="expected 2 results"):
        call(lambda x: (1, 2, 3), [x], (tf.int32, tf.int64))
