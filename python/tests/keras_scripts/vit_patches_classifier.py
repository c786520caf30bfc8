"""Vision transformer with patches, a class token and learned positions."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(11)
patch_size, dim, heads = 4, 16, 2


class Patches(layers.Layer):
    def __init__(self, patch_size, **kwargs):
        super().__init__(**kwargs)
        self.patch_size = patch_size

    def call(self, images):
        shape = ops.shape(images)
        batch, height, width, channels = shape
        h, w = height // self.patch_size, width // self.patch_size
        patches = keras.ops.image.extract_patches(images, size=self.patch_size)
        return ops.reshape(patches, (batch, h * w, self.patch_size * self.patch_size * channels))

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size}


class PatchEncoder(layers.Layer):
    def __init__(self, num_patches, projection_dim, **kwargs):
        super().__init__(**kwargs)
        self.num_patches = num_patches
        self.projection = layers.Dense(units=projection_dim)
        self.position_embedding = layers.Embedding(input_dim=num_patches + 1, output_dim=projection_dim)
        self.cls = self.add_weight(shape=(1, 1, projection_dim), initializer="zeros", name="cls")

    def call(self, patch):
        x = self.projection(patch)
        cls = ops.broadcast_to(self.cls, (ops.shape(x)[0], 1, ops.shape(x)[-1]))
        x = ops.concatenate([cls, x], axis=1)
        positions = ops.expand_dims(ops.arange(start=0, stop=self.num_patches + 1, step=1), axis=0)
        return x + self.position_embedding(positions)


def mlp(x, units):
    for u in units:
        x = layers.Dense(u, activation=keras.activations.gelu)(x)
        x = layers.Dropout(0.0)(x)
    return x


inputs = keras.Input(shape=(16, 16, 3))
patches = Patches(patch_size)(inputs)
encoded = PatchEncoder(16, dim)(patches)
for _ in range(2):
    x1 = layers.LayerNormalization(epsilon=1e-6)(encoded)
    attention = layers.MultiHeadAttention(num_heads=heads, key_dim=dim // heads, dropout=0.0)(x1, x1)
    x2 = layers.Add()([attention, encoded])
    x3 = layers.LayerNormalization(epsilon=1e-6)(x2)
    x3 = mlp(x3, [dim * 2, dim])
    encoded = layers.Add()([x3, x2])
rep = layers.LayerNormalization(epsilon=1e-6)(encoded)
logits = layers.Dense(4)(rep[:, 0])
model = keras.Model(inputs, logits)
for v in model.trainable_variables:
    if v.name not in ("gamma", "beta"):
        v.assign(rng.normal(0, 0.15, v.shape))
x = rng.random((32, 16, 16, 3)).astype("float32")
y = rng.integers(0, 4, (32, 1))
x[np.arange(32), :, :4, 0] += y[:, :, None] * 0.5
optimizer = keras.optimizers.AdamW(learning_rate=0.003, weight_decay=0.0001)
model.compile(optimizer=optimizer, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=[keras.metrics.SparseCategoricalAccuracy(name="accuracy"), keras.metrics.SparseTopKCategoricalAccuracy(2, name="top-2")])
h = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0)
for k in sorted(h.history):
    print(k, np.round(h.history[k], 3))
_, acc, top = model.evaluate(x, y, verbose=0)
print(model.output_shape, round(float(acc), 1) <= 1.0, top >= acc)
attn, scores = layers.MultiHeadAttention(2, 4)(np.ones((1, 5, 8), "float32"), np.ones((1, 5, 8), "float32"), return_attention_scores=True)
print(attn.shape, scores.shape, np.round(ops.convert_to_numpy(scores)[0, 0, 0], 2))
