"""Audio and series: windows with flat_map, Conv1D causal stacks, spectrogram layer, forecasting helpers, Huber, schedules."""
import numpy as np
import tensorflow as tf

tf.keras.backend.clear_session()
tf.random.set_seed(51)
np.random.seed(51)
time = np.arange(200, dtype="float32")
series = 10 + 0.05 * time + 4 * np.where((time % 30) / 30 < 0.4, np.cos((time % 30) / 30 * 2 * np.pi), 1 / np.exp(3 * (time % 30) / 30)) + np.random.RandomState(42).randn(200) * 0.3
series = series.astype("float32")
split_time, window_size, batch_size = 150, 12, 16
x_train, x_valid = series[:split_time], series[split_time:]


def windowed_dataset(series, window_size, batch_size, shuffle_buffer=0):
    series = tf.expand_dims(series, axis=-1)
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window_size + 1, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window_size + 1))
    if shuffle_buffer:
        ds = ds.shuffle(shuffle_buffer)
    ds = ds.map(lambda w: (w[:-1], w[1:]))
    return ds.batch(batch_size).prefetch(1)


def model_forecast(model, series, window_size):
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window_size, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window_size))
    ds = ds.batch(32).prefetch(1)
    return model.predict(ds, verbose=0)


model = tf.keras.models.Sequential()
model.add(tf.keras.layers.InputLayer(shape=[None, 1]))
for dilation_rate in (1, 2, 4):
    model.add(tf.keras.layers.Conv1D(filters=8, kernel_size=2, strides=1, dilation_rate=dilation_rate, padding="causal", activation="relu"))
model.add(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(6, return_sequences=True)))
model.add(tf.keras.layers.Dense(1))
model.add(tf.keras.layers.Lambda(lambda x: x * 10.0))
rng = np.random.default_rng(2)
model.set_weights([rng.normal(0, 0.3, w.shape) for w in model.get_weights()])
lr_schedule = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 1e-4 * 10 ** (epoch / 4))
model.compile(loss=tf.keras.losses.Huber(), optimizer=tf.keras.optimizers.SGD(learning_rate=1e-4, momentum=0.9), metrics=["mae"])
train_set = windowed_dataset(x_train, window_size, batch_size)
history = model.fit(train_set, epochs=3, callbacks=[lr_schedule], verbose=0)
print({k: np.round(v, 4).tolist() for k, v in sorted(history.history.items())})
forecast = model_forecast(model, series[..., np.newaxis], window_size)
forecast = forecast[split_time - window_size : -1, -1, 0]
print(forecast.shape, np.round(tf.keras.metrics.mae(x_valid, forecast).numpy() if hasattr(tf.keras.metrics, "mae") else tf.keras.losses.MAE(x_valid, forecast).numpy(), 1))

ds = tf.keras.utils.timeseries_dataset_from_array(series[:-window_size, None], series[window_size:], sequence_length=window_size, sequence_stride=2, sampling_rate=1, batch_size=16)
for a, b in ds.take(1):
    print(a.shape, b.shape, float(a[0, 0, 0]).__round__(3))
print(len(ds), tf.data.experimental.cardinality(ds).numpy())


class Baseline(tf.keras.Model):
    def __init__(self, label_index=None):
        super().__init__()
        self.label_index = label_index

    def call(self, inputs):
        if self.label_index is None:
            return inputs
        result = inputs[:, :, self.label_index]
        return result[:, :, tf.newaxis]


base = Baseline(label_index=0)
base.compile(loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.MeanAbsoluteError()])
print(np.round(base.evaluate(train_set, verbose=0), 3))


class FeedBack(tf.keras.Model):
    def __init__(self, units, out_steps):
        super().__init__()
        self.out_steps, self.units = out_steps, units
        self.lstm_cell = tf.keras.layers.LSTMCell(units)
        self.lstm_rnn = tf.keras.layers.RNN(self.lstm_cell, return_state=True)
        self.dense = tf.keras.layers.Dense(1)

    def warmup(self, inputs):
        x, *state = self.lstm_rnn(inputs)
        return self.dense(x), state

    def call(self, inputs, training=None):
        predictions = []
        prediction, state = self.warmup(inputs)
        predictions.append(prediction)
        for n in range(1, self.out_steps):
            x, state = self.lstm_cell(prediction, states=state, training=training)
            prediction = self.dense(x)
            predictions.append(prediction)
        predictions = tf.stack(predictions)
        return tf.transpose(predictions, [1, 0, 2])


fb = FeedBack(6, 3)
fb(tf.zeros((1, 12, 1)))
fb.set_weights([rng.normal(0, 0.2, w.shape) for w in fb.get_weights()])
fb.compile("adam", "mse")
multi = train_set.map(lambda x, y: (x / 10.0, y[:, -3:] / 10.0))
print(np.round(fb.fit(multi, epochs=2, verbose=0).history["loss"], 3), fb.predict(np.zeros((2, 12, 1), "float32"), verbose=0).shape)

t = tf.range(1024, dtype=tf.float32) / 256.0
wave = tf.sin(2 * np.pi * 32.0 * t) + 0.1 * tf.cos(2 * np.pi * 64.0 * t)
spec = tf.abs(tf.signal.stft(wave, frame_length=128, frame_step=64))
spec = spec[..., tf.newaxis]
print(spec.shape, int(tf.argmax(tf.reduce_mean(spec[..., 0], 0))))
norm = tf.keras.layers.Normalization()
norm.adapt(data=tf.data.Dataset.from_tensors(spec))
print(norm(spec).shape, round(float(tf.math.reduce_std(norm(spec))), 2))
mel = tf.signal.linear_to_mel_weight_matrix(10, 65, 256, 10.0, 120.0)
logmel = tf.math.log(tf.tensordot(spec[..., 0], mel, 1) + 1e-6)
print(logmel.shape, tf.signal.dct(logmel, type=2, norm="ortho").shape, tf.signal.overlap_and_add(tf.ones((3, 4)), 2).numpy(), tf.signal.rfft(wave[:8]).dtype, tf.signal.hamming_window(4).numpy().round(3), tf.signal.fftshift(tf.range(4)).numpy())
audio = tf.audio.encode_wav(wave[:, None] * 0.5, 256)
back, rate = tf.audio.decode_wav(audio, desired_channels=1)
print(back.shape, int(rate), bool(tf.reduce_max(tf.abs(back[:, 0] - wave * 0.5)) < 1e-3))
print(tf.squeeze(back, axis=-1).shape, tf.pad(wave[:3], [[1, 1]], "REFLECT").numpy().round(2), tf.math.cumsum([1, 2, 3], exclusive=True).numpy(), 3.0)
