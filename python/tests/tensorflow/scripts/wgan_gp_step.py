# WGAN with gradient penalty, train_step overridden, two optimizers
import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
latent_dim = 6
generator = keras.Sequential([keras.Input((latent_dim,)), keras.layers.Dense(12), keras.layers.LeakyReLU(negative_slope=0.2), keras.layers.Dense(4, activation="tanh")])
critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(12), keras.layers.LeakyReLU(negative_slope=0.2), keras.layers.Dense(1)])
for net in (generator, critic):
    net.set_weights([rng.normal(size=w.shape) * 0.3 for w in net.get_weights()])
noise = tf.constant(rng.normal(size=(16, latent_dim)), tf.float32)


class WGAN(keras.Model):
    def __init__(self, discriminator, generator, discriminator_extra_steps=2, gp_weight=10.0):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.d_steps = discriminator_extra_steps
        self.gp_weight = gp_weight
        self.seen = tf.Variable(0, trainable=False, dtype=tf.int32)

    def compile(self, d_optimizer, g_optimizer, d_loss_fn, g_loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.d_loss_fn = d_loss_fn
        self.g_loss_fn = g_loss_fn
        self.d_metric = keras.metrics.Mean(name="d_loss")

    @property
    def metrics(self):
        return [self.d_metric]

    def gradient_penalty(self, batch_size, real_images, fake_images):
        alpha = tf.fill([batch_size, 1], 0.3)
        diff = fake_images - real_images
        interpolated = real_images + alpha * diff
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.discriminator(interpolated, training=True)
        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real_images):
        if isinstance(real_images, tuple):
            real_images = real_images[0]
        batch_size = tf.shape(real_images)[0]
        z = noise[:batch_size]
        for i in range(self.d_steps):
            with tf.GradientTape() as tape:
                fake_images = self.generator(z, training=True)
                fake_logits = self.discriminator(fake_images, training=True)
                real_logits = self.discriminator(real_images, training=True)
                d_cost = self.d_loss_fn(real_img=real_logits, fake_img=fake_logits)
                gp = self.gradient_penalty(batch_size, real_images, fake_images)
                d_loss = d_cost + gp * self.gp_weight
            d_gradient = tape.gradient(d_loss, self.discriminator.trainable_variables)
            self.d_optimizer.apply_gradients(zip(d_gradient, self.discriminator.trainable_variables))
        with tf.GradientTape() as tape:
            generated = self.generator(z, training=True)
            g_loss = self.g_loss_fn(self.discriminator(generated, training=True))
        gen_gradient = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(gen_gradient, self.generator.trainable_variables))
        self.seen.assign_add(1)
        self.d_metric.update_state(d_loss)
        return {"d_loss": self.d_metric.result(), "g_loss": g_loss}


def discriminator_loss(real_img, fake_img):
    return tf.reduce_mean(fake_img) - tf.reduce_mean(real_img)


def generator_loss(fake_img):
    return -tf.reduce_mean(fake_img)


class GANMonitor(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        made = self.model.generator(noise[:2])
        print("epoch", epoch, sorted(logs), np.round(made.numpy()[0], 3))


real = rng.uniform(0.2, 0.8, size=(48, 4)).astype("float32")
wgan = WGAN(critic, generator)
wgan.compile(d_optimizer=keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9), g_optimizer=keras.optimizers.Adam(2e-3, beta_1=0.5, beta_2=0.9),
             g_loss_fn=generator_loss, d_loss_fn=discriminator_loss)
h = wgan.fit(real, batch_size=16, epochs=3, callbacks=[GANMonitor()], verbose=0, shuffle=False)
print(["%.3f" % v for v in h.history["d_loss"]], ["%.3f" % v for v in h.history["g_loss"]], int(wgan.seen))
