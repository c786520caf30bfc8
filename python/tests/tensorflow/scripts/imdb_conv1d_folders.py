"""Sentiment of film reviews from folders of text files: TextVectorization, Embedding, Conv1D, an end-to-end model."""
import os
import re
import shutil
import string
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses

folder = os.path.join(tempfile.mkdtemp(), 'aclImdb')
rng = np.random.RandomState(0)
good, bad, rest = ['great', 'lovely', 'superb', 'Fun!'], ['awful', 'boring', 'Bad...', 'dull'], ['the', 'film', 'was', 'a', 'plot<br />', 'actor', 'with', "it's"]
for split in ('train', 'test'):
    for label, words in (('neg', bad), ('pos', good)):
        os.makedirs(os.path.join(folder, split, label))
        for i in range(40):
            text = ' '.join(rng.choice(words if rng.rand() < 0.3 else rest) for _ in range(20))
            with open(os.path.join(folder, split, label, '%d_7.txt' % i), 'w') as f:
                f.write(text)
    if split == 'train':
        os.makedirs(os.path.join(folder, split, 'unsup'))
print(sorted(os.listdir(os.path.join(folder, 'train'))))
shutil.rmtree(os.path.join(folder, 'train', 'unsup'))

batch_size, seed = 16, 42
raw_train_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(folder, 'train'), batch_size=batch_size, validation_split=0.2, subset='training', seed=seed)
raw_val_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(folder, 'train'), batch_size=batch_size, validation_split=0.2, subset='validation', seed=seed)
raw_test_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(folder, 'test'), batch_size=batch_size, shuffle=False)
print('Label 0 corresponds to', raw_train_ds.class_names[0])
print('Label 1 corresponds to', raw_train_ds.class_names[1])
for text_batch, label_batch in raw_test_ds.take(1):
    for i in range(2):
        print('Review', text_batch.numpy()[i])
        print('Label', label_batch.numpy()[i])
print(tf.data.experimental.cardinality(raw_train_ds).numpy(), raw_val_ds.cardinality())


def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    stripped_html = tf.strings.regex_replace(lowercase, '<br />', ' ')
    return tf.strings.regex_replace(stripped_html, '[%s]' % re.escape(string.punctuation), '')


max_features, sequence_length = 30, 25
vectorize_layer = layers.TextVectorization(standardize=custom_standardization, max_tokens=max_features, output_mode='int', output_sequence_length=sequence_length)
train_text = raw_train_ds.map(lambda x, y: x)
vectorize_layer.adapt(train_text)
print(len(vectorize_layer.get_vocabulary()), sorted(vectorize_layer.get_vocabulary())[:8])


def vectorize_text(text, label):
    text = tf.expand_dims(text, -1)
    return vectorize_layer(text), label


# the order of equally common words does not matter below
vectorize_layer.set_vocabulary(sorted(vectorize_layer.get_vocabulary())[2:])
text, label = vectorize_text(tf.constant('The film was SUPERB!<br />Great, lovely unknown'), 1)
print('Vectorized review', text, label)
print('2 --->', vectorize_layer.get_vocabulary()[2])

AUTOTUNE = tf.data.AUTOTUNE
train_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(folder, 'train'), batch_size=16, shuffle=False).map(vectorize_text).cache().prefetch(buffer_size=AUTOTUNE)
test_ds = raw_test_ds.map(vectorize_text).cache().prefetch(buffer_size=AUTOTUNE)
model = tf.keras.Sequential([
    layers.Embedding(max_features, 8),
    layers.Dropout(0.0),
    layers.Conv1D(16, 5, padding='same', activation='relu'),
    layers.GlobalMaxPooling1D(),
    layers.Dense(1, activation='sigmoid')])
model.build((None, sequence_length))
w = np.random.RandomState(1)
model.set_weights([w.normal(size=v.shape) * 0.2 for v in model.get_weights()])
model.summary()
model.compile(loss=losses.BinaryCrossentropy(), optimizer=tf.keras.optimizers.SGD(0.3, momentum=0.5), metrics=[tf.metrics.BinaryAccuracy(threshold=0.5)])
history = model.fit(train_ds, validation_data=test_ds, epochs=3, shuffle=False, verbose=2)
loss, accuracy = model.evaluate(test_ds, verbose=0)
print('Loss: %.2f' % loss, 'Accuracy: %.2f' % accuracy)
print(history.history.keys())

export_model = tf.keras.Sequential([tf.keras.Input(shape=(1,), dtype='string'), vectorize_layer, model, layers.Activation('linear')])
export_model.compile(loss=losses.BinaryCrossentropy(from_logits=False), optimizer='adam', metrics=['accuracy'])
metrics = export_model.evaluate(raw_test_ds, return_dict=True, verbose=0)
print({k: round(v, 2) for k, v in sorted(metrics.items())})
examples = tf.constant([['The film was great!'], ['The film was a lovely plot.'], ['The film was awful...']])
print(export_model.predict(examples, verbose=0).round(2))
