"""Own layers: stochastic depth at rest, SpectralNormalization, EinsumDense, group query attention, build from config."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(1)


class StochasticDepth(layers.Layer):
    def __init__(self, drop, **kw):
        super().__init__(**kw)
        self.drop = drop
        self.seed = keras.random.SeedGenerator(1)

    def call(self, x, training=None):
        if training:
            keep = 1 - self.drop
            shape = (ops.shape(x)[0],) + (1,) * (len(x.shape) - 1)
            return x / keep * ops.floor(keep + keras.random.uniform(shape, seed=self.seed))
        return x


inp = keras.Input((6, 8))
x = layers.EinsumDense("abc,cd->abd", output_shape=(None, 8), bias_axes="d", activation="gelu")(inp)
x = layers.Add()([StochasticDepth(0.0)(x), inp])
x = layers.GroupQueryAttention(head_dim=4, num_query_heads=4, num_key_value_heads=2)(x, x)
x = layers.RMSNormalization()(x)
x = layers.Attention(use_scale=True)([x, x])
x = layers.AdditiveAttention()([x, x])
x = layers.GlobalMaxPooling1D()(x)
x = layers.Reshape((2, 4))(x)
x = layers.RepeatVector(3)(layers.Flatten()(x))
x = layers.TimeDistributed(layers.Dense(4, activation="leaky_relu"))(x)
x = layers.SimpleRNN(5, dropout=0.0)(x)
out = layers.Dense(3)(x)
model = keras.Model(inp, out)
for v in model.trainable_variables:
    if v.name not in ("gamma", "beta", "scale"):
        v.assign(rng.normal(0, 0.3, v.shape))
X, y = rng.normal(size=(24, 6, 8)).astype("float32"), rng.integers(0, 3, 24)
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(np.round(model.fit(X, y, epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"], 3))
print([tuple(v.shape) for v in model.weights][:4], np.round(model.predict(X[:1], verbose=0), 2).shape)
for f in ("relu6", "celu", "glu", "hard_shrink", "log_sigmoid", "soft_shrink", "sparse_plus", "squareplus", "tanh_shrink", "threshold", "sparsemax", "hard_silu", "exponential", "log_softmax"):
    fn = getattr(keras.activations, f)
    a = fn(np.array([[-1.0, 0.5, 2.0, 0.1]], "float32")) if f != "threshold" else fn(np.array([[-1.0, 0.5]], "float32"), 0.2, 0.0)
    print(f, np.round(ops.convert_to_numpy(a), 3))
