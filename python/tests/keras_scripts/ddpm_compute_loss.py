# A small denoising diffusion model: the loss is computed in compute_loss, sampling is a loop over predict
import math
import tempfile

import keras
import numpy as np
from keras import layers, ops

FOLDER = tempfile.mkdtemp()

rng = np.random.default_rng(3)
T = 20
betas = np.linspace(1e-4, 0.2, T).astype("float32")
alphas_bar = np.cumprod(1 - betas)


@keras.saving.register_keras_serializable("ddpm")
class SinusoidalEmbedding(layers.Layer):
    def __init__(self, dim=8, **kwargs):
        super().__init__(**kwargs)
        self.dim = dim

    def call(self, t):
        half = self.dim // 2
        freqs = ops.exp(ops.arange(half, dtype="float32") * -(math.log(1000.0) / (half - 1)))
        args = ops.cast(t, "float32") * freqs[None, :]
        return ops.concatenate([ops.sin(args), ops.cos(args)], axis=-1)

    def get_config(self):
        return {**super().get_config(), "dim": self.dim}


def block(x, emb, width):
    skip = x if x.shape[-1] == width else layers.Conv2D(width, 1)(x)
    x = layers.GroupNormalization(groups=2)(x) if x.shape[-1] % 2 == 0 else x
    x = layers.Activation("swish")(x)
    x = layers.Conv2D(width, 3, padding="same")(x)
    x = x + layers.Reshape((1, 1, width))(layers.Dense(width)(emb))
    return layers.Add()([x, skip])


def unet():
    image, t = keras.Input((8, 8, 1), name="image"), keras.Input((1,), dtype="int32", name="t")
    emb = SinusoidalEmbedding(8)(t)
    emb = layers.Dense(8, activation="swish")(emb)
    x = a = block(image, emb, 4)
    x = layers.AveragePooling2D(2)(x)
    x = block(x, emb, 6)
    x = layers.UpSampling2D(interpolation="bilinear")(x)
    x = layers.Concatenate()([x, a])
    x = block(x, emb, 4)
    return keras.Model([image, t], layers.Conv2D(1, 3, padding="same")(x))


class Diffusion(keras.Model):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.bar = ops.convert_to_tensor(alphas_bar)
        self.noise_error = keras.metrics.Mean(name="noise_error")

    def call(self, inputs, training=False):
        image, t, noise = inputs["image"], inputs["t"], inputs["noise"]
        bar = ops.reshape(ops.take(self.bar, ops.cast(t[:, 0], "int32")), (-1, 1, 1, 1))
        noisy = ops.sqrt(bar) * image + ops.sqrt(1 - bar) * noise
        return self.net([noisy, t], training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        error = ops.mean(ops.square(x["noise"] - y_pred), axis=(1, 2, 3))
        snr = ops.take(self.bar, x["t"][:, 0])
        self.noise_error.update_state(ops.mean(ops.abs(x["noise"] - y_pred)))
        return ops.mean(error * ops.minimum(snr / (1 - snr), 5.0) / (snr / (1 - snr)))

    @property
    def metrics(self):
        return [*super().metrics, self.noise_error]


net = unet()
for v in net.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.2 + ("gamma" in v.path))
data = {
    "image": np.tanh(rng.normal(size=(48, 8, 8, 1))).astype("float32"),
    "t": rng.integers(0, T, (48, 1)).astype("int32"),
    "noise": rng.normal(size=(48, 8, 8, 1)).astype("float32"),
}
model = Diffusion(net)
model.compile(optimizer=keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecay(0.0, 12, warmup_target=0.01, warmup_steps=3), weight_decay=1e-3, clipnorm=1.0))
history = model.fit(data, batch_size=16, epochs=4, shuffle=False, verbose=0)
for key in sorted(history.history):
    print(key, [f"{v:.4f}" for v in history.history[key]])
print({k: f"{v:.4f}" for k, v in model.evaluate(data, batch_size=20, verbose=0, return_dict=True).items()})

x = rng.normal(size=(4, 8, 8, 1)).astype("float32")
for t in reversed(range(0, T, 4)):  # DDIM
    eps = net.predict([x, np.full((4, 1), t, "int32")], verbose=0)
    bar, before = alphas_bar[t], alphas_bar[t - 4] if t >= 4 else 1.0
    start = np.clip((x - np.sqrt(1 - bar) * eps) / np.sqrt(bar), -1, 1)
    x = np.sqrt(before) * start + np.sqrt(1 - before) * eps
print(x.shape, np.round(x[0, :2, :3, 0], 3))
net.save(FOLDER + "/ddpm_unet.keras")
again = keras.models.load_model(FOLDER + "/ddpm_unet.keras")
print(np.abs(again.predict([x, np.zeros((4, 1), "int32")], verbose=0) - net.predict([x, np.zeros((4, 1), "int32")], verbose=0)).max() < 1e-6)
