import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

batch_size, num_channels, num_classes, image_size, latent_dim = 32, 1, 3, 8, 6
rng = np.random.default_rng(11)
all_labels = rng.integers(0, num_classes, 96)
all_digits = np.zeros((96, image_size, image_size, 1), 'float32')
for i, c in enumerate(all_labels):
    all_digits[i, 2 * c:2 * c + 3] = 1.0
all_labels = keras.utils.to_categorical(all_labels, num_classes).astype('float32')
dataset = tf.data.Dataset.from_tensor_slices((all_digits, all_labels))
dataset = dataset.shuffle(buffer_size=1024).batch(batch_size)
print(f"Shape of training images: {all_digits.shape}", f"Shape of training labels: {all_labels.shape}")
generator_in_channels, discriminator_in_channels = latent_dim + num_classes, num_channels + num_classes

discriminator = keras.Sequential([
    keras.layers.InputLayer((image_size, image_size, discriminator_in_channels)),
    layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"), layers.LeakyReLU(negative_slope=0.2),
    layers.Conv2D(8, (3, 3), strides=(2, 2), padding="same"), layers.LeakyReLU(alpha=0.2) if False else layers.LeakyReLU(0.2),
    layers.GlobalMaxPooling2D(), layers.Dense(1)], name="discriminator")
generator = keras.Sequential([
    keras.layers.InputLayer((generator_in_channels,)),
    layers.Dense(2 * 2 * generator_in_channels), layers.LeakyReLU(negative_slope=0.2), layers.Reshape((2, 2, generator_in_channels)),
    layers.Conv2DTranspose(8, (4, 4), strides=(2, 2), padding="same"), layers.LeakyReLU(negative_slope=0.2),
    layers.Conv2DTranspose(8, (4, 4), strides=(2, 2), padding="same"), layers.LeakyReLU(negative_slope=0.2),
    layers.Conv2D(1, (7, 7), padding="same", activation="sigmoid")], name="generator")


class ConditionalGAN(keras.Model):
    def __init__(self, discriminator, generator, latent_dim):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.latent_dim = latent_dim
        self.seed_generator = keras.random.SeedGenerator(1337)
        self.gen_loss_tracker = keras.metrics.Mean(name="generator_loss")
        self.disc_loss_tracker = keras.metrics.Mean(name="discriminator_loss")

    @property
    def metrics(self):
        return [self.gen_loss_tracker, self.disc_loss_tracker]

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.loss_fn = loss_fn

    def train_step(self, data):
        real_images, one_hot_labels = data
        image_one_hot_labels = one_hot_labels[:, :, None, None]
        image_one_hot_labels = tf.repeat(image_one_hot_labels, repeats=[image_size * image_size], axis=2) if False else tf.repeat(image_one_hot_labels, repeats=image_size * image_size, axis=2)
        image_one_hot_labels = tf.reshape(image_one_hot_labels, (-1, image_size, image_size, num_classes))
        batch_size = tf.shape(real_images)[0]
        random_latent_vectors = tf.random.normal(shape=(batch_size, self.latent_dim))
        random_vector_labels = tf.concat([random_latent_vectors, one_hot_labels], axis=1)
        generated_images = self.generator(random_vector_labels)
        fake_image_and_labels = tf.concat([generated_images, image_one_hot_labels], -1)
        real_image_and_labels = tf.concat([real_images, image_one_hot_labels], -1)
        combined_images = tf.concat([fake_image_and_labels, real_image_and_labels], axis=0)
        labels = tf.concat([tf.ones((batch_size, 1)), tf.zeros((batch_size, 1))], axis=0)
        labels += 0.05 * tf.random.uniform(tf.shape(labels))
        with tf.GradientTape() as tape:
            predictions = self.discriminator(combined_images)
            d_loss = self.loss_fn(labels, predictions)
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        random_latent_vectors = tf.random.normal(shape=(batch_size, self.latent_dim))
        random_vector_labels = tf.concat([random_latent_vectors, one_hot_labels], axis=1)
        misleading_labels = tf.zeros((batch_size, 1))
        with tf.GradientTape() as tape:
            fake_images = self.generator(random_vector_labels)
            fake_image_and_labels = tf.concat([fake_images, image_one_hot_labels], -1)
            predictions = self.discriminator(fake_image_and_labels)
            g_loss = self.loss_fn(misleading_labels, predictions)
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.gen_loss_tracker.update_state(g_loss)
        self.disc_loss_tracker.update_state(d_loss)
        return {"g_loss": self.gen_loss_tracker.result(), "d_loss": self.disc_loss_tracker.result()}


class Monitor(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        noise = tf.random.normal((2, latent_dim), seed=epoch)
        labels = tf.one_hot([0, 2], num_classes)
        images = self.model.generator(tf.concat([noise, labels], axis=-1), training=False)
        images = images * 255
        images = images.numpy().astype('uint8')
        img = keras.utils.array_to_img(images[0])
        print(epoch, sorted(logs), images.shape, img.size, img.mode)


gan = ConditionalGAN(discriminator=discriminator, generator=generator, latent_dim=latent_dim)
gan.compile(d_optimizer=keras.optimizers.Adam(learning_rate=0.0003), g_optimizer=keras.optimizers.Adam(learning_rate=0.0003),
            loss_fn=keras.losses.BinaryCrossentropy(from_logits=True))
before = [w.copy() for w in gan.generator.get_weights()]
history = gan.fit(dataset, epochs=2, callbacks=[Monitor()], verbose=0)
print(sorted(history.history), all(np.isfinite(v).all() for v in history.history.values()))
print('generator moved', any(not np.array_equal(a, b) for a, b in zip(before, gan.generator.get_weights())))
trained_gen = gan.generator
interpolation_noise = tf.repeat(tf.random.normal(shape=(1, latent_dim)), repeats=4)
interpolation_noise = tf.reshape(interpolation_noise, (4, latent_dim))
percent_second_label = tf.linspace(0, 1, 4)[:, None]
percent_second_label = tf.cast(percent_second_label, tf.float32)
first, second = tf.cast(keras.utils.to_categorical([0], num_classes), tf.float32), tf.cast(keras.utils.to_categorical([1], num_classes), tf.float32)
labels = first * (1 - percent_second_label) + second * percent_second_label
fake = trained_gen.predict(tf.concat([interpolation_noise, labels], 1), verbose=0)
print(fake.shape, labels.numpy().round(3).tolist())
