"""Text generation with an RNN, as in TensorFlow's tutorial: StringLookup, a sparse prediction mask, states."""
import numpy as np
import tensorflow as tf

text = "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n" * 6
vocab = sorted(set(text))
print(f"{len(vocab)} unique characters")
chars = tf.strings.unicode_split(["abcdefg", "xyz"], input_encoding="UTF-8")
print(chars)
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=list(vocab), mask_token=None)
chars_from_ids = tf.keras.layers.StringLookup(vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None)
print(ids_from_chars(tf.strings.unicode_split(["hear", "me"], "UTF-8")))


def text_from_ids(ids):
    return tf.strings.reduce_join(chars_from_ids(ids), axis=-1)


all_ids = ids_from_chars(tf.strings.unicode_split(text, "UTF-8"))
print(all_ids.shape, text_from_ids(all_ids[:14]).numpy())
ids_dataset = tf.data.Dataset.from_tensor_slices(all_ids)
for ids in ids_dataset.take(3):
    print(chars_from_ids(ids).numpy().decode("utf-8"), end=" ")
print()
seq_length = 12
sequences = ids_dataset.batch(seq_length + 1, drop_remainder=True)
for seq in sequences.take(2):
    print(text_from_ids(seq).numpy())


def split_input_target(sequence):
    return sequence[:-1], sequence[1:]


print(split_input_target(list("Tensorflow")))
dataset = sequences.map(split_input_target).batch(4, drop_remainder=True).prefetch(tf.data.experimental.AUTOTUNE)
print(dataset)


class MyModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = inputs
        x = self.embedding(x, training=training)
        if states is None:
            states = self.gru.get_initial_state(tf.shape(x)[0])
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        if return_state:
            return x, states
        return x


model = MyModel(len(ids_from_chars.get_vocabulary()), 8, 16)
for inp, target in dataset.take(1):
    pred = model(inp)
    print(pred.shape, "# (batch_size, sequence_length, vocab_size)")
rng = np.random.default_rng(0)
model.set_weights([rng.normal(0, 0.1, w.shape) for w in model.get_weights()])
pred = model(inp)
sampled = tf.random.categorical(pred[0], num_samples=1)
sampled = tf.squeeze(sampled, axis=-1).numpy()
print(sampled.shape, sampled.dtype)
loss = tf.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = loss(target, pred)
print(f"{mean_loss.numpy():.3f} {tf.exp(mean_loss).numpy():.2f}")
model.compile(optimizer="adam", loss=loss)
cb = tf.keras.callbacks.ModelCheckpoint(filepath="ckpt_{epoch}.weights.h5", save_weights_only=True)
history = model.fit(dataset, epochs=2, callbacks=[cb], verbose=0)
print(np.round(history.history["loss"], 3))


class OneStep(tf.keras.Model):
    def __init__(self, model, chars_from_ids, ids_from_chars, temperature=1.0):
        super().__init__()
        self.temperature, self.model = temperature, model
        self.chars_from_ids, self.ids_from_chars = chars_from_ids, ids_from_chars
        skip_ids = self.ids_from_chars(["[UNK]"])[:, None]
        sparse_mask = tf.SparseTensor(values=[-float("inf")] * len(skip_ids), indices=skip_ids, dense_shape=[len(ids_from_chars.get_vocabulary())])
        self.prediction_mask = tf.sparse.to_dense(sparse_mask)

    @tf.function
    def generate_one_step(self, inputs, states=None):
        input_chars = tf.strings.unicode_split(inputs, "UTF-8")
        input_ids = self.ids_from_chars(input_chars).to_tensor()
        predicted_logits, states = self.model(inputs=input_ids, states=states, return_state=True)
        predicted_logits = predicted_logits[:, -1, :]
        predicted_logits = predicted_logits / self.temperature
        predicted_logits = predicted_logits + self.prediction_mask
        predicted_ids = tf.random.categorical(predicted_logits, num_samples=1)
        predicted_ids = tf.squeeze(predicted_ids, axis=-1)
        return self.chars_from_ids(predicted_ids), states


one_step_model = OneStep(model, chars_from_ids, ids_from_chars)
print(one_step_model.prediction_mask.numpy()[:3])
states, next_char, result = None, tf.constant(["All:", "Spea"]), [tf.constant(["All:", "Spea"])]
for n in range(5):
    next_char, states = one_step_model.generate_one_step(next_char, states=states)
    result.append(next_char)
result = tf.strings.join(result)
print(result.shape, tf.strings.length(result).numpy(), states.shape)


class CustomTraining(MyModel):
    @tf.function
    def train_step(self, inputs):
        inputs, labels = inputs
        with tf.GradientTape() as tape:
            predictions = self(inputs, training=True)
            loss = self.loss(labels, predictions)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


custom = CustomTraining(len(ids_from_chars.get_vocabulary()), 8, 16)
custom(inp)
custom.set_weights(model.get_weights())
custom.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(np.round(custom.fit(dataset, epochs=1, verbose=0).history["loss"], 3))
mean = tf.metrics.Mean()
for epoch in range(2):
    mean.reset_state()
    for batch_n, (inp, target) in enumerate(dataset):
        logs = custom.train_step([inp, target])
        mean.update_state(logs["loss"])
    print(f"Epoch {epoch + 1} Loss: {mean.result().numpy():.4f}")
