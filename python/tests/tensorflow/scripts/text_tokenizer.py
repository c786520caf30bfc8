import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.keras.preprocessing.sequence import pad_sequences

sentences = ['I love my dog', 'I love my cat!', 'you hate rain', 'They hate the traffic', 'I love the sun', 'we hate mondays',
             'she loves a walk', 'he love good tea', 'I hate a cold', 'we love music'] * 12
labels = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 1] * 12)

tokenizer = Tokenizer(num_words=100, oov_token="<OOV>")
tokenizer.fit_on_texts(sentences)
word_index = tokenizer.word_index
print(dict(list(word_index.items())[:6]))
sequences = tokenizer.texts_to_sequences(sentences)
padded = pad_sequences(sequences, maxlen=6, padding='post', truncating='post')
print(sequences[1], padded[1], padded.shape)
print(tokenizer.texts_to_sequences(['I really love my dog']))

model = tf.keras.Sequential([
    tf.keras.layers.Embedding(100, 8),
    tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(8)),
    tf.keras.layers.Dense(8, activation='relu'),
    tf.keras.layers.Dense(1, activation='sigmoid')
])
model.compile(loss='binary_crossentropy', optimizer=tf.keras.optimizers.Adam(learning_rate=0.01), metrics=['accuracy'])
history = model.fit(padded, labels, epochs=15, verbose=0)
print("accuracy", round(history.history['accuracy'][-1], 1))
result = model.predict(pad_sequences(tokenizer.texts_to_sequences(["they hate rain"]), maxlen=6, padding='post'), verbose=0)
print(result.shape, bool(result[0][0] < 0.5))
