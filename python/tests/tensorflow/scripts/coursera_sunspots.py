# Windowed forecasting the way the specialisation teaches it: windows by tf.data, Lambda layers, Conv1D + LSTM, LR sweep
import csv
import os
import tempfile

import numpy as np
import tensorflow as tf

time = np.arange(4 * 60 + 1, dtype="float32")


def trend(time, slope=0):
    return slope * time


def seasonal_pattern(season_time):
    return np.where(season_time < 0.4, np.cos(season_time * 2 * np.pi), 1 / np.exp(3 * season_time))


def seasonality(time, period, amplitude=1, phase=0):
    return amplitude * seasonal_pattern(((time + phase) % period) / period)


def noise(time, level=1, seed=None):
    return np.random.RandomState(seed).randn(len(time)) * level


series = 10 + trend(time, 0.05) + seasonality(time, period=30, amplitude=8) + noise(time, 1, seed=42)
path = os.path.join(tempfile.mkdtemp(), "sunspots.csv")
with open(path, "w") as f:
    writer = csv.writer(f)
    writer.writerow(["", "Date", "Value"])
    for i, v in enumerate(series):
        writer.writerow([i, "d", v])
with open(path) as f:
    reader = csv.reader(f, delimiter=",")
    next(reader)
    series = np.array([float(row[2]) for row in reader])
split_time, window_size, batch_size, shuffle_buffer_size = 180, 12, 16, 1
time_train, x_train, time_valid, x_valid = time[:split_time], series[:split_time], time[split_time:], series[split_time:]
naive = series[split_time - 1:-1]
print(tf.keras.metrics.mse(x_valid, naive).numpy().round(4), tf.keras.losses.MeanAbsoluteError()(x_valid, naive).numpy().round(4))


def windowed_dataset(series, window_size, batch_size, shuffle_buffer):
    series = tf.expand_dims(series, axis=-1)
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window_size + 1, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window_size + 1))
    ds = ds.shuffle(shuffle_buffer)
    ds = ds.map(lambda w: (w[:-1], w[1:]))
    return ds.batch(batch_size).prefetch(1)


def model_forecast(model, series, window_size):
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window_size, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window_size))
    ds = ds.batch(32).prefetch(1)
    return model.predict(ds, verbose=0)


tf.keras.backend.clear_session()
tf.random.set_seed(51)
np.random.seed(51)
train_set = windowed_dataset(x_train, window_size, batch_size, shuffle_buffer_size)
for a, b in train_set.take(1):
    print(a.shape, b.shape, a.dtype)
model = tf.keras.models.Sequential([
    tf.keras.layers.Conv1D(filters=8, kernel_size=5, strides=1, padding="causal", activation="relu", input_shape=[None, 1]),
    tf.keras.layers.LSTM(8, return_sequences=True),
    tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(6, return_sequences=True)),
    tf.keras.layers.Dense(6, activation="relu"),
    tf.keras.layers.Dense(1),
    tf.keras.layers.Lambda(lambda x: x * 20.0)])
rng = np.random.default_rng(3)
model.set_weights([rng.normal(size=w.shape) * 0.2 for w in model.get_weights()])
model.summary()
lr_schedule = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 1e-6 * 10**(epoch / 2))
optimizer = tf.keras.optimizers.SGD(learning_rate=1e-6, momentum=0.9)
model.compile(loss=tf.keras.losses.Huber(), optimizer=optimizer, metrics=["mae"])
history = model.fit(train_set, epochs=4, callbacks=[lr_schedule], verbose=0)
print(np.round(history.history["loss"], 4), np.array(history.history["learning_rate"]))


class StopAt(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs={}):
        if logs.get("mae") is not None and logs.get("mae") < 1000:
            print("\nReached it so cancelling training!")
            self.model.stop_training = True


model.compile(loss="mse", optimizer=tf.keras.optimizers.Adam(1e-3), metrics=["mae"])
h = model.fit(train_set, epochs=5, callbacks=[StopAt()], verbose=0)
print(len(h.epoch))
forecast = model_forecast(model, series[..., np.newaxis], window_size)
print(forecast.shape)
results = forecast[split_time - window_size:-1, -1, 0]
print(results.shape, tf.keras.losses.MeanAbsoluteError()(x_valid, results).numpy().round(3))

dense = tf.keras.models.Sequential([tf.keras.layers.Dense(10, input_shape=[window_size], activation="relu"), tf.keras.layers.Dense(10, activation="relu"), tf.keras.layers.Dense(1)])
dense.set_weights([rng.normal(size=w.shape) * 0.2 for w in dense.get_weights()])
flat = train_set.map(lambda x, y: (tf.squeeze(x, -1), y[:, -1]))
dense.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(learning_rate=1e-4, momentum=0.9))
print(np.round(dense.fit(flat, epochs=3, verbose=0).history["loss"], 3))
forecast = []
for t in range(len(series) - window_size)[:5]:
    forecast.append(dense.predict(series[t:t + window_size][np.newaxis], verbose=0))
print(np.array(forecast)[:, 0, 0].round(3))
rnn = tf.keras.models.Sequential([tf.keras.layers.Lambda(lambda x: tf.expand_dims(x, axis=-1), input_shape=[None]), tf.keras.layers.SimpleRNN(6, return_sequences=True), tf.keras.layers.SimpleRNN(6), tf.keras.layers.Dense(1), tf.keras.layers.Lambda(lambda x: x * 100.0)])
rnn.set_weights([rng.normal(size=w.shape) * 0.2 for w in rnn.get_weights()])
rnn.compile(loss=tf.keras.losses.Huber(), optimizer=tf.keras.optimizers.SGD(learning_rate=5e-5, momentum=0.9), metrics=["mae"])
print(np.round(rnn.fit(flat, epochs=2, verbose=0).history["mae"], 3))
