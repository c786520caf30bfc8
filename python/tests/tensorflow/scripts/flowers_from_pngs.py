"""Image classification from a folder of PNG files: augmentation layers, cache and prefetch, prediction on one image file."""
import pathlib
import tempfile

import numpy as np
import PIL
import PIL.Image
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.models import Sequential

data_dir = pathlib.Path(tempfile.mkdtemp()) / 'flower_photos'
rng = np.random.RandomState(3)
for k, name in enumerate(['daisy', 'roses', 'tulips']):
    (data_dir / name).mkdir(parents=True)
    for i in range(12):
        pixels = rng.randint(0, 100, (20, 24, 3))
        pixels[..., k] += 120
        PIL.Image.fromarray(pixels.astype('uint8')).save(str(data_dir / name / ('%02d.png' % i)))
image_count = len(list(data_dir.glob('*/*.png')))
print(image_count)
roses = sorted(data_dir.glob('roses/*'))
print(PIL.Image.open(str(roses[0])).size)

batch_size, img_height, img_width = 8, 16, 16
train_ds = tf.keras.utils.image_dataset_from_directory(data_dir, validation_split=0.25, subset='training', seed=123, image_size=(img_height, img_width), batch_size=batch_size)
val_ds = tf.keras.utils.image_dataset_from_directory(data_dir, validation_split=0.25, subset='validation', seed=123, image_size=(img_height, img_width), batch_size=batch_size)
class_names = train_ds.class_names
print(class_names, len(train_ds.file_paths), len(val_ds))
for image_batch, labels_batch in train_ds:
    print(image_batch.shape)
    print(labels_batch.shape, labels_batch.dtype)
    break
first, _ = next(iter(val_ds))
print(first[0].numpy().astype('uint8').shape, train_ds.element_spec)

AUTOTUNE = tf.data.AUTOTUNE
train_ds = train_ds.cache().shuffle(1000).prefetch(buffer_size=AUTOTUNE)
val_ds = val_ds.cache().prefetch(buffer_size=AUTOTUNE)
normalization_layer = layers.Rescaling(1. / 255)
normalized_ds = train_ds.map(lambda x, y: (normalization_layer(x), y))
image_batch, labels_batch = next(iter(normalized_ds))
print(np.min(image_batch[0]) >= 0.0, np.max(image_batch[0]) <= 1.0)

data_augmentation = keras.Sequential([
    layers.Input((img_height, img_width, 3)),
    layers.RandomFlip('horizontal'),
    layers.RandomRotation(0.1),
    layers.RandomZoom(0.1),
    layers.RandomContrast(0.1),
    layers.RandomTranslation(0.1, 0.1)])
image_batch = normalization_layer(next(iter(val_ds))[0])
augmented = data_augmentation(image_batch, training=True)
print(augmented.shape, np.allclose(data_augmentation(image_batch, training=False), image_batch))
num_classes = len(class_names)
model = Sequential([
    data_augmentation,
    layers.Rescaling(1. / 255),
    layers.Conv2D(8, 3, padding='same', activation='relu'),
    layers.MaxPooling2D(),
    layers.Conv2D(8, 3, padding='same', activation='relu'),
    layers.MaxPooling2D(),
    layers.Dropout(0.1),
    layers.Flatten(),
    layers.Dense(16, activation='relu'),
    layers.Dense(num_classes, name='outputs')])
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
print(len(model.layers), model.output_shape, model.count_params(), [layer.name for layer in data_augmentation.layers])
epochs = 12
history = model.fit(train_ds, validation_data=val_ds, epochs=epochs, verbose=0)
acc, val_acc = history.history['accuracy'], history.history['val_accuracy']
print(len(acc), max(val_acc) > 0.8, list(range(epochs))[-1])

img = tf.keras.utils.load_img(str(data_dir / 'tulips' / '03.png'), target_size=(img_height, img_width))
img_array = tf.keras.utils.img_to_array(img)
img_array = tf.expand_dims(img_array, 0)
predictions = model.predict(img_array, verbose=0)
score = tf.nn.softmax(predictions[0])
print('This image most likely belongs to {} ({}).'.format(class_names[np.argmax(score)], 100 * np.max(score) > 34))

list_ds = tf.data.Dataset.list_files(str(data_dir / '*/*'), shuffle=False)
for f in list_ds.take(2):
    print(tf.strings.split(f, '/')[-1].numpy(), tf.strings.split(f, '/')[-2] == class_names)


def get_label(file_path):
    parts = tf.strings.split(file_path, '/')
    one_hot = parts[-2] == class_names
    return tf.argmax(one_hot)


def decode_img(img):
    img = tf.io.decode_png(img, channels=3)
    return tf.image.resize(img, [img_height, img_width])


def process_path(file_path):
    label = get_label(file_path)
    img = tf.io.read_file(file_path)
    return decode_img(img), label


for image, label in list_ds.map(process_path, num_parallel_calls=AUTOTUNE).skip(20).take(2):
    print('Image shape: ', image.numpy().shape, 'Label: ', label.numpy(), image.numpy().mean(axis=(0, 1)))
val_size = int(image_count * 0.2)
print(list_ds.skip(val_size).cardinality().numpy(), tf.data.experimental.cardinality(list_ds.take(val_size)).numpy())
