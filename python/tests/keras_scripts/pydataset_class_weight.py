import math

import keras
import numpy as np


class Batches(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size, self.ended = x, y, batch_size, 0

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, index):
        part = slice(index * self.batch_size, (index + 1) * self.batch_size)
        return self.x[part], self.y[part], np.linspace(0.5, 1.5, len(self.x[part])).astype("float32")

    def on_epoch_end(self):
        self.ended += 1


rng = np.random.default_rng(3)
x = rng.normal(size=(50, 6)).astype("float32")
y = (x[:, 0] > 0.6).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(7, activation="swish"), keras.layers.BatchNormalization(),
                          keras.layers.Dense(1, activation="sigmoid")])
for v in model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.4)
model.compile(keras.optimizers.Lion(0.01), keras.losses.BinaryFocalCrossentropy(gamma=2.0),
              metrics=[keras.metrics.AUC(name="auc"), keras.metrics.Precision(name="p"), keras.metrics.Recall(name="r")],
              weighted_metrics=[keras.metrics.BinaryAccuracy(name="wacc")])
train = Batches(x, y, 12, workers=2, use_multiprocessing=False, max_queue_size=4)
h = model.fit(train, epochs=3, shuffle=False, verbose=0)
for k, v in sorted(h.history.items()):
    print(k, [f"{a:.4f}" for a in v])
print("epochs ended", train.ended)


def generator():
    while True:
        for i in range(0, 48, 16):
            yield x[i:i + 16], y[i:i + 16]


h = model.fit(generator(), steps_per_epoch=3, epochs=2, verbose=0, validation_data=(x, y))
for k, v in sorted(h.history.items()):
    print(k, [f"{a:.4f}" for a in v])
print([round(float(v), 4) for v in model.evaluate(train, verbose=0)])
print(model.predict(Batches(x, y, 25), verbose=0).shape)
