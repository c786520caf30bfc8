"""Indices that come with the data and lie outside of the axis they are taken from: an error before the step, that names layer and index."""
import keras
import numpy as np
import plimsoll
import pytest
from keras import layers, ops

TOKENS = np.arange(40).reshape(10, 4) % 7
BAD = TOKENS.copy()
BAD[6, 2] = 9
Y = np.linspace(0, 1, 10).astype("float32")[:, None]


def classifier(dtype="int32"):
    model = keras.Sequential([keras.Input((4,), dtype=dtype), layers.Embedding(7, 3, name="words"), layers.Flatten(), layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("dtype", ["int32", "float32", "int64"])
@pytest.mark.parametrize("given", ["int64", "int16", "uint8", "float64"])
def test_fit_names_the_token_an_embedding_has_no_row_for(dtype, given):
    model = classifier(dtype)
    before = model.get_weights()
    with pytest.raises(IndexError, match=r"from -7 to 6 .*words.* has 9 at \[6, 2\].* size of at least 10"):
        model.fit(BAD.astype(given), Y, batch_size=4, verbose=0)
    for a, b in zip(before, model.get_weights()):
        np.testing.assert_array_equal(a, b)
    assert np.isfinite(model.fit(TOKENS.astype(given), Y, verbose=0).history["loss"]).all()


@pytest.mark.parametrize("use", [
    lambda m: m.evaluate(BAD, Y, verbose=0), lambda m: m.predict(BAD, verbose=0), lambda m: m.train_on_batch(BAD, Y), lambda m: m.test_on_batch(BAD, Y),
    lambda m: m.predict_on_batch(BAD), lambda m: m.fit(((BAD[i:i + 5], Y[i:i + 5]) for i in (0, 5)), verbose=0),
    lambda m: m.fit(TOKENS, Y, validation_data=(BAD, Y), verbose=0), lambda m: m.predict(BAD, batch_size=3, verbose=0)])
def test_every_way_to_give_data_is_looked_at(use):
    model = classifier()
    with pytest.raises(IndexError, match="words.* has 9 at"):
        use(model)
    assert model.predict(TOKENS, verbose=0).shape == (10, 1)


def test_negative_indices_count_from_the_end():
    model = classifier()
    np.testing.assert_allclose(model.predict(TOKENS - 7, verbose=0), model.predict(TOKENS, verbose=0))
    with pytest.raises(IndexError, match="has -8 at"):
        model.predict(TOKENS - 8, verbose=0)


def columns():
    """Two columns of one input, each with a table of its own."""
    pair = keras.Input((2,), dtype="int64")
    user, item = layers.Embedding(3, 2, name="users")(pair[:, 0]), layers.Embedding(50, 2, name="items")(pair[:, 1:])
    model = keras.Model(pair, layers.Dense(1)(layers.concatenate([user, layers.Flatten()(item)])))
    model.compile("sgd", "mse")
    return model


def test_columns_are_looked_at_each_for_itself():
    pairs = np.stack([np.arange(10) % 3, np.arange(10) * 5], axis=1)
    model = columns()
    model.fit(pairs, Y, batch_size=4, verbose=0)
    for column, layer in ((0, "users"), (1, "items")):
        bad = pairs.copy()
        bad[7, column] = 50
        with pytest.raises(IndexError, match=rf"{layer}.* has 50 at \[7"):
            model.fit(bad, Y, batch_size=4, verbose=0)


def test_what_is_computed_may_be_outside():
    inputs = keras.Input((4,), dtype="int32")
    known = ops.where(inputs < 7, inputs, 0)
    model = keras.Model(inputs, [layers.Embedding(7, 2)(known), layers.Embedding(7, 2)(ops.minimum(inputs, 6))])
    assert all(p.shape == (10, 4, 2) for p in model.predict(BAD, verbose=0))


def test_a_branch_that_is_not_taken_reads_nothing():
    table = np.arange(3.0, dtype="float32")
    step = plimsoll.function(lambda i: ops.cond(i < 3, lambda: ops.take(table, i), lambda: ops.convert_to_tensor(np.float32(-1))))
    assert [float(step(np.int32(i))) for i in (2, 9)] == [2.0, -1.0]


def test_nan_for_an_index_is_no_index_outside():
    tokens = TOKENS.astype("float32")
    tokens[0, 0] = np.nan
    assert np.isfinite(classifier("float32").predict(tokens, verbose=0)).all()


def test_files_mapped_to_memory_are_looked_at(tmp_path):
    tokens = np.memmap(tmp_path / "tokens", "int32", "w+", shape=BAD.shape)
    tokens[:] = BAD
    with pytest.raises(IndexError, match="words"):
        classifier().fit(tokens, Y, verbose=0)


class Positions(layers.Layer):
    """Adds a table of positions that is shorter than the sizes a model is built with."""

    def __init__(self):
        super().__init__()
        self.table = layers.Embedding(12, 3)

    def call(self, x):
        return x + self.table(ops.arange(ops.shape(x)[1])), x[:, 0], ops.take(x, [5, -7], axis=1)


def test_sizes_that_nobody_knows_yet_have_no_outside():
    inputs = keras.Input((None, 3))
    model = keras.Model(inputs, Positions()(inputs))
    assert [o.shape for o in model.outputs] == [(None, None, 3), (None, 3), (None, 2, 3)]
    assert model.predict(np.ones((2, 12, 3)), verbose=0)[0].shape == (2, 12, 3)
    with pytest.raises(IndexError, match=r"axis of size 12, but the index at \[12\] is 12"):
        model.predict(np.ones((2, 13, 3)), verbose=0)


def test_a_place_is_not_outside_of_a_size_that_nobody_knows_yet():
    class Hundredth(layers.Layer):
        def call(self, x):
            return x[:, 100] + x[:, -90]

    inputs = keras.Input((None, 3))
    model = keras.Model(inputs, Hundredth()(inputs))
    assert model.predict(np.ones((2, 101, 3)), verbose=0).tolist() == [[2.0] * 3] * 2
    with pytest.raises(IndexError, match="100 is out of bounds"):
        model.predict(np.ones((2, 90, 3)), verbose=0)


def ten_classes(last):
    model = keras.Sequential([keras.Input((3,)), last])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=last.activation is keras.activations.linear), metrics=["accuracy"])
    return model


