import keras
import numpy as np
from keras import ops

rng = np.random.default_rng(6)


def net(width, name):
    m = keras.Sequential([keras.Input((10,)), keras.layers.Dense(width, "relu"), keras.layers.Dense(4)], name=name)
    for v in m.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.3)
    return m


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.student, self.teacher = student, teacher
        teacher.trainable = False
        self.soft = keras.metrics.Mean(name="soft_loss")

    def compile(self, alpha=0.3, temperature=3.0, **kwargs):
        super().compile(**kwargs)
        self.alpha, self.temperature = alpha, temperature
        self.kl = keras.losses.KLDivergence()

    def call(self, x, training=False):
        return self.student(x, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        hard = super().compute_loss(x, y, y_pred, sample_weight)
        t = self.teacher(x, training=False)
        soft = self.kl(ops.softmax(t / self.temperature), ops.softmax(y_pred / self.temperature)) * self.temperature**2
        self.soft.update_state(soft)
        return self.alpha * hard + (1 - self.alpha) * soft


x = rng.normal(size=(60, 10)).astype("float32")
y = rng.integers(0, 4, 60)
d = Distiller(net(6, "student"), net(20, "teacher"))
d.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["sparse_categorical_accuracy"])
h = d.fit(x, y, batch_size=20, epochs=3, shuffle=False, verbose=0, validation_data=(x, y))
for k, v in sorted(h.history.items()):
    print(k, [f"{a:.4f}" for a in v])
print({k: round(float(v), 4) for k, v in d.evaluate(x, y, return_dict=True, verbose=0).items()})


class Twice(keras.Model):
    """its own steps, over the ones that Keras has"""

    def train_step(self, *args, **kwargs):
        return super().train_step(*args, **kwargs)

    def test_step(self, *args, **kwargs):
        return super().test_step(*args, **kwargs)


inputs = keras.Input((10,))
out = keras.layers.Dense(4, "softmax")(inputs)
m = Twice(inputs, {"a": out, "b": keras.layers.Dense(1, name="b")(inputs)})
for v in m.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.3)
m.compile("sgd", loss={"a": "sparse_categorical_crossentropy", "b": "log_cosh"}, loss_weights={"a": 1.0, "b": 0.5}, metrics={"a": ["acc"], "b": ["mae"]})
h = m.fit(x, {"a": y, "b": x[:, :1]}, batch_size=15, epochs=2, shuffle=False, verbose=0, sample_weight=None)
for k, v in sorted(h.history.items()):
    print(k, [f"{a:.4f}" for a in v])
print([f"{float(v):.4f}" for v in m.train_on_batch(x[:8], {"a": y[:8], "b": x[:8, :1]})][:1])
print(sorted(m.predict_on_batch(x[:2])))
