# keras.utils.Sequence, plain generators, class weights, sample weights, confusion matrices, predict on generators
import math

import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import BatchNormalization, Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from tensorflow.keras.utils import Sequence, to_categorical

rng = np.random.RandomState(0)
X = rng.rand(50, 8, 8, 1).astype("float32")
labels = np.where(X.mean((1, 2, 3)) > 0.52, 2, np.where(X.mean((1, 2, 3)) > 0.49, 1, 0))


class DataGenerator(Sequence):
    'Generates data for Keras'
    def __init__(self, list_IDs, labels, batch_size=8, dim=(8, 8), n_channels=1, n_classes=3, shuffle=False):
        self.dim = dim
        self.batch_size = batch_size
        self.labels = labels
        self.list_IDs = list_IDs
        self.n_channels = n_channels
        self.n_classes = n_classes
        self.shuffle = shuffle
        self.epochs_ended = 0
        self.on_epoch_end()

    def __len__(self):
        return int(np.floor(len(self.list_IDs) / self.batch_size))

    def __getitem__(self, index):
        indexes = self.indexes[index * self.batch_size:(index + 1) * self.batch_size]
        list_IDs_temp = [self.list_IDs[k] for k in indexes]
        return self.__data_generation(list_IDs_temp)

    def on_epoch_end(self):
        self.indexes = np.arange(len(self.list_IDs))
        self.epochs_ended += 1
        if self.shuffle:
            np.random.shuffle(self.indexes)

    def __data_generation(self, ids):
        x = np.empty((self.batch_size, *self.dim, self.n_channels))
        y = np.empty((self.batch_size), dtype=int)
        for i, ID in enumerate(ids):
            x[i,] = X[ID]
            y[i] = self.labels[ID]
        return x, to_categorical(y, num_classes=self.n_classes)


def build():
    model = Sequential()
    model.add(Conv2D(4, (3, 3), activation='relu', input_shape=(8, 8, 1)))
    model.add(BatchNormalization())
    model.add(MaxPooling2D(pool_size=(2, 2)))
    model.add(Dropout(0.0))
    model.add(Flatten())
    model.add(Dense(3, activation='softmax'))
    r = np.random.default_rng(0)
    for v in model.trainable_variables:
        v.assign(r.normal(size=v.shape) * 0.3 + ("gamma" in v.path))
    model.compile(loss='categorical_crossentropy', optimizer=tf.keras.optimizers.SGD(0.05), metrics=['accuracy', tf.keras.metrics.Precision(), tf.keras.metrics.AUC(name="auc", multi_label=True)])
    return model


params = {'dim': (8, 8), 'batch_size': 8, 'n_classes': 3, 'n_channels': 1, 'shuffle': False}
training_generator, validation_generator = DataGenerator(list(range(40)), labels, **params), DataGenerator(list(range(40, 50)), labels, **params)
model = build()
h = model.fit(training_generator, validation_data=validation_generator, epochs=3, verbose=0, shuffle=False)
for k in h.history:
    print(k, np.round(h.history[k], 4))
print(training_generator.epochs_ended, [round(float(v), 4) for v in model.evaluate(validation_generator, verbose=0)], model.predict(validation_generator, verbose=0).shape)
counts = np.bincount(labels)
class_weight = {i: len(labels) / (3 * c) for i, c in enumerate(counts)}
print({k: round(v, 3) for k, v in class_weight.items()})
model = build()
h = model.fit(X, to_categorical(labels), class_weight=class_weight, epochs=2, batch_size=10, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 4))


def generator(batch_size, weights=False):
    i = 0
    while True:
        idx = np.arange(i, i + batch_size) % len(X)
        i += batch_size
        batch = X[idx], to_categorical(labels[idx], 3)
        yield (*batch, np.array([class_weight[c] for c in labels[idx]])) if weights else batch


model = build()
h = model.fit(generator(10, True), steps_per_epoch=math.ceil(50 / 10), epochs=2, verbose=0, validation_data=generator(10), validation_steps=2)
for k in h.history:
    print(k, np.round(h.history[k], 4))
print(model.evaluate(generator(25), steps=2, verbose=0)[0].__round__(4), model.predict(((x,) for x, _ in generator(10)), steps=3, verbose=0).shape)
cm = tf.math.confusion_matrix(labels, np.argmax(model.predict(X, verbose=0), 1), num_classes=3)
print(cm.numpy().sum(), np.trace(cm) <= 50)
try:
    build().predict_classes(X)
except AttributeError:
    print("predict_classes is gone")
h = model.fit(X, to_categorical(labels), epochs=2, steps_per_epoch=2, batch_size=10, shuffle=False, verbose=2, initial_epoch=1)
print(h.epoch)
from tensorflow.keras.preprocessing.image import ImageDataGenerator
datagen = ImageDataGenerator(rescale=1. / 255, featurewise_center=True, featurewise_std_normalization=True, validation_split=0.2, preprocessing_function=lambda im: im * 2)
datagen.fit(X)
it = datagen.flow(X, np.arange(50) % 2, batch_size=16, shuffle=False, subset="training")
bx, by = next(it)
print(bx.shape, by[:5], len(it), bx.dtype, bx.mean().round(3))
from tensorflow.keras.preprocessing.sequence import TimeseriesGenerator
series = np.arange(30, dtype="float32").reshape(-1, 1)
g = TimeseriesGenerator(series, series, length=4, sampling_rate=2, stride=3, batch_size=4)
print(len(g), g[0][0][:2, :, 0], g[0][1][:2])
