"""Models, data and ways to train them for run.py: each makes (model, what fit gets, its batch). Sizes are such that the step is what takes the memory."""

import numpy as np

random = np.random.default_rng(11)
RAGGED = 77


def real(*shape):
    return random.standard_normal(shape, "float32")


def labels(classes, *shape):
    return random.integers(0, classes, shape).astype("int32")


def mlp():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(1024, activation="relu"), layers.Dense(1024, activation="gelu"), layers.Dense(10)])
    model.compile("adam", "mse")
    return model, dict(x=real(6000 + RAGGED, 256), y=real(6000 + RAGGED, 10), validation_split=0.2, batch_size=1024), 1024


def cnn():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((32, 32, 3))])
    for filters in (32, 64, 96):
        model.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.Activation("relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dropout(0.3))
    model.add(layers.Dense(10, activation="softmax"))
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model, dict(x=real(400 + RAGGED, 32, 32, 3), y=labels(10, 400 + RAGGED), validation_data=(real(300, 32, 32, 3), labels(10, 300)), validation_batch_size=300, batch_size=128), 128


def lstm():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((60,), dtype="int32"), layers.Embedding(5000, 64, mask_zero=True), layers.LSTM(128), layers.Dense(1, activation="sigmoid")])
    model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])
    return model, dict(x=labels(5000, 500 + RAGGED, 60), y=labels(2, 500 + RAGGED, 1), batch_size=128), 128


def transformer():
    import keras
    from keras import layers
    tokens = keras.Input((64,), dtype="int32")
    x = layers.Embedding(2000, 128)(tokens)
    for _ in range(3):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32, dropout=0.1)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(128)(layers.Dense(512, activation="gelu")(x)))
    model = keras.Model(tokens, layers.Dense(2000)(x))
    model.compile("adamw", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, dict(x=labels(2000, 100, 64), y=labels(2000, 100, 64), batch_size=32), 32


def autoencoder():
    import keras
    from keras import layers

    images = random.random((6 * 64, 48, 48, 3), "float32")

    class Noisy(keras.utils.PyDataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            x = images[64 * i:64 * (i + 1) if i < 5 else 64 * i + 9]
            return x, x

    model = keras.Sequential([keras.Input((48, 48, 3)), layers.Conv2D(32, 3, 2, "same", activation="relu"), layers.Conv2D(64, 3, 2, "same", activation="relu"),
                              layers.Conv2DTranspose(32, 3, 2, "same", activation="relu"), layers.Conv2DTranspose(3, 3, 2, "same", activation="sigmoid")])
    model.compile("adam", "mse")
    return model, dict(x=Noisy()), 64


def generator():
    import keras
    from keras import layers

    x, y = real(256, 20, 16), real(256, 1)

    def batches():
        while True:
            yield x, y

    model = keras.Sequential([keras.Input((20, 16)), layers.Conv1D(128, 5, activation="relu"), layers.Conv1D(128, 5, activation="relu"), layers.GlobalAveragePooling1D(), layers.Dense(1)])
    model.compile("adam", "mae")
    return model, dict(x=batches(), steps_per_epoch=4), 256


def two_heads():
    import keras
    from keras import layers
    image, row = keras.Input((28, 28, 1)), keras.Input((12,))
    x = layers.Flatten()(layers.Conv2D(48, 3, activation="relu")(layers.Conv2D(24, 3, activation="relu")(image)))
    x = layers.Concatenate()([layers.Dense(64, activation="relu")(x), layers.Dense(64, activation="relu")(row)])
    model = keras.Model([image, row], [layers.Dense(10, activation="softmax", name="kind")(x), layers.Dense(1, name="size")(x)])
    model.compile("adam", loss={"kind": "sparse_categorical_crossentropy", "size": "mse"}, metrics={"kind": ["accuracy"]})
    n = 300 + RAGGED
    return model, dict(x=[real(n, 28, 28, 1), real(n, 12)], y={"kind": labels(10, n), "size": real(n, 1)}, batch_size=150, validation_split=0.1), 150


def subclassed():
    import keras
    from keras import layers

    class Mixer(keras.Model):
        def __init__(self):
            super().__init__()
            self.up, self.drop, self.norm, self.head = layers.Dense(2048, activation="swish"), layers.Dropout(0.2), layers.LayerNormalization(), layers.Dense(5)

        def call(self, x, training=False):
            return self.head(self.norm(self.drop(self.up(x), training=training)))

    model = Mixer()
    model.compile("adam", "mse")
    return model, dict(x=real(3000 + RAGGED, 64), y=real(3000 + RAGGED, 5), batch_size=1000), 1000


def gru():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((40, 24)), layers.Masking(), layers.Bidirectional(layers.GRU(64, return_sequences=True)), layers.Bidirectional(layers.GRU(32)), layers.Dense(4, activation="softmax")])
    model.compile("nadam", "categorical_crossentropy")
    return model, dict(x=real(300, 40, 24), y=np.eye(4, dtype="float32")[labels(4, 300)], batch_size=96, sample_weight=np.ones(300, "float32")), 96


