import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, Sequential
from tensorflow.keras.layers import (GRU, LSTM, Activation, Bidirectional, Concatenate, Conv1D, ConvLSTM2D, Dense, Dot, Embedding, Flatten, Input, Lambda,
                                     LSTMCell, Masking, MaxPooling1D, Permute, RepeatVector, RNN, SimpleRNN, StackedRNNCells, TimeDistributed)

rng = np.random.RandomState(0)


def settle(model, scale=0.3):
    r = np.random.RandomState(9)
    model.set_weights([r.normal(size=w.shape) * scale for w in model.get_weights()])
    return model


t = np.arange(161) * 0.2
series = np.sin(t).astype('float32')
batch_size = 4
X = series[:160].reshape(batch_size, 40, 1)
Y = series[1:161].reshape(batch_size, 40, 1)
model = Sequential([Input(batch_shape=(batch_size, 10, 1))])
model.add(LSTM(6, return_sequences=True, stateful=True))
model.add(LSTM(4, return_sequences=True, stateful=True))
model.add(Dense(1))
settle(model)
model.compile(loss='mean_squared_error', optimizer=tf.keras.optimizers.Adam(0.02))
for i in range(4):
    for chunk in range(4):
        s = slice(10 * chunk, 10 * chunk + 10)
        loss = model.train_on_batch(X[:, s], Y[:, s])
    for layer in model.layers:
        if hasattr(layer, 'reset_states'):
            layer.reset_states()
    print('epoch', i, 'loss %.4f' % float(loss))
a = model.predict(X[:, :10], batch_size=batch_size, verbose=0)
b = model.predict(X[:, :10], batch_size=batch_size, verbose=0)
model.layers[0].reset_state()
model.layers[1].reset_state()
c = model.predict(X[:, :10], batch_size=batch_size, verbose=0)
print('remembers', not np.allclose(a, b), 'forgets', np.allclose(a, c, atol=1e-6), [s.shape for s in model.layers[0].states])

auto = Sequential([LSTM(8, activation='relu', input_shape=(9, 1)), RepeatVector(9), LSTM(8, activation='relu', return_sequences=True), TimeDistributed(Dense(1))])
settle(auto)
auto.compile(optimizer='adam', loss='mse')
seq = np.linspace(0.1, 0.9, 9).reshape(1, 9, 1)
print(['%.4f' % v for v in auto.fit(seq, seq, epochs=3, verbose=0).history['loss']], auto.output_shape)
encoder = Model(inputs=auto.inputs, outputs=auto.layers[0].output)
print(encoder.predict(seq, verbose=0).shape)

encoder_inputs = Input(shape=(None, 5))
encoder_outputs, state_h, state_c = LSTM(7, return_state=True)(encoder_inputs)
decoder_inputs = Input(shape=(None, 6))
decoder_lstm = LSTM(7, return_sequences=True, return_state=True)
decoder_outputs, _, _ = decoder_lstm(decoder_inputs, initial_state=[state_h, state_c])
decoder_dense = Dense(6, activation='softmax')
s2s = Model([encoder_inputs, decoder_inputs], decoder_dense(decoder_outputs))
settle(s2s)
s2s.compile(optimizer='rmsprop', loss='categorical_crossentropy', metrics=['accuracy'])
enc = np.eye(5, dtype='float32')[rng.randint(0, 5, (12, 4))]
dec = np.eye(6, dtype='float32')[rng.randint(0, 6, (12, 3))]
print(['%.4f' % v for v in s2s.fit([enc, dec], np.roll(dec, -1, 1), batch_size=6, epochs=2, shuffle=False, verbose=0).history['loss']])
encoder_model = Model(encoder_inputs, [state_h, state_c])
in_h, in_c = Input(shape=(7,)), Input(shape=(7,))
o, h, c = decoder_lstm(decoder_inputs, initial_state=[in_h, in_c])
decoder_model = Model([decoder_inputs, in_h, in_c], [decoder_dense(o), h, c])
states_value = encoder_model.predict(enc[:1], verbose=0)
target_seq = np.zeros((1, 1, 6))
target_seq[0, 0, 0] = 1.
decoded = []
for _ in range(4):
    output_tokens, h, c = decoder_model.predict([target_seq] + states_value, verbose=0)
    token = int(np.argmax(output_tokens[0, -1, :]))
    decoded.append(token)
    target_seq = np.zeros((1, 1, 6))
    target_seq[0, 0, token] = 1.
    states_value = [h, c]
print('decoded', decoded)

padded = tf.keras.utils.pad_sequences([[3, 1, 2], [4], [2, 5, 1, 1]], padding='post', value=0, maxlen=5)
print(padded)
net = settle(Sequential([Embedding(10, 4, mask_zero=True), Bidirectional(GRU(3, return_sequences=True), merge_mode='sum'), SimpleRNN(2)]) if False else (lambda m: (m(padded), m)[1])(Sequential([Embedding(10, 4, mask_zero=True), Bidirectional(GRU(3, return_sequences=True), merge_mode='sum'), SimpleRNN(2)])))
print(net(padded).numpy().round(4))
print(np.allclose(net(padded[1:2]), net(np.array([[4, 0]])), atol=1e-6), net.layers[0].compute_mask(padded).numpy().astype(int).sum())
masked = Masking(mask_value=-1.0)(tf.constant([[[1.0, 2.0], [-1.0, -1.0]]]))
print(masked.numpy(), masked._keras_mask.numpy() if hasattr(masked, '_keras_mask') else None)
rnn = RNN(StackedRNNCells([LSTMCell(3), LSTMCell(2)]), return_sequences=True, return_state=True)
out = rnn(tf.ones((2, 4, 3)))
print(out[0].shape, len(out))


class MinimalRNNCell(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        self.units = units
        self.state_size = units
        super(MinimalRNNCell, self).__init__(**kwargs)

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer='ones', name='kernel')
        self.recurrent_kernel = self.add_weight(shape=(self.units, self.units), initializer='identity', name='recurrent_kernel')
        self.built = True

    def call(self, inputs, states):
        prev_output = states[0]
        h = tf.keras.backend.dot(inputs, self.kernel)
        output = h * 0.1 + tf.keras.backend.dot(prev_output, self.recurrent_kernel)
        return output, [output]


print(RNN(MinimalRNNCell(2))(tf.ones((1, 5, 3))).numpy())
cl = settle(Sequential([Input((3, 6, 6, 1)), ConvLSTM2D(2, (3, 3), padding='same', return_sequences=False), Flatten(), Dense(1)]))
print(cl.predict(np.ones((1, 3, 6, 6, 1)), verbose=0).round(4), cl.count_params())
inp = Input((6, 3))
states = LSTM(4, return_sequences=True)(inp)
e = Dense(1, activation='tanh')(states)
e = Flatten()(e)
alpha = Activation('softmax')(e)
context = Dot(axes=1)([alpha, states])
alt = Lambda(lambda z: tf.keras.backend.sum(z, axis=1))(tf.keras.layers.multiply([Permute([2, 1])(RepeatVector(4)(alpha)), states]))
att = settle(Model(inp, [context, alt]))
p, q = att.predict(np.ones((2, 6, 3)), verbose=0)
print(np.allclose(p, q, atol=1e-6), p.shape)
cnn = Sequential([TimeDistributed(Conv1D(4, 2, activation='relu'), input_shape=(None, 4, 1)), TimeDistributed(MaxPooling1D(2)), TimeDistributed(Flatten()), LSTM(3), Dense(1)])
print(cnn(np.ones((2, 2, 4, 1))).shape, Concatenate()([tf.ones((1, 2)), tf.zeros((1, 1))]).numpy())
