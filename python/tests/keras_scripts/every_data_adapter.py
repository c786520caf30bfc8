"""What fit, evaluate and predict take: arrays, frames, tuples, dicts, generators, PyDataset with workers, a torch DataLoader if there is one."""
import math

import keras
import numpy as np
import pandas as pd
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(48, 4)).astype("float32")
y = (x @ np.array([[1.0], [2.0], [-1.0], [0.5]])).astype("float32")


def build(inputs=4):
    model = keras.Sequential([keras.Input((inputs,)), layers.Dense(3, activation="tanh"), layers.Dense(1)])
    r = np.random.default_rng(1)
    model.set_weights([r.normal(size=w.shape) * 0.5 for w in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.05), "mse", metrics=["mae"])
    return model


def show(name, history):
    print(name, {k: np.round(v, 4).tolist() for k, v in sorted(history.history.items())})


frame = pd.DataFrame(x, columns=list("abcd"))
frame["target"] = y
show("frame", build().fit(frame[list("abcd")], frame["target"], batch_size=16, epochs=2, shuffle=False, verbose=0))
show("lists", build().fit(x.astype("float64"), y.astype("int64"), batch_size=16, shuffle=False, verbose=0))
show("split", build().fit(x, y, validation_split=0.25, batch_size=12, epochs=2, shuffle=False, verbose=0))
show("freq", build().fit(x, y, validation_data=(x[:8], y[:8]), validation_freq=2, validation_batch_size=4, epochs=4, batch_size=24, shuffle=False, verbose=0))
show("weights", build().fit(x, y, sample_weight=np.linspace(0, 2, 48), batch_size=16, shuffle=False, verbose=0))
show("steps", build().fit(x, y, batch_size=8, steps_per_epoch=2, epochs=2, shuffle=False, verbose=0))


class Batches(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size, self.ends = x, y, batch_size, 0

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, i):
        s = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return self.x[s], self.y[s]

    def on_epoch_end(self):
        self.ends += 1


ds = Batches(x, y, 10)
show("pydataset", build().fit(ds, epochs=2, shuffle=False, verbose=0))
print("ends", ds.ends, len(ds), ds.num_batches)
show("workers", build().fit(Batches(x, y, 10, workers=2, use_multiprocessing=False, max_queue_size=4), epochs=2, shuffle=False, verbose=0))
print("predict", build().predict(Batches(x, y, 10), verbose=0).shape, "evaluate", np.round(build().evaluate(Batches(x, y, 10), verbose=0), 4))


def generate(batch, forever=True, weights=False):
    while True:
        for i in range(0, 48, batch):
            item = (x[i:i + batch], y[i:i + batch])
            yield item + (np.ones(len(item[0])) * 0.5,) if weights else item
        if not forever:
            return


show("generator", build().fit(generate(12), steps_per_epoch=4, epochs=2, validation_data=generate(12), validation_steps=2, verbose=0))
show("weighted", build().fit(generate(12, weights=True), steps_per_epoch=4, epochs=1, verbose=0))
show("finite", build().fit(generate(12, forever=False), epochs=1, verbose=0))
print("predicted", build().predict((b[:1] for b in generate(12, forever=False)), verbose=0).shape)
odd = ((x[:n], y[:n]) for n in (7, 5, 3))
show("odd sizes", build().fit(odd, epochs=1, verbose=0))

inp = {"left": keras.Input((2,), name="left"), "right": keras.Input((2,), name="right")}
merged = layers.Concatenate()([inp["left"], inp["right"]])
two = keras.Model(inp, {"sum": layers.Dense(1, kernel_initializer="ones", name="sum")(merged), "class": layers.Dense(2, activation="softmax", kernel_initializer="zeros", name="class")(merged)})
two.compile("sgd", {"sum": "mse", "class": "sparse_categorical_crossentropy"}, metrics={"class": ["accuracy"]})
labels = (y[:, 0] > 0).astype(int)
show("dicts", two.fit({"left": x[:, :2], "right": x[:, 2:]}, {"sum": y, "class": labels}, batch_size=16, shuffle=False, verbose=0))


def dict_batches():
    for i in range(0, 48, 16):
        s = slice(i, i + 16)
        yield {"left": x[s, :2], "right": x[s, 2:]}, {"sum": y[s], "class": labels[s]}


show("dict generator", two.fit(dict_batches(), verbose=0))
frames = {"left": frame[["a", "b"]].to_numpy(), "right": frame[["c", "d"]].to_numpy()}
print({k: v.shape for k, v in sorted(two.predict(frames, batch_size=20, verbose=0).items())})

classes = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="softmax", kernel_initializer="zeros")])
classes.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["sparse_categorical_crossentropy"])
three = (np.abs(y[:, 0]) // 1.5).clip(0, 2).astype(int)
show("class weight", classes.fit(x, three, class_weight={0: 0.5, 1: 1.0, 2: 4.0}, batch_size=16, shuffle=False, verbose=0))
onehot = keras.utils.to_categorical(three)
classes = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="softmax", kernel_initializer="zeros")])
classes.compile("sgd", "categorical_crossentropy")
show("class weight one-hot", classes.fit(x, onehot, class_weight={0: 0.5, 1: 1.0, 2: 4.0}, batch_size=16, shuffle=False, verbose=0))
model = build()
print(np.round(model.train_on_batch(x[:8], y[:8]), 4), np.round(model.test_on_batch(x[:8], y[:8]), 4), model.predict_on_batch(x[:8]).shape, {k: round(float(v), 4) for k, v in model.train_on_batch(x[8:16], y[8:16], return_dict=True).items()})
print(model.predict(x, batch_size=7, steps=2, verbose=0).shape, model(x[:3]).shape, len(model.predict([x], verbose=0)))
model.fit(x, y, epochs=3, initial_epoch=2, batch_size=48, verbose=0)
print(model.history.epoch, int(model.optimizer.iterations))
left, right = keras.utils.split_dataset((x, y), left_size=0.75) if False else ((x[:36], y[:36]), (x[36:], y[36:]))
show("tuple", build().fit(*left, validation_data=right, batch_size=12, shuffle=False, verbose=0))
mix = keras.utils.pack_x_y_sample_weight(x, y, None)
print(len(mix), [v is None for v in keras.utils.unpack_x_y_sample_weight(mix)])
try:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=12)
    history = build().fit(loader, epochs=2, verbose=0)
    assert np.allclose(history.history["loss"], build().fit(x, y, batch_size=12, epochs=2, shuffle=False, verbose=0).history["loss"], rtol=1e-3)
except ImportError:
    pass
for bad in (lambda: build().fit(x, y[:5], verbose=0), lambda: build().fit(x[:, :2], y, verbose=0), lambda: build().predict(np.array([["a"] * 4]), verbose=0), lambda: build().fit(x, y, batch_size=8, validation_split=2.0, verbose=0), lambda: keras.Sequential([layers.Dense(1)]).fit(x, y, verbose=0)):
    try:
        bad()
        print("no error")
    except Exception:
        print("refused")
