# Text generation with a character RNN, after the tutorial
import numpy as np
import tensorflow as tf

text = "First Citizen: Before we proceed any further, hear me speak.\nAll: Speak, speak.\n" * 12
vocab = sorted(set(text))
print(f'{len(vocab)} unique characters')
char2idx = {u: i for i, u in enumerate(vocab)}
idx2char = np.array(vocab)
chars = tf.strings.unicode_split("hear me", input_encoding='UTF-8')
print(chars)
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=list(vocab), mask_token=None)
chars_from_ids = tf.keras.layers.StringLookup(vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None)
ids = ids_from_chars(chars)
print(ids.numpy())


def text_from_ids(ids):
    return tf.strings.reduce_join(chars_from_ids(ids), axis=-1)


print(text_from_ids(ids).numpy())
all_ids = ids_from_chars(tf.strings.unicode_split(text, 'UTF-8'))
ids_dataset = tf.data.Dataset.from_tensor_slices(all_ids)
for i in ids_dataset.take(5):
    print(chars_from_ids(i).numpy().decode('utf-8'))
seq_length = 20
sequences = ids_dataset.batch(seq_length + 1, drop_remainder=True)
for seq in sequences.take(1):
    print(text_from_ids(seq).numpy())


def split_input_target(sequence):
    return sequence[:-1], sequence[1:]


dataset = sequences.map(split_input_target).batch(8, drop_remainder=True).prefetch(tf.data.experimental.AUTOTUNE)
print(dataset)
vocab_size = len(ids_from_chars.get_vocabulary())


class MyModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        if states is None:
            states = self.gru.get_initial_state(tf.shape(inputs)[0])
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


model = MyModel(vocab_size, 8, 16)
for input_example_batch, target_example_batch in dataset.take(1):
    example_batch_predictions = model(input_example_batch)
    print(example_batch_predictions.shape)
rng = np.random.default_rng(0)
model.set_weights([rng.normal(size=w.shape) * 0.1 for w in model.get_weights()])
loss = tf.losses.SparseCategoricalCrossentropy(from_logits=True)
print("%.4f" % tf.exp(loss(target_example_batch, model(input_example_batch))).numpy())
model.compile(optimizer='adam', loss=loss)
history = model.fit(dataset, epochs=2, verbose=0)
print([f"{v:.4f}" for v in history.history["loss"]])


class OneStep(tf.keras.Model):
    def __init__(self, model, chars_from_ids, ids_from_chars, temperature=1.0):
        super().__init__()
        self.temperature = temperature
        self.model = model
        self.chars_from_ids = chars_from_ids
        self.ids_from_chars = ids_from_chars
        skip_ids = self.ids_from_chars(['[UNK]'])[:, None]
        sparse_mask = tf.SparseTensor(values=[-float('inf')] * len(skip_ids), indices=skip_ids, dense_shape=[len(ids_from_chars.get_vocabulary())])
        self.prediction_mask = tf.sparse.to_dense(sparse_mask)

    @tf.function
    def generate_one_step(self, inputs, states=None):
        input_chars = tf.strings.unicode_split(inputs, 'UTF-8')
        input_ids = self.ids_from_chars(input_chars).to_tensor()
        predicted_logits, states = self.model(inputs=input_ids, states=states, return_state=True)
        predicted_logits = predicted_logits[:, -1, :] / self.temperature
        predicted_logits = predicted_logits + self.prediction_mask
        predicted_ids = tf.random.categorical(predicted_logits, num_samples=1)
        predicted_ids = tf.squeeze(predicted_ids, axis=-1)
        return self.chars_from_ids(predicted_ids), states


one_step_model = OneStep(model, chars_from_ids, ids_from_chars)
states, next_char, result = None, tf.constant(['All:']), [tf.constant(['All:'])]
for n in range(10):
    next_char, states = one_step_model.generate_one_step(next_char, states=states)
    result.append(next_char)
result = tf.strings.join(result)
print(len(result[0].numpy().decode('utf-8')), result.shape, states.shape)
