import numpy as np
import tensorflow as tf

series = np.sin(np.arange(300) * 0.1).astype("float32")
split_time, window_size, batch_size = 240, 10, 16
x_train, x_valid = series[:split_time], series[split_time:]


def windowed_dataset(series, window_size, batch_size, shuffle_buffer):
    dataset = tf.data.Dataset.from_tensor_slices(series)
    dataset = dataset.window(window_size + 1, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(window_size + 1))
    dataset = dataset.shuffle(shuffle_buffer).map(lambda window: (window[:-1], window[-1]))
    dataset = dataset.batch(batch_size).prefetch(1)
    return dataset


dataset = windowed_dataset(x_train, window_size, batch_size, 200)
for x, y in dataset.take(1):
    print(x.shape, y.shape, x.dtype)

model = tf.keras.models.Sequential([
    tf.keras.layers.Lambda(lambda x: tf.expand_dims(x, axis=-1), input_shape=[window_size]),
    tf.keras.layers.LSTM(12),
    tf.keras.layers.Dense(1)
])
model.compile(loss=tf.keras.losses.Huber(), optimizer=tf.keras.optimizers.Adam(0.02), metrics=["mae"])
history = model.fit(dataset, epochs=8, verbose=0)
print("mae is low", history.history["mae"][-1] < 0.2)

forecast = []
for time in range(0, 20):
    forecast.append(model(x_valid[time : time + window_size][np.newaxis]).numpy()[0, 0])
print(len(forecast), bool(np.mean(np.abs(np.array(forecast) - x_valid[window_size : window_size + 20])) < 0.3))
print(tf.keras.metrics.MeanAbsoluteError()(x_valid[:20], x_valid[:20] + 0.5).numpy())

data = np.arange(30, dtype="float32").reshape(-1, 1)
ds = tf.keras.utils.timeseries_dataset_from_array(data[:-5], data[5:], sequence_length=5, batch_size=4)
for inputs, targets in ds.take(1):
    print(inputs.shape, targets.shape, inputs[0, :, 0].numpy(), targets[:, 0].numpy())


class WindowGenerator:
    def __init__(self, input_width, label_width, shift):
        self.total_window_size = input_width + shift
        self.input_slice = slice(0, input_width)
        self.label_start = self.total_window_size - label_width
        self.labels_slice = slice(self.label_start, None)

    def split_window(self, features):
        inputs = features[:, self.input_slice, :]
        labels = features[:, self.labels_slice, :]
        inputs.set_shape([None, 6, None])
        return inputs, labels


w = WindowGenerator(6, 1, 1)
stacked = tf.stack([data[0:7], data[10:17], data[20:27]])
inputs, labels = w.split_window(stacked)
print(stacked.shape, inputs.shape, labels.shape, labels[:, 0, 0].numpy())

gru = tf.keras.Sequential([tf.keras.layers.GRU(8, return_sequences=True), tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(1))])
print(gru(inputs).shape)
