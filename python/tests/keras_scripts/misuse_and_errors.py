# What goes wrong most on forums: which exception, and that the model still works after it
import tempfile

import keras
import numpy as np
from keras import layers, ops

FOLDER = tempfile.mkdtemp()

rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 4)).astype("float32"), rng.integers(0, 3, 20)


OF_THE_BACKEND = ("empty", "matmul", "concatenate", "reshape", "broadcast", "symbolic numpy")  # each raises its own


def attempt(name, f):
    try:
        value = f()
        print(name, "->", "fine" if value is None or not np.isscalar(value) else value)
    except Exception as e:
        print(name, "->", "error" if name in OF_THE_BACKEND else type(e).__name__)


def fresh():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="softmax", kernel_initializer="ones")])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


model = fresh()
attempt("wrong width", lambda: model.fit(x[:, :3], y, verbose=0))
attempt("wrong rows", lambda: model.fit(x, y[:10], verbose=0))
attempt("not compiled", lambda: keras.Sequential([keras.Input((4,)), layers.Dense(1)]).fit(x, y, verbose=0))
attempt("strings", lambda: model.fit(np.array([["a"] * 4] * 20), y, verbose=0))
attempt("objects", lambda: model.fit(np.array([None] * 20), y, verbose=0))
attempt("empty", lambda: model.fit(x[:0], y[:0], verbose=0))
attempt("one hot to sparse", lambda: model.fit(x, np.eye(3)[y], verbose=0))
attempt("wrong loss name", lambda: model.compile("sgd", "no_such_loss"))
attempt("wrong optimizer", lambda: model.compile("nope", "mse"))
model = fresh()
attempt("wrong metric", lambda: (model.compile("sgd", "mse", metrics=["nope"]), model.fit(x, np.eye(3)[y], verbose=0)))
model = fresh()
attempt("logits shape", lambda: model.evaluate(x, np.zeros((20, 7)), verbose=0))
attempt("validation split of generator", lambda: model.fit(iter([(x, y)]), validation_split=0.2, verbose=0))
attempt("y with dataset", lambda: model.fit(iter([(x, y)]), y, verbose=0))
attempt("set_weights", lambda: model.set_weights([np.zeros((4, 3))]))
attempt("set_weights shape", lambda: model.set_weights([np.zeros((3, 4)), np.zeros(3)]))
attempt("no layer", lambda: model.get_layer("nope"))
attempt("no file", lambda: keras.models.load_model(FOLDER + "/nowhere.keras"))
attempt("bad extension", lambda: model.save(FOLDER + "/model.xyz"))
attempt("weights extension", lambda: model.save_weights(FOLDER + "/w.h5x"))
attempt("disconnected", lambda: keras.Model(keras.Input((3,)), layers.Dense(2)(keras.Input((3,)))))
attempt("add after", lambda: keras.Sequential([layers.Dense(2), keras.Input((3,))]))
attempt("conv on 2d", lambda: layers.Conv2D(2, 3)(np.ones((2, 5))))
attempt("kernel too large", lambda: layers.Conv2D(2, 7)(np.ones((1, 4, 4, 1))))
attempt("matmul", lambda: ops.matmul(np.ones((2, 3)), np.ones((2, 3))))
attempt("concatenate", lambda: ops.concatenate([np.ones((2, 3)), np.ones((3, 2))], axis=0))
attempt("reshape", lambda: ops.reshape(np.ones((2, 3)), (4, 2)))
attempt("broadcast", lambda: ops.add(np.ones((2, 3)), np.ones((2, 4))))
attempt("negative units", lambda: layers.Dense(-1))
attempt("activation", lambda: layers.Dense(1, activation="nope"))
attempt("dropout rate", lambda: layers.Dropout(1.5))
attempt("merge shapes", lambda: layers.Add()([np.ones((2, 3)), np.ones((2, 4))]))
attempt("duplicate names", lambda: keras.Sequential([keras.Input((2,)), layers.Dense(1, name="a"), layers.Dense(1, name="a")]))
attempt("symbolic bool", lambda: bool(keras.Input((2,)) > 0))
attempt("symbolic numpy", lambda: np.array(keras.Input((2,))))
attempt("optimizer reused", lambda: (lambda o: [fresh().compile(o, "mse"), keras.Sequential([keras.Input((4,)), layers.Dense(9)]).compile(o, "mse")])(keras.optimizers.Adam()) and None)
attempt("call with kwargs", lambda: layers.Dense(2)(np.ones((1, 2)), nonsense=True))
attempt("lstm input 2d", lambda: layers.LSTM(3)(np.ones((2, 3))))


class Exploding(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 1:
            raise RuntimeError("from a callback")


def generator():
    yield x[:10], y[:10]
    raise OSError("from a generator")


class BadLayer(layers.Layer):
    def call(self, inputs):
        raise KeyError("from call")


before = model.get_weights()[0].sum()
attempt("callback", lambda: model.fit(x, y, batch_size=5, verbose=0, callbacks=[Exploding()]))
attempt("generator", lambda: model.fit(generator(), verbose=0))
attempt("layer", lambda: keras.Sequential([BadLayer()])(x))
h = model.fit(x, y, epochs=2, batch_size=10, shuffle=False, verbose=0)
print(sorted(h.history), np.isfinite(h.history["loss"]).all(), abs(before - model.get_weights()[0].sum()) < 1)
