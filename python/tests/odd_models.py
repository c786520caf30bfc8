"""Trains models and runs loops that are unusual but plausible, on the backend of KERAS_BACKEND, and prints what came of them as JSON.

    odd_models.py [NAME...]       KERAS_BACKEND=jax odd_models.py > odd_models_jax.json writes what test_odd_models.py compares with
"""
import json
import os
import sys
import tempfile
import traceback

if os.environ["KERAS_BACKEND"] == "plimsoll":
    import keras_plimsoll_bootstrap  # noqa: F401
import keras
import numpy as np
from keras import layers as L
from keras import ops

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def data(rows=40, features=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features)).astype("float32")
    return x, (np.abs(x[:, 0] + x[:, 1]) * 1.5).astype("int32") % classes


def fixed(model, seed=1, scale=0.3):
    """The model with weights that are the same on every backend."""
    rng = np.random.default_rng(seed)
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape).astype("float32") * scale + ("gamma" in v.path or "scale" in v.path))
    return model


def small(classes=3, features=6):
    return fixed(keras.Sequential([L.Input((features,)), L.Dense(8, "tanh"), L.Dense(classes, "softmax")]))


def numbers(history):
    return {k: [float(np.mean(v)) for v in values] for k, values in sorted(history.history.items())}


def weights(model):
    return [float(np.abs(ops.convert_to_numpy(v).astype("float64")).sum()) for v in model.weights]


FIT = {"batch_size": 8, "epochs": 3, "shuffle": False, "verbose": 0}


class RunningScale(L.Layer):
    """Divides by a running maximum, and counts how often it was trained."""

    def build(self, shape):
        self.top = self.add_weight(shape=shape[1:], initializer="ones", trainable=False, name="top")
        self.count = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False, name="count")

    def call(self, x, training=False):
        if training:
            self.top.assign(0.9 * self.top + 0.1 * ops.max(ops.abs(x), axis=0))
            self.count.assign_add(1)
        return x / self.top


@case
def layer_with_state():
    x, y = data()
    model = fixed(keras.Sequential([L.Input((6,)), RunningScale(), L.Dense(3, "softmax")]))
    model.compile("adam", "sparse_categorical_crossentropy")
    history = numbers(model.fit(x, y, validation_split=0.25, **FIT))
    return history, weights(model), int(model.layers[0].count.numpy() if hasattr(model.layers[0].count, "numpy") else model.layers[0].count)


@case
def nested_models():
    x, y = data()
    inner = keras.Sequential([L.Input((6,)), L.Dense(5, "relu"), L.BatchNormalization()], name="inner")
    a = L.Input((6,))
    middle = keras.Model(a, L.Add()([inner(a), inner(a * 0.5)]), name="middle")

    class Outer(keras.Model):
        def __init__(self):
            super().__init__()
            self.middle, self.heads = middle, [L.Dense(3, name=f"head{i}") for i in range(2)]

        def call(self, x, training=None):
            h = self.middle(x, training=training)
            return ops.softmax(sum(head(h) for head in self.heads))

    model = Outer()
    model(x[:1])
    fixed(model)
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
    first = numbers(model.fit(x, y, **FIT))
    inner.trainable = False
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    return first, numbers(model.fit(x, y, **FIT)), weights(model), len(model.trainable_weights)


@case
def outputs_with_weights():
    x, y = data()
    inputs = {"a": L.Input((6,), name="a"), "b": L.Input((2,), name="b")}
    h = L.Dense(7, "gelu")(L.Concatenate()([inputs["a"], inputs["b"]]))
    outputs = {"kind": L.Dense(3, name="kind")(h), "size": L.Dense(1, "softplus", name="size")(h), "code": L.Dense(2, name="code")(h)}
    model = fixed(keras.Model(inputs, outputs))
    model.compile("rmsprop", loss={"kind": keras.losses.SparseCategoricalCrossentropy(from_logits=True), "size": "huber", "code": None},
                  loss_weights={"kind": 0.7, "size": 2.0, "code": 0.0}, metrics={"kind": ["accuracy"]}, weighted_metrics={"size": ["mae"]})
    sample = {"kind": np.linspace(0, 2, 40), "size": np.linspace(1, 0, 40), "code": np.ones(40)}
    history = numbers(model.fit({"a": x, "b": x[:, :2]}, {"kind": y, "size": x[:, :1] ** 2, "code": x[:, :2]}, sample_weight=sample, **FIT))
    predicted = model.predict({"a": x[:5], "b": x[:5, :2]}, verbose=0)
    return history, {k: float(v.sum()) for k, v in sorted(predicted.items())}


