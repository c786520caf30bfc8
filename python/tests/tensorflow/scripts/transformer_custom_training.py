# A translation transformer as in the tutorial: masks, scheduled Adam, masked loss, greedy decoding, an exported-like module
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)


def positional_encoding(length, depth):
    depth = depth / 2
    positions = np.arange(length)[:, np.newaxis]
    depths = np.arange(depth)[np.newaxis, :] / depth
    angle_rads = positions * (1 / (10000**depths))
    return tf.cast(np.concatenate([np.sin(angle_rads), np.cos(angle_rads)], axis=-1), dtype=tf.float32)


class PositionalEmbedding(tf.keras.layers.Layer):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.d_model = d_model
        self.embedding = tf.keras.layers.Embedding(vocab_size, d_model, mask_zero=True)
        self.pos_encoding = positional_encoding(length=64, depth=d_model)

    def compute_mask(self, *args, **kwargs):
        return self.embedding.compute_mask(*args, **kwargs)

    def call(self, x):
        length = tf.shape(x)[1]
        x = self.embedding(x)
        x *= tf.math.sqrt(tf.cast(self.d_model, tf.float32))
        return x + self.pos_encoding[tf.newaxis, :length, :]


class BaseAttention(tf.keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__()
        self.mha = tf.keras.layers.MultiHeadAttention(**kwargs)
        self.layernorm = tf.keras.layers.LayerNormalization()
        self.add = tf.keras.layers.Add()


class CrossAttention(BaseAttention):
    def call(self, x, context):
        attn_output, attn_scores = self.mha(query=x, key=context, value=context, return_attention_scores=True)
        self.last_attn_scores = attn_scores
        return self.layernorm(self.add([x, attn_output]))


class GlobalSelfAttention(BaseAttention):
    def call(self, x):
        return self.layernorm(self.add([x, self.mha(query=x, value=x, key=x)]))


class CausalSelfAttention(BaseAttention):
    def call(self, x):
        return self.layernorm(self.add([x, self.mha(query=x, value=x, key=x, use_causal_mask=True)]))


class FeedForward(tf.keras.layers.Layer):
    def __init__(self, d_model, dff):
        super().__init__()
        self.seq = tf.keras.Sequential([tf.keras.layers.Dense(dff, activation="relu"), tf.keras.layers.Dense(d_model), tf.keras.layers.Dropout(0.0)])
        self.add, self.layer_norm = tf.keras.layers.Add(), tf.keras.layers.LayerNormalization()

    def call(self, x):
        return self.layer_norm(self.add([x, self.seq(x)]))


class Transformer(tf.keras.Model):
    def __init__(self, *, d_model=8, heads=2, dff=16, vocab=15):
        super().__init__()
        self.pe, self.pd = PositionalEmbedding(vocab, d_model), PositionalEmbedding(vocab, d_model)
        self.e_att, self.e_ff = GlobalSelfAttention(num_heads=heads, key_dim=d_model), FeedForward(d_model, dff)
        self.d_att, self.c_att, self.d_ff = CausalSelfAttention(num_heads=heads, key_dim=d_model), CrossAttention(num_heads=heads, key_dim=d_model), FeedForward(d_model, dff)
        self.final_layer = tf.keras.layers.Dense(vocab)

    def call(self, inputs):
        context, x = inputs
        context = self.e_ff(self.e_att(self.pe(context)))
        x = self.d_ff(self.c_att(self.d_att(self.pd(x)), context))
        logits = self.final_layer(x)
        try:
            del logits._keras_mask
        except AttributeError:
            pass
        return logits


class CustomSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=20):
        super().__init__()
        self.d_model = tf.cast(d_model, tf.float32)
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, dtype=tf.float32)
        return tf.math.rsqrt(self.d_model) * tf.math.minimum(tf.math.rsqrt(step), step * (self.warmup_steps ** -1.5))


def masked_loss(label, pred):
    mask = label != 0
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    loss = loss_object(label, pred)
    mask = tf.cast(mask, dtype=loss.dtype)
    loss *= mask
    return tf.reduce_sum(loss) / tf.reduce_sum(mask)


def masked_accuracy(label, pred):
    pred = tf.argmax(pred, axis=2)
    label = tf.cast(label, pred.dtype)
    match = label == pred
    mask = label != 0
    match = match & mask
    return tf.reduce_sum(tf.cast(match, dtype=tf.float32)) / tf.reduce_sum(tf.cast(mask, dtype=tf.float32))


src = rng.integers(3, 15, (48, 6))
src[:, 4:][rng.random((48, 2)) < 0.4] = 0
tgt = np.concatenate([np.full((48, 1), 1), src[:, ::-1], np.full((48, 1), 2)], axis=1)


def prepare(s, t):
    return (s, t[:, :-1]), t[:, 1:]


ds = tf.data.Dataset.from_tensor_slices((src, tgt)).batch(16).map(prepare, tf.data.AUTOTUNE).prefetch(buffer_size=tf.data.AUTOTUNE)
model = Transformer()
model((src[:2], tgt[:2, :-1]))
r = np.random.default_rng(2)
for v in model.trainable_variables:
    v.assign(r.normal(size=v.shape) * 0.2 + ("gamma" in v.path))
print(model.c_att.last_attn_scores.shape, model.count_params())
schedule = CustomSchedule(8)
print(schedule(tf.range(1, 5, dtype=tf.float32)).numpy().round(5))
model.compile(loss=masked_loss, optimizer=tf.keras.optimizers.SGD(0.05, momentum=0.9), metrics=[masked_accuracy])
h = model.fit(ds, epochs=3, validation_data=ds, verbose=0)
for k, v in h.history.items():
    print(k, np.round(v, 4))


class Translator(tf.Module):
    def __init__(self, transformer):
        self.transformer = transformer

    def __call__(self, sentence, max_length=6):
        output_array = tf.TensorArray(dtype=tf.int64, size=0, dynamic_size=True)
        output_array = output_array.write(0, tf.constant([1], tf.int64))
        for i in tf.range(max_length):
            output = tf.transpose(output_array.stack())
            predictions = self.transformer([sentence, output], training=False)
            predictions = predictions[:, -1:, :]
            predicted_id = tf.argmax(predictions, axis=-1)
            output_array = output_array.write(i + 1, predicted_id[0])
            if predicted_id == 2:
                break
        return tf.transpose(output_array.stack())


t = Translator(model)
print(t(tf.constant(src[:1])).numpy(), t.transformer.c_att.last_attn_scores.shape)
mask = 1 - tf.linalg.band_part(tf.ones((4, 4)), -1, 0)
print(mask.numpy(), tf.cast(tf.math.equal(src[:2], 0), tf.float32)[:, tf.newaxis, tf.newaxis, :].shape)
