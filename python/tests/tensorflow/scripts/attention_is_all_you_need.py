"""Pieces of the older transformer tutorial: positional encoding, masks, own attention, own schedule, training with fit."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Dropout, Embedding, Layer, LayerNormalization


def get_angles(pos, i, d_model):
    angle_rates = 1 / np.power(10000, (2 * (i // 2)) / np.float32(d_model))
    return pos * angle_rates


def positional_encoding(position, d_model):
    angle_rads = get_angles(np.arange(position)[:, np.newaxis], np.arange(d_model)[np.newaxis, :], d_model)
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return tf.cast(angle_rads[np.newaxis, ...], dtype=tf.float32)


print(positional_encoding(50, 8)[0, 3].numpy().round(4))


def create_padding_mask(seq):
    seq = tf.cast(tf.math.equal(seq, 0), tf.float32)
    return seq[:, tf.newaxis, tf.newaxis, :]


def create_look_ahead_mask(size):
    return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)


print(create_padding_mask(tf.constant([[7, 6, 0, 0, 1], [1, 2, 3, 0, 0]])))
print(create_look_ahead_mask(3))


def scaled_dot_product_attention(q, k, v, mask):
    matmul_qk = tf.matmul(q, k, transpose_b=True)
    dk = tf.cast(tf.shape(k)[-1], tf.float32)
    scaled_attention_logits = matmul_qk / tf.math.sqrt(dk)
    if mask is not None:
        scaled_attention_logits += (mask * -1e9)
    attention_weights = tf.nn.softmax(scaled_attention_logits, axis=-1)
    return tf.matmul(attention_weights, v), attention_weights


np.set_printoptions(suppress=True)
temp_k = tf.constant([[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]], dtype=tf.float32)
temp_v = tf.constant([[1, 0], [10, 0], [100, 5], [1000, 6]], dtype=tf.float32)
out, attn = scaled_dot_product_attention(tf.constant([[0, 0, 10], [0, 10, 0], [10, 10, 0]], dtype=tf.float32), temp_k, temp_v, None)
print('Attention weights are:')
print(attn)
print('Output is:')
print(out)


class MultiHeadAttention(Layer):
    def __init__(self, *, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_model = num_heads, d_model
        assert d_model % self.num_heads == 0
        self.depth = d_model // self.num_heads
        self.wq, self.wk, self.wv, self.dense = Dense(d_model), Dense(d_model), Dense(d_model), Dense(d_model)

    def split_heads(self, x, batch_size):
        x = tf.reshape(x, (batch_size, -1, self.num_heads, self.depth))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def call(self, v, k, q, mask=None):
        batch_size = tf.shape(q)[0]
        q, k, v = self.split_heads(self.wq(q), batch_size), self.split_heads(self.wk(k), batch_size), self.split_heads(self.wv(v), batch_size)
        scaled_attention, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        scaled_attention = tf.transpose(scaled_attention, perm=[0, 2, 1, 3])
        concat_attention = tf.reshape(scaled_attention, (batch_size, -1, self.d_model))
        return self.dense(concat_attention), attention_weights


def point_wise_feed_forward_network(d_model, dff):
    return tf.keras.Sequential([Dense(dff, activation='relu'), Dense(d_model)])


class DecoderLayer(Layer):
    def __init__(self, *, d_model, num_heads, dff, rate=0.0):
        super().__init__()
        self.mha = MultiHeadAttention(d_model=d_model, num_heads=num_heads)
        self.ffn = point_wise_feed_forward_network(d_model, dff)
        self.layernorm1, self.layernorm2 = LayerNormalization(epsilon=1e-6), LayerNormalization(epsilon=1e-6)
        self.dropout1, self.dropout2 = Dropout(rate), Dropout(rate)

    def call(self, x, training, mask):
        attn_output, block = self.mha(x, x, x, mask)
        out1 = self.layernorm1(x + self.dropout1(attn_output, training=training))
        out2 = self.layernorm2(out1 + self.dropout2(self.ffn(out1), training=training))
        return out2, block


class LanguageModel(tf.keras.Model):
    def __init__(self, vocab, d_model=16, layers=2):
        super().__init__()
        self.d_model = d_model
        self.embedding = Embedding(vocab, d_model)
        self.pos_encoding = positional_encoding(32, d_model)
        self.blocks = [DecoderLayer(d_model=d_model, num_heads=4, dff=32) for _ in range(layers)]
        self.final = Dense(vocab)

    def call(self, x, training=False):
        seq_len = tf.shape(x)[1]
        mask = tf.maximum(create_padding_mask(x), create_look_ahead_mask(seq_len))
        attention_weights = {}
        x = self.embedding(x)
        x *= tf.math.sqrt(tf.cast(self.d_model, tf.float32))
        x += self.pos_encoding[:, :seq_len, :]
        for i, layer in enumerate(self.blocks):
            x, block = layer(x, training=training, mask=mask)
            attention_weights[f'decoder_layer{i + 1}'] = block
        return self.final(x)


class CustomSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=4000):
        super().__init__()
        self.d_model = tf.cast(d_model, tf.float32)
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, dtype=tf.float32)
        arg1 = tf.math.rsqrt(step)
        arg2 = step * (self.warmup_steps ** -1.5)
        return tf.math.rsqrt(self.d_model) * tf.math.minimum(arg1, arg2)


learning_rate = CustomSchedule(128)
print(learning_rate(tf.range(1, 40001, 8000, dtype=tf.float32)).numpy())


def masked_loss(label, pred):
    mask = label != 0
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction='none')
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
    match, mask = tf.cast(match, dtype=tf.float32), tf.cast(mask, dtype=tf.float32)
    return tf.reduce_sum(match) / tf.reduce_sum(mask)


rng = np.random.RandomState(0)
starts = rng.randint(1, 8, 64)
rows = (starts[:, None] + np.arange(9)) % 8 + 1
rows[::5, 6:] = 0
inputs, targets = rows[:, :-1], rows[:, 1:]
model = LanguageModel(9)
model(inputs[:2])
rng = np.random.RandomState(1)
model.set_weights([rng.normal(size=w.shape) * 0.2 if w.ndim > 1 else w for w in model.get_weights()])
model.compile(loss=masked_loss, optimizer=tf.keras.optimizers.Adam(CustomSchedule(16, 60), beta_1=0.9, beta_2=0.98, epsilon=1e-9), metrics=[masked_accuracy])
history = model.fit(inputs, targets, epochs=6, batch_size=16, shuffle=False, verbose=0)
print('loss', ['%.2f' % v for v in history.history['loss']])
print('accuracy', '%.1f' % history.history['masked_accuracy'][-1], sorted(history.history))
print(model.count_params(), len(model.blocks), tf.reduce_all(model(inputs)[:, :3] == model(np.concatenate([inputs[:, :3], inputs[:, :5]], 1))[:, :3]).numpy())