def unet():
    import keras
    from keras import layers
    conv = lambda f, x: layers.Conv2D(f, 3, padding="same", activation="relu")(layers.Conv2D(f, 3, padding="same", activation="relu")(x))
    image = keras.Input((64, 64, 3))
    a = conv(16, image)
    b = conv(32, layers.MaxPooling2D()(a))
    c = conv(64, layers.MaxPooling2D()(b))
    x = conv(32, layers.Concatenate()([layers.UpSampling2D()(c), b]))
    x = conv(16, layers.Concatenate()([layers.UpSampling2D()(x), a]))
    model = keras.Model(image, layers.Conv2D(1, 1, activation="sigmoid")(x))
    model.compile("adam", "binary_crossentropy")
    return model, dict(x=real(70, 64, 64, 3), y=labels(2, 70, 64, 64, 1).astype("float32"), batch_size=32, validation_split=0.2), 32


def separable():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((40, 40, 3), dtype="uint8"), layers.Rescaling(1 / 255)])
    for filters in (32, 64, 128):
        model.add(layers.SeparableConv2D(filters, 3, padding="same"))
        model.add(layers.BatchNormalization())
        model.add(layers.ReLU(6))
        model.add(layers.MaxPooling2D())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(7, activation="softmax"))
    model.compile("adam", "sparse_categorical_crossentropy")
    return model, dict(x=labels(256, 300, 40, 40, 3).astype("uint8"), y=labels(7, 300), batch_size=64), 64


def half():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((512,)), layers.Dense(1500, activation="relu", dtype="mixed_bfloat16"), layers.Dense(1500, activation="relu", dtype="mixed_bfloat16"), layers.Dense(20)])
    model.compile("adam", "mse")
    return model, dict(x=real(2000, 512), y=real(2000, 20), batch_size=1000), 1000


def words():
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((30,), dtype="int32"), layers.Embedding(60000, 128), layers.GlobalAveragePooling1D(), layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    return model, dict(x=labels(60000, 600, 30), y=labels(3, 600), batch_size=200), 200


def by_hand():
    """train_on_batch, as loops of users call it."""
    import keras
    from keras import layers
    model = keras.Sequential([keras.Input((28, 28, 1)), layers.Conv2D(64, 3, activation="relu"), layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, dict(x=real(128, 28, 28, 1), y=labels(10, 128), by_hand=True), 128


def residual():
    import keras
    from keras import layers
    image = keras.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, padding="same")(image)
    for _ in range(8):
        y = layers.Conv2D(32, 3, padding="same", use_bias=False)(layers.ReLU()(layers.BatchNormalization()(x)))
        x = x + layers.Conv2D(32, 3, padding="same")(layers.ReLU()(layers.BatchNormalization()(y)))
    model = keras.Model(image, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, dict(x=real(150, 32, 32, 3), y=labels(10, 150), batch_size=64, validation_data=(real(64, 32, 32, 3), labels(10, 64))), 64


CASES = {f.__name__: f for f in (mlp, cnn, lstm, transformer, autoencoder, generator, two_heads, subclassed, gru, unet, separable, half, words, by_hand, residual)}
