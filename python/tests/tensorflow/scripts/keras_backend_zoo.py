"""tf.keras.backend functions in custom losses, layers and metrics, as in older posts."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input, Lambda, Layer
from tensorflow.keras.models import Model, Sequential

x = K.constant([[1.0, -2.0, 3.0], [0.5, 4.0, -6.0]])
print(K.eval(K.sum(x, axis=-1)), K.get_value(K.mean(x)), K.int_shape(x), K.ndim(x), K.dtype(x))
for name in ("abs", "square", "exp", "sign", "relu", "sigmoid", "tanh", "softplus", "softsign", "elu", "hard_sigmoid", "softmax", "flatten", "batch_flatten", "round", "sin", "cos"):
    print(name, np.round(getattr(K, name)(x).numpy().ravel()[:4], 3))
for name in ("max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin", "logsumexp", "cumsum", "cumprod"):
    if hasattr(K, name):
        print(name, np.round(np.asarray(getattr(K, name)(K.cast(x, "bool") if name in ("any", "all") else x, axis=1), "float32"), 3))
print(K.dot(x, K.transpose(x)).numpy(), K.batch_dot(K.ones((2, 3, 4)), K.ones((2, 4, 5)), axes=(2, 1)).shape, K.l2_normalize(x, axis=-1).numpy().round(2)[0])
print(K.concatenate([x, x], axis=0).shape, K.stack([x, x]).shape, K.expand_dims(x, -1).shape, K.squeeze(K.expand_dims(x, -1), -1).shape, K.repeat_elements(x, 2, axis=1).shape, K.repeat(x, 4).shape, K.tile(x, [2, 1]).shape)
print(K.permute_dimensions(x, (1, 0)).shape, K.reshape(x, (-1,)).shape, K.gather(x, [1]).numpy(), K.one_hot(K.constant([1, 0], dtype="int32"), 3).numpy(), K.arange(3).numpy(), K.eye(2).numpy().tolist(), K.zeros((2,)).numpy(), K.ones_like(x).shape)
print(K.clip(x, -1, 1).numpy().ravel(), K.maximum(x, 0.0).numpy().ravel(), K.switch(K.greater(x, 0), x, -x).numpy().ravel(), K.equal(x, x).numpy().all(), K.not_equal(x, 0).numpy().all(), K.greater_equal(x, 3.0).numpy().sum())
print(K.pow(x, 2).numpy().sum(), K.sqrt(K.abs(x)).numpy().round(2)[0], K.log(K.constant([1.0, np.e])).numpy(), K.categorical_crossentropy(K.constant([[0, 1.0]]), K.constant([[0.2, 0.8]])).numpy().round(3), K.binary_crossentropy(K.constant([1.0]), K.constant([0.7])).numpy().round(3),
      K.sparse_categorical_crossentropy(K.constant([1], dtype="int32"), K.constant([[0.1, 0.9]])).numpy().round(3))
v = K.variable(np.ones((2, 2)), name="kv")
K.set_value(v, np.full((2, 2), 3.0))
print(K.get_value(v), K.update_add(v, K.ones((2, 2))) is not None, K.get_value(v)[0], K.count_params(v), K.is_keras_tensor(Input((2,))))
K.batch_set_value([(v, np.zeros((2, 2)))])
print(K.batch_get_value([v])[0].sum(), K.epsilon(), K.floatx(), K.image_data_format(), K.backend())
print(K.in_top_k(K.constant([[0.1, 0.9]]), K.constant([1], dtype="int32"), 1).numpy(), K.random_uniform((2, 2)).shape, K.random_normal((2,), mean=1.0, stddev=0.0).numpy(), K.spatial_2d_padding(K.ones((1, 2, 2, 1))).shape, K.temporal_padding(K.ones((1, 2, 1))).shape, K.resize_images(K.ones((1, 2, 2, 1)), 2, 2, "channels_last").shape, K.pool2d(K.ones((1, 4, 4, 1)), (2, 2), (2, 2)).shape, K.conv2d(K.ones((1, 4, 4, 1)), K.ones((2, 2, 1, 1))).shape, K.bias_add(K.zeros((1, 2)), K.ones((2,))).numpy(), K.dropout(x, 0.0).shape, K.map_fn(lambda t: t * 2, x).numpy()[0], K.foldl(lambda a, b: a + b, K.constant([1.0, 2, 3])).numpy())


def root_mean_squared_error(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_pred - y_true)))


def r2(y_true, y_pred):
    return 1 - K.sum(K.square(y_true - y_pred)) / (K.sum(K.square(y_true - K.mean(y_true))) + K.epsilon())


def dice_coef(y_true, y_pred, smooth=1):
    a, b = K.flatten(K.cast(y_true, "float32")), K.flatten(y_pred)
    return (2.0 * K.sum(a * b) + smooth) / (K.sum(a) + K.sum(b) + smooth)


def tversky_loss(y_true, y_pred, alpha=0.7):
    a, b = K.flatten(y_true), K.flatten(y_pred)
    tp, fn, fp = K.sum(a * b), K.sum(a * (1 - b)), K.sum((1 - a) * b)
    return K.pow(1 - (tp + 1) / (tp + alpha * fn + (1 - alpha) * fp + 1), 0.75)


def weighted_bce(w0, w1):
    def loss(y_true, y_pred):
        return K.mean(K.binary_crossentropy(y_true, y_pred) * (y_true * w1 + (1.0 - y_true) * w0))

    return loss


class Attention(Layer):
    def __init__(self, **kwargs):
        super(Attention, self).__init__(**kwargs)

    def build(self, input_shape):
        self.W = self.add_weight(name="att_weight", shape=(input_shape[-1], 1), initializer="normal")
        self.b = self.add_weight(name="att_bias", shape=(input_shape[1], 1), initializer="zeros")
        super(Attention, self).build(input_shape)

    def call(self, x):
        et = K.squeeze(K.tanh(K.dot(x, self.W) + self.b), axis=-1)
        at = K.softmax(et)
        at = K.expand_dims(at, axis=-1)
        return K.sum(x * at, axis=1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])


rng = np.random.default_rng(0)
X = rng.normal(size=(32, 5, 4)).astype("float32")
Y = (X.mean((1, 2)) > 0).astype("float32")[:, None]
for loss in (root_mean_squared_error, tversky_loss, weighted_bce(0.5, 2.0)):
    inp = Input(shape=(5, 4))
    h = tf.keras.layers.LSTM(6, return_sequences=True)(inp)
    out = Dense(1, activation="sigmoid")(Attention()(h))
    model = Model(inp, out)
    w = np.random.default_rng(1)
    model.set_weights([w.normal(0, 0.3, p.shape) for p in model.get_weights()])
    model.compile(loss=loss, optimizer=tf.keras.optimizers.RMSprop(learning_rate=0.01), metrics=[dice_coef, r2, "acc"])
    h = model.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    print({k: np.round(v, 2).tolist() for k, v in h.history.items() if k != "acc"})
sim = Lambda(lambda t: K.exp(-K.sum(K.abs(t[0] - t[1]), axis=1, keepdims=True)))([x, x * 2])
print(sim.numpy().round(4).ravel())
print(not hasattr(K, "function"))
print(np.round(float(K.get_value(model.optimizer.learning_rate)), 4), hasattr(K, "set_session"))
model.optimizer.learning_rate.assign(0.5)
print(float(model.optimizer.learning_rate))
K.clear_session()
