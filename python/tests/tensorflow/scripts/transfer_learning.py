import numpy as np
import tensorflow as tf

IMG_SIZE = (32, 32)
rng = np.random.default_rng(0)
y = np.arange(48) % 2
x = rng.uniform(0, 60, (48, 32, 32, 3)).astype("float32")
x[y == 1] += 150
train_dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).prefetch(tf.data.AUTOTUNE)

data_augmentation = tf.keras.Sequential([
    tf.keras.layers.RandomFlip('horizontal'),
    tf.keras.layers.RandomRotation(0.05),
])
preprocess_input = tf.keras.applications.mobilenet_v2.preprocess_input
base_model = tf.keras.applications.MobileNetV2(input_shape=IMG_SIZE + (3,), alpha=0.35, include_top=False, weights=None)
image_batch, label_batch = next(iter(train_dataset))
feature_batch = base_model(image_batch)
print(feature_batch.shape)

base_model.trainable = False
print("layers in the base", len(base_model.layers), "trainable", len(base_model.trainable_variables))
global_average_layer = tf.keras.layers.GlobalAveragePooling2D()
prediction_layer = tf.keras.layers.Dense(1, activation='sigmoid')

inputs = tf.keras.Input(shape=(32, 32, 3))
h = data_augmentation(inputs)
h = preprocess_input(h)
h = base_model(h, training=False)
h = global_average_layer(h)
h = tf.keras.layers.Dropout(0.2)(h)
outputs = prediction_layer(h)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.001), loss=tf.keras.losses.BinaryCrossentropy(),
              metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.5, name='accuracy')])
print("trainable", len(model.trainable_variables), "params", model.count_params())
history = model.fit(train_dataset, epochs=1, verbose=0)
print(sorted(history.history))

base_model.trainable = True
for layer in base_model.layers[:100]:
    layer.trainable = False
model.compile(optimizer=tf.keras.optimizers.RMSprop(learning_rate=1e-4), loss='binary_crossentropy', metrics=['accuracy'])
print("trainable after unfreezing", len(model.trainable_variables))
history_fine = model.fit(train_dataset, epochs=2, initial_epoch=history.epoch[-1], verbose=0)
print(history_fine.epoch)
print(model.predict(x[:4], verbose=0).shape)
