# A training loop of one's own: metrics, validation, schedules, weight decay, gradient clipping, early stopping, checkpoints, summaries
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(5)
x = rng.normal(size=(96, 8, 8, 1)).astype("float32")
y = (x.mean(axis=(1, 2, 3)) * 20).astype(int) % 4
train_dataset = tf.data.Dataset.from_tensor_slices((x[:64], y[:64])).batch(16)
val_dataset = tf.data.Dataset.from_tensor_slices((x[64:], y[64:])).batch(16)


class ConvBlock(keras.layers.Layer):
    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.conv = keras.layers.Conv2D(filters, 3, padding="same", use_bias=False, kernel_regularizer=keras.regularizers.l2(1e-3))
        self.bn = keras.layers.BatchNormalization()

    def call(self, inputs, training=False):
        return tf.nn.relu(self.bn(self.conv(inputs), training=training))


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.b1, self.b2 = ConvBlock(4), ConvBlock(6)
        self.pool, self.gap, self.fc = keras.layers.MaxPool2D(), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(4)

    def call(self, x, training=False):
        x = self.pool(self.b1(x, training=training))
        return self.fc(self.gap(self.b2(x, training=training)))


model = Net()
model(x[:1])
r = np.random.default_rng(1)
for v in model.trainable_variables:
    v.assign(r.normal(size=v.shape) * 0.3 + ("gamma" in v.path))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
schedule = keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=4, decay_rate=0.9)
optimizer = keras.optimizers.SGD(schedule, momentum=0.9)
train_acc, val_acc, train_loss = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.SparseCategoricalAccuracy(), keras.metrics.Mean()
folder = tempfile.mkdtemp()
checkpoint = tf.train.Checkpoint(step=tf.Variable(0), optimizer=optimizer, model=model)
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        loss = loss_fn(labels, logits) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_weights)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    train_acc.update_state(labels, logits)
    train_loss(loss)
    return loss, norm


@tf.function
def test_step(images, labels):
    val_acc.update_state(labels, model(images, training=False))


best, wait = 0.0, 0
for epoch in range(4):
    start = time.time()
    for step, (images, labels) in enumerate(train_dataset):
        loss, norm = train_step(images, labels)
        if step % 2 == 0:
            print("Epoch %d step %d: loss %.4f norm %.4f lr %.5f" % (epoch, step, float(loss), float(norm), float(optimizer.learning_rate)))
        checkpoint.step.assign_add(1)
    for images, labels in val_dataset:
        test_step(images, labels)
    template = "Epoch {}, Loss: {:.4f}, Accuracy: {:.4f}, Val: {:.4f}"
    print(template.format(epoch + 1, train_loss.result(), train_acc.result() * 100, val_acc.result() * 100))
    assert time.time() >= start
    if val_acc.result() > best:
        best, wait = float(val_acc.result()), 0
        path = manager.save()
        print("saved", os.path.basename(path))
    else:
        wait += 1
    for m in (train_acc, val_acc, train_loss):
        m.reset_state()
print(int(checkpoint.step), os.path.basename(manager.latest_checkpoint), len(manager.checkpoints) <= 2)
other = Net()
other(x[:1])
status = tf.train.Checkpoint(model=other).restore(manager.latest_checkpoint)
status.expect_partial()
model_at_save = tf.train.Checkpoint(model=model)
model_at_save.restore(manager.latest_checkpoint).expect_partial()
print(np.allclose(other(x[:4]), model(x[:4]), atol=1e-6))
print(len(model.losses), f"{float(sum(model.losses)):.4f}", [v.shape for v in model.non_trainable_weights][:2], optimizer.iterations.numpy())
preds = tf.argmax(model(x[:8]), axis=1, output_type=tf.int32)
correct = tf.equal(preds, tf.cast(y[:8], tf.int32))
print(tf.reduce_mean(tf.cast(correct, tf.float32)).numpy(), correct.shape, preds.dtype)
per_example = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(y[:8], model(x[:8]))
print(per_example.shape, tf.nn.compute_average_loss(per_example, global_batch_size=16).numpy().round(4), tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y[:8], logits=model(x[:8])).shape)
print(train_step.experimental_get_tracing_count() >= 1, isinstance(loss, tf.Tensor))