class Doubled(L.Layer):
    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def call(self, x, mask=None):
        return x * 2 if mask is None else x * 2 + ops.cast(mask, x.dtype)[..., None]


@case
def masks_through_layers():
    rng = np.random.default_rng(3)
    ids = rng.integers(1, 12, (24, 7)).astype("int32")
    ids[::2, 4:] = 0
    ids[5, :] = 0
    ids[7, 2] = 0
    extra = rng.normal(size=(24, 7, 3)).astype("float32")
    extra[::3, 5:] = -1.0
    a, b = L.Input((7,), dtype="int32"), L.Input((7, 3))
    left = L.GRU(4, return_sequences=True, reset_after=False)(L.Embedding(12, 5, mask_zero=True)(a))
    right = L.LSTM(4, return_sequences=True)(L.Masking(-1.0)(b))
    both = L.Dropout(0.0)(Doubled()(L.Add()([left, right])))
    hidden = L.Bidirectional(L.SimpleRNN(3, return_sequences=True), merge_mode="mul")(both)
    attended = L.MultiHeadAttention(2, 3)(hidden, hidden)
    outputs = L.TimeDistributed(L.Dense(2, "softmax"))(attended)
    model = fixed(keras.Model([a, b], [outputs, L.GlobalAveragePooling1D()(hidden)]))
    model.compile("adam", ["sparse_categorical_crossentropy", "mse"], metrics=[["accuracy"], []])
    targets = [rng.integers(0, 2, (24, 7)), rng.normal(size=(24, 3))]
    history = numbers(model.fit([ids, extra], targets, **FIT))
    history.pop("time_distributed_accuracy")  # Keras's JAX trainer loses the mask of what it has gradients of; evaluate() keeps it
    return history, model.evaluate([ids, extra], targets, verbose=0), float(np.abs(model.predict([ids, extra], verbose=0)[1]).sum())


