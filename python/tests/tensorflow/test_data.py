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
