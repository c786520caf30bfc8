"""tf.image in a pipeline, cutmix and mixup, a small residual network, k folds by hand."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, regularizers

rng = np.random.RandomState(0)
image = tf.constant(rng.randint(0, 256, (6, 8, 3)).astype('uint8'))
print(tf.image.rgb_to_grayscale(image).shape, tf.image.rot90(image).shape, tf.image.transpose(image).shape, tf.image.flip_up_down(image)[0, 0].numpy(), image[-1, 0].numpy())
print(tf.image.central_crop(image, 0.5).shape, tf.image.crop_to_bounding_box(image, 1, 2, 3, 4).shape, tf.image.pad_to_bounding_box(image, 1, 1, 8, 10).shape, tf.image.resize_with_crop_or_pad(image, 4, 12).shape)
f = tf.image.convert_image_dtype(image, tf.float32)
print(f.dtype, float(tf.reduce_max(f)) <= 1.0, tf.image.convert_image_dtype(f, tf.uint8)[0, 0].numpy(), image[0, 0].numpy())
hsv = tf.image.rgb_to_hsv(f)
print(hsv[0, 0].numpy(), np.allclose(tf.image.hsv_to_rgb(hsv), f, atol=1e-5))
print(tf.image.adjust_hue(f, 0.2)[0, 0].numpy(), tf.image.adjust_gamma(f, 2.0)[0, 0].numpy(), tf.image.adjust_saturation(f, 0.5)[1, 1].numpy())
print(tf.image.adjust_brightness(f, 0.1)[0, 0].numpy(), tf.image.adjust_contrast(f, 2.0)[0, 0].numpy())
print(tf.image.per_image_standardization(f).numpy().std().round(3), tf.image.total_variation(f).numpy())
for method in ('bilinear', 'nearest', 'area', 'bicubic'):
    r = tf.image.resize(f, [3, 4], method=method)
    print(method, r.dtype, r[1, 1].numpy())
print(tf.image.resize(image, (12, 16), antialias=True).dtype, tf.image.resize(image, [3, 3], preserve_aspect_ratio=True).shape, tf.image.ResizeMethod.NEAREST_NEIGHBOR)
yuv = tf.image.rgb_to_yuv(f)
print(yuv[0, 0].numpy(), tf.image.yuv_to_rgb(yuv)[0, 0].numpy(), tf.image.grayscale_to_rgb(tf.ones((2, 2, 1))).shape)
dy, dx = tf.image.image_gradients(f[tf.newaxis])
print(dy.shape, dx[0, 0, 0].numpy())
seeded = tf.image.stateless_random_flip_left_right(f, seed=(1, 2))
print(seeded.shape, tf.image.stateless_random_brightness(f, 0.2, seed=(1, 2)).shape, tf.image.stateless_random_crop(f, size=[4, 4, 3], seed=(3, 4)).shape, tf.image.random_crop(f, [2, 2, 3]).shape)
patches = tf.image.extract_patches(f[None], sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding='VALID')
print(patches.shape)
encoded = tf.io.encode_png(image)
print(encoded.dtype, tf.reduce_all(tf.io.decode_png(encoded) == image).numpy(), tf.io.decode_image(encoded).shape, tf.image.decode_image(tf.io.encode_jpeg(image), channels=1).shape)

N, CLASSES, SIZE = 60, 3, 12
labels = np.arange(N) % CLASSES
images = rng.random_sample((N, SIZE, SIZE, 3)).astype('float32') * 0.2
for i, c in enumerate(labels):
    images[i, 4 * c:4 * c + 4, :, c] += 0.8


def onehot(image, label):
    return image, tf.one_hot(label, CLASSES)


def cutmix(image, label, PROBABILITY=1.0):
    DIM, AUG_BATCH = SIZE, 10
    imgs, labs = [], []
    for j in range(AUG_BATCH):
        P = tf.cast(tf.random.uniform([], 0, 1) <= PROBABILITY, tf.int32)
        k = tf.cast(tf.random.uniform([], 0, AUG_BATCH), tf.int32)
        x = tf.cast(tf.random.uniform([], 0, DIM), tf.int32)
        y = tf.cast(tf.random.uniform([], 0, DIM), tf.int32)
        b = tf.random.uniform([], 0, 1)
        WIDTH = tf.cast(DIM * tf.math.sqrt(1 - b), tf.int32) * P
        ya = tf.math.maximum(0, y - WIDTH // 2)
        yb = tf.math.minimum(DIM, y + WIDTH // 2)
        xa = tf.math.maximum(0, x - WIDTH // 2)
        xb = tf.math.minimum(DIM, x + WIDTH // 2)
        one = image[j, ya:yb, 0:xa, :]
        two = image[k, ya:yb, xa:xb, :]
        three = image[j, ya:yb, xb:DIM, :]
        middle = tf.concat([one, two, three], axis=1)
        img = tf.concat([image[j, 0:ya, :, :], middle, image[j, yb:DIM, :, :]], axis=0)
        imgs.append(img)
        a = tf.cast(WIDTH * WIDTH / DIM / DIM, tf.float32)
        labs.append((1 - a) * label[j] + a * label[k])
    image2 = tf.reshape(tf.stack(imgs), (AUG_BATCH, DIM, DIM, 3))
    label2 = tf.reshape(tf.stack(labs), (AUG_BATCH, CLASSES))
    return image2, label2


def sample_beta_distribution(size, concentration_0=0.2, concentration_1=0.2):
    gamma_1_sample = tf.random.gamma(shape=[size], alpha=concentration_1)
    gamma_2_sample = tf.random.gamma(shape=[size], alpha=concentration_0)
    return gamma_1_sample / (gamma_1_sample + gamma_2_sample)


def mix_up(ds_one, ds_two, alpha=0.2):
    images_one, labels_one = ds_one
    images_two, labels_two = ds_two
    batch_size = tf.shape(images_one)[0]
    l = sample_beta_distribution(batch_size, alpha, alpha)
    x_l = tf.reshape(l, (batch_size, 1, 1, 1))
    y_l = tf.reshape(l, (batch_size, 1))
    return images_one * x_l + images_two * (1 - x_l), labels_one * y_l + labels_two * (1 - y_l)


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, max_delta=0.05)
    image = tf.image.random_contrast(image, 0.9, 1.1)
    image = tf.image.random_saturation(image, 0.9, 1.1)
    image = tf.image.random_hue(image, 0.02)
    image = tf.clip_by_value(image, 0.0, 1.0)
    return image, label


base = tf.data.Dataset.from_tensor_slices((images, labels)).map(onehot, num_parallel_calls=tf.data.AUTOTUNE)
mixed = base.batch(10).map(cutmix)
for i, l in mixed.take(1):
    print(i.shape, l.shape, np.allclose(tf.reduce_sum(l, 1), 1))
zipped = tf.data.Dataset.zip((base.shuffle(60).batch(10), base.shuffle(60).batch(10))).map(lambda a, b: mix_up(a, b, 0.2))
i, l = next(iter(zipped))
print(i.shape, i.dtype, np.allclose(tf.reduce_sum(l, -1), 1, atol=1e-4))


def residual_block(x, filters, stride=1):
    shortcut = x
    x = layers.Conv2D(filters, 3, strides=stride, padding='same', use_bias=False, kernel_initializer='he_normal', kernel_regularizer=regularizers.l2(1e-4))(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2D(filters, 3, padding='same', use_bias=False, kernel_initializer='he_normal', kernel_regularizer=regularizers.l2(1e-4))(x)
    x = layers.BatchNormalization()(x)
    if stride != 1 or shortcut.shape[-1] != filters:
        shortcut = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(shortcut)
        shortcut = layers.BatchNormalization()(shortcut)
    return layers.ReLU()(layers.add([x, shortcut]))


def build_model():
    inputs = layers.Input((SIZE, SIZE, 3))
    x = residual_block(inputs, 4)
    x = residual_block(x, 8, 2)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(CLASSES, activation='softmax')(x))


folds = np.arange(N) % 3
oof = np.zeros((N, CLASSES))
for fold in range(3):
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(fold)
    train_idx, val_idx = np.where(folds != fold)[0] if False else np.where((np.arange(N) // 3) % 3 != fold)[0], np.where((np.arange(N) // 3) % 3 == fold)[0]
    ds = tf.data.Dataset.from_tensor_slices((images[train_idx], labels[train_idx])).map(onehot).map(augment).shuffle(64).batch(8).prefetch(2)
    val = tf.data.Dataset.from_tensor_slices((images[val_idx], labels[val_idx])).map(onehot).batch(32)
    model = build_model()
    model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.05), metrics=['categorical_accuracy', tf.keras.metrics.TopKCategoricalAccuracy(k=2, name='top2')])
    h = model.fit(ds, epochs=4, validation_data=val, verbose=0)
    oof[val_idx] = model.predict(val, verbose=0)
print(len(h.history), model.count_params(), len(model.losses), 'out of fold', (oof.sum(1).round(3) == 1).all())
