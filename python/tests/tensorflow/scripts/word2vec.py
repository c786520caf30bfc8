# Skip-gram with negative sampling, after the word2vec tutorial
import numpy as np
import tensorflow as tf

SEED = 42
sentence = "The wide road shimmered in the hot sun"
tokens = list(sentence.lower().split())
vocab, index = {}, 1
vocab["<pad>"] = 0
for token in tokens:
    if token not in vocab:
        vocab[token] = index
        index += 1
vocab_size = len(vocab)
inverse_vocab = {index: token for token, index in vocab.items()}
example_sequence = [vocab[word] for word in tokens]
print(vocab, example_sequence)

positive_skip_grams, _ = tf.keras.preprocessing.sequence.skipgrams(
    example_sequence, vocabulary_size=vocab_size, window_size=2, negative_samples=0, shuffle=False)
print(len(positive_skip_grams))
for target, context in positive_skip_grams[:5]:
    print(f"({target}, {context}): ({inverse_vocab[target]}, {inverse_vocab[context]})")

sampling_table = tf.keras.preprocessing.sequence.make_sampling_table(size=10)
print(np.round(sampling_table, 5))

target_word, context_word = positive_skip_grams[0]
context_class = tf.reshape(tf.constant(context_word, dtype="int64"), (1, 1))
negatives, _, _ = tf.random.log_uniform_candidate_sampler(
    true_classes=context_class, num_true=1, num_sampled=4, unique=True, range_max=vocab_size, seed=SEED, name="negative_sampling")
print(negatives.shape, negatives.dtype, len(set(negatives.numpy().tolist())), int(tf.reduce_max(negatives)) < vocab_size)

rng = np.random.default_rng(SEED)
targets, contexts, labels = [], [], []
for target, context in positive_skip_grams:
    negative = rng.integers(1, vocab_size, 4)
    targets.append(target)
    contexts.append(np.concatenate([[context], negative]))
    labels.append([1, 0, 0, 0, 0])
targets, contexts, labels = np.array(targets), np.array(contexts), np.array(labels)


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super().__init__()
        self.target_embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim, name="w2v_embedding")
        self.context_embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        if len(target.shape) == 2:
            target = tf.squeeze(target, axis=1)
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        dots = tf.einsum('be,bce->bc', word_emb, context_emb)
        return dots


BATCH_SIZE = 8
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.batch(BATCH_SIZE, drop_remainder=True).cache().prefetch(buffer_size=tf.data.AUTOTUNE)
print(dataset.element_spec[1].shape)
word2vec = Word2Vec(vocab_size, 16)
word2vec.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
word2vec((targets[:1], contexts[:1]))
word2vec.set_weights([rng.normal(size=w.shape) * 0.1 for w in word2vec.get_weights()])
history = word2vec.fit(dataset, epochs=5, verbose=0)
print("losses", [f"{l:.4f}" for l in history.history["loss"]])
weights = word2vec.get_layer('w2v_embedding').get_weights()[0]
print(weights.shape, np.round(weights[1, :4], 3))
normed = tf.nn.l2_normalize(weights, axis=1)
similarity = tf.matmul(normed, normed, transpose_b=True)
values, nearest = tf.nn.top_k(similarity[1], k=3)
print(nearest.numpy()[0], np.round(values.numpy(), 3)[0])
