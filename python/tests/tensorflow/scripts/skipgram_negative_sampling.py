"""Word vectors by skip-gram with negative sampling made with NumPy and Keras's old text tools; nearest words by cosine."""
import io
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras.preprocessing.sequence import make_sampling_table, pad_sequences, skipgrams
from tensorflow.keras.preprocessing.text import Tokenizer

SEED = 42
sentences = ["The wide road shimmered in the hot sun", "the hot sun burned the road", "A wide river ran to the sea",
             "the cold sea met the wide river", "A king and a queen ruled the land", "the queen met the king in the hot land"]
tokenizer = Tokenizer(oov_token='<unk>')
tokenizer.fit_on_texts(sentences)
vocab, index = tokenizer.word_index, 1
inverse_vocab = {index: token for token, index in vocab.items()}
print(len(vocab), vocab['the'], tokenizer.index_word[2], tokenizer.document_count)
sequences = tokenizer.texts_to_sequences(sentences)
print(sequences[0], tokenizer.sequences_to_texts(sequences[:1]), tokenizer.texts_to_sequences(['the zebra']))
print(tokenizer.texts_to_matrix(['the hot hot sun'], mode='count')[0].astype(int), pad_sequences(sequences, padding='post', maxlen=9)[1])
vocab_size = len(vocab) + 1
positive_skip_grams, _ = skipgrams(sequences[0], vocabulary_size=vocab_size, window_size=2, negative_samples=0, shuffle=False)
print(len(positive_skip_grams))
for target, context in positive_skip_grams[:5]:
    print(f"({target}, {context}): ({inverse_vocab[target]}, {inverse_vocab[context]})")
print(make_sampling_table(size=10).round(4))
target_word, context_word = positive_skip_grams[0]
context_class = tf.reshape(tf.constant(context_word, dtype="int64"), (1, 1))
print(context_class)
num_ns = 4
rng = np.random.RandomState(SEED)
targets, contexts, labels = [], [], []
for sequence in sequences:
    pairs, _ = skipgrams(sequence, vocabulary_size=vocab_size, window_size=2, negative_samples=0, shuffle=False)
    for target, context in pairs:
        negatives = tf.constant(rng.randint(1, vocab_size, num_ns), dtype=tf.int64)
        context = tf.concat([tf.constant([context], dtype=tf.int64), negatives], 0)
        label = tf.constant([1] + [0] * num_ns, dtype="int64")
        targets.append(target)
        contexts.append(context)
        labels.append(label)
targets, contexts, labels = np.array(targets), np.array(contexts), np.array(labels)
print(f"targets.shape: {targets.shape}")
print(f"contexts.shape: {contexts.shape}")
print(f"labels.shape: {labels.shape}", contexts.dtype)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.batch(16, drop_remainder=True).cache().prefetch(buffer_size=tf.data.AUTOTUNE)
print(dataset)


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super(Word2Vec, self).__init__()
        self.target_embedding = layers.Embedding(vocab_size, embedding_dim, name="w2v_embedding")
        self.context_embedding = layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        if len(target.shape) == 2:
            target = tf.squeeze(target, axis=1)
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        dots = tf.einsum('be,bce->bc', word_emb, context_emb)
        return dots


def custom_loss(x_logit, y_true):
    return tf.nn.sigmoid_cross_entropy_with_logits(logits=x_logit, labels=y_true)


word2vec = Word2Vec(vocab_size, 8)
word2vec((targets[:2], contexts[:2]))
w = np.random.RandomState(0)
word2vec.set_weights([w.uniform(-0.5, 0.5, v.shape) for v in word2vec.get_weights()])
word2vec.compile(optimizer=tf.keras.optimizers.SGD(1.0), loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
history = word2vec.fit(dataset, epochs=6, shuffle=False, verbose=0)
print(np.round(history.history['loss'], 2), round(history.history['accuracy'][-1], 2))
print(tf.reduce_mean(custom_loss(word2vec((targets[:4], contexts[:4])), tf.cast(labels[:4], tf.float32))).numpy())
weights = word2vec.get_layer('w2v_embedding').get_weights()[0]
print(weights.shape)
folder = tempfile.mkdtemp()
out_v = io.open(os.path.join(folder, 'vectors.tsv'), 'w', encoding='utf-8')
out_m = io.open(os.path.join(folder, 'metadata.tsv'), 'w', encoding='utf-8')
for index in range(1, vocab_size):
    out_v.write('\t'.join([str(x) for x in weights[index]]) + "\n")
    out_m.write(inverse_vocab[index] + "\n")
out_v.close()
out_m.close()
print(tf.io.gfile.listdir(folder) and sorted(tf.io.gfile.listdir(folder)), len(open(os.path.join(folder, 'metadata.tsv')).readlines()))
normed = tf.math.l2_normalize(weights, axis=1)
similarity = tf.linalg.matmul(normed, normed, transpose_b=True)
values, nearest = tf.nn.top_k(similarity[vocab['king']], k=3)
print(inverse_vocab[int(nearest[0])], values[0].numpy(), nearest.dtype)
cosine = tf.keras.losses.CosineSimilarity(axis=-1)
print(cosine(weights[1:2], weights[2:3]).numpy(), getattr(tf.keras.utils, 'cosine_similarity', 'none'))
dot = layers.Dot(axes=1, normalize=True)([tf.constant(weights[1:3]), tf.constant(weights[2:4])])
print(dot)
