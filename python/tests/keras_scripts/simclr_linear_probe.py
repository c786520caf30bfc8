# Contrastive pre-training (NT-Xent), then a linear probe on the frozen encoder, then fine-tuning
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(5)
labels = rng.integers(0, 3, 60)
base = rng.normal(size=(60, 10)) * 0.3 + np.eye(3)[labels] @ rng.normal(size=(3, 10))
view_a = (base + rng.normal(size=base.shape) * 0.1).astype("float32")
view_b = (base + rng.normal(size=base.shape) * 0.1).astype("float32")


def nt_xent(za, zb, temperature):
    za, zb = ops.normalize(za, axis=1), ops.normalize(zb, axis=1)
    n = ops.shape(za)[0]
    z = ops.concatenate([za, zb], axis=0)
    sim = ops.matmul(z, ops.transpose(z)) / temperature
    sim = ops.where(ops.cast(ops.eye(2 * n), "bool"), ops.full_like(sim, -1e9), sim)
    positives = ops.concatenate([ops.arange(n) + n, ops.arange(n)])
    return ops.mean(keras.losses.sparse_categorical_crossentropy(positives, sim, from_logits=True))


class SimCLR(keras.Model):
    def __init__(self, encoder, head, temperature=0.5, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.head, self.temperature = encoder, head, temperature
        self.log_temperature = self.add_weight(shape=(), initializer=keras.initializers.Constant(np.log(temperature)), name="log_temperature")

    def call(self, inputs):
        a, b = inputs
        za, zb = self.head(self.encoder(a)), self.head(self.encoder(b))
        self.add_loss(nt_xent(za, zb, ops.exp(self.log_temperature)))
        return za, zb


def weights_of(model):
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.4)


encoder = keras.Sequential([keras.Input((10,)), layers.Dense(12, activation="gelu"), layers.LayerNormalization(), layers.Dense(6)], name="encoder")
head = keras.Sequential([keras.Input((6,)), layers.Dense(6, activation="relu"), layers.Dense(4, use_bias=False)], name="head")
weights_of(encoder)
weights_of(head)
model = SimCLR(encoder, head)
model.compile(optimizer=keras.optimizers.Adam(0.01))
h = model.fit([view_a, view_b], None, batch_size=20, epochs=5, shuffle=False, verbose=0)
print([f"{v:.4f}" for v in h.history["loss"]], f"{float(model.log_temperature):.4f}")

encoder.trainable = False
probe = keras.Sequential([encoder, layers.Dense(3, kernel_initializer="zeros")])
probe.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(2, name="top2")])
before = [w.copy() for w in encoder.get_weights()]
h = probe.fit(view_a, labels, epochs=4, batch_size=15, shuffle=False, verbose=2)
print(len(probe.trainable_variables), all((a == b).all() for a, b in zip(before, encoder.get_weights())))
encoder.trainable = True
for layer in encoder.layers[:-1]:
    layer.trainable = False
probe.compile(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h = probe.fit(view_a, labels, epochs=3, batch_size=15, shuffle=False, verbose=0, validation_data=(view_b, labels))
print({k: [f"{x:.4f}" for x in v] for k, v in h.history.items()})
print([v.path.split("/")[-2:] for v in probe.trainable_variables])
print([bool((a == b).all()) for a, b in zip(before, encoder.get_weights())])