@keras.saving.register_keras_serializable("odd")
class MinimalGated(L.Layer):
    """A cell with two states: the hidden one, and how many steps its gate was open."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units, self.state_size, self.output_size = units, [units, 1], units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1] + self.units, 2 * self.units), name="kernel")

    def call(self, inputs, states, training=False):
        h, opened = states
        f, c = ops.split(ops.matmul(ops.concatenate([inputs, h], axis=-1), self.kernel), 2, axis=-1)
        f = ops.sigmoid(f)
        new = (1 - f) * h + f * ops.tanh(c)
        return new, [new, opened + ops.mean(f, axis=-1, keepdims=True)]

    def get_config(self):
        return super().get_config() | {"units": self.units}


@case
def custom_cells():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(24, 9, 3)).astype("float32"), rng.normal(size=(24, 4)).astype("float32")
    inputs = L.Input((9, 3))
    sequence = L.RNN([MinimalGated(5), L.LSTMCell(6), MinimalGated(4)], return_sequences=True)(inputs)
    last, h, opened = L.RNN(MinimalGated(4), return_state=True, go_backwards=True)(sequence)
    model = fixed(keras.Model(inputs, [L.Add()([last, h]), opened]))
    model.compile("adam", ["mse", "mae"])
    history = numbers(model.fit(x, [y, np.ones((24, 1))], **FIT))
    path = os.path.join(tempfile.mkdtemp(), "cells.keras")
    model.save(path)
    again = keras.models.load_model(path)
    stateful = L.RNN(MinimalGated(4), stateful=True)
    stateful(x[:4])
    stateful.cell.kernel.assign(np.full(stateful.cell.kernel.shape, 0.1))
    stateful.reset_state()
    twice = [float(ops.sum(stateful(x[:4]))) for _ in range(2)]
    stateful.reset_state()
    return history, float(np.abs(model.predict(x, verbose=0)[0] - again.predict(x, verbose=0)[0]).max()), twice, float(ops.sum(stateful(x[:4])))


@case
def quantized():
    x, y = data(features=16)
    found = []
    for mode in ("int8", "int4"):
        model = fixed(keras.Sequential([L.Input((16,)), L.Dense(32, "relu"), L.Dense(4), L.Reshape((2, 2)), L.EinsumDense("abc,cd->abd", (None, 6))]))
        try:
            model.quantize(mode)
        except (ValueError, NotImplementedError) as e:
            found.append(type(e).__name__)
            continue
        path = os.path.join(tempfile.mkdtemp(), "q.keras")
        model.save(path)
        again = keras.models.load_model(path)
        found.append([float(np.abs(m.predict(x, verbose=0)).sum()) for m in (model, again)])
    embedding = fixed(keras.Sequential([L.Input((4,), dtype="int32"), L.Embedding(10, 8)]))
    embedding.quantize("int8")
    return found, float(np.abs(embedding.predict(np.arange(8).reshape(2, 4), verbose=0)).sum()), str(embedding.layers[0].dtype_policy.name)


@case
def mixed_precision():
    x, y = data()
    found = []
    for policy in ("mixed_float16", "mixed_bfloat16"):
        keras.config.set_dtype_policy(policy)
        try:
            inputs = L.Input((6,))
            h = L.LayerNormalization()(L.Dense(16, "relu")(inputs))
            model = fixed(keras.Model(inputs, L.Dense(3, "softmax", dtype="float32")(L.BatchNormalization()(h))))
            model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
            history = numbers(model.fit(x, y, **FIT))
            scale = float(ops.convert_to_numpy(model.optimizer.dynamic_scale)) if policy == "mixed_float16" else None
            found.append([history["loss"], scale, str(keras.backend.standardize_dtype(h.dtype)), type(model.optimizer).__name__])
        finally:
            keras.config.set_dtype_policy("float32")
    return found


class OwnStep(keras.Model):
    """Sharpness-aware: the gradient at weights moved along a first gradient."""

    def two(self, x, y):
        return ops.mean(keras.losses.sparse_categorical_crossentropy(y, self(x, training=True)))

    def train_step(self, *args):
        if keras.backend.backend() == "jax":
            return self.jax_step(*args)
        import plimsoll

        (x, y), variables = args[0], self.trainable_variables
        first = plimsoll.gradients(self.two(x, y), variables)
        moved = [0.05 * g for g in first]
        for v, m in zip(variables, moved):
            v.assign_add(m)
        loss = self.two(x, y)
        second = plimsoll.gradients(loss, variables)
        for v, m in zip(variables, moved):
            v.assign_sub(m)
        self.optimizer.apply(second, variables)
        return {"sharp": loss}

    def jax_step(self, state, batch):
        import jax

        trainable, rest, optimizer, metrics = state
        x, y = batch

        def loss_of(values):
            out, _ = self.stateless_call(values, rest, x, training=True)
            return ops.mean(keras.losses.sparse_categorical_crossentropy(y, out))

        moved = [v + 0.05 * g for v, g in zip(trainable, jax.grad(loss_of)(trainable))]
        loss, second = jax.value_and_grad(loss_of)(moved)
        # assign_add and assign_sub leave what floating point leaves of v
        back = [m - (m - v) for m, v in zip(moved, trainable)]
        trainable, optimizer = self.optimizer.stateless_apply(optimizer, second, back)
        return {"sharp": loss}, (trainable, rest, optimizer, metrics)


@case
def own_train_step():
    x, y = data()
    inputs = L.Input((6,))
    model = fixed(OwnStep(inputs, L.Dense(3, "softmax")(L.Dense(8, "tanh")(inputs))))
    model.compile(keras.optimizers.SGD(0.2, momentum=0.5))
    return numbers(model.fit(x, y, **FIT)), weights(model)


class Penalised(L.Layer):
    def call(self, x):
        self.add_loss(0.01 * ops.sum(ops.square(x)))
        return x


class Endpoint(L.Layer):
    def call(self, logits, targets=None):
        if targets is not None:
            self.add_loss(ops.mean(keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)))
        return ops.softmax(logits)


@case
def added_losses():
    x, y = data()
    inputs, targets = L.Input((6,), name="x"), L.Input((), dtype="int32", name="y")
    h = L.Dense(8, "relu", activity_regularizer="l1", kernel_regularizer=keras.regularizers.L1L2(1e-3, 1e-2), kernel_constraint="max_norm")(inputs)
    h = L.Dense(4, kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.01), bias_regularizer="l2")(Penalised()(h))
    model = fixed(keras.Model([inputs, targets], Endpoint()(L.Dense(3)(h), targets)))
    model.compile(keras.optimizers.Nadam(0.01))
    history = numbers(model.fit({"x": x, "y": y}, **FIT))
    model.predict({"x": x, "y": y}, verbose=0)
    return history, weights(model), len(model.losses)


@case
def ragged_last_batch():
    x, y = data(rows=31)
    model = small()
    model.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"])
    history = numbers(model.fit(x, y, batch_size=7, epochs=2, shuffle=False, verbose=0, class_weight={0: 1.0, 1: 3.0, 2: 0.5}, validation_split=0.2))
    binary = fixed(keras.Sequential([L.Input((6,)), L.Dense(1, "sigmoid")]))
    binary.compile("sgd", "binary_focal_crossentropy",
                   metrics=["AUC", "Precision", "Recall", keras.metrics.F1Score(threshold=0.5), keras.metrics.BinaryIoU([1]),
                            keras.metrics.SpecificityAtSensitivity(0.5), "cosine_similarity"])
    target = (y > 0).astype("float32")[:, None]
    more = numbers(binary.fit(x, target, batch_size=9, epochs=2, shuffle=False, verbose=0))
    evaluated = binary.evaluate(x, target, batch_size=9, sample_weight=np.linspace(0.1, 1, 31), return_dict=True, verbose=0)
    return history, more, {k: float(np.mean(v)) for k, v in sorted(evaluated.items())}, model.predict(x, batch_size=10, verbose=0).shape


@keras.saving.register_keras_serializable("odd")
class Gate(L.Layer):
    def __init__(self, units, activation="sigmoid", **kwargs):
        super().__init__(**kwargs)
        self.units, self.activation = units, keras.activations.get(activation)
        self.dense = L.Dense(units)

    def build(self, shape):
        self.dense.build(shape)
        self.slope = self.add_weight(shape=(self.units,), initializer="ones", name="slope")

    def call(self, x):
        return self.activation(self.dense(x)) * self.slope

    def get_config(self):
        return super().get_config() | {"units": self.units, "activation": keras.activations.serialize(self.activation)}


@case
def saved_and_resumed():
    x, y = data()
    model = fixed(keras.Sequential([L.Input((6,)), Gate(8, "swish", name="gate"), L.Dense(3, "softmax")]))
    model.compile(keras.optimizers.Adam(0.05, amsgrad=True), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, **FIT)
    folder = tempfile.mkdtemp()
    model.save(os.path.join(folder, "m.keras"))
    model.save_weights(os.path.join(folder, "m.weights.h5"))
    model.save(os.path.join(folder, "m.h5"))
    again = keras.models.load_model(os.path.join(folder, "m.keras"))
    old = keras.models.load_model(os.path.join(folder, "m.h5"))
    runs = [numbers(m.fit(x, y, **FIT)) for m in (model, again)] + [old.evaluate(x, y, verbose=0)]
    rebuilt = keras.Sequential.from_config(model.get_config())
    rebuilt.load_weights(os.path.join(folder, "m.weights.h5"))
    return runs, weights(rebuilt), int(again.optimizer.iterations.numpy() if hasattr(again.optimizer.iterations, "numpy") else again.optimizer.iterations)


@case
def cloned():
    x, y = data()
    model = small()

    def wider(layer):
        config = layer.get_config()
        if isinstance(layer, L.Dense) and config["units"] == 8:
            config["units"] = 12
        return layer.__class__.from_config(config)

    copy = fixed(keras.models.clone_model(model, clone_function=wider), seed=2)
    plain = keras.models.clone_model(model)
    plain.set_weights(model.get_weights())
    found = []
    for m in (model, plain, copy):
        m.compile("adam", "sparse_categorical_crossentropy")
        found.append(numbers(m.fit(x, y, **FIT)))
    return found, copy.count_params()


class Tied(L.Layer):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def call(self, x):
        return ops.matmul(x, ops.transpose(self.embedding.embeddings))


@case
def shared_layers():
    rng = np.random.default_rng(5)
    left, right = rng.integers(0, 20, (2, 32, 5)).astype("int32")
    embed, encode = L.Embedding(20, 6, embeddings_regularizer="l2"), L.LSTM(6)
    a, b = L.Input((5,), dtype="int32"), L.Input((5,), dtype="int32")
    u, v = encode(embed(a)), encode(embed(b))
    near = L.Dot(axes=1, normalize=True)([u, v])
    far = L.Lambda(lambda t: ops.abs(t[0] - t[1]), output_shape=(6,))([u, v])
    tied = Tied(embed)(u)
    model = fixed(keras.Model([a, b], [L.Dense(1, "sigmoid")(L.Concatenate()([near, far])), ops.softmax(tied)]))
    model.compile(keras.optimizers.Adagrad(0.1), ["binary_crossentropy", "sparse_categorical_crossentropy"])
    history = numbers(model.fit([left, right], [(left[:, 0] > right[:, 0]).astype("float32"), right[:, 0]], **FIT))
    return history, [float(np.abs(p).sum()) for p in model.predict([left, right], verbose=0)]


class Meddler(keras.callbacks.Callback):
    """Changes the rate, a weight and what is trained while training."""

    def __init__(self):
        super().__init__()
        self.log = []

    def on_train_batch_end(self, batch, logs=None):
        self.log.append(float(logs["loss"]))
        if batch == 1:
            self.model.optimizer.learning_rate = 0.02
            bias = self.model.layers[-1].bias
            bias.assign(np.zeros(bias.shape))

    def on_epoch_end(self, epoch, logs=None):
        kernel = self.model.layers[0].kernel
        kernel.assign(ops.clip(kernel, -0.5, 0.5))


@case
def callbacks_that_change_things():
    x, y = data()
    model, meddler = small(), Meddler()
    model.compile(keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
    path = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
    calls = [meddler, keras.callbacks.LearningRateScheduler(lambda e, lr: lr * 0.8), keras.callbacks.TerminateOnNaN(),
             keras.callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1, min_delta=10.0),
             keras.callbacks.EarlyStopping("val_loss", patience=2, restore_best_weights=True, start_from_epoch=1),
             keras.callbacks.ModelCheckpoint(path, save_best_only=True, save_weights_only=True, monitor="val_loss")]
    history = numbers(model.fit(x, y, batch_size=8, epochs=6, shuffle=False, verbose=0, validation_data=(x[:16], y[:16]), callbacks=calls))
    model.load_weights(path)
    return history, meddler.log, model.evaluate(x[:16], y[:16], verbose=0)


@case
def moving_averages():
    x, y = data()
    found = []
    for options in ({"use_ema": True, "ema_momentum": 0.8, "ema_overwrite_frequency": 4}, {"use_ema": True, "ema_momentum": 0.5}):
        model = small()
        optimizer = keras.optimizers.AdamW(0.05, weight_decay=0.1, clipvalue=0.5, **options)
        optimizer.exclude_from_weight_decay(var_names=["bias"])
        model.compile(optimizer, "sparse_categorical_crossentropy")
        swap = [keras.callbacks.SwapEMAWeights(swap_on_epoch=True)] if "ema_overwrite_frequency" not in options else []
        found.append([numbers(model.fit(x, y, callbacks=swap, validation_data=(x, y), **FIT)), weights(model)])
    return found


@case
def accumulated_gradients():
    x, y = data()
    found = []
    for make in (keras.optimizers.Adam, keras.optimizers.Lion, keras.optimizers.Adafactor, keras.optimizers.Lamb, keras.optimizers.Ftrl,
                 keras.optimizers.Adamax, keras.optimizers.Adadelta, keras.optimizers.Muon):
        model = small()
        model.compile(make(0.02, gradient_accumulation_steps=3), "sparse_categorical_crossentropy")
        found.append([make.__name__, numbers(model.fit(x, y, **FIT)), weights(model)])
    return found


class Count(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.begins, self.ends = [], []

    def on_train_batch_begin(self, batch, logs=None):
        self.begins.append(batch)

    def on_train_batch_end(self, batch, logs=None):
        self.ends.append(batch)


@case
def several_steps_a_call():
    x, y = data(rows=44)
    found = []
    for options in ({"steps_per_execution": 4}, {"steps_per_execution": 3, "jit_compile": False}, {"run_eagerly": True}):
        model, count = small(), Count()
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], **options)
        history = numbers(model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, callbacks=[count]))
        found.append([history, count.begins, count.ends, model.evaluate(x, y, verbose=0, batch_size=5)])
    return found


class Shards(keras.utils.PyDataset):
    def __init__(self, x, y, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.order = x, y, list(range(5))

    def __len__(self):
        return 5

    def __getitem__(self, i):
        rows = slice(8 * self.order[i], 8 * self.order[i] + 8 - i % 2)
        return self.x[rows], self.y[rows], np.full(len(self.x[rows]), 1.0 + i, "float32")

    def on_epoch_end(self):
        self.order.reverse()


@case
def datasets_with_workers():
    x, y = data()
    found = []
    model = small()
    model.compile("adam", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
    # fit() with several workers: Keras loses a batch that it looks at, and which one depends on time
    found.append(numbers(model.fit(Shards(x, y), epochs=3, shuffle=False, verbose=0, validation_data=Shards(x, y))))
    found.append([model.evaluate(Shards(x, y, workers=workers, max_queue_size=2), verbose=0) for workers in (1, 3)])

    def endless():
        while True:
            for i in range(0, 40, 10):
                yield x[i : i + 10], y[i : i + 10]

    found.append(numbers(model.fit(endless(), steps_per_epoch=3, epochs=2, verbose=0, validation_data=endless(), validation_steps=2)))
    return found, model.predict(((x[i : i + 10],) for i in range(0, 40, 10)), verbose=0).shape


@case
def tf_data_input():
    import tensorflow as tf

    x, y = data()
    inputs = {"left": L.Input((3,), name="left"), "right": L.Input((3,), name="right")}
    model = fixed(keras.Model(inputs, L.Dense(3, "softmax")(L.Concatenate()(list(inputs.values())))))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    ds = tf.data.Dataset.from_tensor_slices(({"left": x[:, :3], "right": x[:, 3:]}, y)).map(lambda a, b: (a, b)).batch(9)
    history = numbers(model.fit(ds, epochs=2, verbose=0, validation_data=ds.take(2)))
    norm = L.Normalization()
    norm.adapt(ds.map(lambda a, b: a["left"]))
    return history, model.evaluate(ds.repeat(), steps=3, verbose=0), float(np.sum(ops.convert_to_numpy(norm.mean)))


@ops.custom_gradient
def straight_through(x):
    return ops.round(x), lambda *args, upstream=None: upstream if upstream is not None else args[0]


class Loops(L.Layer):
    def build(self, shape):
        self.matrix = self.add_weight(shape=(shape[-1], shape[-1]), name="matrix")

    def call(self, x):
        last, all_of = ops.scan(lambda carry, t: (ops.tanh(carry @ self.matrix + t), ops.sum(carry)), x, ops.stack([x, 0.5 * x, x * x]))
        y = ops.fori_loop(0, 3, lambda i, v: v * 0.9 + ops.cast(i, "float32") * 0.1, last)
        y = ops.cond(ops.sum(ops.stop_gradient(y)) > 0, lambda: y * 2.0, lambda: y - 1.0)
        rows = ops.vectorized_map(lambda r: ops.cumsum(r) / 3.0, y)
        grouped = ops.segment_sum(ops.transpose(rows), np.array([0, 0, 1, 1, 2, 2]), num_segments=3)
        return straight_through(ops.transpose(grouped)) + 0.1 * ops.transpose(grouped) + 1e-3 * ops.sum(all_of)


@case
def loops_in_a_layer():
    x, y = data()
    model = fixed(keras.Sequential([L.Input((6,)), Loops(), L.Dense(3)]))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return numbers(model.fit(x, y, **FIT)), weights(model)


@case
def unusual_convolutions():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(16, 12, 10, 4)).astype("float32"), rng.integers(0, 3, 16)
    image = L.Input((12, 10, 4))
    a = L.Conv2D(8, (3, 2), strides=(2, 1), groups=2, padding="same", activation="relu6")(image)
    a = L.GroupNormalization(4)(L.ZeroPadding2D(((1, 0), (0, 2)))(a))
    a = L.DepthwiseConv2D(3, depth_multiplier=2, dilation_rate=2, padding="same")(a)
    a = L.UpSampling2D((2, 1), interpolation="bilinear")(a)
    b = L.Conv1D(6, 3, padding="causal", dilation_rate=2)(L.Reshape((12, 40))(image))
    b = L.Conv1DTranspose(4, 4, strides=2, padding="same")(b)
    c = L.Conv3D(3, 2, activation="mish")(L.Reshape((12, 10, 2, 2))(image))
    d = L.SeparableConv1D(5, 3)(L.Reshape((24, 20))(image))
    pooled = [L.GlobalMaxPooling2D()(a), L.GlobalAveragePooling1D()(b), L.Flatten()(L.MaxPooling3D((3, 3, 1))(c)),
              L.Flatten()(L.AveragePooling1D(4, padding="same")(d)), L.GlobalAveragePooling2D()(L.RMSNormalization()(L.UnitNormalization()(image)))]
    h = L.PReLU()(L.Dense(9)(L.Concatenate()(pooled)))
    model = fixed(keras.Model(image, L.Dense(3, "log_softmax")(h)), scale=0.15)
    model.compile("sgd", lambda t, p: -ops.mean(ops.sum(ops.one_hot(ops.cast(t[:, 0], "int32"), 3) * p, axis=-1)))
    return numbers(model.fit(x, y[:, None], **FIT)), weights(model)


class Pinball(keras.losses.Loss):
    def __init__(self, q, **kwargs):
        super().__init__(**kwargs)
        self.q = q

    def call(self, y_true, y_pred):
        e = y_true - y_pred
        return ops.maximum(self.q * e, (self.q - 1) * e)


class Coverage(keras.metrics.Metric):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.below, self.total = self.add_variable((), "zeros"), self.add_variable((), "zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        hit = ops.cast(ops.less_equal(y_true, y_pred), "float32")
        self.below.assign_add(ops.sum(hit if sample_weight is None else hit * ops.reshape(sample_weight, (-1, 1))))
        self.total.assign(self.total + ops.cast(ops.size(hit), "float32"))

    def result(self):
        return ops.divide_no_nan(self.below, self.total)


@case
def batches_by_hand():
    x, _ = data()
    y = x[:, :1] * 2
    model = fixed(keras.Sequential([L.Input((6,)), L.Dense(8, "selu"), L.AlphaDropout(0.0), L.Dense(1)]))
    model.compile(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5, staircase=True)), Pinball(0.8),
                  metrics=[Coverage(name="cover"), keras.metrics.R2Score()])
    log = []
    for epoch in range(2):
        model.reset_metrics()
        for i in range(0, 40, 15):
            rows = slice(i, i + 15)
            log.append([float(v) for v in model.train_on_batch(x[rows], y[rows], sample_weight=np.linspace(0.5, 1, len(x[rows])))])
    tested = model.test_on_batch(x, y, return_dict=True)
    return log, {k: float(v) for k, v in tested.items()}, float(np.sum(model.predict_on_batch(x[:3])))


@case
def tables_and_odd_types():
    import pandas

    x, y = data()
    frame = pandas.DataFrame(x.astype("float64"), columns=list("abcdef"))
    model = small()
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy", keras.metrics.TopKCategoricalAccuracy(2)])
    first = numbers(model.fit(frame, pandas.get_dummies(pandas.Series(y)).astype("float64"), **FIT))
    flags = fixed(keras.Sequential([L.Input((6,), dtype="bool"), L.Lambda(lambda t: ops.cast(t, "float32"), output_shape=(6,)), L.Dense(1)]))
    flags.compile("adam", "mse")
    second = numbers(flags.fit(x > 0, pandas.Series(y.astype("int64")), **FIT))
    tree = fixed(keras.Model({"p": (i := L.Input((6,))), "q": [j := L.Input((6,)), k := L.Input((1,), dtype="uint8")]},
                             L.Dense(1)(L.Concatenate()([i * j, ops.cast(k, "float32")]))))
    tree.compile("adam", "log_cosh")
    third = numbers(tree.fit({"p": x, "q": [x + 1, np.arange(40, dtype="uint8")[:, None] % 3]}, y.astype("float16"), **FIT))
    return first, second, third


def run(name):
    keras.utils.set_random_seed(0)
    try:
        return {"result": CASES[name]()}
    except Exception as e:
        traceback.print_exc()
        return {"error": f"{type(e).__name__}: {e}"[:300]}
    finally:
        keras.utils.clear_session()


if __name__ == "__main__":
    print(json.dumps({name: run(name) for name in sys.argv[1:] or CASES}))
