import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.image import ImageDataGenerator, img_to_array, array_to_img

rng = np.random.default_rng(0)
labels = np.arange(40) % 2
images = rng.uniform(0, 80, (40, 16, 16, 3)).astype("float32")
images[labels == 1, :, :8] += 150

datagen = ImageDataGenerator(rescale=1. / 255, rotation_range=10, width_shift_range=0.1, height_shift_range=0.1, zoom_range=0.1,
                             horizontal_flip=False, fill_mode='nearest')
flow = datagen.flow(images, labels, batch_size=8, shuffle=False)
x, y = next(flow)
print(x.shape, y, bool(x.max() <= 1.0), len(flow))
model = tf.keras.models.Sequential([
    tf.keras.layers.Conv2D(8, (3, 3), activation='relu', input_shape=(16, 16, 3)),
    tf.keras.layers.MaxPooling2D(2, 2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(16, activation='relu'),
    tf.keras.layers.Dense(1, activation='sigmoid')])
model.compile(loss='binary_crossentropy', optimizer=tf.keras.optimizers.RMSprop(learning_rate=0.005), metrics=['accuracy'])
history = model.fit(datagen.flow(images, labels, batch_size=8), steps_per_epoch=5, epochs=10, verbose=0)
print("accuracy", round(max(history.history['accuracy']), 1))

image = tf.cast(tf.reshape(tf.range(4 * 6 * 3), [4, 6, 3]), tf.float32) / 72.0
print(tf.image.flip_left_right(image)[0, 0].numpy().round(3), tf.image.flip_up_down(image)[0, 0].numpy().round(3))
print(tf.image.rgb_to_grayscale(image)[0, :, 0].numpy().round(3), tf.image.adjust_brightness(image, 0.1)[0, 0].numpy().round(3))
print(tf.image.adjust_contrast(image, 2.0)[0, 0].numpy().round(3), tf.image.central_crop(image, 0.5).shape, tf.image.rot90(image).shape)
print(tf.image.adjust_saturation(image, 0.5)[1, 1].numpy().round(3), tf.image.per_image_standardization(image)[0, 0].numpy().round(3))
print(tf.image.resize(image, [2, 3])[0, :, 0].numpy().round(3), tf.image.resize(image, [8, 12], method="nearest")[1, :4, 0].numpy().round(3))
print(tf.image.resize(image, [8, 12])[3, :4, 0].numpy().round(3), tf.image.resize_with_crop_or_pad(image, 6, 4).shape, tf.image.resize_with_pad(image, 8, 8).shape)
print(tf.image.convert_image_dtype(tf.constant([[[0, 128, 255]]], tf.uint8), tf.float32).numpy().round(3), tf.image.random_crop(image, [2, 2, 3]).shape)
print(tf.image.convert_image_dtype(tf.constant([[[0.0, 0.5, 1.0]]]), tf.uint8).numpy(), tf.image.crop_to_bounding_box(image, 1, 2, 2, 2)[0, 0].numpy().round(3))
jpeg = tf.io.encode_png(tf.cast(image * 255, tf.uint8))
back = tf.image.decode_png(jpeg)
print(back.shape, back.dtype, int(tf.reduce_max(tf.abs(tf.cast(back, tf.float32) - tf.floor(image * 255)))))
data_augmentation = tf.keras.Sequential([
    tf.keras.layers.RandomFlip("horizontal_and_vertical"), tf.keras.layers.RandomRotation(0.2), tf.keras.layers.RandomZoom(0.1),
    tf.keras.layers.RandomContrast(0.2)])
print(data_augmentation(images[:4], training=True).shape, bool(np.allclose(data_augmentation(images[:4], training=False), images[:4])))
resize_and_rescale = tf.keras.Sequential([tf.keras.layers.Resizing(8, 8), tf.keras.layers.Rescaling(1. / 255)])
print(resize_and_rescale(images[:2]).shape, img_to_array(array_to_img(images[0])).shape)
for flip in range(2):
    seeded = tf.image.random_flip_left_right(tf.stack([image, image]))
print(seeded.shape, tf.image.grayscale_to_rgb(tf.zeros([4, 4, 1])).shape, tf.image.psnr(image, image * 0.9, 1.0).numpy().round(2))
