import math

import numpy as np
import tensorflow as tf
from tensorflow.keras.utils import Sequence, to_categorical

rng = np.random.default_rng(0)
y = rng.integers(0, 3, 120)
x = np.eye(3, dtype="float32")[y] + rng.normal(0, 0.1, (120, 3)).astype("float32")


class DataGenerator(Sequence):
    def __init__(self, x, y, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size = x, y, batch_size
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, index):
        rows = self.order[index * self.batch_size : (index + 1) * self.batch_size]
        return self.x[rows], to_categorical(self.y[rows], num_classes=3)

    def on_epoch_end(self):
        self.order = np.random.permutation(len(self.x))


def make_model():
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu", input_dim=3), tf.keras.layers.Dense(3, activation="softmax")])
    model.compile(optimizer=tf.keras.optimizers.Adam(0.05), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


train = DataGenerator(x, y, 16)
print(len(train), train[0][0].shape, train[0][1].shape)
model = make_model()
history = model.fit(train, epochs=5, verbose=0)
print("Sequence accuracy", round(history.history["accuracy"][-1], 1))


def batches():
    while True:
        rows = np.random.randint(0, len(x), 20)
        yield x[rows], to_categorical(y[rows], 3)


model = make_model()
history = model.fit(batches(), steps_per_epoch=10, epochs=3, validation_data=(x, to_categorical(y, 3)), verbose=0)
print("generator accuracy", round(history.history["val_accuracy"][-1], 1), len(history.epoch))


def gen(stop):
    for i in range(stop):
        yield i, [i] * 2


ds = tf.data.Dataset.from_generator(gen, args=[3], output_types=(tf.int64, tf.int64), output_shapes=((), (2,)))
for element in ds:
    print(element)
signature = (tf.TensorSpec(shape=(3,), dtype=tf.float32), tf.TensorSpec(shape=(), dtype=tf.int32))
ds = tf.data.Dataset.from_generator(lambda: zip(x, y), output_signature=signature).batch(32)
print(ds.element_spec)
model = make_model()
model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
model.fit(ds, epochs=1, verbose=0)
print(len(model.predict(ds, verbose=0)))

weights = tf.keras.utils.normalize(np.ones((2, 4)))
print(weights, to_categorical([0, 2, 1]))
loss = model.train_on_batch(x[:8], y[:8])
print(np.ndim(loss), np.ndim(model.test_on_batch(x[:8], y[:8])), model.predict_on_batch(x[:8]).shape)
