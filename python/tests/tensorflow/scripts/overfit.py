import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, regularizers

rng = np.random.default_rng(0)
features = rng.normal(size=(1000, 28)).astype("float32")
labels = (features[:, :3].sum(1) > 0).astype("float32")


def pack_row(*row):
    label = row[0]
    return tf.stack(row[1:], 1), label[:, tf.newaxis]


ds = tf.data.Dataset.from_tensor_slices((labels,) + tuple(features.T))
packed_ds = ds.batch(200).map(pack_row).unbatch()
for x, y in packed_ds.batch(1000).take(1):
    print(x.shape, y.shape)
validate_ds = packed_ds.take(200).cache().batch(50)
train_ds = packed_ds.skip(200).take(800).cache().shuffle(800).repeat().batch(50)
STEPS_PER_EPOCH = 800 // 50

lr_schedule = tf.keras.optimizers.schedules.InverseTimeDecay(0.01, decay_steps=STEPS_PER_EPOCH * 100, decay_rate=1, staircase=False)
steps = np.linspace(0, 4000, 3)
print(np.round([float(lr_schedule(s)) for s in steps], 6))


def get_optimizer():
    return tf.keras.optimizers.Adam(lr_schedule)


def compile_and_fit(model, name, max_epochs=8):
    model.compile(optimizer=get_optimizer(), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.BinaryCrossentropy(from_logits=True, name='binary_crossentropy'), 'accuracy'])
    return model.fit(train_ds, steps_per_epoch=STEPS_PER_EPOCH, epochs=max_epochs, validation_data=validate_ds, verbose=0,
                     callbacks=[tf.keras.callbacks.EarlyStopping(monitor='val_binary_crossentropy', patience=200)])


tiny = tf.keras.Sequential([layers.Dense(16, activation='elu', input_shape=(28,)), layers.Dense(1)])
history = compile_and_fit(tiny, 'sizes/Tiny')
print(sorted(history.history))
print("tiny", round(history.history['val_accuracy'][-1], 1))

combined = tf.keras.Sequential([
    layers.Dense(64, kernel_regularizer=regularizers.l2(0.0001), activation='elu', input_shape=(28,)),
    layers.Dropout(0.5),
    layers.Dense(64, kernel_regularizer=regularizers.l2(0.0001), activation='elu'),
    layers.Dropout(0.5),
    layers.Dense(1)])
history = compile_and_fit(combined, 'regularizers/combined')
print("combined", round(history.history['val_accuracy'][-1], 1), "losses", len(combined.losses))
print("regularisation counts", history.history['loss'][-1] > history.history['binary_crossentropy'][-1])
