"""Distributed training guide on one machine: MirroredStrategy, OneDeviceStrategy, custom loop, reduce, scopes."""
import os

import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(devices=["/cpu:0"])
print("Number of devices: {}".format(strategy.num_replicas_in_sync))
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8)).astype("float32")
y = (x.sum(1) > 0).astype("int32")
GLOBAL = 16 * strategy.num_replicas_in_sync
train = tf.data.Dataset.from_tensor_slices((x, y)).batch(GLOBAL)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
train = train.with_options(options)
train_dist = strategy.experimental_distribute_dataset(train)


def create_model():
    m = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(2)])
    w = np.random.default_rng(1)
    m.set_weights([w.normal(0, 0.3, p.shape) for p in m.get_weights()])
    return m


with strategy.scope():
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def compute_loss(labels, predictions, model_losses):
        per_example_loss = loss_object(labels, predictions)
        loss = tf.nn.compute_average_loss(per_example_loss, global_batch_size=GLOBAL)
        if model_losses:
            loss += tf.nn.scale_regularization_loss(tf.add_n(model_losses))
        return loss

    test_loss = tf.keras.metrics.Mean(name="test_loss")
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    model = create_model()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = compute_loss(labels, predictions, model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_accuracy.update_state(labels, predictions)
    return loss


def test_step(inputs):
    images, labels = inputs
    test_loss.update_state(loss_object(labels, model(images, training=False)))


@tf.function
def distributed_train_step(dataset_inputs):
    per_replica_losses = strategy.run(train_step, args=(dataset_inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


@tf.function
def distributed_test_step(dataset_inputs):
    return strategy.run(test_step, args=(dataset_inputs,))


for epoch in range(3):
    total_loss, num_batches = 0.0, 0
    for batch in train_dist:
        total_loss += distributed_train_step(batch)
        num_batches += 1
    for batch in train_dist:
        distributed_test_step(batch)
    print(f"Epoch {epoch + 1}, Loss: {total_loss / num_batches:.4f}, Accuracy: {train_accuracy.result() * 100:.2f}, Test Loss: {test_loss.result():.4f}")
    test_loss.reset_state()
    train_accuracy.reset_state()
checkpoint.save(os.path.join("training_checkpoints", "ckpt"))


@tf.function
def distributed_train_epoch(dataset):
    total, n = 0.0, 0
    for batch in dataset:
        per_replica = strategy.run(train_step, args=(batch,))
        total += strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)
        n += 1
    return total / tf.cast(n, dtype=tf.float32)


print(round(float(distributed_train_epoch(train_dist)), 4))
it = iter(train_dist)
print(round(float(distributed_train_step(next(it))), 4), it.get_next()[0].shape)
with strategy.scope():
    compiled = create_model()
    compiled.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
print({k: np.round(v, 3) for k, v in compiled.fit(train, epochs=2, verbose=0).history.items()})
one = tf.distribute.OneDeviceStrategy(device="/cpu:0")
with one.scope():
    v = tf.Variable(1.0)
    print(tf.distribute.get_strategy() is one, tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context())


@tf.function
def replica_fn():
    ctx = tf.distribute.get_replica_context()
    return ctx.all_reduce(tf.distribute.ReduceOp.SUM, tf.constant(2.0)) + v


print(float(one.run(replica_fn)), tf.distribute.has_strategy())
values = strategy.experimental_local_results(strategy.run(lambda: tf.constant([1.0, 2.0])))
print(len(values), values[0].numpy())
print(float(strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0)), strategy.extended is not None)
ds = strategy.distribute_datasets_from_function(lambda ctx: tf.data.Dataset.range(4).batch(ctx.get_per_replica_batch_size(2)))
print([b.numpy().tolist() for b in ds])
default = tf.distribute.get_strategy()
print(type(default).__name__ in ("DefaultDistributionStrategy", "_DefaultDistributionStrategy", "Strategy"), default.num_replicas_in_sync)
