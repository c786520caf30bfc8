# Batch, group, layer, RMS, spectral and unit normalisation in training and inference, frozen, with masks, in float16 policies
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(12)
images = (rng.normal(size=(24, 6, 6, 4)) * 2 + 1).astype("float32")
labels = rng.integers(0, 2, 24)


def weights(model):
    r = np.random.default_rng(0)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.3 + ("gamma" in v.path or "scale" in v.path))


for make in (
    lambda: layers.BatchNormalization(momentum=0.7, epsilon=1e-2), lambda: layers.BatchNormalization(center=False, scale=False), lambda: layers.BatchNormalization(axis=1), lambda: layers.GroupNormalization(groups=2),
    lambda: layers.GroupNormalization(groups=-1), lambda: layers.LayerNormalization(axis=[1, 2, 3]), lambda: layers.LayerNormalization(axis=-1, center=False), lambda: layers.RMSNormalization(), lambda: layers.UnitNormalization(axis=-1),
    lambda: layers.SpectralNormalization(layers.Conv2D(4, 1, use_bias=False), power_iterations=2),
):
    model = keras.Sequential([keras.Input((6, 6, 4)), layers.Conv2D(4, 3, activation="relu"), make(), layers.GlobalAveragePooling2D(), layers.Dense(1, activation="sigmoid")])
    weights(model)
    for v in model.non_trainable_variables:
        if "vector_u" in v.path:
            v.assign(np.ones(v.shape) / np.sqrt(np.prod(v.shape)))
    model.compile(keras.optimizers.SGD(0.1), "binary_crossentropy")
    h = model.fit(images, labels, epochs=3, batch_size=8, shuffle=False, verbose=0)
    layer = model.layers[1]
    print(type(layer).__name__, [f"{v:.4f}" for v in h.history["loss"]], f"{model.evaluate(images, labels, verbose=0):.4f}", [f"{float(np.sum(np.asarray(v))):.4f}" for v in layer.non_trainable_variables if "seed" not in v.path])
    again = keras.models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    print(np.allclose(again.predict(images, verbose=0), model.predict(images, verbose=0), atol=1e-6))

bn = layers.BatchNormalization()
bn.build((None, 3))
z = rng.normal(size=(16, 3)).astype("float32") * 3 + 5
print(np.round(np.asarray(bn(z, training=True)).std(0), 3), np.round(np.asarray(bn.moving_mean), 4))
bn.trainable = False
print(np.round(np.asarray(bn(z, training=True)).mean(0), 3), len(bn.trainable_weights), len(bn.non_trainable_weights))
bn.trainable = True
mask = np.zeros((16,), bool)
mask[:4] = True
bn3 = layers.BatchNormalization(momentum=0.5)
print(np.round(np.asarray(bn3(z[:, None, :], training=True, mask=mask[:, None])).mean((0, 1)), 3), np.round(np.asarray(bn3.moving_mean), 4))
# frozen inside a bigger model
base = keras.Sequential([keras.Input((6, 6, 4)), layers.Conv2D(3, 3), layers.BatchNormalization(), layers.ReLU(max_value=6.0, negative_slope=0.1)])
weights(base)
base.trainable = False
i = keras.Input((6, 6, 4))
x = base(i, training=False)
model = keras.Model(i, layers.Dense(1, kernel_initializer="ones")(layers.Flatten()(x)))
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
stats = [w.copy() for w in base.get_weights()]
h = model.fit(images, labels, epochs=2, batch_size=12, shuffle=False, verbose=0)
print([f"{v:.4f}" for v in h.history["loss"]], all((a == b).all() for a, b in zip(stats, base.get_weights())))
base.trainable = True
model.compile(keras.optimizers.Adam(1e-3), keras.losses.BinaryCrossentropy(from_logits=True))
h = model.fit(images, labels, epochs=2, batch_size=12, shuffle=False, verbose=0)
print([f"{v:.4f}" for v in h.history["loss"]], [bool((a == b).all()) for a, b in zip(stats, base.get_weights())])