@pytest.mark.parametrize("activation", ["softmax", None])
@pytest.mark.parametrize("shape", [(20,), (20, 1)])
def test_labels_that_are_no_classes_are_named(activation, shape):
    model = ten_classes(layers.Dense(10, activation))
    x, labels = np.ones((20, 3)), np.arange(20) % 10 + 1  # counted from 1
    before = model.get_weights()
    with pytest.raises(IndexError, match=r"labels from 0 to 9 for 10 classes.* has 10 at \[9.* give the last layer 11 outputs"):
        model.fit(x, labels.reshape(shape), batch_size=4, verbose=0)
    with pytest.raises(IndexError, match="for 10 classes"):
        model.evaluate(((x[i:i + 10], labels[i:i + 10]) for i in (0, 10)), verbose=0)
    for a, b in zip(before, model.get_weights()):
        np.testing.assert_array_equal(a, b)
    assert np.isfinite(model.fit(x, labels - 1, verbose=0).history["loss"]).all()


@pytest.mark.parametrize("left_out", [-1, 255])
def test_a_label_to_leave_out_is_named(left_out):
    x, labels = np.ones((20, 3)), np.arange(20) % 10
    labels[3] = left_out
    with pytest.raises(IndexError, match=f"has {left_out} at .*{'ignore_class' if left_out < 0 else '256 outputs'}"):
        ten_classes(layers.Dense(10, "softmax")).fit(x, labels, verbose=0)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(10)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=left_out))
    assert np.isfinite(model.fit(x, labels, verbose=0).history["loss"]).all()
