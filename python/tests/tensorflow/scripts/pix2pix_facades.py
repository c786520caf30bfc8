"""pix2pix: U-Net generator, PatchGAN, two optimizers in one tf.function, jitter in the input pipeline, checkpoints."""
import os
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
rng = np.random.default_rng(1)
BUFFER_SIZE, BATCH_SIZE, IMG_WIDTH, IMG_HEIGHT, OUTPUT_CHANNELS, LAMBDA = 8, 1, 32, 32, 3, 100
os.makedirs("facades", exist_ok=True)
for i in range(4):
    pair = np.zeros((32, 64, 3), "uint8")
    pair[8:24, 8:24] = (200, 40 * i, 10)
    pair[8:24, 40:56] = 255
    tf.io.write_file(f"facades/{i}.png", tf.io.encode_png(pair))


def load(image_file):
    image = tf.io.read_file(image_file)
    image = tf.io.decode_png(image, channels=3)
    w = tf.shape(image)[1] // 2
    input_image, real_image = image[:, w:, :], image[:, :w, :]
    return tf.cast(input_image, tf.float32), tf.cast(real_image, tf.float32)


def resize(input_image, real_image, height, width):
    input_image = tf.image.resize(input_image, [height, width], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    real_image = tf.image.resize(real_image, [height, width], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    return input_image, real_image


def normalize(a, b):
    return (a / 127.5) - 1, (b / 127.5) - 1


@tf.function()
def random_jitter(input_image, real_image):
    input_image, real_image = resize(input_image, real_image, 36, 36)
    stacked = tf.stack([input_image, real_image], axis=0)
    cropped = tf.image.random_crop(stacked, size=[2, IMG_HEIGHT, IMG_WIDTH, 3])
    input_image, real_image = cropped[0], cropped[1]
    if tf.random.uniform(()) > 0.5:
        input_image = tf.image.flip_left_right(input_image)
        real_image = tf.image.flip_left_right(real_image)
    return input_image, real_image


train = tf.data.Dataset.list_files("facades/*.png", shuffle=False)
jittered = train.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(random_jitter).map(normalize).batch(BATCH_SIZE)
for a, b in jittered.take(1):
    print(a.shape, b.shape, a.dtype.name, float(tf.reduce_max(a)))
plain = train.map(load).map(normalize).batch(BATCH_SIZE)


def downsample(filters, size, apply_batchnorm=True):
    initializer = tf.random_normal_initializer(0.0, 0.02)
    result = tf.keras.Sequential()
    result.add(tf.keras.layers.Conv2D(filters, size, strides=2, padding="same", kernel_initializer=initializer, use_bias=False))
    if apply_batchnorm:
        result.add(tf.keras.layers.BatchNormalization())
    result.add(tf.keras.layers.LeakyReLU())
    return result


def upsample(filters, size, apply_dropout=False):
    initializer = tf.random_normal_initializer(0.0, 0.02)
    result = tf.keras.Sequential()
    result.add(tf.keras.layers.Conv2DTranspose(filters, size, strides=2, padding="same", kernel_initializer=initializer, use_bias=False))
    result.add(tf.keras.layers.BatchNormalization())
    if apply_dropout:
        result.add(tf.keras.layers.Dropout(0.0))
    result.add(tf.keras.layers.ReLU())
    return result


print(downsample(3, 4)(tf.zeros((1, 32, 32, 3))).shape, upsample(3, 4)(tf.zeros((1, 16, 16, 3))).shape)


def Generator():
    inputs = tf.keras.layers.Input(shape=[32, 32, 3])
    x, skips = inputs, []
    for down in [downsample(8, 4, apply_batchnorm=False), downsample(16, 4), downsample(16, 4)]:
        x = down(x)
        skips.append(x)
    for up, skip in zip([upsample(16, 4, apply_dropout=True), upsample(8, 4)], reversed(skips[:-1])):
        x = up(x)
        x = tf.keras.layers.Concatenate()([x, skip])
    x = tf.keras.layers.Conv2DTranspose(OUTPUT_CHANNELS, 4, strides=2, padding="same", kernel_initializer=tf.random_normal_initializer(0.0, 0.02), activation="tanh")(x)
    return tf.keras.Model(inputs=inputs, outputs=x)


def Discriminator():
    inp, tar = tf.keras.layers.Input(shape=[32, 32, 3], name="input_image"), tf.keras.layers.Input(shape=[32, 32, 3], name="target_image")
    x = tf.keras.layers.concatenate([inp, tar])
    x = downsample(8, 4, False)(x)
    x = tf.keras.layers.ZeroPadding2D()(x)
    x = tf.keras.layers.Conv2D(8, 4, strides=1, kernel_initializer=tf.random_normal_initializer(0.0, 0.02), use_bias=False)(x)
    x = tf.keras.layers.LeakyReLU()(tf.keras.layers.BatchNormalization()(x))
    return tf.keras.Model(inputs=[inp, tar], outputs=tf.keras.layers.Conv2D(1, 4)(x))


generator, discriminator = Generator(), Discriminator()
for v in generator.trainable_variables + discriminator.trainable_variables:
    if "kernel" in v.path:
        v.assign(rng.normal(0, 0.05, v.shape))
loss_object = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def generator_loss(disc_generated_output, gen_output, target):
    gan_loss = loss_object(tf.ones_like(disc_generated_output), disc_generated_output)
    l1_loss = tf.reduce_mean(tf.abs(target - gen_output))
    return gan_loss + (LAMBDA * l1_loss), gan_loss, l1_loss


def discriminator_loss(real, fake):
    return loss_object(tf.ones_like(real), real) + loss_object(tf.zeros_like(fake), fake)


generator_optimizer, discriminator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5), tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
checkpoint = tf.train.Checkpoint(generator_optimizer=generator_optimizer, discriminator_optimizer=discriminator_optimizer, generator=generator, discriminator=discriminator)
summary_writer = tf.summary.create_file_writer("logs/fit/run")


@tf.function
def train_step(input_image, target, step):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        gen_output = generator(input_image, training=True)
        real = discriminator([input_image, target], training=True)
        fake = discriminator([input_image, gen_output], training=True)
        total, gan, l1 = generator_loss(fake, gen_output, target)
        disc_loss = discriminator_loss(real, fake)
    g = gen_tape.gradient(total, generator.trainable_variables)
    d = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(g, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(d, discriminator.trainable_variables))
    with summary_writer.as_default():
        tf.summary.scalar("gen_total_loss", total, step=step // 1000)
        tf.summary.scalar("disc_loss", disc_loss, step=step // 1000)
    return total, gan, l1, disc_loss


start = time.time()
for step, (input_image, target) in plain.repeat().take(6).enumerate():
    losses = train_step(input_image, target, step)
    print(step.numpy(), [f"{float(l):.2f}" for l in losses])
path = checkpoint.save(file_prefix=os.path.join("training_checkpoints", "ckpt"))
first = generator(input_image, training=True)
generator.layers[-1].kernel.assign(generator.layers[-1].kernel * 0)
checkpoint.restore(tf.train.latest_checkpoint("training_checkpoints"))
print(np.allclose(first, generator(input_image, training=True), atol=1e-5), os.path.basename(path))
print(len(os.listdir("logs/fit/run")), time.time() - start < 1000)
