# Spectrograms of keyword recordings and a small CNN on them
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

rate = 4000
rng = np.random.default_rng(0)


def tone(f):
    t = np.arange(rate) / rate
    return (0.6 * np.sin(2 * np.pi * f * t) + 0.05 * rng.normal(size=rate)).astype("float32")


waves = np.stack([tone(f) for f in [200, 800] * 12])
labels = np.array([0, 1] * 12)


def get_spectrogram(waveform):
    input_len = 4000
    waveform = waveform[:input_len]
    zero_padding = tf.zeros([4096] - tf.shape(waveform), dtype=tf.float32)
    waveform = tf.cast(waveform, dtype=tf.float32)
    equal_length = tf.concat([waveform, zero_padding], 0)
    spectrogram = tf.signal.stft(equal_length, frame_length=255, frame_step=128)
    spectrogram = tf.abs(spectrogram)
    spectrogram = spectrogram[..., tf.newaxis]
    return spectrogram


s = get_spectrogram(waves[0])
print('Spectrogram shape:', s.shape, s.dtype)
profile = tf.reduce_mean(s, axis=[0, 2])
print("peak bin", int(tf.argmax(profile)), "%.3f" % float(tf.reduce_max(profile)))

stfts = tf.signal.stft(waves[:2], frame_length=256, frame_step=128, fft_length=256)
spectrograms = tf.abs(stfts)
num_spectrogram_bins = stfts.shape[-1]
mel = tf.signal.linear_to_mel_weight_matrix(20, num_spectrogram_bins, rate, 80.0, 1800.0)
mel_spectrograms = tf.tensordot(spectrograms, mel, 1)
mel_spectrograms.set_shape(spectrograms.shape[:-1].concatenate(mel.shape[-1:]))
log_mel = tf.math.log(mel_spectrograms + 1e-6)
mfccs = tf.signal.mfccs_from_log_mel_spectrograms(log_mel)[..., :13]
print(stfts.dtype, mel.shape, mfccs.shape, np.round(mfccs.numpy()[0, 0, :4], 2))
print(np.round(tf.signal.hann_window(8).numpy(), 4))
frames = tf.signal.frame(tf.range(10), frame_length=4, frame_step=3)
print(frames.numpy().tolist())
fft = tf.signal.fft(tf.cast(tf.constant([1.0, 0.0, -1.0, 0.0]), tf.complex64))
print(np.round(fft.numpy(), 3), tf.math.real(fft).numpy(), tf.signal.rfft(tf.constant([1.0, 2.0, 3.0, 4.0])).numpy())

ds = tf.data.Dataset.from_tensor_slices((waves, labels)).map(lambda w, l: (get_spectrogram(w), l)).batch(8)
for spectrogram, _ in ds.take(1):
    input_shape = spectrogram.shape[1:]
print('Input shape:', input_shape)
norm_layer = layers.Normalization()
norm_layer.adapt(data=ds.map(lambda spec, label: spec))
model = models.Sequential([
    layers.Input(shape=input_shape), layers.Resizing(16, 16), norm_layer, layers.Conv2D(4, 3, activation='relu'),
    layers.MaxPooling2D(), layers.Flatten(), layers.Dense(2),
])
model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
model.fit(ds, epochs=6, verbose=0)
print("accuracy", model.evaluate(ds, verbose=0, return_dict=True)['accuracy'])
