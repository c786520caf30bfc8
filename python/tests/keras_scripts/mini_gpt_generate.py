# A decoder-only transformer on characters: causal attention, tied head, generation token by token, saving
import tempfile

import keras
import numpy as np
from keras import layers, ops

FOLDER = tempfile.mkdtemp()

text = "the quick brown fox jumps over the lazy dog. " * 12
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = np.array([stoi[c] for c in text], "int32")
SEQ, DIM = 16, 16
x = np.stack([ids[i:i + SEQ] for i in range(0, len(ids) - SEQ - 1, 5)])
y = np.stack([ids[i + 1:i + SEQ + 1] for i in range(0, len(ids) - SEQ - 1, 5)])


@keras.saving.register_keras_serializable()
class TokenAndPosition(layers.Layer):
    def __init__(self, vocab, maxlen, dim, **kwargs):
        super().__init__(**kwargs)
        self.vocab, self.maxlen, self.dim = vocab, maxlen, dim
        self.token = layers.Embedding(vocab, dim)
        self.position = layers.Embedding(maxlen, dim)

    def call(self, x):
        return self.token(x) + self.position(ops.arange(ops.shape(x)[-1]))

    def get_config(self):
        return super().get_config() | {"vocab": self.vocab, "maxlen": self.maxlen, "dim": self.dim}


@keras.saving.register_keras_serializable()
class Block(layers.Layer):
    def __init__(self, dim, heads, rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.dim, self.heads, self.rate = dim, heads, rate
        self.attention = layers.MultiHeadAttention(heads, dim // heads, dropout=rate)
        self.norm1, self.norm2 = layers.LayerNormalization(epsilon=1e-6), layers.LayerNormalization(epsilon=1e-6)
        self.ffn = keras.Sequential([layers.Dense(4 * dim, activation="gelu"), layers.Dense(dim)])

    def build(self, shape):
        self.attention.build(shape, shape)
        self.norm1.build(shape)
        self.norm2.build(shape)
        self.ffn.build(shape)
        super().build(shape)

    def call(self, x, training=None):
        h = self.norm1(x)
        x = x + self.attention(h, h, use_causal_mask=True, training=training)
        return x + self.ffn(self.norm2(x))

    def get_config(self):
        return super().get_config() | {"dim": self.dim, "heads": self.heads, "rate": self.rate}


inputs = keras.Input((None,), dtype="int32")
embed = TokenAndPosition(len(chars), 32, DIM)
h = embed(inputs)
for _ in range(2):
    h = Block(DIM, 4)(h)
h = layers.LayerNormalization(name="final")(h)
logits = layers.Dense(len(chars), use_bias=False)(h)
model = keras.Model(inputs, logits)
rng = np.random.default_rng(0)
for v in model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.1 + ("gamma" in v.path))


@keras.saving.register_keras_serializable()
class Perplexity(keras.metrics.Metric):
    def __init__(self, name="perplexity", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        ce = keras.losses.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)
        self.total.assign_add(ops.sum(ce))
        self.count.assign_add(ops.cast(ops.size(ce), "float32"))

    def result(self):
        return ops.exp(self.total / ops.maximum(self.count, 1))


model.compile(keras.optimizers.AdamW(5e-3, weight_decay=0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=[Perplexity(), "accuracy"])
history = model.fit(x, y, batch_size=16, epochs=6, shuffle=False, verbose=0)
for k, v in history.history.items():
    print(k, [f"{n:.3f}" for n in v])


def generate(model, prompt, n):
    tokens = [stoi[c] for c in prompt]
    for _ in range(n):
        logits = model.predict(np.array([tokens[-32:]]), verbose=0)[0, -1]
        tokens.append(int(np.argmax(logits)))
    return "".join(chars[t] for t in tokens)


print(repr(generate(model, "the qu", 12)))
print(ops.argmax(model(np.array([[stoi[c] for c in "over "]])), axis=-1).shape)
model.save(FOLDER + "/mini_gpt.keras")
print(repr(generate(keras.saving.load_model(FOLDER + "/mini_gpt.keras"), "lazy", 8)) == repr(generate(model, "lazy", 8)))
masked = np.array(model(x[:1]))
changed = x[:1].copy()
changed[0, -1] = (changed[0, -1] + 1) % len(chars)
print(np.abs(np.array(model(changed))[0, :-1] - masked[0, :-1]).max() < 1e-5)
