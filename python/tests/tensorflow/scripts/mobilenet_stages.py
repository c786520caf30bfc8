"""Transfer learning in two stages: MobileNetV2 as a frozen feature extractor, then its top layers fine-tuned."""
import numpy as np
import tensorflow as tf

IMG_SIZE = (32, 32)
IMG_SHAPE = IMG_SIZE + (3,)
rng = np.random.RandomState(0)
labels = rng.randint(0, 2, 24)
images = (rng.rand(24, 32, 32, 3) * 100 + labels[:, None, None, None] * 120).astype('float32')
train_dataset = tf.data.Dataset.from_tensor_slices((images[:16], labels[:16])).batch(8)
validation_dataset = tf.data.Dataset.from_tensor_slices((images[16:], labels[16:])).batch(8)
val_batches = tf.data.experimental.cardinality(validation_dataset)
print('Number of validation batches: %d' % val_batches, 'Number of training batches: %d' % len(train_dataset))
data_augmentation = tf.keras.Sequential([tf.keras.layers.RandomFlip('horizontal'), tf.keras.layers.RandomRotation(0.2)])
preprocess_input = tf.keras.applications.mobilenet_v2.preprocess_input
print(preprocess_input(images[:1].copy()).min() >= -1, preprocess_input(tf.constant([[[[0.0, 127.5, 255.0]]]])))
base_model = tf.keras.applications.MobileNetV2(input_shape=IMG_SHAPE, include_top=False, weights=None, alpha=0.35)
w = np.random.RandomState(1)
base_model.set_weights([np.abs(w.normal(size=v.shape)) * 0.1 + 0.9 if v.ndim == 1 else w.normal(size=v.shape) * np.sqrt(2.0 / np.prod(v.shape[:3])) for v in base_model.get_weights()])
image_batch, label_batch = next(iter(train_dataset))
feature_batch = base_model(image_batch)
print(feature_batch.shape)
base_model.trainable = False
print(len(base_model.layers), len(base_model.trainable_variables), base_model.name)
global_average_layer = tf.keras.layers.GlobalAveragePooling2D()
feature_batch_average = global_average_layer(feature_batch)
print(feature_batch_average.shape)
prediction_layer = tf.keras.layers.Dense(1, activation='sigmoid', kernel_initializer='zeros')
prediction_batch = prediction_layer(feature_batch_average)
print(prediction_batch[:2])
inputs = tf.keras.Input(shape=IMG_SHAPE)
x = preprocess_input(inputs)
x = base_model(x, training=False)
x = global_average_layer(x)
x = tf.keras.layers.Dropout(0.0)(x)
outputs = prediction_layer(x)
model = tf.keras.Model(inputs, outputs)
model.summary()
print(len(model.trainable_variables))
base_learning_rate = 0.001
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=base_learning_rate), loss=tf.keras.losses.BinaryCrossentropy(), metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.5, name='accuracy')])
loss0, accuracy0 = model.evaluate(validation_dataset, verbose=0)
print("initial loss: {:.2f}".format(loss0))
initial_epochs = 2
history = model.fit(train_dataset, epochs=initial_epochs, validation_data=validation_dataset, verbose=0)
print(['%.2f' % v for v in history.history['loss']], sorted(history.history))
base_model.trainable = True
print("Number of layers in the base model: ", len(base_model.layers))
fine_tune_at = 145
for layer in base_model.layers[:fine_tune_at]:
    layer.trainable = False
for layer in base_model.layers:
    if isinstance(layer, tf.keras.layers.BatchNormalization):
        layer.trainable = False
model.compile(loss=tf.keras.losses.BinaryCrossentropy(), optimizer=tf.keras.optimizers.RMSprop(learning_rate=base_learning_rate / 10), metrics=['accuracy'])
print(len(model.trainable_variables), sum(np.prod(v.shape) for v in model.trainable_weights), len(model.non_trainable_weights))
history_fine = model.fit(train_dataset, epochs=initial_epochs + 1, initial_epoch=history.epoch[-1] + 1, validation_data=validation_dataset, verbose=0)
print(history_fine.epoch, len(history_fine.history['val_loss']))
image_batch, label_batch = validation_dataset.as_numpy_iterator().next()
predictions = model.predict_on_batch(image_batch).flatten()
predictions = tf.where(predictions < 0.5, 0, 1)
print(predictions.shape, predictions.dtype, label_batch.dtype)
extractor = tf.keras.Model(base_model.input, [base_model.get_layer('block_3_expand_relu').output, base_model.get_layer('out_relu').output])
print([f.shape for f in extractor(preprocess_input(image_batch.copy()))])
config = base_model.get_layer('Conv1').get_config()
print(config['filters'], config['strides'], base_model.get_layer('bn_Conv1').momentum, base_model.layers[-1].output.shape)
copy = tf.keras.models.clone_model(base_model)
copy.set_weights(base_model.get_weights())
print(np.allclose(copy(images[:1]), base_model(images[:1]), atol=1e-4))
