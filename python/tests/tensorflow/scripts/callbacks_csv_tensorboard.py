import csv
import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import callbacks, layers, models

os.chdir(tempfile.mkdtemp())
rng = np.random.RandomState(4)
x = rng.normal(size=(80, 5)).astype('float32')
y = (x[:, 0] - x[:, 1] > 0).astype('float32')


def build():
    model = models.Sequential()
    model.add(layers.Input(shape=(5,)))
    model.add(layers.Dense(6, activation='relu'))
    model.add(layers.Dense(1, activation='sigmoid'))
    r = np.random.RandomState(2)
    model.set_weights([r.normal(size=w.shape) * 0.6 for w in model.get_weights()])
    model.compile(optimizer=tf.keras.optimizers.Adam(0.02), loss='binary_crossentropy', metrics=['accuracy', tf.keras.metrics.AUC(name='auc')])
    return model


json_log = open('loss_log.json', mode='wt', buffering=1)
json_logging_callback = callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: json_log.write(json.dumps({'epoch': epoch, 'loss': float(logs['loss'])}) + '\n'),
    on_train_end=lambda logs: json_log.close())
batch_print = callbacks.LambdaCallback(on_batch_begin=lambda batch, logs: print('batch', batch) if batch == 2 else None) if False else callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: print('batch', batch) if batch == 3 else None)
model = build()
csv_logger = callbacks.CSVLogger('training.csv', separator=',', append=False)
tensorboard = callbacks.TensorBoard(log_dir='logs/fit', histogram_freq=0)
history = model.fit(x, y, validation_split=0.25, epochs=3, batch_size=16, shuffle=False, verbose=2, callbacks=[json_logging_callback, csv_logger, batch_print, tensorboard])
print([sorted(json.loads(line)) for line in open('loss_log.json')])
rows = list(csv.DictReader(open('training.csv')))
print(list(rows[0]), len(rows), round(float(rows[-1]['val_loss']), 3) == round(history.history['val_loss'][-1], 3))
print(sorted(os.listdir('logs/fit')))

model = build()
plateau = callbacks.ReduceLROnPlateau(monitor='val_loss', factor=0.2, patience=1, min_lr=0.001, min_delta=10.0, verbose=1)
stop = callbacks.EarlyStopping(monitor='val_loss', patience=3, min_delta=10.0, restore_best_weights=True, verbose=1)
checkpoint = callbacks.ModelCheckpoint('best_{epoch:02d}.keras', monitor='val_auc', mode='max', save_best_only=True, verbose=1)
h = model.fit(x, y, validation_data=(x[:20], y[:20]), epochs=8, batch_size=40, shuffle=False, verbose=0, callbacks=[plateau, stop, checkpoint])
print(len(h.epoch), stop.stopped_epoch, ['%.4f' % v for v in h.history['learning_rate']])
print([f for f in sorted(os.listdir('.')) if f.endswith('.keras')])

model = build()
model.optimizer.learning_rate.assign(1e30)
nan = model.fit(np.ones((32, 5), 'float32'), np.full(32, np.nan), batch_size=8, epochs=2, verbose=0, callbacks=[callbacks.TerminateOnNaN()])
print('stopped', model.stop_training, len(nan.history['loss']))


class EarlyStoppingAtMinLoss(tf.keras.callbacks.Callback):
    def __init__(self, patience=0):
        super().__init__()
        self.patience = patience
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait, self.stopped_epoch, self.best = 0, 0, np.inf
        print('params', self.params)

    def on_epoch_end(self, epoch, logs=None):
        current = logs.get('loss')
        if np.less(current, self.best):
            self.best, self.wait = current, 0
            self.best_weights = self.model.get_weights()
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = epoch
                self.model.stop_training = True
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")

    def on_test_batch_end(self, batch, logs=None):
        if batch == 0:
            print('test batch', sorted(logs))

    def on_predict_begin(self, logs=None):
        print('predict begins', logs)


model = build()
own = EarlyStoppingAtMinLoss()
model.fit(x, y, batch_size=80, epochs=3, steps_per_epoch=1, verbose=0, callbacks=[own])
model.evaluate(x, y, batch_size=40, verbose=0, callbacks=[own])
model.predict(x, verbose=0, callbacks=[own])

writer = tf.summary.create_file_writer('logs/custom')
with writer.as_default():
    for step in range(3):
        tf.summary.scalar('loss', 1.0 / (step + 1), step=step)
        tf.summary.histogram('weights', model.layers[0].kernel, step=step)
    tf.summary.text('note', 'hello', step=0)
    tf.summary.image('picture', np.zeros((1, 4, 4, 1), 'float32'), step=0)
writer.flush()
print([name.startswith('events.out.tfevents') for name in os.listdir('logs/custom')], os.path.getsize(os.path.join('logs/custom', os.listdir('logs/custom')[0])) > 100)

backup = callbacks.BackupAndRestore('backup')


class Interrupt(callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise RuntimeError('Interrupting!')


model = build()
try:
    model.fit(x, y, epochs=4, batch_size=40, verbose=0, callbacks=[backup, Interrupt()])
except RuntimeError as error:
    print(error)
resumed = model.fit(x, y, epochs=4, batch_size=40, verbose=0, callbacks=[callbacks.BackupAndRestore('backup')])
print(len(resumed.history['loss']), resumed.epoch)
swap = build()
swap.compile(tf.keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=None), 'mse')
swap.fit(x, y, epochs=2, verbose=0, callbacks=[callbacks.SwapEMAWeights(swap_on_epoch=True)])
print(type(swap.history).__name__, swap.history.epoch)
