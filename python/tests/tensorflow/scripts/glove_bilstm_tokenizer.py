# Text the old way: Tokenizer, pad_sequences, an embedding matrix from "GloVe", BiLSTM with attention by Lambda, per-class report
import re

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Activation, Bidirectional, Dense, Dropout, Embedding, Flatten, GlobalMaxPooling1D, Input, Lambda, LSTM, Multiply, Permute, RepeatVector, SpatialDropout1D, concatenate
from tensorflow.keras.models import Model, Sequential
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.keras.utils import to_categorical

texts = ["I loved this movie, it was GREAT!!!", "terrible film; boring & bad...", "great acting but bad story", "What a wonderful wonderful day", "worst thing I've seen", "not bad at all, great fun", "boring boring boring", "a wonderful story"] * 4
labels = [1, 0, 1, 1, 0, 1, 0, 1] * 4


def clean(t):
    return re.sub(r"[^a-z ]", "", t.lower())


tokenizer = Tokenizer(num_words=20, oov_token="<OOV>", filters='!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n')
tokenizer.fit_on_texts(texts)
word_index = tokenizer.word_index
print(len(word_index), list(word_index.items())[:6], tokenizer.document_count, tokenizer.word_counts["great"])
seqs = tokenizer.texts_to_sequences(texts)
print(seqs[0], tokenizer.sequences_to_texts(seqs[:1]))
data = pad_sequences(seqs, maxlen=6, padding="post", truncating="pre")
print(data[:3], data.dtype, pad_sequences([[1, 2], [3]], value=-1), pad_sequences([[0.5], [0.1, 0.2]], dtype="float32"))
print(tokenizer.texts_to_matrix(texts[:2], mode="tfidf").round(3)[:, :6], tokenizer.texts_to_matrix(texts[:2], mode="count")[:, :6], tokenizer.texts_to_matrix(texts[:1], mode="binary").sum())
back = tf.keras.preprocessing.text.tokenizer_from_json(tokenizer.to_json())
print(back.texts_to_sequences(["great movie xyz"]), tf.keras.preprocessing.text.text_to_word_sequence("Hello, World of TF!"), len(tf.keras.preprocessing.text.one_hot("a b c", 10)))

rng = np.random.default_rng(0)
embeddings_index = {w: rng.normal(size=8).astype("float32") for w in list(word_index)[:15]}
vocab_size = min(20, len(word_index) + 1)
embedding_matrix = np.zeros((vocab_size, 8))
for word, i in word_index.items():
    if i >= vocab_size:
        continue
    vector = embeddings_index.get(word)
    if vector is not None:
        embedding_matrix[i] = vector
print("found", np.count_nonzero(np.count_nonzero(embedding_matrix, axis=1)) / vocab_size)
X, y = data, np.array(labels)
indices = np.arange(len(X))
rng.shuffle(indices)
X, y = X[indices], y[indices]


def fix(model):
    r = np.random.default_rng(7)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.3)


inp = Input(shape=(6,), dtype="int32")
emb = Embedding(vocab_size, 8, weights=[embedding_matrix], input_length=6, trainable=False)(inp)
x = SpatialDropout1D(0.0)(emb)
lstm = Bidirectional(LSTM(5, return_sequences=True, dropout=0.0, recurrent_dropout=0.0))(x)
attention = Dense(1, activation="tanh")(lstm)
attention = Flatten()(attention)
attention = Activation("softmax")(attention)
attention = RepeatVector(10)(attention)
attention = Permute([2, 1])(attention)
rep = Multiply()([lstm, attention])
rep = Lambda(lambda xin: tf.reduce_sum(xin, axis=-2), output_shape=(10,))(rep)
merged = concatenate([rep, GlobalMaxPooling1D()(lstm)])
out = Dense(2, activation="softmax")(Dropout(0.0)(merged))
model = Model(inp, out)
fix(model)
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.summary()
h = model.fit(X, to_categorical(y, num_classes=2), epochs=4, batch_size=8, shuffle=False, verbose=0, validation_split=0.25)
for k, v in h.history.items():
    print(k, np.round(v, 4))
pred = model.predict(X, verbose=0).argmax(axis=1)
print(tf.math.confusion_matrix(y, pred).numpy(), np.allclose(model.layers[1].get_weights()[0], embedding_matrix))
print(model.predict(pad_sequences(tokenizer.texts_to_sequences(["great wonderful story"]), maxlen=6, padding="post"), verbose=0).round(4))
bag = Sequential()
bag.add(Dense(4, input_dim=20, activation="relu"))
bag.add(Dense(1, activation="sigmoid"))
fix(bag)
bag.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
M = tokenizer.texts_to_matrix(texts, mode="freq")
h = bag.fit(M, np.array(labels), epochs=2, batch_size=8, verbose=0, shuffle=False)
print(np.round(h.history["loss"], 4), (bag.predict(M[:4], verbose=0) > 0.5).astype("int32").ravel())
