"""Weather forecast as in the Keras example: pandas, normalisation, timeseries_dataset_from_array, LSTM, callbacks."""
import os
import tempfile

import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras

rng = np.random.RandomState(7)
n = 400
hours = np.arange(n)
df = pd.DataFrame({
    'Date Time': pd.date_range('2020-01-01', periods=n, freq='h').strftime('%d.%m.%Y %H:%M:%S'),
    'p (mbar)': 990 + rng.randn(n).cumsum() * 0.1,
    'T (degC)': 10 + 8 * np.sin(2 * np.pi * hours / 24) + rng.randn(n) * 0.5,
    'rh (%)': 60 + 20 * np.cos(2 * np.pi * hours / 24) + rng.randn(n)})
path = os.path.join(tempfile.mkdtemp(), 'weather.csv')
df.to_csv(path, index=False)
df = pd.read_csv(path)
date_time = pd.to_datetime(df.pop('Date Time'), format='%d.%m.%Y %H:%M:%S')
timestamp_s = (date_time - pd.Timestamp('1970-01-01')) / pd.Timedelta(seconds=1)
df['Day sin'] = np.sin(timestamp_s * (2 * np.pi / 86400))
print(df.describe().transpose()[['mean', 'std']].round(2))

split_fraction, past, future, step, batch_size = 0.7, 24, 6, 2, 32
train_split = int(split_fraction * int(df.shape[0]))


def normalize(data, train_split):
    data_mean = data[:train_split].mean(axis=0)
    data_std = data[:train_split].std(axis=0)
    return (data - data_mean) / data_std


features = normalize(df.values, train_split)
features = pd.DataFrame(features)
train_data, val_data = features.loc[0: train_split - 1], features.loc[train_split:]
start, end = past + future, past + future + train_split
x_train, y_train = train_data[[i for i in range(4)]].values, features.iloc[start:end][[1]]
sequence_length = int(past / step)
dataset_train = keras.preprocessing.timeseries_dataset_from_array(x_train, y_train, sequence_length=sequence_length, sampling_rate=step, batch_size=batch_size)
x_end = len(val_data) - past - future
label_start = train_split + past + future
x_val, y_val = val_data.iloc[:x_end][[i for i in range(4)]].values, features.iloc[label_start:][[1]]
dataset_val = keras.preprocessing.timeseries_dataset_from_array(x_val, y_val, sequence_length=sequence_length, sampling_rate=step, batch_size=batch_size)
for batch in dataset_train.take(1):
    inputs, targets = batch
print('Input shape:', inputs.numpy().shape)
print('Target shape:', targets.numpy().shape)
print(inputs[0, 0], targets[:2])
print(len(dataset_train), dataset_val.cardinality().numpy(), inputs.dtype)

inputs = keras.layers.Input(shape=(inputs.shape[1], inputs.shape[2]))
lstm_out = keras.layers.LSTM(16)(inputs)
outputs = keras.layers.Dense(1)(lstm_out)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss='mse', metrics=[keras.metrics.RootMeanSquaredError(name='rmse')])
w = np.random.RandomState(0)
model.set_weights([w.normal(size=v.shape) * 0.2 for v in model.get_weights()])
path_checkpoint = os.path.join(tempfile.mkdtemp(), 'model_checkpoint.weights.h5')
es_callback = keras.callbacks.EarlyStopping(monitor='val_loss', min_delta=0, patience=2)
modelckpt_callback = keras.callbacks.ModelCheckpoint(monitor='val_loss', filepath=path_checkpoint, verbose=0, save_weights_only=True, save_best_only=True)
reduce = keras.callbacks.ReduceLROnPlateau(monitor='val_loss', factor=0.5, patience=1, verbose=0)
history = model.fit(dataset_train, epochs=4, validation_data=dataset_val, callbacks=[es_callback, modelckpt_callback, reduce], shuffle=False, verbose=0)
print('loss', np.round(history.history['loss'], 3), 'val', np.round(history.history['val_loss'], 3), sorted(history.history))
model.load_weights(path_checkpoint)
for x, y in dataset_val.take(1):
    prediction = model.predict(x, verbose=0)[0]
    print('history', x[0][:3, 1].numpy(), 'true', y[0].numpy(), 'predicted', prediction)

# windows made by hand, as in the course
series = np.arange(10, dtype='float32')
dataset = tf.data.Dataset.from_tensor_slices(series)
dataset = dataset.window(5, shift=1, drop_remainder=True)
dataset = dataset.flat_map(lambda window: window.batch(5))
dataset = dataset.map(lambda window: (window[:-1], window[-1:]))
dataset = dataset.shuffle(buffer_size=1).batch(2).prefetch(1)
for x, y in dataset.take(1):
    print('x = ', x.numpy())
    print('y = ', y.numpy())
mae = tf.keras.losses.mae(series[1:], series[:-1]).numpy()
print(mae, tf.keras.losses.mse(series[1:], series[:-1]).numpy(), keras.losses.Huber()(series[1:], series[:-1]).numpy())
forecast = model.predict(dataset_val, verbose=0)[:, 0]
actual = np.concatenate([y for x, y in dataset_val], axis=0)
print(forecast.shape, actual.shape, float(np.sqrt(np.mean((forecast - actual[:, 0]) ** 2))))
