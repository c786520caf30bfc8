"""The eight models of the bench in real Keras, in float64 on JAX, from the weights and batches that tests/models make in C++:

  KERAS_BACKEND=jax python tests/golden/make_model_goldens.py [FIRST_BATCH_SEED] > tests/golden/models.json

Per model: what it predicts before training, the losses of three steps of Adam, and after the first of them the gradient of
every weight and the moving statistics, as their norms and sums of them (weighed_sums). Dropout's masks come from the oracle of
our random bits; everything else is Keras's.
"""
import json
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np

from inputs import fill, hash_at, hash_text
from make_op_goldens import weighed_sums
from oracles_nn import fold_in, words

jax.config.update("jax_enable_x64", True)
keras.config.set_floatx("float64")

L = keras.layers
STEPS = 3
SUMS = 4
WEIGHTS_SEED = 1
FIRST_BATCH_SEED = 7
SEED_STEP = 10


class GivenDropout(L.Layer):
    """Drops what its mask says, which the caller sets before each step."""

    def __init__(self, rate, **keywords):
        super().__init__(**keywords)
        self.rate = rate

    def build(self, shape):
        self.mask = self.add_weight(shape=(BATCH, *shape[1:]), initializer="ones", trainable=False, name="mask")

    def call(self, x, training=False):
        return x * self.mask if training else x

    def draw(self, step):
        key = np.array([hash_text(self.name) & 0xFFFFFFFF, 2026], np.uint32)
        bits = words(fold_in([key, np.array(step)], {}, None), int(np.prod(self.mask.shape)))
        self.mask.assign(np.where(bits >= np.uint64(int(self.rate * 2**32)), 1 / (1 - self.rate), 0).reshape(self.mask.shape))


BATCH = None  # of the model being made


class Net:
    """Layers with the names that models::Net gives: "conv2d", "conv2d_1", ..."""

    def __init__(self):
        self.counts = {}
        self.start = {}  # name: [value, size] of weights that begin otherwise than models::Net has them

    def name(self, kind):
        n = self.counts[kind] = self.counts.get(kind, -1) + 1
        return f"{kind}_{n}" if n else kind

    def dense(self, x, units, activation=None):
        return L.Dense(units, activation, name=self.name("dense"))(x)

    def conv(self, x, filters, size=3, stride=1, activation=None, same=False, bias=True):
        pad = (size - 1) // 2 if same else 0
        x = L.ZeroPadding2D(pad)(x) if pad else x
        return L.Conv2D(filters, size, stride, activation=activation, use_bias=bias, name=self.name("conv2d"))(x)

    def batch_norm(self, x, epsilon=1e-3, gamma=1.0):
        name = self.name("batch_normalization")
        if gamma != 1:
            self.start[f"{name}/gamma"] = [gamma, x.shape[-1]]
        return L.BatchNormalization(epsilon=epsilon, name=name)(x)

    def layer_norm(self, x):
        return L.LayerNormalization(name=self.name("layer_normalization"))(x)

    def embedding(self, x, vocabulary, width):
        return L.Embedding(vocabulary, width, name=self.name("embedding"))(x)

    def dropout(self, x, rate):
        return GivenDropout(rate, name=self.name("dropout"))(x)


def mlp10(net, x):
    return net.dense(net.dense(net.dense(x, 64, "relu"), 32, "relu"), 1)


def mlp100(net, x):
    return net.dense(net.dense(x, 64, "relu"), 1)


def mnist(net, x):
    x = L.MaxPooling2D()(net.conv(x, 32, activation="relu"))
    x = L.MaxPooling2D()(net.conv(x, 64, activation="relu"))
    return net.dense(net.dropout(L.Flatten()(x), 0.5), 10)


def cnn64bn(net, x):
    for filters in (32, 64, 128):
        x = L.MaxPooling2D()(net.batch_norm(net.conv(x, filters, activation="relu")))
    return net.dense(net.dropout(net.dense(L.Flatten()(x), 128, "relu"), 0.5), 10)


