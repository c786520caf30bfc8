# Matrix factorisation fed by tf.data, ids through lookup layers
import collections
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
users = np.array(['u%d' % i for i in range(12)])
movies = np.array(['m%d' % i for i in range(15)])
rows = 160
frame = {'user': users[rng.randint(0, 12, rows)], 'movie': movies[rng.randint(0, 15, rows)], 'rating': rng.randint(1, 6, rows).astype('float32')}

user_lookup = tf.keras.layers.StringLookup(vocabulary=sorted(set(users.tolist())), mask_token=None)
movie_lookup = tf.keras.layers.StringLookup(mask_token=None)
movie_lookup.adapt(sorted(frame['movie']))
print(user_lookup.vocabulary_size(), movie_lookup.vocabulary_size(), [str(word) for word in user_lookup.get_vocabulary()[:3]])
ids = user_lookup(np.array(['u0', 'u11', 'nobody']))
print(ids.numpy())

ds = tf.data.Dataset.from_tensor_slices(dict(frame))
ds = ds.map(lambda row: ({'user': user_lookup(row['user']), 'movie': movie_lookup(row['movie'])}, row['rating']), num_parallel_calls=tf.data.AUTOTUNE)
train = ds.take(128).batch(16, drop_remainder=True)
test = ds.skip(128).batch(16)
print(train.cardinality().numpy(), len(test), train.element_spec[1])


class MF(tf.keras.Model):
    def __init__(self, n_users, n_movies, k):
        super(MF, self).__init__()
        self.p = tf.keras.layers.Embedding(n_users, k, embeddings_regularizer=tf.keras.regularizers.l2(1e-3))
        self.q = tf.keras.layers.Embedding(n_movies, k)
        self.bu = tf.keras.layers.Embedding(n_users, 1)
        self.bi = tf.keras.layers.Embedding(n_movies, 1)
        self.mu = self.add_weight(name='mu', shape=(), initializer=tf.keras.initializers.Constant(3.0))

    def call(self, inputs):
        u, m = inputs['user'], inputs['movie']
        dot = tf.reduce_sum(self.p(u) * self.q(m), axis=-1)
        return self.mu + dot + tf.squeeze(self.bu(u), -1) + tf.squeeze(self.bi(m), -1)


model = MF(13, 16, 4)
for batch, _ in train.take(1):
    model(batch)
model.set_weights([rng.normal(size=w.shape) * 0.2 + (3.0 if w.ndim == 0 else 0.0) for w in model.get_weights()])
model.compile(optimizer=tf.keras.optimizers.SGD(0.3, momentum=0.5), loss='mse', metrics=[tf.keras.metrics.RootMeanSquaredError(), 'mae'])
h = model.fit(train, validation_data=test, epochs=3, verbose=0)
print({k: ['%.4f' % v for v in vs] for k, vs in sorted(h.history.items())})
scores = model.predict({'user': user_lookup(np.repeat('u3', 15)), 'movie': movie_lookup(movies)}, verbose=0)
values, top = tf.math.top_k(scores, k=3)
print(top.numpy(), values.numpy().round(3))
counts = collections.Counter(frame['movie'])
print(counts.most_common(1)[0][1])
bins = tf.keras.layers.Discretization(bin_boundaries=[2., 4.])(frame['rating'][:5])
print(bins.numpy(), frame['rating'][:5])
onehot = tf.keras.layers.CategoryEncoding(num_tokens=3, output_mode='one_hot')(bins)
print(onehot.numpy().tolist())
hashed = tf.keras.layers.Hashing(num_bins=4)(tf.constant(['a', 'b', 'c']))
print(hashed.shape, hashed.numpy())
window = tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
print([w.numpy().tolist() for w in window])
