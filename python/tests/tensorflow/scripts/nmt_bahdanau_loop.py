"""Translation with attention, by hand: an encoder and a decoder, a loop over time in a tf.function, greedy decoding."""
import re
import unicodedata

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
PAIRS = [("go .", "ve ."), ("run !", "corre !"), ("I won .", "he ganado ."), ("Who ?", "¿ Quién ?"), ("help me .", "ayúdame ."), ("I know .", "yo sé .")] * 4


def unicode_to_ascii(s):
    return ''.join(c for c in unicodedata.normalize('NFD', s) if unicodedata.category(c) != 'Mn')


def preprocess_sentence(w):
    w = unicode_to_ascii(w.lower().strip())
    w = re.sub(r"([?.!,¿])", r" \1 ", w)
    w = re.sub(r'[" "]+', " ", w)
    return '<start> ' + w.strip() + ' <end>'


def tokenize(lang):
    lang_tokenizer = tf.keras.preprocessing.text.Tokenizer(filters='')
    lang_tokenizer.fit_on_texts(lang)
    tensor = lang_tokenizer.texts_to_sequences(lang)
    return tf.keras.preprocessing.sequence.pad_sequences(tensor, padding='post'), lang_tokenizer


inp_tensor, inp_lang = tokenize([preprocess_sentence(p[1]) for p in PAIRS])
targ_tensor, targ_lang = tokenize([preprocess_sentence(p[0]) for p in PAIRS])
print(inp_tensor.shape, targ_tensor.shape, inp_tensor[0], targ_lang.index_word[1], len(inp_lang.word_index))
BATCH_SIZE, embedding_dim, units = 12, 16, 24
vocab_inp, vocab_tar = len(inp_lang.word_index) + 1, len(targ_lang.word_index) + 1
dataset = tf.data.Dataset.from_tensor_slices((inp_tensor, targ_tensor)).shuffle(len(inp_tensor)).batch(BATCH_SIZE, drop_remainder=True)


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
        self.batch_sz = batch_sz
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(dec_units, return_sequences=True, return_state=True, recurrent_initializer='glorot_uniform')
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


encoder = Encoder(vocab_inp, embedding_dim, units, BATCH_SIZE)
decoder = Decoder(vocab_tar, embedding_dim, units, BATCH_SIZE)
sample_hidden = encoder.initialize_hidden_state()
example_input_batch, example_target_batch = next(iter(dataset))
sample_output, sample_hidden = encoder(example_input_batch, sample_hidden)
print('Encoder output shape: (batch size, sequence length, units) {}'.format(sample_output.shape))
attention_result, attention_weights = BahdanauAttention(10)(sample_hidden, sample_output)
print("Attention weights shape: {}".format(attention_weights.shape), np.allclose(tf.reduce_sum(attention_weights, 1), 1))
sample_decoder_output, _, _ = decoder(tf.random.uniform((BATCH_SIZE, 1), maxval=vocab_tar, dtype=tf.int32), sample_hidden, sample_output)
print('Decoder output shape: (batch_size, vocab size) {}'.format(sample_decoder_output.shape))

optimizer = tf.keras.optimizers.Adam(0.02)
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
        dec_input = tf.expand_dims([targ_lang.word_index['<start>']] * BATCH_SIZE, 1)
        for t in range(1, targ.shape[1]):
            predictions, dec_hidden, _ = decoder(dec_input, dec_hidden, enc_output)
            loss += loss_function(targ[:, t], predictions)
            dec_input = tf.expand_dims(targ[:, t], 1)
    batch_loss = (loss / int(targ.shape[1]))
    variables = encoder.trainable_variables + decoder.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return batch_loss


losses = []
for epoch in range(20):
    enc_hidden = encoder.initialize_hidden_state()
    total_loss = 0
    for (batch, (inp, targ)) in enumerate(dataset.take(2)):
        total_loss += train_step(inp, targ, enc_hidden)
    losses.append(float(total_loss) / 2)
print('learned', losses[-1] < 0.3 * losses[0], 'variables', len(encoder.trainable_variables) + len(decoder.trainable_variables))


def evaluate(sentence):
    inputs = [inp_lang.word_index[i] for i in preprocess_sentence(sentence).split(' ')]
    inputs = tf.keras.preprocessing.sequence.pad_sequences([inputs], maxlen=inp_tensor.shape[1], padding='post')
    inputs = tf.convert_to_tensor(inputs)
    result = ''
    hidden = [tf.zeros((1, units))]
    enc_out, enc_hidden = encoder(inputs, hidden[0])
    dec_hidden = enc_hidden
    dec_input = tf.expand_dims([targ_lang.word_index['<start>']], 0)
    attention_plot = np.zeros((6, inp_tensor.shape[1]))
    for t in range(6):
        predictions, dec_hidden, attention_weights = decoder(dec_input, dec_hidden, enc_out)
        attention_weights = tf.reshape(attention_weights, (-1,))
        attention_plot[t] = attention_weights.numpy()
        predicted_id = tf.argmax(predictions[0]).numpy()
        if targ_lang.index_word[predicted_id] == '<end>':
            return result, attention_plot
        result += targ_lang.index_word[predicted_id] + ' '
        dec_input = tf.expand_dims([predicted_id], 0)
    return result, attention_plot


print([evaluate(s)[0] for s in ("corre !", "he ganado .", "¿ Quién ?")])


@tf.function
def greedy(start, steps):
    tokens = tf.TensorArray(tf.int64, size=1, dynamic_size=True)
    tokens = tokens.write(0, start)
    state = tf.zeros((1, units))
    memory, state = encoder(tf.constant(inp_tensor[:1]), state)
    for i in tf.range(steps):
        logits, state, _ = decoder(tf.reshape(tokens.read(i), [1, 1]), state, memory)
        tokens = tokens.write(i + 1, tf.argmax(logits[0]))
    return tokens.stack()


print(greedy(tf.constant(targ_lang.word_index['<start>'], tf.int64), tf.constant(3)).shape)
