"""Layers that prepare data, where they are deterministic, and their random brothers by shape and range."""
import keras
import numpy as np
from keras import layers, ops

np.set_printoptions(precision=4, suppress=True)
rng = np.random.default_rng(0)
images = (rng.random((2, 8, 10, 3)) * 255).astype("float32")
for layer in (layers.Rescaling(1 / 127.5, -1), layers.Resizing(4, 5), layers.Resizing(4, 4, crop_to_aspect_ratio=True), layers.Resizing(6, 6, interpolation="nearest", pad_to_aspect_ratio=True), layers.CenterCrop(4, 6), layers.RandomCrop(4, 6), layers.Solarization(1.0, 0.5) if False else layers.Pipeline([layers.Rescaling(0.5), layers.CenterCrop(2, 2)])):
    out = layer(images) if not isinstance(layer, layers.RandomCrop) else layer(images, training=False)
    print(type(layer).__name__, out.shape, ops.convert_to_numpy(out)[0, 1, 1])
for layer in (layers.RandomFlip(seed=1), layers.RandomRotation(0.2, seed=1), layers.RandomZoom(0.2, seed=1), layers.RandomTranslation(0.1, 0.1, seed=1), layers.RandomContrast(0.3, seed=1), layers.RandomBrightness(0.2, seed=1), layers.RandomSaturation(0.5, seed=1), layers.RandomHue(0.2, seed=1), layers.RandomSharpness(0.4, seed=1), layers.RandomShear(0.2, 0.2, seed=1), layers.RandomGrayscale(0.5, seed=1), layers.RandomPosterization(4, seed=1), layers.RandomInvert(0.5, seed=1), layers.RandomErasing(seed=1), layers.RandomGaussianBlur(seed=1), layers.RandomColorJitter(value_range=(0, 255), brightness_factor=0.2, contrast_factor=0.2, seed=1), layers.AutoContrast(), layers.Equalization(), layers.RandAugment(seed=1), layers.AugMix(seed=1), layers.RandomElasticTransform(seed=1), layers.RandomPerspective(seed=1), layers.RandomColorDegeneration(0.5, seed=1)):
    same = np.allclose(ops.convert_to_numpy(layer(images, training=False)), images) if not isinstance(layer, (layers.AutoContrast, layers.Equalization)) else "always"
    out = ops.convert_to_numpy(layer(images, training=True))
    print(type(layer).__name__, "at rest:", same, out.shape, bool(out.min() >= -1e-2 and out.max() <= 255.01), np.isfinite(out).all())
mix = layers.MixUp(seed=3)
out = mix({"images": images, "labels": np.eye(2, dtype="float32")}, training=True)
print(sorted(out), np.allclose(ops.convert_to_numpy(out["labels"]).sum(1), 1), layers.CutMix(seed=3)({"images": images, "labels": np.eye(2, dtype="float32")}, training=True)["images"].shape)

table = rng.normal(3, 2, (100, 3)).astype("float32")
norm = layers.Normalization()
norm.adapt(table)
n = ops.convert_to_numpy(norm(table))
print(n.mean(0).round(3) + 0.0, n.std(0).round(3), ops.convert_to_numpy(norm.mean).shape, ops.convert_to_numpy(layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 4.0, 4.0])(np.ones((1, 3)))))
axisless = layers.Normalization(axis=None)
axisless.adapt(table)
print(float(ops.convert_to_numpy(axisless.mean).reshape(-1)[0]) - table.mean() < 1e-4, ops.convert_to_numpy(layers.Normalization(mean=0.0, variance=4.0, invert=True)(np.ones((1, 2)))))
d = layers.Discretization(bin_boundaries=[0.0, 2.0, 4.0])
print(ops.convert_to_numpy(d(np.array([[-1.0, 0.0, 3.0, 9.0]]))))
d = layers.Discretization(num_bins=4, epsilon=0.01)
d.adapt(table[:, 0])
print(len(d.bin_boundaries), ops.convert_to_numpy(layers.Discretization([1.0], output_mode="one_hot")(np.array([[0.5], [1.5]]))))
for mode in ("one_hot", "multi_hot", "count"):
    print(mode, ops.convert_to_numpy(layers.CategoryEncoding(4, mode)(np.array([[3], [0]]) if mode == "one_hot" else np.array([[0, 1], [2, 2]]))))
