# Translation with Bahdanau attention, train_step in a tf.function
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
BATCH, UNITS, EMB, VOCAB_IN, VOCAB_OUT, T_IN, T_OUT = 8, 12, 6, 20, 18, 7, 5


class Encoder(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, enc_units, batch_sz):
        super(Encoder, self).__init__()
        self.batch_sz = batch_sz
        self.enc_units = enc_units
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(self.enc_units, return_sequences=True, return_state=True, recurrent_initializer='glorot_uniform')

    def call(self, x, hidden):
        x = self.embedding(x)
        output, state = self.gru(x, initial_state=hidden)
        return output, state

    def initialize_hidden_state(self):
        return tf.zeros((self.batch_sz, self.enc_units))


class BahdanauAttention(tf.keras.layers.Layer):
    def __init__(self, units):
        super(BahdanauAttention, self).__init__()
        self.W1 = tf.keras.layers.Dense(units)
        self.W2 = tf.keras.layers.Dense(units)
        self.V = tf.keras.layers.Dense(1)

    def call(self, query, values):
        query_with_time_axis = tf.expand_dims(query, 1)
        score = self.V(tf.nn.tanh(self.W1(query_with_time_axis) + self.W2(values)))
        attention_weights = tf.nn.softmax(score, axis=1)
        context_vector = attention_weights * values
        context_vector = tf.reduce_sum(context_vector, axis=1)
        return context_vector, attention_weights


class Decoder(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, dec_units, batch_sz):
        super(Decoder, self).__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(dec_units, return_sequences=True, return_state=True)
        self.fc = tf.keras.layers.Dense(vocab_size)
        self.attention = BahdanauAttention(dec_units)

    def call(self, x, hidden, enc_output):
        context_vector, attention_weights = self.attention(hidden, enc_output)
        x = self.embedding(x)
        x = tf.concat([tf.expand_dims(context_vector, 1), x], axis=-1)
        output, state = self.gru(x)
        output = tf.reshape(output, (-1, output.shape[2]))
        x = self.fc(output)
        return x, state, attention_weights


encoder = Encoder(VOCAB_IN, EMB, UNITS, BATCH)
decoder = Decoder(VOCAB_OUT, EMB, UNITS, BATCH)
inp = rng.integers(1, VOCAB_IN, (BATCH * 3, T_IN))
inp[:, 5:] = 0
targ = rng.integers(1, VOCAB_OUT, (BATCH * 3, T_OUT))
targ[::2, 3:] = 0
sample_hidden = encoder.initialize_hidden_state()
sample_output, sample_hidden = encoder(inp[:BATCH], sample_hidden)
print('Encoder output shape:', sample_output.shape, sample_hidden.shape)
sample_decoder_output, _, att = decoder(tf.random.uniform((BATCH, 1), maxval=VOCAB_OUT, dtype=tf.int32), sample_hidden, sample_output)
print('Decoder output shape: (batch_size, vocab size) {}'.format(sample_decoder_output.shape), att.shape)
for m in (encoder, decoder):
    m.set_weights([rng.normal(size=w.shape) * 0.15 for w in m.get_weights()])

optimizer = tf.keras.optimizers.Adam(0.01)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction='none')


def loss_function(real, pred):
    mask = tf.math.logical_not(tf.math.equal(real, 0))
    loss_ = loss_object(real, pred)
    mask = tf.cast(mask, dtype=loss_.dtype)
    loss_ *= mask
    return tf.reduce_mean(loss_)


@tf.function
def train_step(inp, targ, enc_hidden):
    loss = 0
    with tf.GradientTape() as tape:
        enc_output, enc_hidden = encoder(inp, enc_hidden)
        dec_hidden = enc_hidden
        dec_input = tf.expand_dims([1] * BATCH, 1)
        for t in range(1, targ.shape[1]):
            predictions, dec_hidden, _ = decoder(dec_input, dec_hidden, enc_output)
            loss += loss_function(targ[:, t], predictions)
            dec_input = tf.expand_dims(targ[:, t], 1)
    batch_loss = loss / int(targ.shape[1])
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return batch_loss


dataset = tf.data.Dataset.from_tensor_slices((inp.astype("int32"), targ.astype("int32"))).batch(BATCH, drop_remainder=True)
for epoch in range(3):
    enc_hidden = encoder.initialize_hidden_state()
    total_loss = 0
    for batch, (i, t) in enumerate(dataset.take(3)):
        batch_loss = train_step(i, t, enc_hidden)
        total_loss += batch_loss
        if batch % 2 == 0:
            print('Epoch {} Batch {} Loss {:.4f}'.format(epoch + 1, batch, batch_loss.numpy()))
    print('Epoch {} Loss {:.4f}'.format(epoch + 1, total_loss / 3))

result, plot = [], np.zeros((T_OUT, T_IN))
hidden = [tf.zeros((1, UNITS))]
enc_out, enc_hidden = encoder(tf.convert_to_tensor(inp[:1]), hidden)
dec_hidden, dec_input = enc_hidden, tf.expand_dims([1], 0)
for t in range(T_OUT):
    predictions, dec_hidden, attention_weights = decoder(dec_input, dec_hidden, enc_out)
    attention_weights = tf.reshape(attention_weights, (-1,))
    plot[t] = attention_weights.numpy()
    predicted_id = tf.argmax(predictions[0]).numpy()
    result.append(int(predicted_id))
    dec_input = tf.expand_dims([predicted_id], 0)
print(len(result), np.round(plot.sum(axis=1), 4))
