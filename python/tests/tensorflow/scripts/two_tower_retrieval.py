"""Retrieval with two towers: in-batch negatives, custom train_step and test_step, top-k index, hard negative mining."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
user_ids = np.array([f"u{i}" for i in range(10)])
titles = np.array([f"movie {i}" for i in range(12)])
ratings = tf.data.Dataset.from_tensor_slices({"user_id": rng.choice(user_ids, 96), "movie_title": rng.choice(titles, 96), "user_rating": rng.integers(1, 6, 96).astype("float32")})
movies = tf.data.Dataset.from_tensor_slices(titles)
for x in ratings.take(1).as_numpy_iterator():
    print({k: v for k, v in x.items()})
user_vocab, movie_vocab = tf.keras.layers.StringLookup(mask_token=None), tf.keras.layers.StringLookup(mask_token=None)
user_vocab.adapt(ratings.map(lambda x: x["user_id"]).batch(50))
movie_vocab.adapt(movies.batch(4))
print(user_vocab.vocabulary_size(), movie_vocab.get_vocabulary()[:3])
unique = np.unique(np.concatenate(list(ratings.batch(40).map(lambda x: x["user_id"]))))
print(len(unique), unique[0])


class Retrieval(tf.keras.Model):
    def __init__(self, dim=6):
        super().__init__()
        self.query = tf.keras.Sequential([tf.keras.layers.Embedding(user_vocab.vocabulary_size(), dim), tf.keras.layers.Dense(dim)])
        self.candidate = tf.keras.Sequential([tf.keras.layers.Embedding(movie_vocab.vocabulary_size(), dim), tf.keras.layers.Dense(dim)])
        self.rating = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
        self.total = tf.keras.metrics.Mean(name="total_loss")
        self.rmse = tf.keras.metrics.RootMeanSquaredError(name="rmse")
        self.top = tf.keras.metrics.Mean(name="top3")

    def call(self, batch):
        u, m = self.query(batch["user"]), self.candidate(batch["movie"])
        return u, m, self.rating(tf.concat([u, m], axis=1))

    @property
    def metrics(self):
        return [self.total, self.rmse, self.top]

    def losses_of(self, batch, training):
        u, m, r = self(batch, training=training)
        scores = tf.matmul(u, m, transpose_b=True)
        n = tf.shape(scores)[0]
        labels = tf.eye(n)
        duplicate = tf.cast(tf.equal(batch["movie"][:, None], batch["movie"][None, :]), tf.float32) - labels
        scores = scores + duplicate * np.finfo(np.float32).min / 100.0
        retrieval = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=scores))
        ranking = tf.reduce_mean(tf.square(batch["user_rating"][:, None] - r))
        self.rmse.update_state(batch["user_rating"][:, None], r)
        self.top.update_state(tf.cast(tf.math.in_top_k(tf.range(n), scores, k=3), tf.float32))
        return retrieval + ranking

    def train_step(self, batch):
        with tf.GradientTape() as tape:
            loss = self.losses_of(batch, True)
            loss += sum(self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.total.update_state(loss)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, batch):
        self.total.update_state(self.losses_of(batch, False))
        return {m.name: m.result() for m in self.metrics}


def prepare(x):
    return {"user": user_vocab(x["user_id"]), "movie": movie_vocab(x["movie_title"]), "user_rating": x["user_rating"]}


train, test = ratings.take(72).map(prepare).batch(24).cache(), ratings.skip(72).map(prepare).batch(12).cache()
model = Retrieval()
model(next(iter(train)))
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.3, v.shape))
model.compile(optimizer=tf.keras.optimizers.SGD(0.01))
h = model.fit(train, epochs=3, verbose=0, validation_data=test)
for k in sorted(h.history):
    print(k, np.round(h.history[k], 3))
print({k: round(float(v), 3) for k, v in sorted(model.evaluate(test, return_dict=True, verbose=0).items())})


class BruteForce(tf.keras.layers.Layer):
    def __init__(self, k=3):
        super().__init__()
        self.k = k

    def index(self, candidates, identifiers):
        self.candidates = tf.concat(list(candidates), axis=0)
        self.identifiers = tf.constant(identifiers)
        return self

    def call(self, queries):
        scores = tf.linalg.matmul(queries, self.candidates, transpose_b=True)
        values, indices = tf.math.top_k(scores, k=self.k)
        return values, tf.gather(self.identifiers, indices)


index = BruteForce().index(movies.batch(5).map(lambda t: model.candidate(movie_vocab(t))), titles)
values, names = index(model.query(user_vocab(np.array(["u1", "nobody"]))))
print(values.shape, names.dtype, bool(tf.reduce_all(values[:, 0] >= values[:, 1])), names.numpy()[0, 0].decode().startswith("movie"))
pairs = tf.data.Dataset.zip((ratings.map(lambda x: x["user_rating"]), movies.repeat()))
print([(float(a), b.numpy()) for a, b in pairs.take(2)])
grouped = ratings.map(lambda x: x["user_rating"]).window(4, shift=4, drop_remainder=True).flat_map(lambda w: w.batch(4))
print(next(iter(grouped)).numpy(), grouped.reduce(0.0, lambda s, x: s + tf.reduce_mean(x)).numpy())
print(tf.math.segment_mean(tf.constant([1.0, 2, 3]), tf.constant([0, 0, 1])).numpy(), tf.math.unsorted_segment_sum(tf.constant([1.0, 2, 3]), tf.constant([1, 0, 1]), 2).numpy(), tf.math.bincount([1, 1, 3]).numpy())
sampled = tf.nn.sampled_softmax_loss(weights=tf.ones((12, 6)), biases=tf.zeros(12), labels=tf.constant([[1], [2]], tf.int64), inputs=tf.ones((2, 6)), num_sampled=4, num_classes=12)
print(sampled.shape, tf.nn.embedding_lookup(tf.eye(3), [2, 0]).numpy()[0], tf.nn.l2_normalize([3.0, 4.0], 0).numpy(), tf.nn.log_softmax([1.0, 2.0]).numpy().round(3))
