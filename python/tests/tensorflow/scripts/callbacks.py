import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

folder = tempfile.mkdtemp()
x = np.linspace(-1, 1, 128).reshape(-1, 1).astype("float32")
y = 3 * x + 1


class CustomCallback(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("Starting training; got log keys: {}".format(list((logs or {}).keys())))

    def on_epoch_end(self, epoch, logs=None):
        print("End epoch {} of training; got log keys: {}".format(epoch, sorted(logs.keys())))

    def on_train_batch_end(self, batch, logs=None):
        if batch == 3:
            print("...Training: end of batch {}; got log keys: {}".format(batch, sorted(logs.keys())))


def get_model(rate=0.1):
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,), kernel_initializer="zeros")])
    model.compile(optimizer=keras.optimizers.SGD(learning_rate=rate), loss="mse", metrics=["mae"])
    return model


model = get_model()
model.fit(x, y, batch_size=32, epochs=2, verbose=0, shuffle=False, callbacks=[CustomCallback()])


def scheduler(epoch, lr):
    return lr if epoch < 2 else lr * 0.5


model = get_model()
csv = os.path.join(folder, "log.csv")
history = model.fit(x, y, epochs=4, verbose=0, shuffle=False, callbacks=[
    keras.callbacks.LearningRateScheduler(scheduler), keras.callbacks.CSVLogger(csv),
    keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: print("epoch", epoch, "lr %.4f" % float(model.optimizer.learning_rate)))])
print([round(v, 4) for v in history.history["learning_rate"]])
print([round(v, 4) for v in history.history["loss"]])
print(open(csv).readline().strip())

model = get_model(0.0)
stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2, min_delta=1e-4, restore_best_weights=True)
plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_lr=1e-5)
history = model.fit(x, y, epochs=20, verbose=0, shuffle=False, callbacks=[stop, plateau, keras.callbacks.TerminateOnNaN()])
print("stopped after", len(history.epoch), "epochs")

best = os.path.join(folder, "best.keras")
model = get_model()
model.fit(x, y, epochs=3, verbose=2, shuffle=False, validation_data=(x, y),
          callbacks=[keras.callbacks.ModelCheckpoint(best, save_best_only=True, monitor="val_loss")])
print(os.path.exists(best), model.stop_training)


class LossHistory(tf.keras.callbacks.Callback):
    def on_train_begin(self, logs={}):
        self.losses = []

    def on_train_batch_end(self, batch, logs={}):
        self.losses.append(logs.get('loss'))


recorder = LossHistory()
get_model().fit(x, y, batch_size=64, epochs=2, verbose=0, shuffle=False, callbacks=[recorder])
print(len(recorder.losses), [round(float(v), 3) for v in recorder.losses])
