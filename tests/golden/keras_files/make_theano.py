"""Makes golden .h5 files with real Keras 1 and Keras 2 of the time before TensorFlow's, on Theano:

    python make_theano.py keras122      Keras 1.2.2
    python make_theano.py keras224      Keras 2.2.4

make_all.sh runs each in a virtual environment of its own. Theano runs without a compiler, on NumPy; what Python and NumPy have
since taken away is put back below. Every model is written as .h5 with its inputs x0, ... and what Keras predicts for them, y0, ...,
in an .npz of the same name.
"""

import collections
import collections.abc
import inspect
import os
import pathlib
import sys

kind = sys.argv[1]
V1 = kind == "keras122"
os.environ["KERAS_BACKEND"] = "theano"
os.environ["THEANO_FLAGS"] = "cxx=,blas.ldflags=,device=cpu,floatX=float32,optimizer=None,base_compiledir=/tmp/theano-" + kind
for name in ("Callable", "Iterable", "Mapping", "MutableMapping", "MutableSet", "OrderedDict", "Sequence"):
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = lambda function: ArgSpec(*inspect.getfullargspec(function)[:4])

import numpy as np
import scipy.signal._signaltools
import scipy.signal._sigtools

for name in ("signaltools", "sigtools"):
    sys.modules["scipy.signal." + name] = sys.modules["scipy.signal._" + name]
import theano.ifelse  # which Theano imported itself once

import keras
import keras.backend as K
from keras import layers as L
from keras.models import Model, Sequential

here = pathlib.Path(__file__).parent
rng = np.random.RandomState(5)


def conv2d(filters, size, stride=1, padding="valid", order="channels_last", **more):
    if not V1:
        return L.Conv2D(filters, size, strides=stride, padding=padding, data_format=order, **more)
    return L.Convolution2D(filters, size, size, subsample=(stride, stride), border_mode=padding,
                           dim_ordering={"channels_last": "tf", "channels_first": "th"}[order], **more)


def pool2d(kind, order):
    layer = getattr(L, kind + "Pooling2D")
    return layer((2, 2), dim_ordering="tf" if order == "channels_last" else "th") if V1 else layer(2, data_format=order)


def merged(name, parts):
    """Add, Multiply, Average, Maximum, Concatenate: a layer of its own in Keras 2, a mode of Merge in Keras 1."""
    if not V1:
        return getattr(L, name)()(parts)
    mode = {"Add": "sum", "Multiply": "mul", "Average": "ave", "Maximum": "max", "Concatenate": "concat"}[name]
    return L.merge(parts, mode=mode, concat_axis=-1)


def model_of(inputs, outputs):
    return Model(input=inputs, output=outputs) if V1 else Model(inputs, outputs)


def image_model(order):
    """Convolutions in either order of axes, pooling, normalization, shapes, merging, activations."""
    last = order == "channels_last"
    i = L.Input((9, 8, 3) if last else (3, 9, 8))
    axis = -1 if last else 1
    x = conv2d(4, 3, activation="relu", order=order)(i)
    x = L.BatchNormalization(axis=axis)(x)
    a = conv2d(4, 3, padding="same", order=order, activation="tanh")(x)
    b = conv2d(4, 1, order=order)(x)
    x = merged("Add", [a, b])
    x = merged("Maximum", [x, merged("Multiply", [a, b])])
    x = merged("Average", [x, a])
    if last or not V1:  # Keras 1 does not write its order of axes
        x = L.ZeroPadding2D((1, 1), **({"dim_ordering": "tf"} if V1 else {"data_format": order}))(x)
    x = pool2d("Max", order)(x)
    x = pool2d("Average", order)(x)
    x = L.SpatialDropout2D(0.1)(x) if last else L.Dropout(0.1)(x)
    x = L.Flatten()(x)
    x = L.Dense(6)(x)
    x = L.advanced_activations.LeakyReLU(0.2)(x)
    x = L.advanced_activations.PReLU()(x)
    x = L.Reshape((2, 3))(x)
    x = L.Permute((2, 1))(x)
    x = L.Flatten()(x)
    x = L.GaussianNoise(0.1)(x)
    x = merged("Concatenate", [x, L.advanced_activations.ELU(0.7)(x), L.Activation("sigmoid")(x)])
    return model_of(i, L.Dense(3, activation="softmax", **({"init": "he_normal", "W_regularizer": "l2"} if V1 else
                                                           {"kernel_initializer": "he_normal", "kernel_regularizer": "l2"}))(x))


def text_model():
    """Recurrent layers, wrappers, a mask, convolutions over time."""
    i = L.Input((7,), dtype="int32")
    e = L.Embedding(20, 6, mask_zero=True)(i)
    x = L.LSTM(5, return_sequences=True)(e)
    x = L.Bidirectional(L.GRU(4, return_sequences=True))(x)
    x = L.TimeDistributed(L.Dense(6, activation="relu"))(x)
    s = L.SimpleRNN(4)(x)
    g = L.GRU(3, go_backwards=True)(x)
    f = L.Embedding(20, 6)(i)
    f = L.Convolution1D(5, 3, activation="relu")(f)
    f = L.MaxPooling1D(2)(f)
    f = L.GlobalMaxPooling1D()(f)
    x = merged("Concatenate", [s, g, f])
    x = L.RepeatVector(2)(x)
    x = L.LSTM(3)(x)
    return model_of(i, L.Dense(1, activation="softplus")(x))


def chain():
    """A Sequential inside a Sequential."""
    inner = Sequential([L.Dense(5, activation="tanh", input_shape=(6,)), L.Dropout(0.3)])
    return Sequential([inner, L.Dense(4, activation="relu"), L.BatchNormalization(), L.Dense(3, activation="softmax")])


def save(name, model, compiled=False):
    for layer in model.layers:
        positive = ["running_std" in w.name or "variance" in w.name for w in layer.weights]
        layer.set_weights([rng.uniform(0.5, 1.5, v.shape) if p else rng.normal(0, 0.4, v.shape)
                           for p, v in zip(positive, layer.get_weights())])
    xs = []
    for tensor in model.inputs:
        shape = (3,) + K.int_shape(tensor)[1:]
        words = "int" in K.dtype(tensor)
        xs.append(rng.randint(0, 20, shape).astype("int32") if words else rng.uniform(-1, 1, shape).astype("float32"))
    if compiled:
        model.compile(optimizer=keras.optimizers.RMSprop(lr=0.01), loss="categorical_crossentropy")
        model.train_on_batch(xs[0], np.eye(3, dtype="float32"))
    ys = model.predict(xs)
    ys = ys if isinstance(ys, list) else [ys]
    stem = f"{kind}_{name}"
    model.save(str(here / f"{stem}.h5"))
    np.savez_compressed(here / f"{stem}.npz", **{f"x{i}": x for i, x in enumerate(xs)}, **{f"y{i}": y for i, y in enumerate(ys)})


save("last", image_model("channels_last"))
save("first", image_model("channels_first"))
save("text", text_model())
save("chain", chain(), compiled=True)
