"""Anomaly detection with an autoencoder as in the tutorial: pandas, tf scaling, threshold, tf.math.less, scores."""
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers, losses
from tensorflow.keras.models import Model

rng = np.random.RandomState(0)
t = np.linspace(0, 2 * np.pi, 24)
normal = np.sin(t)[None] * rng.uniform(0.8, 1.2, (120, 1)) + rng.randn(120, 24) * 0.05
strange = np.sin(3 * t)[None] * rng.uniform(0.5, 1.0, (40, 1)) + rng.randn(40, 24) * 0.2
dataframe = pd.DataFrame(np.concatenate([np.c_[normal, np.ones(120)], np.c_[strange, np.zeros(40)]])).sample(frac=1, random_state=3)
raw_data = dataframe.values
labels = raw_data[:, -1]
data = raw_data[:, 0:-1]
train_data, test_data, train_labels, test_labels = data[:120], data[120:], labels[:120], labels[120:]
min_val = tf.reduce_min(train_data)
max_val = tf.reduce_max(train_data)
train_data = (train_data - min_val) / (max_val - min_val)
test_data = (test_data - min_val) / (max_val - min_val)
print(min_val.dtype, train_data.dtype)
train_data = tf.cast(train_data, tf.float32)
test_data = tf.cast(test_data, tf.float32)
train_labels = train_labels.astype(bool)
test_labels = test_labels.astype(bool)
normal_train_data = train_data[train_labels]
normal_test_data = test_data[test_labels]
anomalous_train_data = train_data[~train_labels]
anomalous_test_data = test_data[~test_labels]
print(normal_train_data.shape, anomalous_test_data.shape, len(anomalous_train_data))


class AnomalyDetector(Model):
    def __init__(self):
        super(AnomalyDetector, self).__init__()
        self.encoder = tf.keras.Sequential([
            layers.Dense(16, activation="relu"),
            layers.Dense(8, activation="relu"),
            layers.Dense(4, activation="relu")])
        self.decoder = tf.keras.Sequential([
            layers.Dense(8, activation="relu"),
            layers.Dense(16, activation="relu"),
            layers.Dense(24, activation="sigmoid")])

    def call(self, x):
        encoded = self.encoder(x)
        decoded = self.decoder(encoded)
        return decoded


autoencoder = AnomalyDetector()
autoencoder.compile(optimizer='adam', loss='mae')
autoencoder(normal_train_data[:1])
w = np.random.RandomState(1)
autoencoder.set_weights([w.normal(size=v.shape) * 0.3 + (0.1 if v.ndim == 1 else 0) for v in autoencoder.get_weights()])
history = autoencoder.fit(normal_train_data, normal_train_data, epochs=8, batch_size=32, validation_data=(test_data, test_data), shuffle=False, verbose=0)
print(np.round(history.history["loss"], 3), np.round(history.history["val_loss"], 3))
encoded_data = autoencoder.encoder(normal_test_data).numpy()
decoded_data = autoencoder.decoder(encoded_data).numpy()
print(encoded_data.shape, decoded_data[0][:4])
reconstructions = autoencoder.predict(normal_train_data, verbose=0)
train_loss = tf.keras.losses.mae(reconstructions, normal_train_data)
print(train_loss[None, :3])
threshold = np.mean(train_loss) + np.std(train_loss)
print("Threshold: ", threshold)
test_loss = tf.keras.losses.mae(autoencoder.predict(anomalous_test_data, verbose=0), anomalous_test_data)
print(np.mean(test_loss) > threshold)


def predict(model, data, threshold):
    reconstructions = model(data)
    loss = tf.keras.losses.mae(reconstructions, data)
    return tf.math.less(loss, threshold)


def print_stats(predictions, labels):
    correct = tf.equal(predictions, labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    true_positive = tf.math.count_nonzero(tf.logical_and(predictions, labels))
    print("Accuracy = {}".format(accuracy))
    print("Precision = {:.3f}".format(true_positive / tf.math.count_nonzero(predictions)))
    print("Recall = {}".format(true_positive.numpy() / labels.sum()))


preds = predict(autoencoder, test_data, threshold)
print_stats(preds, test_labels)
print(preds[:5], tf.where(preds)[:3].numpy().ravel())
kl = tf.keras.losses.kld(tf.nn.softmax(train_data[:2]), tf.nn.softmax(reconstructions[:2]))
print(kl, tf.math.top_k(train_loss, k=2).indices.numpy(), tf.math.reduce_std(train_loss).numpy(), tf.math.reduce_variance(test_data, axis=0).shape)
quantile = np.percentile(train_loss, 95)
print(quantile, tf.sort(train_loss, direction='DESCENDING')[0].numpy(), tf.reduce_any(train_loss > quantile).numpy())
