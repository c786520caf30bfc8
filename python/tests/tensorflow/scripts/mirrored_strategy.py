import tensorflow as tf
import numpy as np

print("Num GPUs Available: ", len(tf.config.list_physical_devices('GPU')))
gpus = tf.config.list_physical_devices('GPU')
strategy = tf.distribute.MirroredStrategy() if len(gpus) > 1 else tf.distribute.get_strategy()
print('Number of devices: {}'.format(strategy.num_replicas_in_sync))

BATCH_SIZE = 8 * strategy.num_replicas_in_sync
rng = np.random.RandomState(0)
x = rng.rand(64, 8, 8, 1).astype('float32')
y = (x.mean(axis=(1, 2, 3)) > 0.5).astype('int64')
train_dataset = tf.data.Dataset.from_tensor_slices((x, y)).cache().batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
train_dataset = train_dataset.with_options(options)

with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(4, 3, activation='relu', input_shape=(8, 8, 1)),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(8, activation='relu'),
        tf.keras.layers.Dense(2)
    ])
    model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  optimizer=tf.keras.optimizers.Adam(),
                  metrics=['accuracy'])
model.set_weights([rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])


def decay(epoch):
    if epoch < 2:
        return 1e-2
    elif epoch >= 2 and epoch < 4:
        return 1e-3
    else:
        return 1e-4


class PrintLR(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print('Learning rate for epoch {} is {:.5f}'.format(epoch + 1, model.optimizer.learning_rate.numpy()))


history = model.fit(train_dataset, epochs=5, callbacks=[tf.keras.callbacks.LearningRateScheduler(decay), PrintLR()], verbose=0)
print(['%.4f' % v for v in history.history['loss']])
eval_loss, eval_acc = model.evaluate(train_dataset, verbose=0)
print('Eval loss: {:.4f}, Eval accuracy: {:.4f}'.format(eval_loss, eval_acc))
print(tf.keras.backend.image_data_format(), tf.keras.backend.floatx())
