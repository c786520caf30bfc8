import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
import tensorflow.keras.backend as K


@keras.utils.register_keras_serializable(package="My")
class Linear(keras.layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", trainable=True, name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True, name="b")

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        config = super().get_config()
        config.update({"units": self.units})
        return config


x = tf.ones((2, 2))
linear_layer = Linear(4)
print(linear_layer(x))
print([w.name for w in linear_layer.weights], linear_layer.get_config()["units"])


class ComputeSum(keras.layers.Layer):
    def __init__(self, input_dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(input_dim,), trainable=False)

    def call(self, inputs):
        self.total.assign_add(tf.reduce_sum(inputs, axis=0))
        return self.total


my_sum = ComputeSum(2)
print(my_sum(x).numpy(), my_sum(x).numpy(), len(my_sum.non_trainable_weights))


class ActivityRegularizationLayer(keras.layers.Layer):
    def __init__(self, rate=1e-2):
        super().__init__()
        self.rate = rate

    def call(self, inputs):
        self.add_loss(self.rate * tf.reduce_mean(inputs))
        return inputs


layer = ActivityRegularizationLayer()
layer(tf.ones((1, 3)))
print(len(layer.losses), round(float(layer.losses[0]), 4))


def custom_mean_squared_error(y_true, y_pred):
    return tf.math.reduce_mean(tf.square(y_true - y_pred), axis=-1)


def huber(y_true, y_pred):
    error = y_true - y_pred
    return K.mean(tf.where(K.abs(error) < 1.0, K.square(error) / 2, K.abs(error) - 0.5))


class WithinHalf(keras.metrics.Metric):
    def __init__(self, name="within_half", **kwargs):
        super().__init__(name=name, **kwargs)
        self.good = self.add_weight(name="good", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        values = tf.cast(tf.abs(y_true - y_pred) < 0.5, "float32")
        self.good.assign_add(tf.reduce_sum(values))
        self.count.assign_add(tf.cast(tf.size(values), "float32"))

    def result(self):
        return self.good / self.count

    def reset_state(self):
        self.good.assign(0.0)
        self.count.assign(0.0)


rng = np.random.default_rng(0)
data, target = rng.random((200, 4)).astype("float32"), None
target = data @ np.array([[1.0], [2.0], [-1.0], [0.5]], "float32")
model = keras.Sequential([keras.Input((4,)), Linear(8), keras.layers.Activation(tf.nn.relu), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss=custom_mean_squared_error, metrics=[WithinHalf(), huber])
history = model.fit(data, target, epochs=60, verbose=0)
print(sorted(history.history), "good", history.history["within_half"][-1] > 0.9)
path = os.path.join(tempfile.mkdtemp(), "custom.keras")
model.save(path)
loaded = keras.models.load_model(path, custom_objects={"custom_mean_squared_error": custom_mean_squared_error, "WithinHalf": WithinHalf, "huber": huber})
print(np.allclose(model.predict(data, verbose=0), loaded.predict(data, verbose=0)))


class MLPBlock(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.linear_1, self.linear_2 = Linear(8), Linear(1)
        self.drop = keras.layers.Dropout(0.5)

    def call(self, inputs, training=None):
        x = tf.nn.relu(self.linear_1(inputs))
        if training:
            x = self.drop(x, training=training)
        return self.linear_2(x)


mlp = MLPBlock()
y = mlp(tf.ones(shape=(3, 16)))
print(y.numpy().ravel(), len(mlp.weights), len(mlp.trainable_weights), K.int_shape(y), K.eval(K.sum(y)))
print(K.mean(tf.constant([1.0, 3.0])).numpy(), K.get_value(K.variable([1.0, 2.0])), K.clip(tf.constant([5.0]), 0, 1).numpy())
