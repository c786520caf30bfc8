# Recurrent nets the way forum answers use them: states in and out, stateful, backwards, merges, cells in lists
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(9)
x = rng.normal(size=(6, 5, 3)).astype("float32")


def fixed(model, scale=0.4):
    r = np.random.default_rng(1)
    model.set_weights([r.normal(size=w.shape) * scale for w in model.get_weights()])
    return model


def show(name, value):
    print(name, value.shape if hasattr(value, "shape") else [v.shape for v in value], np.round(np.asarray(value if hasattr(value, "shape") else value[0]).ravel()[:3], 4))


for kind in (layers.SimpleRNN, layers.GRU, layers.LSTM):
    for options in ({"return_sequences": True}, {"go_backwards": True}, {"unroll": True}, {"use_bias": False}, {"activation": "relu", "recurrent_activation": "hard_sigmoid"} if kind is not layers.SimpleRNN else {"activation": "relu"},
                    {"return_state": True}, {"return_sequences": True, "return_state": True, "go_backwards": True}):
        i = keras.Input((5, 3))
        model = fixed(keras.Model(i, kind(4, **options)(i)))
        show(f"{kind.__name__} {sorted(options)}", model.predict(x, verbose=0))
i = keras.Input((5, 3))
show("gru v1", fixed(keras.Model(i, layers.GRU(4, reset_after=False)(i))).predict(x, verbose=0))
for merge in ("sum", "mul", "ave", "concat", None):
    i = keras.Input((5, 3))
    model = fixed(keras.Model(i, layers.Bidirectional(layers.LSTM(3, return_sequences=True), merge_mode=merge)(i)))
    show(f"merge {merge}", model.predict(x, verbose=0))
i = keras.Input((5, 3))
two = layers.Bidirectional(layers.GRU(3), backward_layer=layers.LSTM(3, go_backwards=True))
show("other backwards", fixed(keras.Model(i, two(i))).predict(x, verbose=0))
i = keras.Input((5, 3))
show("cells", fixed(keras.Model(i, layers.RNN([layers.LSTMCell(4), layers.GRUCell(3), layers.SimpleRNNCell(2)], return_sequences=True)(i))).predict(x, verbose=0))

# encoder, decoder with its states, trained by teacher forcing
enc_in, dec_in = keras.Input((None, 3)), keras.Input((None, 3))
_, h, c = layers.LSTM(6, return_state=True, name="encoder")(enc_in)
decoder = layers.LSTM(6, return_sequences=True, return_state=True, name="decoder")
dec_out, _, _ = decoder(dec_in, initial_state=[h, c])
head = layers.Dense(3, name="head")
training = fixed(keras.Model([enc_in, dec_in], head(dec_out)))
training.compile("rmsprop", "mse")
target = x[:, ::-1]
print([f"{v:.4f}" for v in training.fit([x, np.pad(target, ((0, 0), (1, 0), (0, 0)))[:, :-1]], target, epochs=4, batch_size=3, shuffle=False, verbose=0).history["loss"]])
encoder = keras.Model(enc_in, [h, c])
sh, sc = keras.Input((6,)), keras.Input((6,))
out, nh, nc = decoder(dec_in, initial_state=[sh, sc])
step = keras.Model([dec_in, sh, sc], [head(out), nh, nc])
states, token = encoder.predict(x[:2], verbose=0), np.zeros((2, 1, 3), "float32")
for _ in range(3):
    token, *states = step.predict([token, *states], verbose=0)
show("decoded", token)

# stateful: batches that go on
model = keras.Sequential([keras.Input(batch_shape=(2, 5, 3)), layers.LSTM(4, stateful=True, return_sequences=True), layers.GRU(3, stateful=True), layers.Dense(1)])
fixed(model)
first, second = model.predict(x[:2], verbose=0), model.predict(x[:2], verbose=0)
print(np.round(first.ravel(), 4), np.round(second.ravel(), 4))
for layer in model.layers[:2]:
    layer.reset_states() if hasattr(layer, "reset_states") else layer.reset_state()
print(np.allclose(model.predict(x[:2], verbose=0), first, atol=1e-6))
model.compile("sgd", "mse")
for epoch in range(2):
    h = model.fit(x, x[:, 0, :1], batch_size=2, epochs=1, shuffle=False, verbose=0)
    print(f"{h.history['loss'][0]:.5f}")
    model.layers[0].reset_states() if hasattr(model.layers[0], "reset_states") else model.layers[0].reset_state()
# masks, TimeDistributed, ConvLSTM, RepeatVector
i = keras.Input((5, 3))
h = layers.Masking(0.0)(i)
h = layers.LSTM(4, return_sequences=True)(h)
h = layers.TimeDistributed(layers.Dense(2, activation="tanh"))(h)
h = layers.Bidirectional(layers.GRU(3))(h)
model = fixed(keras.Model(i, layers.RepeatVector(2)(h)))
padded = x.copy()
padded[1, 3:] = 0
padded[4, 1:] = 0
show("masked", model.predict(padded, verbose=0))
i = keras.Input((4, 6, 6, 2))
h = layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(i)
h = layers.ConvLSTM2D(2, 3, strides=2)(h)
show("convlstm", fixed(keras.Model(i, h), 0.2).predict(rng.normal(size=(2, 4, 6, 6, 2)).astype("float32"), verbose=0))
i = keras.Input((4, 6, 6, 2))
show("frames", fixed(keras.Model(i, layers.TimeDistributed(keras.Sequential([layers.Conv2D(2, 3), layers.GlobalMaxPooling2D()]))(i)), 0.2).predict(rng.normal(size=(2, 4, 6, 6, 2)).astype("float32"), verbose=0))
