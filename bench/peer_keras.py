"""Keras as a peer: "keras-tensorflow", "keras-jax" and "keras-torch" call fit(), as "keras-plimsoll" does for us; "tensorflow" runs the same network in a bare loop of
steps, each one tf.function, as Keras's guide to custom training loops writes it."""
import os
import pathlib

EAGER_CALLS = 20000


def make_layers(row):
    from keras import layers as L

    def conv(n):
        return L.Conv2D(n, 3, activation="relu")

    if row.model == "mlp10_b32":
        return [L.Dense(64, "relu"), L.Dense(32, "relu"), L.Dense(1, "sigmoid")]
    if row.model == "mlp100_b32":
        return [L.Dense(64, "relu"), L.Dense(1, "sigmoid")]
    if row.model == "mnist_b128":
        return [conv(32), L.MaxPooling2D(), conv(64), L.MaxPooling2D(), L.Flatten(), L.Dropout(0.5),
                L.Dense(10, "softmax")]
    if row.model == "cnn64bn_b32":
        blocks = [layer for n in (32, 64, 128) for layer in (conv(n), L.BatchNormalization(), L.MaxPooling2D())]
        return blocks + [L.Flatten(), L.Dense(128, "relu"), L.Dropout(0.5), L.Dense(10, "softmax")]
    if row.model == "cnn100_b512":
        return [conv(32), L.MaxPooling2D(), conv(64), L.MaxPooling2D(), L.Flatten(), L.Dense(128, "relu"),
                L.Dense(10, "softmax")]
    if row.model == "lstm_b32":
        return [L.Embedding(20000, 128), L.LSTM(128), L.Dense(1, "sigmoid")]
    raise KeyError(row.model)


def transformer(tokens):
    from keras import layers as L
    x = L.Embedding(8000, 256)(tokens)
    for _ in range(4):
        x = L.LayerNormalization()(x + L.MultiHeadAttention(8, 32)(x, x))
        x = L.LayerNormalization()(x + L.Dense(256)(L.Dense(1024, "gelu")(x)))
    return L.Dense(10, "softmax")(L.GlobalAveragePooling1D()(x))


def torchvision_resnet50(images):
    """The ResNet-50 of torchvision: strides in the 3x3 convolutions, no biases."""
    from keras import layers as L

    def normed(x, filters, size, stride):
        x = L.ZeroPadding2D(size // 2)(x) if size > 1 else x
        x = L.Conv2D(filters, size, strides=stride, use_bias=False)(x)
        return L.BatchNormalization(epsilon=1e-5)(x)

    x = L.ReLU()(normed(images, 64, 7, 2))
    x = L.MaxPooling2D(3, 2)(L.ZeroPadding2D(1)(x))
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(blocks):
            stride = 2 if i == 0 and filters > 64 else 1
            shortcut = normed(x, 4 * filters, 1, stride) if i == 0 else x
            y = L.ReLU()(normed(x, filters, 1, 1))
            y = L.ReLU()(normed(y, filters, 3, stride))
            x = L.ReLU()(shortcut + normed(y, 4 * filters, 1, 1))
    return L.Dense(10, "softmax")(L.GlobalAveragePooling2D()(x))


def make_model(row):
    import keras
    from peer_models import MODELS
    shape = MODELS[row.model][0]
    if row.model == "resnet50_b8" and row.resnet_v1:
        return keras.applications.ResNet50(weights=None, classes=10, input_shape=shape)
    if row.model == "resnet50_b8":
        images = keras.Input(shape)
        return keras.Model(images, torchvision_resnet50(images))
    if row.model == "transformer_b16":
        tokens = keras.Input(shape, dtype="int32")
        return keras.Model(tokens, transformer(tokens))
    dtype = "int32" if row.model.startswith("lstm") else "float32"
    return keras.Sequential([keras.Input(shape, dtype=dtype)] + make_layers(row))


def loss_of(row):
    import keras
    return keras.losses.BinaryCrossentropy() if row.binary else keras.losses.SparseCategoricalCrossentropy()


def fit_round(row):
    model = make_model(row)
    model.compile("adam", loss_of(row), metrics=["accuracy"])
    x, y = row.data()
    if row.predict:
        return lambda: model.predict(x, batch_size=row.batch, verbose=0)
    return lambda: model.fit(x, y, batch_size=row.batch, epochs=1, verbose=0)


def op_round(row):
    """(one round, what it counts as) of a row without a model."""
    import keras
    if row.op == "import":
        return lambda: None, 1
    a, b = (keras.ops.convert_to_tensor([float(i)] * 8) for i in range(2))

    def many():
        for _ in range(EAGER_CALLS):
            keras.ops.add(a, b)

    return many, EAGER_CALLS


def tensorflow_round(row):
    """A step in one tf.function."""
    import keras
    import tensorflow as tf
    model, loss, optimizer = make_model(row), loss_of(row), keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    x, y = row.data()
    batches = [(tf.constant(x[at]), tf.constant(y[at])) for at in row.batches()]

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            value = loss(yb, model(xb, training=True))
        optimizer.apply(tape.gradient(value, model.trainable_variables), model.trainable_variables)
        return value

    @tf.function
    def forward(xb):
        return model(xb, training=False)

    def train():
        for xb, yb in batches:
            value = step(xb, yb)
        return float(value)

    return (lambda: [forward(xb) for xb, _ in batches][-1].numpy()) if row.predict else train


def make_round(framework, row):
    if row.bf16:
        import keras
        keras.mixed_precision.set_dtype_policy("mixed_bfloat16")
    if framework == "tensorflow":
        return tensorflow_round(row)
    return fit_round(row)


def set_threads(framework, threads):
    """Before the backend is imported, since JAX reads the environment."""
    backend = framework.removeprefix("keras-")
    os.environ["KERAS_BACKEND"] = backend
    if backend == "plimsoll":
        import keras_plimsoll_bootstrap  # noqa: F401  where plimsoll.pth is not installed
    elif backend == "jax":
        os.environ["NPROC"] = str(threads)  # the size of XLA's thread pool
    elif backend == "tensorflow":
        import tensorflow as tf
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    elif backend == "torch":
        import torch
        torch.set_num_threads(threads)


def threads_used(framework):
    """Of the pool that runs the kernels, after the first step."""
    backend = framework.removeprefix("keras-")
    if backend == "torch":
        import torch
        return torch.get_num_threads()
    if backend == "tensorflow":
        import tensorflow as tf
        return tf.config.threading.get_intra_op_parallelism_threads()
    if backend == "plimsoll":
        return len(os.sched_getaffinity(0))
    names = [(task / "comm").read_text() for task in pathlib.Path("/proc/self/task").iterdir()]
    return sum(name.startswith("tf_XLAEigen") for name in names)
