import tempfile
import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

train_images = np.full((128, 8, 8, 1), -1.0, "float32")
train_images[:, 2:6, 2:6] = 1.0
BUFFER_SIZE, BATCH_SIZE, noise_dim = 128, 32, 16
train_dataset = tf.data.Dataset.from_tensor_slices(train_images).shuffle(BUFFER_SIZE).batch(BATCH_SIZE)


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Dense(2 * 2 * 32, use_bias=False, input_shape=(noise_dim,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((2, 2, 32)))
    assert model.output_shape == (None, 2, 2, 32)
    model.add(layers.Conv2DTranspose(16, (5, 5), strides=(2, 2), padding='same', use_bias=False))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Conv2DTranspose(1, (5, 5), strides=(2, 2), padding='same', use_bias=False, activation='tanh'))
    assert model.output_shape == (None, 8, 8, 1)
    return model


def make_discriminator_model():
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(8, (5, 5), strides=(2, 2), padding='same', input_shape=[8, 8, 1]))
    model.add(layers.LeakyReLU())
    model.add(layers.Dropout(0.3))
    model.add(layers.Flatten())
    model.add(layers.Dense(1))
    return model


generator, discriminator = make_generator_model(), make_discriminator_model()
noise = tf.random.normal([1, noise_dim])
generated_image = generator(noise, training=False)
print(generated_image.shape, discriminator(generated_image).shape)
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


generator_optimizer = tf.keras.optimizers.Adam(1e-3)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)
checkpoint_prefix = os.path.join(tempfile.mkdtemp(), "ckpt")
checkpoint = tf.train.Checkpoint(generator_optimizer=generator_optimizer, discriminator_optimizer=discriminator_optimizer,
                                 generator=generator, discriminator=discriminator)


@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH_SIZE, noise_dim])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gradients_of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(gradients_of_discriminator, discriminator.trainable_variables))
    return gen_loss, disc_loss


def distance():
    made = generator(tf.random.normal([64, noise_dim]), training=False)
    return float(tf.reduce_mean(tf.abs(tf.reduce_mean(made, 0) - train_images[0])))


before = distance()
for epoch in range(30):
    for image_batch in train_dataset:
        gen_loss, disc_loss = train_step(image_batch)
print("closer to the data", distance() < 0.8 * before)
print("finite", bool(tf.math.is_finite(gen_loss)), bool(tf.math.is_finite(disc_loss)))
path = checkpoint.save(file_prefix=checkpoint_prefix)
kept = generator.get_weights()[0].copy()
generator.set_weights([np.zeros_like(w) for w in generator.get_weights()])
checkpoint.restore(tf.train.latest_checkpoint(os.path.dirname(checkpoint_prefix)))
print("restored", np.array_equal(kept, generator.get_weights()[0]), os.path.basename(path))
