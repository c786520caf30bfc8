import math

import numpy as np
import tensorflow as tf

digits = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
print(tf.add(digits, 3))
print(tf.reduce_mean(digits, axis=1))
print(tf.concat([digits, [[5, 3]]], axis=0))
print(tf.tile(digits, [1, 2]))
print(tf.strings.substr(words, 0, 2))
print(tf.map_fn(tf.math.square, digits))
print(digits[0])
print(digits[:, :2])
print(digits[:, -2:])
print(digits + 3)
print(digits + tf.ragged.constant([[1, 2, 3, 4], [], [5, 6, 7], [8], []]))

times_two_plus_one = lambda x: x * 2 + 1
print(tf.ragged.map_flat_values(times_two_plus_one, digits))
print(digits.to_list(), digits.numpy().shape)
print(tf.RaggedTensor.from_value_rowids(values=[3, 1, 4, 1, 5, 9, 2], value_rowids=[0, 0, 0, 0, 2, 2, 3]))
print(tf.RaggedTensor.from_row_lengths(values=[3, 1, 4, 1, 5, 9, 2], row_lengths=[4, 0, 2, 1]))
rt = tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5, 9, 2], row_splits=[0, 4, 4, 6, 7])
print(rt)
print(rt.shape, rt.dtype, rt.nrows(), rt.row_lengths(), rt.row_splits, rt.values, rt.bounding_shape())
print(rt.value_rowids().numpy(), rt.flat_values.numpy(), rt.ragged_rank)

queries = tf.ragged.constant([['Who', 'is', 'Dan', 'Smith'], ['Pause'], ['Will', 'it', 'rain', 'later', 'today']])
num_buckets, embedding_size = 1024, 4
embedding_table = tf.Variable(np.random.RandomState(0).normal(size=(num_buckets, embedding_size)).astype('float32'))
word_buckets = tf.strings.to_hash_bucket_fast(queries, num_buckets)
word_embeddings = tf.nn.embedding_lookup(embedding_table, word_buckets)
print(word_embeddings.shape)
marker = tf.fill([queries.nrows(), 1], '#')
padded = tf.concat([marker, queries, marker], axis=1)
bigrams = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator='+')
print(bigrams)
avg_embedding = tf.reduce_mean(word_embeddings, axis=1)
print(avg_embedding.shape)

print(digits.to_tensor())
print(digits.to_tensor(default_value=-1, shape=[None, 5]).numpy())
print(tf.RaggedTensor.from_tensor([[1, 2, 0], [4, 0, 0], [5, 6, 7]], padding=0))
print(tf.RaggedTensor.from_tensor([[1, 2, 3], [4, 5, 6]], lengths=[1, 3]))
print(tf.ragged.range([2, 0, 3]))
print(tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])]))
print(tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]]))
print(tf.sequence_mask(digits.row_lengths()).numpy().astype(int))
print(tf.reduce_sum(digits, axis=1).numpy(), tf.reduce_max(rt[:1], axis=1).numpy(), tf.reduce_sum(digits).numpy())
print(tf.gather(words, [1, 0, 1])[0].numpy())
print(words[1], words[1][0].numpy(), words[-1, :2].numpy())
print(tf.strings.reduce_join(words, axis=1, separator=' ').numpy())
print(tf.strings.length(words))
print(tf.cast(digits, tf.float32) / 2.0)
print(digits > 3)
print(tf.where(digits > 3, digits, tf.zeros_like(digits)))


ds = tf.data.Dataset.from_tensor_slices(digits)
for x in ds.take(2):
    print(x)
for batch in tf.data.Dataset.range(5).map(lambda n: tf.range(n)).ragged_batch(2):
    print(batch)
for batch in tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n)).apply(tf.data.experimental.dense_to_ragged_batch(4)):
    print(batch.to_tensor().numpy())
for sentence in tf.data.Dataset.from_tensor_slices(words).map(lambda w: tf.strings.reduce_join(w, separator='-')):
    print(sentence)
print(isinstance(digits, tf.RaggedTensor), math.isclose(float(tf.reduce_mean(tf.cast(digits, tf.float32))), 31 / 8))
for row in digits:
    print(row.shape, end=' ')
print()

keras_model = tf.keras.Sequential([tf.keras.layers.Embedding(num_buckets, 3, embeddings_initializer='ones'), tf.keras.layers.GlobalAveragePooling1D()])
print(keras_model(word_buckets.to_tensor()).numpy())
