"""Super-resolution with sub-pixel convolution, PSNR callback and learning-rate schedules."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(6)
upscale = 2
big = rng.random((12, 16, 16, 1)).astype("float32")
big = (big + np.roll(big, 1, 1) + np.roll(big, 1, 2)) / 3
small = ops.convert_to_numpy(ops.image.resize(big, (8, 8), interpolation="area" if False else "bilinear", antialias=True))


class DepthToSpace(layers.Layer):
    def __init__(self, block_size):
        super().__init__()
        self.block_size = block_size

    def call(self, x):
        batch, height, width, depth = ops.shape(x)
        depth = depth // (self.block_size**2)
        x = ops.reshape(x, [batch, height, width, self.block_size, self.block_size, depth])
        x = ops.transpose(x, [0, 1, 3, 2, 4, 5])
        return ops.reshape(x, [batch, height * self.block_size, width * self.block_size, depth])


def get_model(upscale_factor=2, channels=1):
    conv_args = {"activation": "relu", "kernel_initializer": "zeros", "padding": "same"}
    inputs = keras.Input(shape=(None, None, channels))
    x = layers.Conv2D(16, 5, **conv_args)(inputs)
    x = layers.Conv2D(8, 3, **conv_args)(x)
    x = layers.Conv2D(channels * upscale_factor**2, 3, **{**conv_args, "activation": None})(x)
    return keras.Model(inputs, DepthToSpace(upscale_factor)(x))


class ESPCNCallback(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.psnr = []

    def on_epoch_end(self, epoch, logs=None):
        print("Mean PSNR for epoch: %.2f" % (np.mean(self.psnr)))

    def on_test_batch_end(self, batch, logs=None):
        self.psnr.append(10 * np.log10(1 / logs["loss"]))


model = get_model()
for v in model.trainable_variables:
    v.assign(rng.normal(0, 0.1, v.shape))
schedule = keras.optimizers.schedules.PiecewiseConstantDecay([3, 6], [1e-2, 5e-3, 1e-3])
model.compile(optimizer=keras.optimizers.Nadam(schedule), loss="mean_squared_error")
h = model.fit(small, big, epochs=3, batch_size=4, shuffle=False, validation_data=(small[:4], big[:4]), validation_batch_size=2, callbacks=[ESPCNCallback()], verbose=0)
print(np.round(h.history["loss"], 4), np.round(float(model.optimizer.learning_rate), 5))
print(model.predict(small[:1, :5, :7], verbose=0).shape, round(float(ops.psnr(big[0], model.predict(small[:1], verbose=0)[0], max_val=1.0)), 2))
for s in (keras.optimizers.schedules.CosineDecayRestarts(0.1, 4), keras.optimizers.schedules.CosineDecay(0.0, 10, warmup_target=0.1, warmup_steps=4),
          keras.optimizers.schedules.PolynomialDecay(0.1, 10, 0.01, power=2.0, cycle=True), keras.optimizers.schedules.InverseTimeDecay(0.1, 2, 0.5, staircase=True),
          keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.9)):
    print(type(s).__name__, [round(float(s(i)), 5) for i in (0, 1, 5, 12)])
again = keras.optimizers.schedules.deserialize(keras.optimizers.schedules.serialize(schedule))
print(round(float(again(4)), 4))
