import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(5)


def fixed(model):
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.2 + (1.0 if "gamma" in v.path else 0.0))
    return model


def backbone():
    inputs = keras.Input((16, 16, 3))
    x = layers.Rescaling(1.0 / 127.5, offset=-1)(inputs)
    for filters in (4, 8):
        x = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.ReLU(max_value=6.0)(x)
        x = layers.DepthwiseConv2D(3, strides=2, padding="same")(x)
        x = layers.GroupNormalization(groups=2)(x)
        x = layers.SpatialDropout2D(0.0)(x)
    return keras.Model(inputs, layers.GlobalMaxPooling2D()(x), name="backbone")


base = fixed(backbone())
base.trainable = False
inputs = keras.Input((16, 16, 3))
x = base(inputs, training=False)
model = keras.Model(inputs, layers.Dense(2)(x))
model.layers[-1].kernel.assign(rng.normal(size=(8, 2)) * 0.2)
images = rng.integers(0, 255, (24, 16, 16, 3)).astype("uint8")
labels = rng.integers(0, 2, 24)
images[labels == 1, :, :, 0] = 255
print("trainable", len(model.trainable_weights), "frozen", len(model.non_trainable_weights))
model.compile(keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
before = [w.copy() for w in base.get_weights()]
h = model.fit(images, labels, batch_size=8, epochs=2, shuffle=False, verbose=0)
print([f"{v:.4f}" for v in h.history["loss"]], all(np.array_equal(a, b) for a, b in zip(before, base.get_weights())))

base.trainable = True
for layer in base.layers[:4]:
    layer.trainable = False
model.compile(keras.optimizers.Adam(1e-3, weight_decay=0.01, global_clipnorm=1.0), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], jit_compile=True)
h = model.fit(images, labels, batch_size=8, epochs=2, shuffle=False, verbose=0)
print([f"{v:.4f}" for v in h.history["loss"]], len(model.trainable_weights))
changed = [not np.array_equal(a, b) for a, b in zip(before, base.get_weights())]
print(changed)

copied = keras.models.clone_model(model)
copied.set_weights(model.get_weights())
print(np.allclose(copied.predict(images, verbose=0), model.predict(images, verbose=0), atol=1e-5))
probe = keras.Model(model.inputs, keras.ops.softmax(model.outputs[0]) * 100.0)
print(probe.predict(images[:2], verbose=0).round(2).tolist())
schedule = keras.optimizers.schedules.CosineDecay(1e-2, 10, warmup_target=2e-2, warmup_steps=4)
model.compile(keras.optimizers.SGD(schedule, momentum=0.9), "sparse_categorical_crossentropy")
print([f"{float(schedule(s)):.5f}" for s in (0, 2, 4, 9, 14)])
keras.utils.clear_session()
