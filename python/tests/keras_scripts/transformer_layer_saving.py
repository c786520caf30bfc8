import os
import tempfile

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(1)


@keras.saving.register_keras_serializable(package="blog")
class TokenAndPosition(layers.Layer):
    def __init__(self, maxlen, vocab, dim, **kwargs):
        super().__init__(**kwargs)
        self.maxlen, self.vocab, self.dim = maxlen, vocab, dim
        self.token = layers.Embedding(vocab, dim, mask_zero=True)
        self.position = layers.Embedding(maxlen, dim)

    def call(self, x):
        positions = ops.arange(0, ops.shape(x)[-1], 1)
        return self.token(x) + self.position(positions)

    def compute_mask(self, x, mask=None):
        return self.token.compute_mask(x)

    def get_config(self):
        return {**super().get_config(), "maxlen": self.maxlen, "vocab": self.vocab, "dim": self.dim}


@keras.saving.register_keras_serializable(package="blog")
class Block(layers.Layer):
    def __init__(self, dim, heads, ff, rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.args = {"dim": dim, "heads": heads, "ff": ff, "rate": rate}
        self.att = layers.MultiHeadAttention(heads, dim)
        self.ffn = keras.Sequential([layers.Dense(ff, activation="gelu"), layers.Dense(dim)])
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.drop = layers.Dropout(rate)
        self.supports_masking = True

    def call(self, x, training=None, mask=None):
        a = self.att(x, x, use_causal_mask=True)
        x = self.norm1(x + self.drop(a, training=training))
        return self.norm2(x + self.ffn(x))

    def get_config(self):
        return {**super().get_config(), **self.args}


@keras.saving.register_keras_serializable()
def masked_accuracy(y_true, y_pred):
    match = ops.cast(ops.equal(ops.cast(y_true, "int32"), ops.cast(ops.argmax(y_pred, axis=-1), "int32")), "float32")
    return ops.mean(match)


inputs = keras.Input((9,), dtype="int32")
x = TokenAndPosition(9, 30, 8)(inputs)
x = Block(8, 2, 16)(x)
x = layers.GlobalAveragePooling1D()(x)
outputs = layers.Dense(3, activation="softmax")(x)
model = keras.Model(inputs, outputs, name="classifier")
for v in model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3 + (1.0 if v.path.endswith("gamma") else 0.0))
data = rng.integers(1, 30, (48, 9))
data[::3, 6:] = 0
labels = data[:, 0] % 3
model.compile("adamw", "sparse_categorical_crossentropy", metrics=[masked_accuracy, "accuracy"])
h = model.fit(data, labels, epochs=3, batch_size=16, shuffle=False, verbose=0, validation_split=0.25)
for k, v in sorted(h.history.items()):
    print(k, [f"{a:.4f}" for a in v])
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m.keras")
    model.save(path)
    loaded = keras.saving.load_model(path)
print(np.allclose(loaded.predict(data, verbose=0), model.predict(data, verbose=0), atol=1e-6))
h = loaded.fit(data, labels, epochs=1, batch_size=16, shuffle=False, verbose=0)
print(f"{h.history['loss'][0]:.4f}", int(loaded.optimizer.iterations))
model.summary(line_length=80)
