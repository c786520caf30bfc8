import re
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses

good = ["wonderful", "great", "loved", "brilliant", "best", "superb"]
bad = ["terrible", "awful", "boring", "worst", "hated", "dull"]
filler = "the movie was a film with an actor and some scenes in it that i saw".split()
rng = np.random.default_rng(0)
texts, labels = [], []
for i in range(400):
    label = i % 2
    words = list(rng.choice(filler, 8)) + list(rng.choice(good if label else bad, 2))
    rng.shuffle(words)
    texts.append(" ".join(words) + ("!<br />" if i % 3 else "."))
    labels.append(label)

raw_train_ds = tf.data.Dataset.from_tensor_slices((texts[:320], labels[:320])).batch(32)
raw_test_ds = tf.data.Dataset.from_tensor_slices((texts[320:], labels[320:])).batch(32)
for text_batch, label_batch in raw_train_ds.take(1):
    print("Review", text_batch.numpy()[0])
    print("Label", label_batch.numpy()[0])


def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    stripped_html = tf.strings.regex_replace(lowercase, '<br />', ' ')
    return tf.strings.regex_replace(stripped_html, '[%s]' % re.escape(string.punctuation), '')


max_features, sequence_length = 100, 12
vectorize_layer = layers.TextVectorization(
    standardize=custom_standardization, max_tokens=max_features, output_mode='int', output_sequence_length=sequence_length)
train_text = raw_train_ds.map(lambda x, y: x)
vectorize_layer.adapt(train_text)


def vectorize_text(text, label):
    text = tf.expand_dims(text, -1)
    return vectorize_layer(text), label


print("Vectorized", vectorize_text("the movie was GREAT!<br />", 1)[0].shape)
print("vocabulary", len(vectorize_layer.get_vocabulary()), vectorize_layer.get_vocabulary()[:2], [str(v) for v in sorted(vectorize_layer.get_vocabulary())[-3:]])
train_ds = raw_train_ds.map(vectorize_text).cache().prefetch(buffer_size=tf.data.AUTOTUNE)
test_ds = raw_test_ds.map(vectorize_text).cache().prefetch(buffer_size=tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    layers.Embedding(max_features, 16),
    layers.Dropout(0.2),
    layers.GlobalAveragePooling1D(),
    layers.Dropout(0.2),
    layers.Dense(1, activation='sigmoid')])
model.compile(loss=losses.BinaryCrossentropy(), optimizer=tf.keras.optimizers.Adam(0.02), metrics=[tf.metrics.BinaryAccuracy(threshold=0.5)])
model.fit(train_ds, validation_data=test_ds, epochs=10, verbose=0)
loss, accuracy = model.evaluate(test_ds, verbose=0)
print("Accuracy:", round(accuracy, 1))
examples = tf.constant(["The movie was great and wonderful", "The movie was terrible and boring"])
scores = model.predict(vectorize_layer(examples), verbose=0)
print(scores.shape, scores[0, 0] > 0.5, scores[1, 0] > 0.5)
