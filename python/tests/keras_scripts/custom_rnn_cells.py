import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(4)


class MinimalRNNCell(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="uniform", name="kernel")
        self.recurrent_kernel = self.add_weight(shape=(self.units, self.units), initializer="uniform", name="recurrent_kernel")

    def call(self, inputs, states):
        prev_output = states[0]
        h = ops.matmul(inputs, self.kernel)
        output = h + ops.matmul(prev_output, self.recurrent_kernel)
        return ops.tanh(output), [ops.tanh(output)]


def fixed(model):
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.3)
    return model


x = rng.normal(size=(24, 7, 3)).astype("float32")
y = x.sum(axis=(1, 2)).astype("float32")[:, None]

model = fixed(keras.Sequential([keras.Input((7, 3)), layers.RNN([MinimalRNNCell(5), MinimalRNNCell(4)], return_sequences=True),
                                layers.Masking(0.0), layers.Bidirectional(layers.LSTM(4), merge_mode="sum"), layers.Dense(1)]))
model.compile("rmsprop", "mse")
print([f"{v:.4f}" for v in model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"]])

inputs = keras.Input(batch_shape=(8, 7, 3))
lstm = layers.LSTM(4, stateful=True, return_state=True)
out, state_h, state_c = lstm(inputs)
stateful = fixed(keras.Model(inputs, [out, state_h, state_c]))
first = ops.convert_to_numpy(stateful(x[:8])[0])
second = ops.convert_to_numpy(stateful(x[:8])[0])
lstm.reset_state()
third = ops.convert_to_numpy(stateful(x[:8])[0])
print(np.allclose(first, third, atol=1e-6), np.allclose(first, second))
print(first[0].round(4), second[0].round(4))

encoder_inputs = keras.Input((None, 3))
_, *states = layers.GRU(6, return_state=True)(encoder_inputs)
decoder_inputs = keras.Input((None, 2))
d = layers.GRU(6, return_sequences=True)(decoder_inputs, initial_state=states)
seq = fixed(keras.Model([encoder_inputs, decoder_inputs], layers.TimeDistributed(layers.Dense(2, activation="softmax"))(d)))
seq.compile(keras.optimizers.Adamax(0.02), "categorical_crossentropy", metrics=["categorical_accuracy"])
dec = np.eye(2, dtype="float32")[rng.integers(0, 2, (24, 5))]
h = seq.fit([x, dec], dec, epochs=2, batch_size=12, shuffle=False, verbose=0)
print({k: [f"{a:.4f}" for a in v] for k, v in sorted(h.history.items())})
print(seq.predict([x[:2, :4], dec[:2, :3]], verbose=0).shape)

conv = fixed(keras.Sequential([keras.Input((4, 6, 6, 1)), layers.ConvLSTM2D(2, 3, padding="same"), layers.Flatten(), layers.Dense(1)]))
conv.compile("sgd", "mae")
v = rng.normal(size=(8, 4, 6, 6, 1)).astype("float32")
print([f"{a:.4f}" for a in conv.fit(v, v.mean(axis=(1, 2, 3)), epochs=2, batch_size=4, shuffle=False, verbose=0).history["loss"]])
