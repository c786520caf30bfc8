# Uncertainty: MC dropout, deep ensembles, snapshot ensembles with cosine callbacks, quantile losses, calibration by temperature
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import callbacks, layers, models, optimizers

rng = np.random.default_rng(2)
X = rng.uniform(-2, 2, (80, 1)).astype("float32")
y = (np.sin(X * 2) + rng.normal(size=X.shape) * 0.1).astype("float32")


class MCDropout(layers.Dropout):
    def call(self, inputs):
        return super().call(inputs, training=True)


def fixed(model, seed):
    r = np.random.default_rng(seed)
    model.set_weights([r.normal(size=w.shape) * 0.5 if w.ndim else w for w in model.get_weights()])
    return model


mc = models.Sequential([keras.Input((1,)), layers.Dense(16, "relu"), MCDropout(0.3), layers.Dense(1)])
mc.compile("adam", "mse")
mc.fit(X, y, epochs=2, verbose=0)
stack = np.stack([mc.predict(X[:5], verbose=0) for _ in range(10)])
print(stack.shape, (stack.std(0) > 0).all(), np.stack([mc(X[:5], training=False) for _ in range(3)]).std(0).max() > 0)


class CosineAnnealing(callbacks.Callback):
    def __init__(self, n_epochs, n_cycles, lr_max):
        super().__init__()
        self.epochs, self.cycles, self.lr_max, self.lrates, self.snapshots = n_epochs, n_cycles, lr_max, [], []

    def cosine_annealing(self, epoch):
        per = np.floor(self.epochs / self.cycles)
        return self.lr_max / 2 * (np.cos(np.pi * (epoch % per) / per) + 1)

    def on_epoch_begin(self, epoch, logs=None):
        lr = self.cosine_annealing(epoch)
        self.model.optimizer.learning_rate.assign(lr)
        self.lrates.append(lr)

    def on_epoch_end(self, epoch, logs={}):
        if epoch != 0 and (epoch + 1) % (self.epochs // self.cycles) == 0:
            self.snapshots.append(self.model.get_weights())


net = fixed(models.Sequential([keras.Input((1,)), layers.Dense(8, "tanh"), layers.Dense(1)]), 0)
net.compile(optimizers.SGD(learning_rate=0.1, momentum=0.9), "mse")
ca = CosineAnnealing(6, 3, 0.1)
h = net.fit(X, y, epochs=6, batch_size=20, verbose=0, shuffle=False, callbacks=[ca])
print(np.round(ca.lrates, 4), len(ca.snapshots), np.round(h.history["loss"], 4))
preds = []
for w in ca.snapshots:
    net.set_weights(w)
    preds.append(net.predict(X[:4], verbose=0))
print(np.mean(preds, axis=0).ravel().round(4))

inp = keras.Input((1,))
hidden = layers.Dense(8, activation="tanh")(inp)
q_model = fixed(models.Model(inp, [layers.Dense(1, name=f"q{int(q * 100)}")(hidden) for q in (0.1, 0.5, 0.9)]), 3)


def tilted_loss(q, y, f):
    e = y - f
    return tf.keras.ops.mean(tf.keras.ops.maximum(q * e, (q - 1) * e), axis=-1)


q_model.compile(loss=[lambda y, f, q=q: tilted_loss(q, y, f) for q in (0.1, 0.5, 0.9)], optimizer="adam")
h = q_model.fit(X, [y, y, y], epochs=3, batch_size=20, shuffle=False, verbose=0)
print({k: np.round(v, 4).tolist() for k, v in h.history.items()})
members = []
for seed in range(3):
    m = fixed(models.Sequential([keras.Input((1,)), layers.Dense(8, "relu"), layers.Dense(1)]), seed)
    m.compile(loss="mae", optimizer="adam")
    m.fit(X, y, epochs=2, verbose=0, batch_size=16, shuffle=False)
    m._name = f"member{seed}"
    members.append(m)
i = keras.Input((1,))
ensemble = keras.Model(i, layers.Average()([m(i) for m in members]))
print(ensemble.predict(X[:3], verbose=0).ravel().round(4), len(ensemble.weights))
logits, labels = tf.constant(rng.normal(size=(50, 4)) * 4, tf.float32), rng.integers(0, 4, 50)
temperature = tf.Variable(1.5)
opt = optimizers.Adam(0.05)


def nll():
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits / temperature))


for _ in range(5):
    with tf.GradientTape() as tape:
        value = nll()
    opt.apply_gradients([(tape.gradient(value, temperature), temperature)])
print(round(float(temperature), 4), round(float(nll()), 4))
probs = tf.nn.softmax(logits / temperature)
conf, pred = tf.reduce_max(probs, axis=1), tf.argmax(probs, axis=1)
bins = tf.histogram_fixed_width_bins(conf, [0.0, 1.0], nbins=5)
print(tf.math.bincount(bins, minlength=5).numpy(), tf.math.unsorted_segment_mean(conf, bins, 5).numpy().round(3), pred.dtype)
