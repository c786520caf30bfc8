import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        epsilon = keras.random.normal(shape=ops.shape(z_mean), seed=self.seed_generator) * 0.0
        return z_mean + ops.exp(0.5 * z_log_var) * epsilon


class VAE(keras.Model):
    def __init__(self, latent=2, **kwargs):
        super().__init__(**kwargs)
        self.hidden = layers.Dense(8, activation="relu")
        self.mean = layers.Dense(latent)
        self.log_var = layers.Dense(latent)
        self.sampling = Sampling()
        self.decoder = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(12, activation="sigmoid")])
        self.kl_tracker = keras.metrics.Mean(name="kl")

    def call(self, x):
        h = self.hidden(x)
        m, lv = self.mean(h), self.log_var(h)
        kl = -0.5 * ops.mean(ops.sum(1 + lv - ops.square(m) - ops.exp(lv), axis=1))
        self.add_loss(0.1 * kl)
        self.kl_tracker.update_state(kl)
        return self.decoder(self.sampling((m, lv)))


x = (rng.random((64, 12)) > 0.6).astype("float32")
vae = VAE()
vae(x[:2])
for v in vae.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3)
vae.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
history = vae.fit(x, x, epochs=3, batch_size=16, shuffle=False, verbose=0)
for k, v in sorted(history.history.items()):
    print(k, [f"{a:.4f}" for a in v])
z = np.array([[0.5, -0.5]], "float32")
print(ops.convert_to_numpy(vae.decoder(z)).round(4)[0, :4])
print([w.path.split("/")[-1] for w in vae.weights][:4])
