import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.random((500, 8)).astype("float32")
y = x.sum(1, keepdims=True).astype("float32")


class CustomModel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        trainable_vars = self.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        self.optimizer.apply_gradients(zip(gradients, trainable_vars))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


inputs = keras.Input(shape=(8,))
outputs = keras.layers.Dense(1)(inputs)
model = CustomModel(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse", metrics=["mae"])
history = model.fit(x, y, epochs=12, verbose=0)
print(sorted(history.history), "learned", history.history["loss"][-1] < 0.05)

mae_metric = keras.metrics.MeanAbsoluteError(name="mae")
loss_tracker = keras.metrics.Mean(name="loss")


class LowLevel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = keras.losses.mse(y, y_pred)
            loss = tf.reduce_mean(loss)
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, norm = tf.clip_by_global_norm(gradients, 5.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        loss_tracker.update_state(loss)
        mae_metric.update_state(y, y_pred)
        return {"loss": loss_tracker.result(), "mae": mae_metric.result(), "norm": norm}

    @property
    def metrics(self):
        return [loss_tracker, mae_metric]

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        return {"squared": tf.reduce_mean(tf.math.squared_difference(y, y_pred))}


inputs = keras.Input(shape=(8,))
model = LowLevel(inputs, keras.layers.Dense(1)(keras.layers.Dense(8, activation="tanh")(inputs)))
model.compile(optimizer=keras.optimizers.Adam(0.02))
history = model.fit(x, y, epochs=10, verbose=0)
print(sorted(history.history), "learned", history.history["mae"][-1] < 0.3)
print(list(model.evaluate(x, y, verbose=0, return_dict=True)))