def cnn100(net, x):
    x = L.MaxPooling2D()(net.conv(x, 32, activation="relu"))
    x = L.MaxPooling2D()(net.conv(x, 64, activation="relu"))
    return net.dense(net.dense(L.Flatten()(x), 128, "relu"), 10)


def resnet50(net, x):
    relu = L.ReLU

    def conv_norm(x, filters, size, stride=1, gamma=1.0):
        return net.batch_norm(net.conv(x, filters, size, stride, same=True, bias=False), 1e-5, gamma)

    def bottleneck(x, filters, stride):
        y = relu()(conv_norm(x, filters, 1))
        y = relu()(conv_norm(y, filters, 3, stride))
        # As it is drawn, the gradients of this model are noise: Keras in float32 is 3.5 % from Keras in float64. With less weight
        # on the branches they are not.
        y = conv_norm(y, 4 * filters, 1, gamma=0.2)
        if stride != 1 or x.shape[-1] != 4 * filters:
            x = conv_norm(x, 4 * filters, 1, stride)
        return relu()(L.Add()([y, x]))

    # No value is below zero there, so that zeros pad a maximum as well as nothing would.
    x = L.MaxPooling2D(3, 2)(L.ZeroPadding2D(1)(relu()(conv_norm(x, 64, 7, 2))))
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(blocks):
            x = bottleneck(x, filters, 2 if i == 0 and filters != 64 else 1)
    return net.dense(L.GlobalAveragePooling2D()(x), 10)


def lstm(net, x):
    return net.dense(L.LSTM(128, name=net.name("lstm"))(net.embedding(x, 20000, 128)), 1)


def transformer(net, x):
    x = net.embedding(x, 8000, 256)
    for _ in range(4):
        attend = L.MultiHeadAttention(8, 32, name=net.name("multi_head_attention"))
        y = net.layer_norm(L.Add()([x, attend(x, x)]))
        x = net.layer_norm(L.Add()([y, net.dense(net.dense(y, 1024, "gelu"), 256)]))
    return net.dense(L.GlobalAveragePooling1D()(x), 10)


# name: (model, shape of an example, batch, classes, vocabulary). Batches are as small as the kernels of the bench allow.
MODELS = {
    "mlp10_b32": (mlp10, (10,), 32, 1, 0),
    "mlp100_b32": (mlp100, (100,), 32, 1, 0),
    "mnist_b128": (mnist, (28, 28, 1), 128, 10, 0),
    "cnn64bn_b32": (cnn64bn, (64, 64, 3), 4, 10, 0),
    "cnn100_b512": (cnn100, (100, 100, 3), 2, 10, 0),
    "resnet50_b8": (resnet50, (224, 224, 3), 2, 10, 0),
    "lstm_b32": (lstm, (80,), 8, 1, 8000),
    "transformer_b16": (transformer, (128,), 2, 10, 8000),
}


def batch_of(shape, batch, classes, vocabulary, seed):
    """As models::sample_batch draws it."""
    x = fill("int32", (batch, *shape), 0, vocabulary - 1, seed) if vocabulary else fill("float32", (batch, *shape), 0, 1, seed)
    y = fill("int32", (batch, 1) if classes == 1 else (batch,), 0, max(classes, 2) - 1, seed + 1)
    return x if vocabulary else x.astype(np.float64), y


def our_name(variable):
    return variable.path.replace("/lstm_cell", "").replace("attention_output", "output")


