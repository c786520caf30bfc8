# Air pollution style: multivariate LSTM forecasting, as in the blog posts
from math import sqrt
import numpy as np
import pandas as pd
from tensorflow.keras import Sequential
from tensorflow.keras.layers import LSTM, Dense, RepeatVector, TimeDistributed, Bidirectional, Conv1D, MaxPooling1D, Flatten
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint
import tensorflow as tf

rng = np.random.RandomState(4)
t = np.arange(160)
df = pd.DataFrame({'pollution': np.sin(t / 6) + 0.05 * rng.normal(size=160), 'temp': np.cos(t / 9), 'wind': rng.rand(160)},
                  index=pd.date_range('2020-01-01', periods=160, freq='h'))
print(df.head(2).round(3).to_string())


def series_to_supervised(data, n_in=1, n_out=1, dropnan=True):
    n_vars = data.shape[1]
    cols, names = list(), list()
    for i in range(n_in, 0, -1):
        cols.append(data.shift(i))
        names += [('var%d(t-%d)' % (j + 1, i)) for j in range(n_vars)]
    for i in range(0, n_out):
        cols.append(data.shift(-i))
        names += [('var%d(t+%d)' % (j + 1, i)) for j in range(n_vars)]
    agg = pd.concat(cols, axis=1)
    agg.columns = names
    return agg.dropna() if dropnan else agg


scaled = (df - df.min()) / (df.max() - df.min())
values = series_to_supervised(scaled, 4, 1).values.astype('float32')
train, test = values[:120], values[120:]
train_X, train_y = train[:, :12].reshape((-1, 4, 3)), train[:, 12]
test_X, test_y = test[:, :12].reshape((-1, 4, 3)), test[:, 12]
print(train_X.shape, train_y.shape, test_X.shape, test_y.shape)

model = Sequential()
model.add(LSTM(10, input_shape=(train_X.shape[1], train_X.shape[2]), return_sequences=True))
model.add(LSTM(6, activation='relu'))
model.add(Dense(1))
model.set_weights([rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])
model.compile(loss='mae', optimizer='adam')
history = model.fit(train_X, train_y, epochs=4, batch_size=24, validation_data=(test_X, test_y), verbose=0, shuffle=False)
print(['%.4f' % v for v in history.history['loss']], ['%.4f' % v for v in history.history['val_loss']])
yhat = model.predict(test_X, verbose=0)
print('Test RMSE: %.3f' % sqrt(((yhat[:, 0] - test_y) ** 2).mean()))

encdec = Sequential([LSTM(8, input_shape=(4, 3)), RepeatVector(2), LSTM(8, return_sequences=True), TimeDistributed(Dense(1))])
encdec.set_weights([rng.normal(size=w.shape) * 0.3 for w in encdec.get_weights()])
encdec.compile(loss=tf.keras.losses.Huber(), optimizer=tf.keras.optimizers.Adam(clipvalue=0.5))
y2 = np.stack([train_y[:-1], train_y[1:]], axis=1)[..., None]
h = encdec.fit(train_X[:-1], y2, epochs=2, batch_size=32, verbose=0, shuffle=False)
print(encdec.output_shape, ['%.5f' % v for v in h.history['loss']])

cnn = Sequential([Conv1D(filters=8, kernel_size=2, activation='relu', input_shape=(4, 3)), MaxPooling1D(pool_size=2), Flatten(), Dense(5, activation='relu'), Dense(1)])
cnn.set_weights([rng.normal(size=w.shape) * 0.3 for w in cnn.get_weights()])
cnn.compile(optimizer='adam', loss='mse')
print(['%.5f' % v for v in cnn.fit(train_X, train_y, epochs=2, verbose=0, shuffle=False).history['loss']])

windows = tf.keras.utils.timeseries_dataset_from_array(scaled.values[:-4].astype('float32'), scaled['pollution'].values[4:].astype('float32'), sequence_length=4, batch_size=16)
for xb, yb in windows.take(1):
    print(xb.shape, yb.shape)
h = cnn.fit(windows, epochs=1, verbose=0)
print('%.5f' % h.history['loss'][0])
