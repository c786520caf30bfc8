"""A training loop of one's own: GradientTape, metrics, tf.function, checkpoints, early stopping, tf.print, progress bar."""
import os
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Conv2D, Dense, Flatten

rng = np.random.RandomState(0)
y_train = rng.randint(0, 4, 96)
x_train = rng.rand(96, 8, 8) * 80
for i, k in enumerate(y_train):
    x_train[i, (k // 2) * 4:(k // 2) * 4 + 4, (k % 2) * 4:(k % 2) * 4 + 4] += 150
x_train = x_train.astype('uint8')
x_test, y_test = x_train[64:], y_train[64:]
x_train, y_train = x_train[:64], y_train[:64]
x_train, x_test = x_train / 255.0, x_test / 255.0
x_train = x_train[..., tf.newaxis].astype("float32")
x_test = x_test[..., tf.newaxis].astype("float32")
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(16)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(16, drop_remainder=True)


class MyModel(Model):
    def __init__(self):
        super().__init__()
        self.conv1 = Conv2D(4, 3, activation='relu')
        self.flatten = Flatten()
        self.d1 = Dense(16, activation='relu')
        self.d2 = Dense(4)

    def call(self, x):
        x = self.conv1(x)
        x = self.flatten(x)
        x = self.d1(x)
        return self.d2(x)


model = MyModel()
model(x_train[:1])
w = np.random.RandomState(5)
for variable in model.trainable_variables:
    variable.assign(w.normal(size=variable.shape) * 0.2)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.01, decay_steps=8, decay_rate=0.9, staircase=True)
optimizer = tf.keras.optimizers.Adam(schedule)
train_loss = tf.keras.metrics.Mean('train_loss', dtype=tf.float32)
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name='train_accuracy')
test_loss = tf.keras.metrics.Mean(name='test_loss')
test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name='test_accuracy')


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = loss_object(labels, predictions)
        loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables if 'bias' not in v.name])
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = tf.clip_by_global_norm(gradients, 5.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)
    train_accuracy(labels, predictions)
    return loss, norm


@tf.function
def test_step(images, labels):
    predictions = model(images, training=False)
    t_loss = loss_object(labels, predictions)
    test_loss(t_loss)
    test_accuracy(labels, predictions)


checkpoint = tf.train.Checkpoint(step=tf.Variable(0), optimizer=optimizer, model=model)
manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
template = 'Epoch {}, Loss: {:.3f}, Accuracy: {:.1f}, Test Loss: {:.3f}, Test Accuracy: {:.1f}'
best, wait, patience = float('inf'), 0, 2
for epoch in range(5):
    train_loss.reset_state()
    train_accuracy.reset_state()
    test_loss.reset_state()
    test_accuracy.reset_state()
    for step, (images, labels) in enumerate(train_ds):
        loss, norm = train_step(images, labels)
        checkpoint.step.assign_add(1)
        if step % 4 == 0:
            tf.print('step', step, 'loss', tf.round(loss * 100) / 100, output_stream=sys.stdout)
    for test_images, test_labels in test_ds:
        test_step(test_images, test_labels)
    print(template.format(epoch + 1, train_loss.result(), train_accuracy.result() * 100, test_loss.result(), test_accuracy.result() * 100))
    if test_loss.result() < best:
        best, wait = test_loss.result(), 0
        save_path = manager.save()
        print("Saved checkpoint for step {}: {}".format(int(checkpoint.step), os.path.basename(save_path)))
    else:
        wait += 1
        if wait >= patience:
            print('early stopping')
            break
print(optimizer.iterations.numpy(), float(optimizer.learning_rate), len(optimizer.variables))
print(len(manager.checkpoints), os.path.basename(manager.latest_checkpoint), norm.shape)
before = model(x_test[:2])
model.d2.kernel.assign(tf.zeros_like(model.d2.kernel))
checkpoint.restore(manager.latest_checkpoint).expect_partial()
print(np.allclose(before, model(x_test[:2]), atol=1e-5), checkpoint.step.numpy())
grads = tf.Variable(tf.zeros(3))
grads.assign_sub([1.0, 2.0, 3.0])
print(grads, isinstance(grads, tf.Variable), tf.is_tensor(before), grads.trainable)
progress = tf.keras.utils.Progbar(3, stateful_metrics=['acc'], verbose=0)
for i in range(3):
    progress.update(i + 1, values=[('loss', 0.5), ('acc', 1.0)])
print([m.name for m in (train_loss, test_accuracy)], train_loss.dtype, tf.reduce_sum(model.losses or [0.0]).numpy())
