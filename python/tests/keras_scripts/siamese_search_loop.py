# A small hyper-parameter search over a siamese network, then a custom loop over train_on_batch
import copy
import itertools
import pickle

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(11)
left = rng.normal(size=(48, 6)).astype("float32")
same = rng.integers(0, 2, 48)
right = np.where(same[:, None] == 1, left + 0.05 * rng.normal(size=left.shape), rng.normal(size=left.shape)).astype("float32")


def euclidean_distance(vects):
    x, y = vects
    return ops.sqrt(ops.maximum(ops.sum(ops.square(x - y), axis=1, keepdims=True), keras.config.epsilon()))


def contrastive(margin=1.0):
    def loss(y_true, y_pred):
        y_true = ops.cast(y_true, y_pred.dtype)
        return ops.mean(y_true * ops.square(y_pred) + (1 - y_true) * ops.square(ops.maximum(margin - y_pred, 0.0)))

    return loss


def build(units, rate):
    r = np.random.default_rng(units)
    tower = keras.Sequential([keras.Input((6,)), layers.Dense(units, activation="tanh"), layers.BatchNormalization(), layers.Dense(3)])
    a, b = keras.Input((6,), name="a"), keras.Input((6,), name="b")
    distance = layers.Lambda(euclidean_distance, output_shape=(1,))([tower(a), tower(b)])
    model = keras.Model([a, b], distance)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.4 + ("gamma" in v.path))
    model.compile(keras.optimizers.RMSprop(rate), contrastive(1.0))
    return model, tower


best, results = None, {}
for units, rate in itertools.product((4, 8), (0.01, 0.03)):
    keras.backend.clear_session()
    model, tower = build(units, rate)
    h = model.fit({"a": left, "b": right}, same[:, None], batch_size=16, epochs=3, shuffle=False, verbose=0)
    results[units, rate] = h.history["loss"][-1]
    print(units, rate, f"{results[units, rate]:.4f}")
print(min(results, key=results.get))

model, tower = build(8, 0.02)
for epoch in range(2):
    for i in range(0, 48, 16):
        loss = model.train_on_batch([left[i:i + 16], right[i:i + 16]], same[i:i + 16, None])
    print(epoch, f"{float(loss):.4f}")
weights = pickle.loads(pickle.dumps(model.get_weights()))
model.set_weights(weights)
twin = copy.deepcopy(tower)
print(np.allclose(twin.predict(left, verbose=0), tower.predict(left, verbose=0)))
restored = pickle.loads(pickle.dumps(tower))
print(np.allclose(restored.predict(left, verbose=0), tower.predict(left, verbose=0)))
d = model.predict([left, right], verbose=0).ravel()
print(f"{d[same == 1].mean():.3f} {d[same == 0].mean():.3f}")
print(f"{float(model.test_on_batch([left, right], same[:, None])):.4f}")
sims = ops.matmul(ops.normalize(tower(left[:3]), axis=-1), ops.transpose(ops.normalize(tower(right[:3]), axis=-1)))
print(np.round(ops.convert_to_numpy(sims), 3).tolist())