print(ops.convert_to_numpy(layers.CategoryEncoding(3, "count")(np.array([[0, 1]]), count_weights=np.array([[0.5, 2.0]]))))

x = np.sin(np.arange(800) * 0.3).astype("float32")[None]
mel = layers.MelSpectrogram(fft_length=128, sequence_stride=64, sampling_rate=8000, num_mel_bins=8, max_freq=4000)
print(mel(x).shape, ops.convert_to_numpy(mel(x))[0, :3, 2])
stft = layers.STFTSpectrogram(mode="log", frame_length=64, frame_step=32, fft_length=64, trainable=False)
print(stft(x[..., None]).shape, np.isfinite(ops.convert_to_numpy(stft(x[..., None]))).all())
spectral = layers.SpectralNormalization(layers.Dense(2, kernel_initializer="ones"))
print(spectral(np.ones((1, 3), "float32"), training=False).shape)

model = keras.Sequential([keras.Input((8, 10, 3)), layers.Rescaling(1 / 255), layers.RandomFlip("horizontal", seed=1), layers.Resizing(6, 6), layers.ZeroPadding2D(1), layers.Cropping2D(1), layers.Conv2D(2, 3, kernel_initializer="ones"), layers.UpSampling2D(2, interpolation="bilinear"), layers.MaxPooling2D(), layers.Flatten(), layers.UnitNormalization(), layers.Dense(1, kernel_initializer="ones")])
print(model.predict(images, verbose=0).ravel(), model.output_shape, model.count_params())
for layer in (layers.SeparableConv2D(2, 3, depthwise_initializer="ones", pointwise_initializer="ones"), layers.DepthwiseConv2D(3, depthwise_initializer="ones"), layers.Conv2DTranspose(2, 3, strides=2, kernel_initializer="ones"), layers.Conv2D(3, 3, dilation_rate=2, groups=3, kernel_initializer="ones"), layers.AveragePooling2D(3, strides=2, padding="same"), layers.GlobalMaxPooling2D(keepdims=True), layers.GroupNormalization(3), layers.LayerNormalization(axis=[1, 2]), layers.RMSNormalization(), layers.BatchNormalization(), layers.SpatialDropout2D(0.5), layers.GaussianDropout(0.5), layers.AlphaDropout(0.5), layers.ActivityRegularization(0.01), layers.Permute((3, 1, 2)), layers.PReLU(), layers.Softmax(axis=1), layers.AdaptiveAveragePooling2D(2), layers.AdaptiveMaxPooling2D((3, 2)), layers.Identity()):
    out = ops.convert_to_numpy(layer(images / 255))
    print(type(layer).__name__, out.shape, out.ravel()[:2])
sequence = rng.normal(size=(2, 7, 3)).astype("float32")
for layer in (layers.Conv1D(2, 3, padding="causal", kernel_initializer="ones"), layers.SeparableConv1D(2, 3, depthwise_initializer="ones", pointwise_initializer="ones"), layers.Conv1DTranspose(2, 2, kernel_initializer="ones"), layers.MaxPooling1D(2), layers.ZeroPadding1D(2), layers.Cropping1D(1), layers.UpSampling1D(2), layers.GlobalMaxPooling1D(), layers.EinsumDense("abc,cd->abd", (None, 2), kernel_initializer="ones"), layers.Reshape((-1, 7)), layers.RepeatVector(2) if False else layers.Flatten()):
    out = ops.convert_to_numpy(layer(sequence))
    print(type(layer).__name__, out.shape, out.ravel()[:2])
pair = [ops.convert_to_tensor(sequence), ops.convert_to_tensor(sequence + 1)]
print([ops.convert_to_numpy(layer(pair)).ravel()[0].round(4) for layer in (layers.Add(), layers.Subtract(), layers.Multiply(), layers.Average(), layers.Maximum(), layers.Minimum())], layers.Dot(axes=(2, 2), normalize=True)(pair).shape, layers.Concatenate(1)(pair).shape)
