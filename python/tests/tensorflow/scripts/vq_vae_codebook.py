import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class VectorQuantizer(layers.Layer):
    def __init__(self, num_embeddings, embedding_dim, beta=0.25, **kwargs):
        super().__init__(**kwargs)
        self.embedding_dim, self.num_embeddings, self.beta = embedding_dim, num_embeddings, beta
        w_init = tf.random_uniform_initializer()
        self.embeddings = tf.Variable(initial_value=w_init(shape=(self.embedding_dim, self.num_embeddings), dtype="float32"), trainable=True, name="embeddings_vqvae")

    def call(self, x):
        input_shape = tf.shape(x)
        flattened = tf.reshape(x, [-1, self.embedding_dim])
        encoding_indices = self.get_code_indices(flattened)
        encodings = tf.one_hot(encoding_indices, self.num_embeddings)
        quantized = tf.matmul(encodings, self.embeddings, transpose_b=True)
        quantized = tf.reshape(quantized, input_shape)
        commitment_loss = tf.reduce_mean((tf.stop_gradient(quantized) - x) ** 2)
        codebook_loss = tf.reduce_mean((quantized - tf.stop_gradient(x)) ** 2)
        self.add_loss(self.beta * commitment_loss + codebook_loss)
        quantized = x + tf.stop_gradient(quantized - x)
        return quantized

    def get_code_indices(self, flattened_inputs):
        similarity = tf.matmul(flattened_inputs, self.embeddings)
        distances = (tf.reduce_sum(flattened_inputs ** 2, axis=1, keepdims=True) + tf.reduce_sum(self.embeddings ** 2, axis=0) - 2 * similarity)
        return tf.argmin(distances, axis=1)


def get_encoder(latent_dim=4):
    encoder_inputs = keras.Input(shape=(8, 8, 1))
    x = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")(encoder_inputs)
    encoder_outputs = layers.Conv2D(latent_dim, 1, padding="same")(x)
    return keras.Model(encoder_inputs, encoder_outputs, name="encoder")


def get_decoder(latent_dim=4):
    latent_inputs = keras.Input(shape=get_encoder(latent_dim).output.shape[1:])
    x = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")(latent_inputs)
    return keras.Model(latent_inputs, layers.Conv2DTranspose(1, 3, padding="same")(x), name="decoder")


def get_vqvae(latent_dim=4, num_embeddings=16):
    vq_layer = VectorQuantizer(num_embeddings, latent_dim, name="vector_quantizer")
    encoder, decoder = get_encoder(latent_dim), get_decoder(latent_dim)
    inputs = keras.Input(shape=(8, 8, 1))
    reconstructions = decoder(vq_layer(encoder(inputs)))
    return keras.Model(inputs, reconstructions, name="vq_vae")


class VQVAETrainer(keras.models.Model):
    def __init__(self, train_variance, latent_dim=4, num_embeddings=16, **kwargs):
        super().__init__(**kwargs)
        self.train_variance = train_variance
        self.vqvae = get_vqvae(latent_dim, num_embeddings)
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.vq_loss_tracker = keras.metrics.Mean(name="vq_loss")

    @property
    def metrics(self):
        return [self.total_loss_tracker, self.reconstruction_loss_tracker, self.vq_loss_tracker]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            reconstructions = self.vqvae(x)
            reconstruction_loss = tf.reduce_mean((x - reconstructions) ** 2) / self.train_variance
            total_loss = reconstruction_loss + sum(self.vqvae.losses)
        grads = tape.gradient(total_loss, self.vqvae.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.vqvae.trainable_variables))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.vq_loss_tracker.update_state(sum(self.vqvae.losses))
        return {"loss": self.total_loss_tracker.result(), "reconstruction_loss": self.reconstruction_loss_tracker.result(), "vqvae_loss": self.vq_loss_tracker.result()}


rng = np.random.default_rng(0)
x = np.zeros((64, 8, 8, 1), 'float32')
for i in range(64):
    r, c = rng.integers(0, 5, 2)
    x[i, r:r + 3, c:c + 3] = 1
x_scaled = x - 0.5
data_variance = np.var(x)
trainer = VQVAETrainer(data_variance)
print([w.shape for w in trainer.vqvae.get_layer('encoder').weights], trainer.vqvae.count_params())
quantizer = trainer.vqvae.get_layer("vector_quantizer")
print(len(quantizer.trainable_variables), quantizer.embeddings.shape, quantizer.embeddings.name)
for w in trainer.vqvae.trainable_variables:
    w.assign(rng.normal(size=w.shape).astype('float32') * 0.3)
quantizer.embeddings.assign(rng.normal(size=quantizer.embeddings.shape).astype('float32') * 0.3)
trainer.compile(optimizer=keras.optimizers.Adam(0.01))
history = trainer.fit(x_scaled, epochs=4, batch_size=16, shuffle=False, verbose=0)
for name in sorted(history.history):
    print(name, ['%.3f' % v for v in history.history[name]])
encoder = trainer.vqvae.get_layer("encoder")
encoded_outputs = encoder.predict(x_scaled[:5], verbose=0)
flat_enc_outputs = encoded_outputs.reshape(-1, encoded_outputs.shape[-1])
codebook_indices = quantizer.get_code_indices(flat_enc_outputs)
codebook_indices = codebook_indices.numpy().reshape(encoded_outputs.shape[:-1])
print(codebook_indices.shape, codebook_indices.dtype, codebook_indices.min() >= 0)


class PixelConvLayer(layers.Layer):
    def __init__(self, mask_type, **kwargs):
        super().__init__()
        self.mask_type = mask_type
        self.conv = layers.Conv2D(**kwargs)

    def build(self, input_shape):
        self.conv.build(input_shape)
        kernel_shape = tf.shape(self.conv.kernel)
        self.mask = np.zeros(shape=kernel_shape)
        self.mask[: kernel_shape[0] // 2, ...] = 1.0
        self.mask[kernel_shape[0] // 2, : kernel_shape[1] // 2, ...] = 1.0
        if self.mask_type == "B":
            self.mask[kernel_shape[0] // 2, kernel_shape[1] // 2, ...] = 1.0

    def call(self, inputs):
        self.conv.kernel.assign(self.conv.kernel * self.mask)
        return self.conv(inputs)


pixelcnn_inputs = keras.Input(shape=(4, 4), dtype=tf.int32)
ohe = tf.keras.layers.Lambda(lambda t: tf.one_hot(t, 16), output_shape=(4, 4, 16))(pixelcnn_inputs)
h = PixelConvLayer(mask_type="A", filters=8, kernel_size=3, activation="relu", padding="same")(ohe)
out = keras.layers.Conv2D(filters=16, kernel_size=1)(h)
pixel_cnn = keras.Model(pixelcnn_inputs, out, name="pixel_cnn")
pixel_cnn.compile(optimizer=keras.optimizers.Adam(3e-4), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h2 = pixel_cnn.fit(codebook_indices, codebook_indices, batch_size=5, epochs=2, verbose=0)
print(sorted(h2.history), pixel_cnn.layers[2].conv.kernel.shape)
