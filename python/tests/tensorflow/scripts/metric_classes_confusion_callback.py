import io

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(2)
X = rng.normal(size=(60, 4)).astype("float32")
y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)


class ConfusionMatrix(keras.metrics.Metric):
    def __init__(self, n, name="cm", **kw):
        super().__init__(name=name, **kw)
        self.n = n
        self.cm = self.add_weight(name="cm", shape=(n, n), initializer="zeros", dtype=tf.int32)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = tf.reshape(y_true, [-1])
        self.cm.assign_add(tf.math.confusion_matrix(y_true, tf.argmax(y_pred, -1), num_classes=self.n))

    def result(self):
        cm = tf.cast(self.cm, tf.float32)
        tp = tf.linalg.diag_part(cm)
        precision = tp / (tf.reduce_sum(cm, 0) + keras.backend.epsilon())
        recall = tp / (tf.reduce_sum(cm, 1) + 1e-7)
        return tf.reduce_mean(tf.math.divide_no_nan(2 * precision * recall, precision + recall))

    def reset_state(self):
        self.cm.assign(tf.zeros_like(self.cm))


class Kappa(keras.callbacks.Callback):
    def __init__(self, data):
        self.data = data

    def on_epoch_end(self, epoch, logs=None):
        x, t = self.data
        p = self.model.predict(x, verbose=0).argmax(-1)
        o = tf.math.confusion_matrix(t, p, num_classes=3, dtype=tf.float32)
        n = tf.reduce_sum(o)
        e = tf.tensordot(tf.reduce_sum(o, 1), tf.reduce_sum(o, 0), axes=0) / n
        w = tf.square(tf.cast(tf.range(3)[:, None] - tf.range(3)[None], tf.float32)) / 4
        k = 1 - tf.reduce_sum(w * o) / tf.reduce_sum(w * e)
        logs["kappa"] = float(k)
        print(f"epoch {epoch} kappa {k:.3f}", sorted(logs))


model = keras.Sequential([keras.layers.Dense(8, activation="relu", input_dim=4), keras.layers.Dense(3, activation="softmax")])
model.set_weights([rng.normal(0, 0.5, w.shape) for w in model.get_weights()])
model.compile(optimizer=keras.optimizers.SGD(0.2), loss="sparse_categorical_crossentropy", metrics=["accuracy", ConfusionMatrix(3)])
h = model.fit(X, y, epochs=2, batch_size=20, shuffle=False, verbose=0, callbacks=[Kappa((X, y))], validation_data=(X, y))
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
m = keras.metrics.SparseCategoricalAccuracy()
for i in range(0, 60, 20):
    m(y[i : i + 20], model(X[i : i + 20]))
print(m.result().numpy().round(3), m.count.numpy(), m.total.numpy())
auc = keras.metrics.AUC(multi_label=True, num_labels=3)
auc.update_state(tf.one_hot(y, 3), model(X))
print(auc.result().numpy().round(2))
for M in (keras.metrics.SensitivityAtSpecificity,):
    print(M.__name__, M(0.5)([0, 1, 1], [0.1, 0.6, 0.8]).numpy())
buf = io.StringIO()
model.summary(print_fn=lambda s: buf.write(s + "\n"))
print(buf.getvalue().count("dense"), [type(l).__name__ for l in model.layers], model.layers[0].kernel.shape.as_list() if hasattr(model.layers[0].kernel.shape, "as_list") else list(model.layers[0].kernel.shape))
print(tf.math.reduce_euclidean_norm([3.0, 4.0]).numpy(), tf.math.top_k([1, 5, 3], 2).indices.numpy(), tf.unique_with_counts([1, 1, 2]).count.numpy(), tf.math.argmax([[1, 2], [4, 3]], axis=1, output_type=tf.int32).dtype.name)
