"""Named entities with a bidirectional LSTM: lookups, padded batches, masked loss and accuracy, a report."""
from collections import Counter

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.preprocessing.sequence import pad_sequences

sentences = ["john lives in new york", "mary flew to paris", "the cat sat in london", "peter and mary met in new york", "john met the cat", "paris is far"] * 4
tags = ["B-PER O O B-LOC I-LOC", "B-PER O O B-LOC", "O O O O B-LOC", "B-PER O B-PER O O B-LOC I-LOC", "B-PER O O O", "B-LOC O O"] * 4
words = [w for w, _ in Counter(w for s in sentences for w in s.split()).most_common(50)]
labels = ["[PAD]", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
mapping = dict(zip(range(len(labels)), labels))
inverse = {v: k for k, v in mapping.items()}
lookup_layer = keras.layers.StringLookup(vocabulary=words)


def export(path):
    with open(path, "w") as f:
        for s, t in zip(sentences, tags):
            s, t = s.split(), [str(inverse[x]) for x in t.split()]
            f.write(str(len(s)) + "\t" + "\t".join(s) + "\t" + "\t".join(t) + "\n")


export("train.txt")


def map_record_to_training_data(record):
    record = tf.strings.split(record, sep="\t")
    length = tf.strings.to_number(record[0], out_type=tf.int32)
    tokens = record[1 : length + 1]
    tags = record[length + 1 :]
    tags = tf.strings.to_number(tags, out_type=tf.int64)
    return tokens, tags


def lowercase_and_convert_to_ids(tokens):
    return lookup_layer(tf.strings.lower(tokens))


data = tf.data.TextLineDataset("train.txt")
print(list(data.take(1).as_numpy_iterator()))
train = data.map(map_record_to_training_data).map(lambda x, y: (lowercase_and_convert_to_ids(x), y)).padded_batch(8)
for x, y in train.take(1):
    print(x.shape, y.numpy()[0], x.dtype, y.dtype)


class CustomNonPaddingTokenLoss(keras.losses.Loss):
    def __init__(self, name="custom_ner_loss"):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=False, reduction=None)
        loss = loss_fn(y_true, y_pred)
        mask = tf.cast((y_true > 0), dtype=tf.float32)
        loss = loss * mask
        return tf.reduce_sum(loss) / tf.reduce_sum(mask)


def masked_accuracy(y_true, y_pred):
    y_pred = tf.cast(tf.argmax(y_pred, axis=-1), y_true.dtype)
    match, mask = y_true == y_pred, y_true != 0
    match = match & mask
    return tf.reduce_sum(tf.cast(match, tf.float32)) / tf.reduce_sum(tf.cast(mask, tf.float32))


model = keras.Sequential([layers.Embedding(len(words) + 2, 8), layers.Bidirectional(layers.LSTM(8, return_sequences=True, recurrent_dropout=0.0), merge_mode="concat"),
                          layers.Dense(8, activation="relu"), layers.Dense(len(labels), activation="softmax")])
model.build((None, None))
rng = np.random.default_rng(1)
model.set_weights([rng.normal(0, 0.3, w.shape) for w in model.get_weights()])
model.compile(optimizer=keras.optimizers.Adam(0.05), loss=CustomNonPaddingTokenLoss(), metrics=[masked_accuracy])
h = model.fit(train, epochs=4, verbose=0)
print(np.round(h.history["loss"], 2), len(h.history["masked_accuracy"]))
sample = tf.reshape(lowercase_and_convert_to_ids("john flew to london".split()), shape=[1, -1])
prediction = np.argmax(model.predict(sample, verbose=0), axis=-1)[0]
print([mapping[i] in labels for i in prediction])
true, pred = [], []
for x, y in train:
    p = tf.argmax(model.predict_on_batch(x), axis=-1)
    keep = tf.greater(y, 0)
    true += tf.boolean_mask(y, keep).numpy().tolist()
    pred += tf.boolean_mask(p, keep).numpy().tolist()
print(len(true), np.mean(np.array(true) == np.array(pred)) > 0.5)
cm = tf.math.confusion_matrix(true, pred, num_classes=len(labels))
print(cm.shape, int(tf.reduce_sum(cm)), tf.reduce_sum(cm, axis=1).numpy())

seqs = [lookup_layer(s.split()).numpy() for s in sentences]
X = pad_sequences(seqs, maxlen=8, padding="post", value=0)
Y = pad_sequences([[inverse[t] for t in s.split()] for s in tags], maxlen=8, padding="post", truncating="post")
weights = (Y > 0).astype("float32")
model.compile(keras.optimizers.RMSprop(0.01), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
h = model.fit(X, Y, sample_weight=weights, epochs=2, batch_size=8, shuffle=False, verbose=0)
print({k: np.round(v, 2) for k, v in h.history.items() if k == "loss"})
tok = keras.preprocessing.text.Tokenizer(oov_token="<OOV>") if hasattr(keras.preprocessing, "text") else None
print(tok is None or sorted(vars(tok))[:0])
ragged = tf.ragged.constant([[1, 2, 3], [4], []])
print(ragged.to_tensor(default_value=-1).numpy().tolist(), ragged.row_lengths().numpy(), ragged.bounding_shape().numpy())
vocab_table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(words[:3]), tf.range(3)), default_value=-1)
print(vocab_table.lookup(tf.constant([words[0], "zzz"])).numpy(), vocab_table.size().numpy())
