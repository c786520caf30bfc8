"""Unfreezing in stages and image sizes that grow, by compile() between and inside fits."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
inp = keras.Input((None, None, 3))
x = layers.Conv2D(6, 3, activation="relu", name="stem")(inp)
x = layers.Conv2D(6, 3, activation="relu", name="body")(x)
model = keras.Model(inp, layers.Dense(2, activation="softmax")(layers.GlobalAveragePooling2D()(x)))
for v in model.weights:
    v.assign(rng.normal(0, 0.3, v.shape))
y = np.arange(16) % 2
for size, frozen in ((8, ("stem", "body")), (12, ("stem",)), (16, ())):
    for layer in model.layers:
        layer.trainable = layer.name not in frozen
    data = rng.random((16, size, size, 3)).astype("float32") + y[:, None, None, None] * 0.3
    model.compile(keras.optimizers.SGD(0.1, momentum=0.5), "sparse_categorical_crossentropy", metrics=["accuracy"])
    h = model.fit(data, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    print(size, len(model.trainable_weights), np.round(h.history["loss"], 4), model.predict(data, verbose=0).shape)
print(model.evaluate(data, y, verbose=0)[1] >= 0.0, [l.trainable for l in model.layers])
