import os
import pathlib
import tempfile

import numpy as np
import PIL.Image
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.models import Sequential

folder = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
colours = {"daisy": (230, 230, 60), "roses": (220, 20, 60), "tulips": (120, 30, 200)}
for name, colour in colours.items():
    (folder / name).mkdir()
    for i in range(20):
        pixels = np.clip(rng.normal(colour, 12, (40, 36, 3)), 0, 255).astype("uint8")
        PIL.Image.fromarray(pixels).save(folder / name / f"{i}.png")
print(len(list(folder.glob('*/*.png'))))

batch_size, img_height, img_width = 8, 32, 32
train_ds = tf.keras.utils.image_dataset_from_directory(
    folder, validation_split=0.2, subset="training", seed=123, image_size=(img_height, img_width), batch_size=batch_size)
val_ds = tf.keras.utils.image_dataset_from_directory(
    folder, validation_split=0.2, subset="validation", seed=123, image_size=(img_height, img_width), batch_size=batch_size)
class_names = train_ds.class_names
print(class_names)

for image_batch, labels_batch in train_ds:
    print(image_batch.shape, image_batch.dtype)
    print(labels_batch.shape, labels_batch.dtype)
    break

AUTOTUNE = tf.data.AUTOTUNE
train_ds = train_ds.cache().shuffle(1000).prefetch(buffer_size=AUTOTUNE)
val_ds = val_ds.cache().prefetch(buffer_size=AUTOTUNE)

normalization_layer = layers.Rescaling(1. / 255)
normalized_ds = train_ds.map(lambda x, y: (normalization_layer(x), y))
image_batch, labels_batch = next(iter(normalized_ds))
print(bool(np.min(image_batch[0]) >= 0), bool(np.max(image_batch[0]) <= 1))

model = Sequential([
    keras.Input((img_height, img_width, 3)),
    layers.RandomFlip("horizontal"),
    layers.Rescaling(1. / 255),
    layers.Conv2D(8, 3, padding='same', activation='relu'),
    layers.MaxPooling2D(),
    layers.Conv2D(16, 3, padding='same', activation='relu'),
    layers.MaxPooling2D(),
    layers.Dropout(0.1),
    layers.Flatten(),
    layers.Dense(32, activation='relu'),
    layers.Dense(len(class_names), name="outputs")
])
model.compile(optimizer='adam', loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
history = model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=0)
print("val accuracy", round(history.history['val_accuracy'][-1], 1))

img = tf.keras.utils.load_img(folder / "roses" / "3.png", target_size=(img_height, img_width))
img_array = tf.expand_dims(tf.keras.utils.img_to_array(img), 0)
score = tf.nn.softmax(model.predict(img_array, verbose=0)[0])
print("This image most likely belongs to", class_names[np.argmax(score)])

path = str(folder / "daisy" / "1.png")
raw = tf.io.read_file(path)
decoded = tf.io.decode_png(raw, channels=3)
print(decoded.shape, decoded.dtype, tf.image.resize(decoded, [16, 16]).shape)
print(os.path.exists(path), tf.io.gfile.exists(path))
