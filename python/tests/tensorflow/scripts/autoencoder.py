import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses
from tensorflow.keras.models import Model

rng = np.random.default_rng(0)
x_train = np.zeros((300, 14, 14), "float32")
for i, image in enumerate(x_train):
    image[i % 7 * 2 : i % 7 * 2 + 2] = 1.0
x_test = x_train[:70]


class Autoencoder(Model):
    def __init__(self, latent_dim, shape):
        super().__init__()
        self.latent_dim = latent_dim
        self.shape = shape
        self.encoder = tf.keras.Sequential([layers.Flatten(), layers.Dense(latent_dim, activation='relu')])
        self.decoder = tf.keras.Sequential([
            layers.Dense(int(tf.math.reduce_prod(shape).numpy()), activation='sigmoid'),
            layers.Reshape(shape)])

    def call(self, x):
        encoded = self.encoder(x)
        return self.decoder(encoded)


shape = x_test.shape[1:]
autoencoder = Autoencoder(24, shape)
autoencoder.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=losses.MeanSquaredError())
history = autoencoder.fit(x_train, x_train, epochs=15, shuffle=True, validation_data=(x_test, x_test), verbose=0)
print("learned", history.history["val_loss"][-1] < 0.05)
encoded_imgs = autoencoder.encoder(x_test).numpy()
decoded_imgs = autoencoder.decoder(encoded_imgs).numpy()
print(encoded_imgs.shape, decoded_imgs.shape)

x_train, x_test = x_train[..., tf.newaxis], x_test[..., tf.newaxis]
noise_factor = 0.2
x_train_noisy = x_train + noise_factor * tf.random.normal(shape=x_train.shape)
x_test_noisy = x_test + noise_factor * tf.random.normal(shape=x_test.shape)
x_train_noisy = tf.clip_by_value(x_train_noisy, clip_value_min=0., clip_value_max=1.)
x_test_noisy = tf.clip_by_value(x_test_noisy, clip_value_min=0., clip_value_max=1.)
print(x_train_noisy.shape, x_train_noisy.dtype, float(tf.reduce_max(x_train_noisy)))


class Denoise(Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential([
            layers.Input(shape=(14, 14, 1)),
            layers.Conv2D(8, (3, 3), activation='relu', padding='same', strides=2)])
        self.decoder = tf.keras.Sequential([
            layers.Conv2DTranspose(8, kernel_size=3, strides=2, activation='relu', padding='same'),
            layers.Conv2D(1, kernel_size=(3, 3), activation='sigmoid', padding='same')])

    def call(self, x):
        return self.decoder(self.encoder(x))


denoiser = Denoise()
denoiser.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=losses.MeanSquaredError())
history = denoiser.fit(x_train_noisy, x_train, epochs=5, validation_data=(x_test_noisy, x_test), verbose=0)
print("denoises", history.history["val_loss"][-1] < 0.1)
denoiser.encoder.summary()
print(denoiser.predict(x_test_noisy[:3], verbose=0).shape)

threshold = np.mean(tf.keras.losses.mae(tf.reshape(x_test, [70, -1]), tf.reshape(denoiser(x_test_noisy), [70, -1]))) + 1.0
preds = tf.math.less(tf.constant([0.1, 5.0]), threshold)
print(preds)
