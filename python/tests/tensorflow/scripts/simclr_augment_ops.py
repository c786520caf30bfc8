import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
images = rng.random((16, 12, 12, 3)).astype("float32")


def color_jitter(x, s=0.5):
    x = tf.image.random_brightness(x, 0.8 * s)
    x = tf.image.random_contrast(x, 1 - 0.8 * s, 1 + 0.8 * s)
    return tf.clip_by_value(x, 0, 1)


def random_apply(func, x, p):
    return tf.cond(tf.less(tf.random.uniform([], 0, 1, dtype=tf.float32), tf.cast(p, tf.float32)), lambda: func(x), lambda: x)


@tf.function
def augment(image):
    image = tf.image.random_crop(image, (10, 10, 3))
    image = tf.image.resize(image, (12, 12))
    image = random_apply(color_jitter, image, 0.8)
    image = random_apply(lambda t: tf.tile(tf.image.rgb_to_grayscale(t), [1, 1, 3]), image, 0.2)
    return tf.image.random_flip_left_right(image)


ds = tf.data.Dataset.from_tensor_slices(images)
a = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
pairs = tf.data.Dataset.zip((a, a)).shuffle(16).batch(8, drop_remainder=True)
for u, v in pairs.take(1):
    print(u.shape, v.shape, bool(tf.reduce_all(u <= 1.0)))


def nt_xent(za, zb, t=0.1):
    za, zb = tf.math.l2_normalize(za, -1), tf.math.l2_normalize(zb, -1)
    n = tf.shape(za)[0]
    labels, masks = tf.one_hot(tf.range(n), n * 2), tf.one_hot(tf.range(n), n)
    aa = tf.matmul(za, za, transpose_b=True) / t - masks * 1e9
    bb = tf.matmul(zb, zb, transpose_b=True) / t - masks * 1e9
    ab = tf.matmul(za, zb, transpose_b=True) / t
    ba = tf.transpose(ab)
    la = tf.nn.softmax_cross_entropy_with_logits(labels, tf.concat([ab, aa], 1))
    lb = tf.nn.softmax_cross_entropy_with_logits(labels, tf.concat([ba, bb], 1))
    return tf.reduce_mean(la + lb)


enc = tf.keras.Sequential([tf.keras.layers.Input((12, 12, 3)), tf.keras.layers.Conv2D(6, 3, 2, activation="relu"), tf.keras.layers.GlobalAvgPool2D(), tf.keras.layers.Dense(5)])
enc.set_weights([rng.normal(0, 0.5, w.shape) for w in enc.get_weights()])
opt = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = nt_xent(enc(images), enc(images[:, :, ::-1]))
    opt.apply_gradients(zip(tape.gradient(loss, enc.trainable_variables), enc.trainable_variables))
    print(round(float(loss), 3))


def cutmix(x1, y1, x2, y2, lam):
    h = tf.cast(12 * tf.math.sqrt(1.0 - lam), tf.int32)
    crop = tf.image.crop_to_bounding_box(x2, 2, 2, h, h)
    pad = tf.image.pad_to_bounding_box(crop, 2, 2, 12, 12)
    keep = tf.image.pad_to_bounding_box(tf.image.crop_to_bounding_box(x1, 2, 2, h, h), 2, 2, 12, 12)
    return x1 - keep + pad, y1 * lam + y2 * (1 - lam)


x, y = cutmix(images[0], tf.one_hot(0, 3), images[1], tf.one_hot(2, 3), tf.constant(0.75))
print(x.shape, y.numpy(), round(float(tf.reduce_sum(x)), 2))
gamma = tf.random.gamma((2,), 0.2)
print(gamma.shape, tf.image.stateless_random_brightness(images, 0.1, seed=[1, 2]).shape, tf.image.adjust_jpeg_quality(images[0], 75).shape)
mean, var = tf.nn.moments(tf.constant(images), axes=[0, 1, 2])
print(mean.numpy().round(3), var.numpy().round(3), tf.image.per_image_standardization(images).numpy().std().round(2), tf.image.extract_patches(images, [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID").shape)
print(tf.image.central_crop(images, 0.5).shape, tf.reduce_mean(tf.image.ssim(images, images[:, ::-1], 1.0, filter_size=5)).numpy().round(2), tf.image.psnr(images, images * 0.9, 1.0).numpy()[:2].round(2))
