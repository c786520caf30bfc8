"""Text classification with three vectorizers, and a model that takes raw strings in the end."""
import os
import re
import string
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses

GOOD = ["what a wonderful film", "I loved every minute<br />really", "great acting, great story!", "brilliant and moving", "a delight"]
BAD = ["what a terrible film", "I hated every minute<br />really", "bad acting; bad story...", "boring and slow", "a waste of time"]
root = tempfile.mkdtemp()
for split, copies in (('train', 8), ('test', 2)):
    for label, texts in (('neg', BAD), ('pos', GOOD)):
        os.makedirs(os.path.join(root, split, label))
        for i in range(copies):
            for j, text in enumerate(texts):
                with open(os.path.join(root, split, label, f'{i}_{j}.txt'), 'w') as f:
                    f.write(text)

batch_size, seed = 16, 42
raw_train_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(root, 'train'), batch_size=batch_size, validation_split=0.2, subset='training', seed=seed)
raw_val_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(root, 'train'), batch_size=batch_size, validation_split=0.2, subset='validation', seed=seed)
raw_test_ds = tf.keras.utils.text_dataset_from_directory(os.path.join(root, 'test'), batch_size=batch_size, shuffle=False)
print("Label 0 corresponds to", raw_train_ds.class_names[0])
print("Label 1 corresponds to", raw_train_ds.class_names[1])
for text_batch, label_batch in raw_test_ds.take(1):
    for i in range(3):
        print("Review", text_batch.numpy()[i])
        print("Label", label_batch.numpy()[i])


def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    stripped_html = tf.strings.regex_replace(lowercase, '<br />', ' ')
    return tf.strings.regex_replace(stripped_html, '[%s]' % re.escape(string.punctuation), '')


max_features, sequence_length = 60, 8
vectorize_layer = layers.TextVectorization(standardize=custom_standardization, max_tokens=max_features, output_mode='int', output_sequence_length=sequence_length)
train_text = raw_train_ds.map(lambda x, y: x)
vectorize_layer.adapt(train_text)


def vectorize_text(text, label):
    text = tf.expand_dims(text, -1)
    return vectorize_layer(text), label


vocabulary = vectorize_layer.get_vocabulary()
print(len(vocabulary), vocabulary[:2], sorted(vocabulary[2:])[:5])
AUTOTUNE = tf.data.AUTOTUNE
train_ds = raw_train_ds.map(vectorize_text).cache().prefetch(buffer_size=AUTOTUNE)
val_ds = raw_val_ds.map(vectorize_text).cache().prefetch(buffer_size=AUTOTUNE)
test_ds = raw_test_ds.map(vectorize_text).cache().prefetch(buffer_size=AUTOTUNE)
print(train_ds.element_spec)
print(test_ds.cardinality().numpy(), tf.data.experimental.cardinality(train_ds).numpy())

model = tf.keras.Sequential([layers.Embedding(max_features, 16), layers.Dropout(0.2), layers.GlobalAveragePooling1D(), layers.Dropout(0.2),
                             layers.Dense(1, activation='sigmoid')])
model.compile(loss=losses.BinaryCrossentropy(), optimizer=tf.keras.optimizers.Adam(0.05), metrics=[tf.metrics.BinaryAccuracy(threshold=0.5)])
history = model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=0)
loss, accuracy = model.evaluate(test_ds, verbose=0)
print(sorted(history.history.keys()))
print("Accuracy: ", accuracy, "low loss:", loss < 0.3)

export_model = tf.keras.Sequential([vectorize_layer, model, layers.Activation('linear')])
export_model.compile(loss=losses.BinaryCrossentropy(from_logits=False), optimizer="adam", metrics=['accuracy'])
metrics = export_model.evaluate(raw_test_ds, return_dict=True, verbose=0)
print({name: round(float(v), 1) for name, v in metrics.items() if name != 'loss'})
examples = tf.constant(["The film was great!", "The film was terrible..."])
scores = export_model.predict(examples, verbose=0)
print(scores.shape, bool(scores[0] > scores[1]))
print(export_model(examples).shape)

binary = layers.TextVectorization(max_tokens=30, output_mode='multi_hot')
binary.adapt(["the cat sat", "the dog sat down", "a cat and a dog"])
print(binary.get_vocabulary()[:4], binary(["the cat flew"]).numpy().sum(), binary(tf.constant([["the cat"], ["a dog"]])).shape)
bigrams = layers.TextVectorization(ngrams=2, output_mode='tf-idf')
bigrams.adapt(tf.data.Dataset.from_tensor_slices(["red green", "green blue", "red green blue"]).batch(2))
print(sorted(bigrams.get_vocabulary()))
out = bigrams(["red green", "blue"])
print(out.dtype, np.round(np.sort(out.numpy(), axis=1)[:, -3:], 4))
characters = layers.TextVectorization(split='character', standardize=None, vocabulary=list('abcdef'))
print(characters(["fade", "bad"]).numpy())
ragged = layers.TextVectorization(ragged=True, vocabulary=['earth', 'wind', 'and', 'fire'])
print(ragged([["earth wind and fire"], ["fire"]]))
lookup = layers.StringLookup(vocabulary=vocabulary[2:6] if False else ['x', 'y', 'z'], mask_token='')
inverse = layers.StringLookup(vocabulary=lookup.get_vocabulary(), mask_token='', invert=True)
print(lookup.get_vocabulary(), lookup([['x', 'z', 'q', '']]).numpy(), inverse(lookup([['x', 'z', 'q']])))
