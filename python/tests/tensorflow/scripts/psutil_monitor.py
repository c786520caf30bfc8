import gc
import os
import time

import numpy as np
import psutil
import tensorflow as tf
from tensorflow.keras import backend as K

process = psutil.Process(os.getpid())


def rss_mb():
    return process.memory_info().rss / 1024 ** 2


class MemoryCallback(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.readings = []

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.time()

    def on_epoch_end(self, epoch, logs=None):
        self.readings.append(rss_mb())
        gc.collect()


def build_model():
    return tf.keras.models.Sequential([
        tf.keras.layers.Input(shape=(32,)),
        tf.keras.layers.Dense(64, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(1e-4)),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dense(1)])


rng = np.random.default_rng(0)
x, y = rng.normal(size=(512, 32)), rng.normal(size=512)
for fold in range(4):
    K.clear_session()
    gc.collect()
    model = build_model()
    model.compile(optimizer="adam", loss="mse")
    memory = MemoryCallback()
    model.fit(x, y, epochs=3, batch_size=64, verbose=0, callbacks=[memory])
    if fold == 0:
        first = memory.readings[-1]
    print("fold", fold, "readings", len(memory.readings))
print("grew by less than 100 MB:", memory.readings[-1] - first < 100)
print("model has", model.count_params(), "parameters,", sum(np.prod(w.shape) * 4 for w in model.weights) // 1024, "KiB")
print(psutil.virtual_memory().total > 0, K.floatx(), K.image_data_format(), K.epsilon())
