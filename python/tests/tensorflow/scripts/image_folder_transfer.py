# Images from folders: split, augment, prefetch; a frozen MobileNetV2 without weights, fine-tuned, saved and loaded
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

folder = tempfile.mkdtemp()
rng = np.random.default_rng(0)
for c, name in enumerate(("cats", "dogs", "birds")):
    os.makedirs(os.path.join(folder, name))
    for i in range(8):
        image = np.clip(rng.normal(60 + 60 * c, 20, (36, 36, 3)), 0, 255).astype("uint8")
        tf.keras.utils.save_img(os.path.join(folder, name, f"{i}.png"), image) if i % 2 else tf.io.write_file(os.path.join(folder, name, f"{i}.jpg"), tf.io.encode_jpeg(image, quality=95))
train = tf.keras.utils.image_dataset_from_directory(folder, validation_split=0.25, subset="training", seed=3, image_size=(32, 32), batch_size=6, shuffle=False)
val = tf.keras.utils.image_dataset_from_directory(folder, validation_split=0.25, subset="validation", seed=3, image_size=(32, 32), batch_size=6, shuffle=False)
print(train.class_names, len(train), len(val), [os.path.basename(p) for p in train.file_paths[:2]])
for images, labels in train.take(1):
    print(images.shape, images.dtype, labels.numpy())
one_hot = tf.keras.preprocessing.image_dataset_from_directory(folder, label_mode="categorical", color_mode="grayscale", image_size=(16, 16), batch_size=4, interpolation="nearest", class_names=["dogs", "cats", "birds"], shuffle=False)
b = next(iter(one_hot))
print(b[0].shape, b[1].numpy()[0], one_hot.class_names)
train, val = train.cache().prefetch(tf.data.AUTOTUNE), val.cache().prefetch(tf.data.AUTOTUNE)
augmentation = tf.keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.1), layers.RandomZoom(0.1), layers.RandomContrast(0.1)])
base = tf.keras.applications.MobileNetV2(input_shape=(32, 32, 3), include_top=False, weights=None, alpha=0.35)
base.trainable = False
inputs = tf.keras.Input((32, 32, 3))
x = augmentation(inputs)
x = tf.keras.applications.mobilenet_v2.preprocess_input(x)
x = base(x, training=False)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dropout(0.2)(x)
outputs = layers.Dense(3)(x)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=1e-3), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
print(len(model.trainable_variables), len(base.layers), model.count_params(), sum(int(tf.size(v)) for v in model.trainable_variables))
loss0, acc0 = model.evaluate(val, verbose=0)
h = model.fit(train, epochs=1, validation_data=val, verbose=0)
print(sorted(h.history))
base.trainable = True
for layer in base.layers[:100]:
    layer.trainable = False
model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.RMSprop(learning_rate=1e-5), metrics=["accuracy"])
print(len(model.trainable_variables))
h = model.fit(train, epochs=2, initial_epoch=h.epoch[-1], validation_data=val, verbose=0)
print(h.epoch)
path = os.path.join(tempfile.mkdtemp(), "m.keras")
model.save(path)
again = tf.keras.models.load_model(path)
image_batch, label_batch = next(val.as_numpy_iterator())
print(np.allclose(again.predict_on_batch(image_batch), model.predict_on_batch(image_batch), atol=1e-5))
predictions = tf.where(tf.nn.softmax(model.predict_on_batch(image_batch)).numpy().max(1) < 0.5, 0, 1)
print(predictions.shape, label_batch.dtype)
img = tf.keras.utils.load_img(os.path.join(folder, "cats", "1.png"), target_size=(32, 32))
arr = tf.keras.utils.img_to_array(img)
arr = tf.expand_dims(arr, 0)
score = tf.nn.softmax(model.predict(arr, verbose=0)[0])
print(arr.shape, score.shape, f"{float(tf.reduce_sum(score)):.3f}", img.size)
small = tf.keras.Sequential([tf.keras.Input((32, 32, 3)), layers.Rescaling(1. / 255), layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(4), layers.Flatten(), layers.Dense(3)])
r = np.random.default_rng(1)
small.set_weights([r.normal(size=w.shape) * 0.1 for w in small.get_weights()])
pngs = tf.data.Dataset.list_files(os.path.join(folder, "*", "*.png"), shuffle=False)


def process_path(file_path):
    parts = tf.strings.split(file_path, os.path.sep)
    label = tf.argmax(tf.cast(parts[-2] == np.array(["birds", "cats", "dogs"]), tf.int32))
    img = tf.io.decode_png(tf.io.read_file(file_path), channels=3)
    return tf.image.resize(img, [32, 32]), label


ds = pngs.map(process_path, num_parallel_calls=tf.data.AUTOTUNE).batch(4)
small.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h = small.fit(ds, epochs=3, verbose=0)
print(np.round(h.history["loss"], 4), np.round(h.history["accuracy"], 4))
feature = tf.keras.Model(small.inputs, small.layers[1].output)
print(feature(images[:2]).shape, [l.name for l in small.layers][:2])
