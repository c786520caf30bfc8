import keras
import numpy as np
from keras import layers, ops

np.set_printoptions(precision=4, suppress=True)
tokens = np.array([[3, 1, 0, 0, 0], [4, 2, 5, 1, 0], [1, 1, 1, 1, 1]])


def settle(model, *args):
    model(*args)
    r = np.random.default_rng(7)
    model.set_weights([r.normal(size=w.shape) * 0.4 for w in model.get_weights()])
    return model


class TemporalSplit(layers.Layer):
    def call(self, inputs):
        return ops.split(inputs, 2, axis=1)

    def compute_mask(self, inputs, mask=None):
        if mask is None:
            return None
        return ops.split(mask, 2, axis=1)


class MaskedMean(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return ops.mean(inputs, axis=1)
        m = ops.expand_dims(ops.cast(mask, inputs.dtype), -1)
        return ops.sum(inputs * m, axis=1) / ops.sum(m, axis=1)

    def compute_mask(self, inputs, mask=None):
        return None


class CustomEmbedding(layers.Layer):
    def __init__(self, input_dim, output_dim, mask_zero=False, **kwargs):
        super().__init__(**kwargs)
        self.input_dim, self.output_dim, self.mask_zero = input_dim, output_dim, mask_zero

    def build(self, input_shape):
        self.embeddings = self.add_weight(shape=(self.input_dim, self.output_dim), initializer="ones", dtype="float32")

    def call(self, inputs):
        inputs = ops.cast(inputs, "int32")
        return ops.take(self.embeddings, inputs, axis=0)

    def compute_mask(self, inputs, mask=None):
        if not self.mask_zero:
            return None
        return ops.not_equal(inputs, 0)


embedding = layers.Embedding(10, 4, mask_zero=True)
masked_output = embedding(tokens)
print(ops.convert_to_numpy(masked_output._keras_mask).astype(int) if hasattr(masked_output, "_keras_mask") else ops.convert_to_numpy(embedding.compute_mask(tokens)).astype(int))
first, second = TemporalSplit()(ops.ones((3, 4, 2)))
print(first.shape, second.shape)
emb = CustomEmbedding(10, 2, mask_zero=True)
print(ops.convert_to_numpy(emb.compute_mask(tokens)).sum(), emb(tokens).shape)

for name, rnn in (("lstm", layers.LSTM(3)), ("gru", layers.GRU(3, reset_after=False)), ("gru2", layers.GRU(3)), ("simple", layers.SimpleRNN(3)), ("back", layers.LSTM(3, go_backwards=True)),
                  ("bi", layers.Bidirectional(layers.LSTM(2))), ("bisum", layers.Bidirectional(layers.GRU(2), merge_mode="ave")), ("stack", layers.RNN(layers.StackedRNNCells([layers.LSTMCell(3), layers.GRUCell(2)]))),
                  ("mean", MaskedMean()), ("attention pool", layers.GlobalAveragePooling1D()), ("unrolled", layers.GRU(3, unroll=True))):
    model = settle(keras.Sequential([layers.Embedding(10, 4, mask_zero=True), rnn]), tokens)
    print(name, model.predict(tokens, verbose=0)[:2])

seq = settle(keras.Sequential([layers.Embedding(10, 4, mask_zero=True), layers.LSTM(3, return_sequences=True, dropout=0.0), layers.Dense(2), layers.Activation("softmax")]), tokens)
seq.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
targets = np.array([[1, 0, 1, 1, 1], [0, 1, 0, 1, 1], [1, 0, 1, 0, 1]])
h = seq.fit(tokens, targets, epochs=3, verbose=0, shuffle=False)
print({k: np.round(v, 4).tolist() for k, v in sorted(h.history.items())})

x = np.random.default_rng(0).normal(size=(2, 6, 3)).astype("float32")
x[0, 4:] = -9
masking = layers.Masking(-9.0)
print(ops.convert_to_numpy(masking.compute_mask(x)).astype(int), ops.convert_to_numpy(masking(x))[0, -1])
gru = layers.GRU(3, return_sequences=True, return_state=True, zero_output_for_mask=False)
whole, state = gru(x, mask=np.array([[1, 1, 1, 1, 0, 0], [1] * 6], bool))
print(np.allclose(ops.convert_to_numpy(whole)[:, -1], ops.convert_to_numpy(state)), whole.shape)
state_in = [ops.ones((2, 3)), ops.zeros((2, 3))]
lstm = layers.LSTM(3, kernel_initializer="ones", recurrent_initializer="identity", return_state=True)
print([ops.convert_to_numpy(v)[1] for v in lstm(x * 0.1, initial_state=state_in)])
stateful = layers.GRU(2, stateful=True, kernel_initializer="ones", recurrent_initializer="zeros")
one, two = ops.convert_to_numpy(stateful(x)), ops.convert_to_numpy(stateful(x))
stateful.reset_state()
print(np.allclose(one, two), np.allclose(one, ops.convert_to_numpy(stateful(x))), ops.convert_to_numpy(stateful.states[0]).shape)

mha_in = keras.Input((5,), dtype="int32")
e = layers.Embedding(10, 4, mask_zero=True)(mha_in)
att, weights = layers.MultiHeadAttention(2, 2, name="mha")(e, e, return_attention_scores=True)
att_model = settle(keras.Model(mha_in, [layers.LayerNormalization()(layers.Add()([e, att])), weights]), tokens)
out, w = att_model.predict(tokens, verbose=0)
print(w[0, 0].round(3), out[0, 0])
query, value = keras.Input((2, 3)), keras.Input((4, 3))
for layer in (layers.Attention(use_scale=True), layers.AdditiveAttention(), layers.GroupQueryAttention(4, 4, 2)):
    m = settle(keras.Model([query, value], layer(query, value) if "Group" in type(layer).__name__ else layer([query, value])), [x[:, :2], x[:, :4]])
    print(type(layer).__name__, m.predict([x[:, :2], x[:, :4]], verbose=0)[1, 0])
causal = layers.Attention()([ops.convert_to_tensor(x), ops.convert_to_tensor(x)], mask=[None, ops.convert_to_tensor(np.array([[1, 1, 1, 1, 0, 0], [1] * 6], bool))], use_causal_mask=True)
print(ops.convert_to_numpy(causal)[0, :2])


@keras.saving.register_keras_serializable()
class PeepholeCell(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units, self.state_size, self.output_size = units, [units, units], units

    def build(self, shape):
        self.k = self.add_weight(shape=(shape[-1], 2 * self.units), initializer="ones")
        self.p = self.add_weight(shape=(self.units,), initializer="ones")
        self.built = True

    def call(self, inputs, states, training=False):
        h, c = states
        z, g = ops.split(ops.matmul(inputs, self.k), 2, axis=-1)
        i = ops.sigmoid(z + c * self.p)
        c = i * ops.tanh(g) + (1 - i) * c
        h = ops.tanh(c) * i
        return h, [h, c]

    def get_config(self):
        return {**super().get_config(), "units": self.units}

    def get_initial_state(self, batch_size=None):
        return [ops.zeros((batch_size, self.units)), ops.zeros((batch_size, self.units))]


peephole = layers.RNN(PeepholeCell(2), return_sequences=True)
print(ops.convert_to_numpy(peephole(x))[1, -1], peephole.cell.state_size)
both = settle(keras.Sequential([keras.Input((6, 3)), layers.Masking(-9.0), layers.Bidirectional(layers.RNN(PeepholeCell(2))), layers.Dense(1)]), x)
both.compile("adam", "mse")
print(["%.4f" % v for v in both.fit(x, np.ones((2, 1)), epochs=2, verbose=0).history["loss"]])
td = keras.Sequential([keras.Input((None, 4, 4, 1)), layers.TimeDistributed(layers.Conv2D(2, 2, kernel_initializer="ones")), layers.TimeDistributed(layers.Flatten()), layers.ConvLSTM1D(1, 2) if False else layers.LSTM(2, kernel_initializer="zeros")])
print(td.predict(np.ones((1, 3, 4, 4, 1)), verbose=0), td.output_shape)
