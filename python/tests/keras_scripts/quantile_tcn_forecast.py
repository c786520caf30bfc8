"""Quantile forecasts with a dilated causal convolution network, and residual blocks as a layer."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(3)
series = np.sin(np.arange(200) / 6.0) + rng.normal(0, 0.1, 200)
window = 24
X = np.lib.stride_tricks.sliding_window_view(series, window)[:-1, :, None].astype("float32")[:128]
y = series[window:][:128, None].astype("float32")
quantiles = [0.1, 0.5, 0.9]


@keras.saving.register_keras_serializable(package="tcn")
class ResidualBlock(layers.Layer):
    def __init__(self, filters, dilation, kernel_size=3, **kwargs):
        super().__init__(**kwargs)
        self.filters, self.dilation, self.kernel_size = filters, dilation, kernel_size
        self.conv1 = layers.Conv1D(filters, kernel_size, padding="causal", dilation_rate=dilation, activation="relu")
        self.conv2 = layers.Conv1D(filters, kernel_size, padding="causal", dilation_rate=dilation)
        self.norm = layers.GroupNormalization(groups=2)
        self.drop = layers.SpatialDropout1D(0.0)

    def build(self, input_shape):
        self.match = layers.Conv1D(self.filters, 1) if input_shape[-1] != self.filters else layers.Identity()
        super().build(input_shape)

    def call(self, x, training=None):
        out = self.drop(self.norm(self.conv2(self.conv1(x))), training=training)
        return ops.relu(out + self.match(x))

    def get_config(self):
        return {**super().get_config(), "filters": self.filters, "dilation": self.dilation, "kernel_size": self.kernel_size}


@keras.saving.register_keras_serializable(package="tcn")
def pinball(y_true, y_pred):
    q = ops.convert_to_tensor(quantiles, dtype=y_pred.dtype)
    e = y_true - y_pred
    return ops.mean(ops.maximum(q * e, (q - 1) * e), axis=-1)


inputs = keras.Input((window, 1))
x = inputs
for d in (1, 2, 4):
    x = ResidualBlock(8, d)(x)
x = layers.Cropping1D((window - 1, 0))(x)
out = layers.Dense(len(quantiles))(layers.Flatten()(x))
model = keras.Model(inputs, out)
for v in model.trainable_variables:
    if "kernel" in v.name:
        v.assign(rng.normal(0, 0.25, v.shape))


def coverage(y_true, y_pred):
    return ops.mean(ops.cast(ops.logical_and(y_true[:, 0] >= y_pred[:, 0], y_true[:, 0] <= y_pred[:, 2]), "float32"))


model.compile(optimizer=keras.optimizers.Adam(0.01, clipnorm=1.0), loss=pinball, metrics=[coverage, "mae"])
h = model.fit(X, y, epochs=3, batch_size=32, shuffle=False, validation_split=0.25, verbose=0)
for k in sorted(h.history):
    print(k, np.round(h.history[k], 3))
model.save("tcn.keras")
again = keras.models.load_model("tcn.keras", custom_objects={"coverage": coverage})
print(np.abs(again.predict(X[:8], verbose=0) - model.predict(X[:8], verbose=0)).max() < 1e-5)
print([type(l).__name__ for l in again.layers][:4], again.loss.__name__ if callable(again.loss) else again.loss)
