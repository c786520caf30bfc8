"""The window generator of the time series tutorial, on a made-up weather table."""
import numpy as np
import pandas as pd
import tensorflow as tf

MAX_EPOCHS = 3
CONV_WIDTH = 3

hours = np.arange(600)
rng = np.random.default_rng(5)
date_time = pd.to_datetime('2009-01-01') + pd.to_timedelta(hours, unit='h')
df = pd.DataFrame({'p (mbar)': 990 + 5 * np.sin(hours / 30.), 'T (degC)': 9 + 8 * np.sin(hours * 2 * np.pi / 24) + rng.normal(0, .5, 600),
                   'wv (m/s)': np.abs(rng.normal(2, 1, 600))})
timestamp_s = date_time.map(pd.Timestamp.timestamp)
day = 24 * 60 * 60
df['Day sin'] = np.sin(timestamp_s * (2 * np.pi / day))
df['Day cos'] = np.cos(timestamp_s * (2 * np.pi / day))

fft = tf.signal.rfft(df['T (degC)'])
f_per_dataset = np.arange(0, len(fft))
print('strongest period in hours', len(df) / (1 + int(np.argmax(np.abs(fft)[1:]))))

column_indices = {name: i for i, name in enumerate(df.columns)}
n = len(df)
train_df, val_df, test_df = df[0:int(n * 0.7)], df[int(n * 0.7):int(n * 0.9)], df[int(n * 0.9):]
num_features = df.shape[1]
train_mean, train_std = train_df.mean(), train_df.std()
train_df, val_df, test_df = [(d - train_mean) / train_std for d in (train_df, val_df, test_df)]


class WindowGenerator():
    def __init__(self, input_width, label_width, shift, train_df=train_df, val_df=val_df, test_df=test_df, label_columns=None):
        self.train_df, self.val_df, self.test_df = train_df, val_df, test_df
        self.label_columns = label_columns
        if label_columns is not None:
            self.label_columns_indices = {name: i for i, name in enumerate(label_columns)}
        self.column_indices = {name: i for i, name in enumerate(train_df.columns)}
        self.input_width, self.label_width, self.shift = input_width, label_width, shift
        self.total_window_size = input_width + shift
        self.input_slice = slice(0, input_width)
        self.input_indices = np.arange(self.total_window_size)[self.input_slice]
        self.label_start = self.total_window_size - self.label_width
        self.labels_slice = slice(self.label_start, None)
        self.label_indices = np.arange(self.total_window_size)[self.labels_slice]

    def __repr__(self):
        return '\n'.join([f'Total window size: {self.total_window_size}', f'Input indices: {self.input_indices}',
                          f'Label indices: {self.label_indices}', f'Label column name(s): {self.label_columns}'])

    def split_window(self, features):
        inputs = features[:, self.input_slice, :]
        labels = features[:, self.labels_slice, :]
        if self.label_columns is not None:
            labels = tf.stack([labels[:, :, self.column_indices[name]] for name in self.label_columns], axis=-1)
        inputs.set_shape([None, self.input_width, None])
        labels.set_shape([None, self.label_width, None])
        return inputs, labels

    def make_dataset(self, data):
        data = np.array(data, dtype=np.float32)
        ds = tf.keras.utils.timeseries_dataset_from_array(data=data, targets=None, sequence_length=self.total_window_size,
                                                          sequence_stride=1, shuffle=False, batch_size=32)
        return ds.map(self.split_window)

    @property
    def train(self):
        return self.make_dataset(self.train_df)

    @property
    def val(self):
        return self.make_dataset(self.val_df)

    @property
    def example(self):
        result = getattr(self, '_example', None)
        if result is None:
            result = next(iter(self.train))
            self._example = result
        return result


w2 = WindowGenerator(input_width=6, label_width=1, shift=1, label_columns=['T (degC)'])
print(w2)
example_window = tf.stack([np.array(train_df[:w2.total_window_size]), np.array(train_df[100:100 + w2.total_window_size])])
inputs, labels = w2.split_window(example_window)
print(f'Window shape: {example_window.shape}, dtype {example_window.dtype}')
print(f'Inputs shape: {inputs.shape}', f'Labels shape: {labels.shape}')
print(w2.train.element_spec)


