# "Attention is all you need", the tutorial's layers written by hand
import numpy as np
import tensorflow as tf
from tensorflow import keras


def get_angles(pos, i, d_model):
    angle_rates = 1 / np.power(10000, (2 * (i // 2)) / np.float32(d_model))
    return pos * angle_rates


def positional_encoding(position, d_model):
    angle_rads = get_angles(np.arange(position)[:, np.newaxis], np.arange(d_model)[np.newaxis, :], d_model)
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    pos_encoding = angle_rads[np.newaxis, ...]
    return tf.cast(pos_encoding, dtype=tf.float32)


def create_padding_mask(seq):
    seq = tf.cast(tf.math.equal(seq, 0), tf.float32)
    return seq[:, tf.newaxis, tf.newaxis, :]


def create_look_ahead_mask(size):
    return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)


x = tf.constant([[7, 6, 0, 0, 1], [1, 2, 3, 0, 0], [0, 0, 0, 4, 5]])
print(create_padding_mask(x))
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
temp_q = tf.constant([[0, 0, 10], [0, 10, 0], [10, 10, 0]], dtype=tf.float32)
out, attn = scaled_dot_product_attention(temp_q, temp_k, temp_v, None)
print(attn)
print(out)


class MultiHeadAttention(tf.keras.layers.Layer):
    def __init__(self, d_model, num_heads):
        super(MultiHeadAttention, self).__init__()
        self.num_heads = num_heads
        self.d_model = d_model
        assert d_model % self.num_heads == 0
        self.depth = d_model // self.num_heads
        self.wq = tf.keras.layers.Dense(d_model)
        self.wk = tf.keras.layers.Dense(d_model)
        self.wv = tf.keras.layers.Dense(d_model)
        self.dense = tf.keras.layers.Dense(d_model)

    def split_heads(self, x, batch_size):
        x = tf.reshape(x, (batch_size, -1, self.num_heads, self.depth))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def call(self, v, k, q, mask=None):
        batch_size = tf.shape(q)[0]
        q = self.split_heads(self.wq(q), batch_size)
        k = self.split_heads(self.wk(k), batch_size)
        v = self.split_heads(self.wv(v), batch_size)
        scaled_attention, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        scaled_attention = tf.transpose(scaled_attention, perm=[0, 2, 1, 3])
        concat_attention = tf.reshape(scaled_attention, (batch_size, -1, self.d_model))
        return self.dense(concat_attention), attention_weights


class Encoder(tf.keras.Model):
    def __init__(self, vocab, d_model, heads, classes):
        super().__init__()
        self.d_model = d_model
        self.embedding = tf.keras.layers.Embedding(vocab, d_model)
        self.pos_encoding = positional_encoding(20, d_model)
        self.mha = MultiHeadAttention(d_model, heads)
        self.ffn = keras.Sequential([keras.layers.Dense(16, activation='relu'), keras.layers.Dense(d_model)])
        self.layernorm1 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = keras.layers.LayerNormalization(epsilon=1e-6)
        self.final = keras.layers.Dense(classes)

    def call(self, x, training=None):
        seq_len = tf.shape(x)[1]
        mask = create_padding_mask(x)
        h = self.embedding(x)
        h *= tf.math.sqrt(tf.cast(self.d_model, tf.float32))
        h += self.pos_encoding[:, :seq_len, :]
        attn_output, _ = self.mha(h, h, h, mask)
        h = self.layernorm1(h + attn_output)
        h = self.layernorm2(h + self.ffn(h))
        return self.final(tf.reduce_mean(h, axis=1))


class CustomSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=20):
        super().__init__()
        self.d_model = tf.cast(d_model, tf.float32)
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, dtype=tf.float32)
        arg1 = tf.math.rsqrt(step)
        arg2 = step * (self.warmup_steps ** -1.5)
        return tf.math.rsqrt(self.d_model) * tf.math.minimum(arg1, arg2)


rng = np.random.default_rng(1)
data = rng.integers(0, 20, (48, 10))
target = (data[:, 0] > data[:, 1]).astype('int32')
model = Encoder(20, 8, 2, 2)
model(data[:2])
model.set_weights([rng.normal(size=w.shape) * 0.3 + (w.ndim == 1 and w.mean() == 1) for w in model.get_weights()])
schedule = CustomSchedule(8)
print(['%.5f' % schedule(float(s)) for s in (1, 10, 20, 100)])
optimizer = tf.keras.optimizers.SGD(schedule, momentum=0.9)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction='none')
train_loss = tf.keras.metrics.Mean(name='train_loss')
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
signature = [tf.TensorSpec(shape=(None, None), dtype=tf.int64), tf.TensorSpec(shape=(None,), dtype=tf.int32)]


@tf.function(input_signature=signature)
def train_step(inp, tar):
    with tf.GradientTape() as tape:
        predictions = model(inp, training=True)
        loss_ = loss_object(tar, predictions)
        mask = tf.cast(tf.not_equal(inp[:, 0], 0), loss_.dtype)
        loss = tf.reduce_sum(loss_ * mask) / tf.reduce_sum(mask)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)
    train_accuracy(tar, predictions)


for epoch in range(3):
    train_loss.reset_state()
    train_accuracy.reset_state()
    for batch in range(0, 48, 16):
        train_step(tf.constant(data[batch:batch + 16]), tf.constant(target[batch:batch + 16]))
    print(f'Epoch {epoch + 1} Loss {train_loss.result():.4f} Accuracy {train_accuracy.result():.4f}')