def our_values(variable):
    """What models::Weights draws for a weight, in the shape that Keras has it."""
    name, shape = our_name(variable), tuple(variable.shape)
    last = name.split("/")[-1]
    if last in ("bias", "beta", "moving_mean", "gamma", "moving_variance"):
        return np.full(shape, 1.0 if last in ("gamma", "moving_variance") else 0.0)
    seed = int(hash_at(WEIGHTS_SEED, hash_text(name)))
    if last == "embeddings":
        return fill("float32", shape, -0.05, 0.05, seed).astype(np.float64)
    flat = shape  # (inputs, heads, width) of a projection is (inputs, heads * width) with us
    if "multi_head_attention" in name:
        flat = (shape[0] * shape[1], shape[2]) if "/output/" in name else (shape[0], shape[1] * shape[2])
    window = int(np.prod(flat[:-2]))
    limit = float(np.sqrt(6.0 / (window * (flat[-2] + flat[-1]))))
    return fill("float32", flat, -limit, limit, seed).astype(np.float64).reshape(shape)


def summary(values):
    """[norm, sums...]"""
    flat = np.asarray(values, np.float64).reshape(-1)
    first = np.arange(min(SUMS, flat.size)) * flat.size // min(SUMS, flat.size)
    return [float(np.linalg.norm(flat)), *map(float, weighed_sums(flat, first)[1:])]


def make_model(name):
    global BATCH
    make, shape, BATCH, classes, vocabulary = MODELS[name]
    x, net = keras.Input(shape, dtype="int32" if vocabulary else "float64"), Net()
    model = keras.Model(x, make(net, x))
    for variable in model.variables:
        if variable.path in net.start:
            variable.assign(np.full(variable.shape, net.start[variable.path][0]))
        elif not variable.path.endswith(("/mask", "seed_generator_state")):
            variable.assign(our_values(variable))
    return model, net.start


def train(model, classes, batches):
    """Losses of the steps, and after the first {name: values} of gradients and of what else changed."""
    loss_of = (keras.losses.BinaryCrossentropy if classes == 1 else keras.losses.SparseCategoricalCrossentropy)(from_logits=True)
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)

    def loss(trainable, fixed, x, y):
        logits, fixed = model.stateless_call(trainable, fixed, x, training=True)
        return loss_of(y, logits), fixed

    step = jax.jit(jax.value_and_grad(loss, has_aux=True))
    trainable = [v.value for v in model.trainable_variables]
    state = [v.value for v in optimizer.variables]
    losses, first = [], {}
    for i, (x, y) in enumerate(batches):
        for layer in model.layers:
            if isinstance(layer, GivenDropout):
                layer.draw(i)
        (value, fixed), grads = step(trainable, [v.value for v in model.non_trainable_variables], x, y)
        losses.append(float(value))
        if i == 0:
            first = {"gradients": {our_name(v): summary(g) for v, g in zip(model.trainable_variables, grads)},
                     "moving": {our_name(v): summary(f) for v, f in zip(model.non_trainable_variables, fixed) if "moving" in v.path}}
        trainable, state = optimizer.stateless_apply(state, grads, trainable)
        for variable, next_ in zip(model.non_trainable_variables, fixed):
            variable.assign(next_)
    return losses, first


def golden(name, first_seed):
    _, shape, batch, classes, vocabulary = MODELS[name]
    model, start = make_model(name)
    batches = [batch_of(shape, batch, classes, vocabulary, first_seed + SEED_STEP * i) for i in range(STEPS)]
    logits = model(batches[0][0], training=False)
    p = keras.ops.sigmoid(logits) if classes == 1 else keras.ops.softmax(logits)
    losses, first = train(model, classes, batches)
    return {"batch": batch, "start": start, "p": np.asarray(p).reshape(-1).tolist(), "losses": losses, **first}


def shortened(value):
    """Ten digits are more than float32 has."""
    if isinstance(value, dict):
        return {k: shortened(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shortened(v) for v in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def goldens(first_seed=FIRST_BATCH_SEED, names=MODELS):
    return {"first_batch_seed": first_seed, "seed_step": SEED_STEP, "models": {n: shortened(golden(n, first_seed)) for n in names}}


if __name__ == "__main__":
    json.dump(goldens(int(sys.argv[1]) if len(sys.argv) > 1 else FIRST_BATCH_SEED), sys.stdout, separators=(",", ":"))
    print()
