"""Losses for segmentation: Dice, Tversky, focal, boundary, with logits, one-hot, ignore classes; IoU family; a loop over all."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(8)
x = rng.random((8, 8, 8, 2)).astype("float32")
y = (x[..., :1] > 0.5).astype("float32")


def boundary(y_true, y_pred):
    k = ops.ones((3, 3, 1, 1))
    edge = lambda t: ops.max_pool(t, 3, 1, "same") - ops.conv(t, k, padding="same") / 9.0
    return ops.mean(ops.abs(edge(y_true) - edge(y_pred)))


def build(out=1, act="sigmoid"):
    i = keras.Input((8, 8, 2))
    h = layers.Conv2D(4, 3, padding="same", activation="relu")(i)
    d = layers.MaxPooling2D()(h)
    u = layers.Conv2DTranspose(4, 2, strides=2)(d)
    m = keras.Model(i, layers.Conv2D(out, 1, activation=act)(layers.Concatenate()([h, u])))
    w = np.random.default_rng(0)
    m.set_weights([w.normal(0, 0.3, p.shape) for p in m.get_weights()])
    return m


for loss in (keras.losses.Dice(), keras.losses.Tversky(alpha=0.3, beta=0.7), keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True), boundary, "hinge", "squared_hinge", keras.losses.Poisson(), keras.losses.KLDivergence(), "mean_absolute_percentage_error", "msle"):
    m = build()
    m.compile(keras.optimizers.SGD(0.1), loss, metrics=[keras.metrics.BinaryIoU([1], 0.5, name="iou"), keras.metrics.Recall(0.4, name="rec")])
    h = m.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    print(getattr(loss, "name", loss if isinstance(loss, str) else "boundary"), {k: np.round(v, 3).tolist() if v[0] < 1e4 else "big" for k, v in sorted(h.history.items())})
m = build(3, "softmax")
m.compile("sgd", keras.losses.CategoricalFocalCrossentropy(), metrics=[keras.metrics.OneHotMeanIoU(3), keras.metrics.OneHotIoU(3, [0, 2])])
yy = ops.one_hot(rng.integers(0, 3, (8, 8, 8)), 3)
print({k: np.round(v, 3).tolist() for k, v in sorted(m.fit(x, ops.convert_to_numpy(yy), epochs=1, shuffle=False, verbose=0).history.items())})
