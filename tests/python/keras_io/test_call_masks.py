"""Masks that a layer was called with by name stand in the place of those its inputs carry."""
import pytest

np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")
L, ops = keras.layers, keras.ops

# e: (9, 6) with no mask of its own; m, n: which of the 9 count.
GIVEN = {
    "global pooling": lambda e, m, n: L.GlobalAveragePooling1D()(e, mask=m),
    "lstm": lambda e, m, n: L.LSTM(3)(e, mask=m),
    "gru over sequences": lambda e, m, n: L.GRU(3, return_sequences=True)(e, mask=m),
    "rnn of cells": lambda e, m, n: L.RNN([L.LSTMCell(3), L.GRUCell(2)])(e, mask=m),
    "bidirectional": lambda e, m, n: L.Bidirectional(L.GRU(3))(e, mask=m),
    "beside a state": lambda e, m, n: L.LSTM(6)(e, initial_state=[e[:, 0], e[:, 1]], mask=m),
    "attention": lambda e, m, n: L.Attention()([e, e * 2.0], mask=[m, n]),
    "attention on itself": lambda e, m, n: L.Attention()([e, e], mask=[m, n]),
    "attention, of values alone": lambda e, m, n: L.Attention()([e, e], mask=[None, n]),
    "additive attention": lambda e, m, n: L.AdditiveAttention()([e, e], mask=[m, n]),
    "heads, of keys": lambda e, m, n: L.MultiHeadAttention(2, 3)(e, e, key_mask=m),
    "heads, of values": lambda e, m, n: L.MultiHeadAttention(2, 3)(e, e, value_mask=m),
    "heads, of queries": lambda e, m, n: L.MultiHeadAttention(2, 3)(e, e, query_mask=m),
    "heads, of all": lambda e, m, n: L.MultiHeadAttention(2, 3)(e, e * 2.0, e + 1.0, query_mask=m, value_mask=n, key_mask=m),
    "heads in groups": lambda e, m, n: L.GroupQueryAttention(3, 4, 2)(e, e, value_mask=m),
    "goes on": lambda e, m, n: L.GlobalAveragePooling1D()(L.LSTM(4, return_sequences=True)(e, mask=m)),
    "softmax": lambda e, m, n: L.Softmax(axis=1)(e, mask=ops.expand_dims(m, -1)),
}


@pytest.mark.parametrize("carries", [False, True], ids=["alone", "over one it carries"])
def test_a_mask_given_to_a_call_is_the_one_that_counts(tool, tmp_path, carries):
    keras.utils.set_random_seed(1)
    words = np.random.default_rng(0).integers(1, 20, (4, 9)).astype("int32")
    words[0, 5:] = words[1, :3] = words[3, 3:6] = 0
    x = keras.Input((9,), dtype="int32")
    m, n = ops.not_equal(x, words[2, 4]), ops.greater(x, 3)
    # A tensor of its own for each: Keras's heads take the mask off the one that they are called with.
    model = keras.Model(x, [call(L.Embedding(20, 6, mask_zero=carries)(x), m, n) for call in GIVEN.values()])
    for w in model.weights:
        w.assign(np.random.default_rng(1).normal(size=w.shape) * 0.5)
    model.save(tmp_path / "m.keras")
    ours = tool.predict(tmp_path / "m.keras", [words])
    for name, got, want in zip(GIVEN, ours, model.predict(words, verbose=0), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=name)
    tool.run("convert", tmp_path / "m.keras", tmp_path / "n.keras")
    again = keras.models.load_model(tmp_path / "n.keras").predict(words, verbose=0)
    for name, got, want in zip(GIVEN, again, ours, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=name)
