"""English-to-something sequence-to-sequence transformer with causal and padding masks (keras.io layout)."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(4)
vocab, seq, dim = 20, 8, 16


class TransformerEncoder(layers.Layer):
    def __init__(self, embed_dim, dense_dim, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.embed_dim, self.dense_dim, self.num_heads = embed_dim, dense_dim, num_heads
        self.attention = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.dense_proj = keras.Sequential([layers.Dense(dense_dim, activation="relu"), layers.Dense(embed_dim)])
        self.layernorm_1 = layers.LayerNormalization()
        self.layernorm_2 = layers.LayerNormalization()
        self.supports_masking = True

    def call(self, inputs, mask=None):
        padding_mask = ops.cast(mask[:, None, :], dtype="int32") if mask is not None else None
        attention_output = self.attention(query=inputs, value=inputs, key=inputs, attention_mask=padding_mask)
        proj_input = self.layernorm_1(inputs + attention_output)
        return self.layernorm_2(proj_input + self.dense_proj(proj_input))

    def get_config(self):
        config = super().get_config()
        config.update({"embed_dim": self.embed_dim, "dense_dim": self.dense_dim, "num_heads": self.num_heads})
        return config


class PositionalEmbedding(layers.Layer):
    def __init__(self, sequence_length, vocab_size, embed_dim, **kwargs):
        super().__init__(**kwargs)
        self.token_embeddings = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.position_embeddings = layers.Embedding(input_dim=sequence_length, output_dim=embed_dim)

    def call(self, inputs):
        length = ops.shape(inputs)[-1]
        return self.token_embeddings(inputs) + self.position_embeddings(ops.arange(0, length, 1))

    def compute_mask(self, inputs, mask=None):
        return ops.not_equal(inputs, 0)


class TransformerDecoder(layers.Layer):
    def __init__(self, embed_dim, latent_dim, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.attention_1 = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.attention_2 = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.dense_proj = keras.Sequential([layers.Dense(latent_dim, activation="relu"), layers.Dense(embed_dim)])
        self.norms = [layers.LayerNormalization() for _ in range(3)]
        self.supports_masking = True

    def call(self, inputs, mask=None):
        inputs, encoder_outputs = inputs
        causal_mask = self.get_causal_attention_mask(inputs)
        if mask is None:
            inputs_padding_mask, encoder_outputs_padding_mask = None, None
        else:
            inputs_padding_mask, encoder_outputs_padding_mask = mask
        a = self.attention_1(query=inputs, value=inputs, key=inputs, attention_mask=causal_mask, query_mask=inputs_padding_mask)
        out_1 = self.norms[0](inputs + a)
        b = self.attention_2(query=out_1, value=encoder_outputs, key=encoder_outputs, query_mask=inputs_padding_mask, key_mask=encoder_outputs_padding_mask)
        out_2 = self.norms[1](out_1 + b)
        return self.norms[2](out_2 + self.dense_proj(out_2))

    def get_causal_attention_mask(self, inputs):
        input_shape = ops.shape(inputs)
        sequence_length = input_shape[1]
        i = ops.arange(sequence_length)[:, None]
        j = ops.arange(sequence_length)
        mask = ops.cast(i >= j, dtype="int32")
        return ops.reshape(mask, (1, sequence_length, sequence_length))


encoder_inputs = keras.Input(shape=(None,), dtype="int64", name="encoder_inputs")
x = PositionalEmbedding(seq, vocab, dim)(encoder_inputs)
encoder_outputs = TransformerEncoder(dim, 32, 2)(x)
encoder = keras.Model(encoder_inputs, encoder_outputs)
decoder_inputs = keras.Input(shape=(None,), dtype="int64", name="decoder_inputs")
encoded_seq_inputs = keras.Input(shape=(None, dim), name="decoder_state_inputs")
x = PositionalEmbedding(seq, vocab, dim)(decoder_inputs)
x = TransformerDecoder(dim, 32, 2)([x, encoder_outputs])
x = layers.Dropout(0.0)(x)
decoder_outputs = layers.Dense(vocab, activation="softmax")(x)
transformer = keras.Model({"encoder_inputs": encoder_inputs, "decoder_inputs": decoder_inputs}, decoder_outputs, name="transformer")
for v in transformer.trainable_variables:
    if v.name not in ("gamma", "beta"):
        v.assign(rng.normal(0, 0.2, v.shape))
src = rng.integers(2, vocab, (24, seq))
src[:, 6:] = 0
tgt = np.concatenate([np.ones((24, 1), int), src[:, ::-1][:, 2:], np.zeros((24, 2), int)], axis=1)
transformer.compile(keras.optimizers.SGD(0.05), loss=keras.losses.SparseCategoricalCrossentropy(ignore_class=0), metrics=["accuracy"])
h = transformer.fit({"encoder_inputs": src, "decoder_inputs": tgt[:, :-1]}, tgt[:, 1:], epochs=3, batch_size=8, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 3), np.round(h.history["accuracy"], 2))


def decode(row):
    out = [1]
    for i in range(4):
        p = transformer.predict({"encoder_inputs": row[None], "decoder_inputs": np.array([out + [0] * (seq - 1 - len(out))])}, verbose=0)
        out.append(int(np.argmax(p[0, i])))
    return out


print(len(decode(src[0])), encoder.predict(src[:2], verbose=0).shape)