class Baseline(tf.keras.Model):
    def __init__(self, label_index=None):
        super().__init__()
        self.label_index = label_index

    def call(self, inputs):
        if self.label_index is None:
            return inputs
        result = inputs[:, :, self.label_index]
        return result[:, :, tf.newaxis]


single_step_window = WindowGenerator(1, 1, 1, label_columns=['T (degC)'])
baseline = Baseline(label_index=column_indices['T (degC)'])
baseline.compile(loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.MeanAbsoluteError()])
val_performance = {'Baseline': baseline.evaluate(single_step_window.val, return_dict=True, verbose=0)}


class ResidualWrapper(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def call(self, inputs, *args, **kwargs):
        delta = self.model(inputs, *args, **kwargs)
        return inputs + delta


class FeedBack(tf.keras.Model):
    def __init__(self, units, out_steps):
        super().__init__()
        self.out_steps = out_steps
        self.lstm_cell = tf.keras.layers.LSTMCell(units)
        self.lstm_rnn = tf.keras.layers.RNN(self.lstm_cell, return_state=True)
        self.dense = tf.keras.layers.Dense(num_features, kernel_initializer='ones')

    def warmup(self, inputs):
        x, *state = self.lstm_rnn(inputs)
        return self.dense(x), state

    def call(self, inputs, training=None):
        predictions = []
        prediction, state = self.warmup(inputs)
        predictions.append(prediction)
        for _ in range(1, self.out_steps):
            x, state = self.lstm_cell(prediction, states=state, training=training)
            predictions.append(self.dense(x))
            prediction = predictions[-1]
        predictions = tf.stack(predictions)
        return tf.transpose(predictions, [1, 0, 2])


def compile_and_fit(model, window, patience=2):
    early_stopping = tf.keras.callbacks.EarlyStopping(monitor='val_loss', patience=patience, mode='min')
    model.compile(loss=tf.keras.losses.MeanSquaredError(), optimizer=tf.keras.optimizers.Adam(0.01), metrics=[tf.keras.metrics.MeanAbsoluteError()])
    return model.fit(window.train, epochs=MAX_EPOCHS, validation_data=window.val, callbacks=[early_stopping], verbose=0)


conv_window = WindowGenerator(CONV_WIDTH, 1, 1, label_columns=['T (degC)'])
conv_model = tf.keras.Sequential([
    tf.keras.layers.Conv1D(filters=8, kernel_size=(CONV_WIDTH,), activation='relu', kernel_initializer=tf.keras.initializers.Constant(0.05)),
    tf.keras.layers.Dense(units=1, kernel_initializer=tf.keras.initializers.Constant(0.1))])
history = compile_and_fit(conv_model, conv_window)
print([round(v, 3) for v in history.history['val_loss']])
val_performance['Conv'] = conv_model.evaluate(conv_window.val, return_dict=True, verbose=0)

residual = ResidualWrapper(tf.keras.Sequential([
    tf.keras.layers.LSTM(4, return_sequences=True, kernel_initializer=tf.keras.initializers.Constant(0.1), recurrent_initializer='identity'),
    tf.keras.layers.Dense(num_features, kernel_initializer=tf.initializers.zeros())]))
wide_window = WindowGenerator(12, 12, 1)
compile_and_fit(residual, wide_window)
val_performance['Residual LSTM'] = residual.evaluate(wide_window.val, return_dict=True, verbose=0)
for name, value in val_performance.items():
    print(f'{name:14s} {value["mean_absolute_error"]:0.3f}')
feedback = FeedBack(units=4, out_steps=5)
prediction, state = feedback.warmup(wide_window.example[0])
print(prediction.shape, [s.shape for s in state])
print('Output shape (batch, time, features): ', feedback(wide_window.example[0]).shape)
