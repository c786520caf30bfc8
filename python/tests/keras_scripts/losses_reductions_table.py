# Every loss with each reduction, weights and label smoothing; own losses by function and by class, saved by name
import tempfile

import keras
import numpy as np
from keras import losses, ops

FOLDER = tempfile.mkdtemp()

rng = np.random.default_rng(8)
p = rng.uniform(0.05, 0.95, (4, 3)).astype("float32")
q = (p / p.sum(-1, keepdims=True)).astype("float32")
t = rng.uniform(0.05, 0.95, (4, 3)).astype("float32")
hot = np.eye(3, dtype="float32")[[0, 2, 1, 1]]
w = np.array([1.0, 0.0, 2.0, 0.5], "float32")
cases = {
    "MeanSquaredError": (t, p), "MeanAbsoluteError": (t, p), "MeanAbsolutePercentageError": (t, p), "MeanSquaredLogarithmicError": (t, p), "Huber": (t, p), "LogCosh": (t, p),
    "CosineSimilarity": (t, p), "Poisson": (t, p), "KLDivergence": (q, p), "Hinge": (hot * 2 - 1, p), "SquaredHinge": (hot, p), "CategoricalHinge": (hot, p),
    "BinaryCrossentropy": (hot, p), "BinaryFocalCrossentropy": (hot, p), "CategoricalCrossentropy": (hot, q), "CategoricalFocalCrossentropy": (hot, q),
    "Dice": (hot, p), "Tversky": (hot, p), "SparseCategoricalCrossentropy": (np.array([0, 2, 1, 1]), q), "Circle": (np.array([0, 1, 1, 0]), q),
}
for name, (y, yp) in cases.items():
    row = []
    for reduction in ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"):
        value = np.asarray(getattr(losses, name)(reduction=reduction)(y, yp))
        row.append(np.round(value, 4).tolist())
    try:
        row.append(f"{float(getattr(losses, name)()(y, yp, sample_weight=w)):.4f}")
    except Exception as e:
        row.append(type(e).__name__)
    print(name, row)
logits = rng.normal(size=(4, 3)).astype("float32") * 3
print([f"{float(f):.4f}" for f in (
    losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(hot, logits), losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.2)(hot, logits),
    losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=2)(np.array([0, 2, 1, 1]), logits), losses.BinaryFocalCrossentropy(from_logits=True, apply_class_balancing=True, gamma=3.0)(hot, logits),
    losses.CategoricalFocalCrossentropy(from_logits=True, alpha=[0.1, 0.2, 0.7])(hot, logits), losses.Huber(delta=0.3)(t, p), losses.Tversky(alpha=0.3, beta=0.7)(hot, p), losses.Dice()(hot, p),
    losses.CategoricalGeneralizedCrossEntropy(q=0.6)(np.array([0, 2, 1, 1]), q))])
ctc = losses.CTC()(np.array([[1, 2, 2], [1, 0, 0]]), rng.normal(size=(2, 6, 4)).astype("float32"))
print(f"{float(ctc):.4f}")


@keras.saving.register_keras_serializable("mine")
class WeightedMSE(losses.Loss):
    def __init__(self, weight=2.0, name="weighted_mse", **kwargs):
        super().__init__(name=name, **kwargs)
        self.weight = weight

    def call(self, y_true, y_pred):
        return ops.mean(ops.square(y_true - y_pred) * ops.where(y_true > 0.5, self.weight, 1.0), axis=-1)

    def get_config(self):
        return {**super().get_config(), "weight": self.weight}


@keras.saving.register_keras_serializable("mine")
def rmsle(y_true, y_pred):
    return ops.sqrt(ops.mean(ops.square(ops.log1p(ops.relu(y_pred)) - ops.log1p(y_true))))


def quantile(q):
    def pinball(y_true, y_pred):
        e = y_true - y_pred
        return ops.mean(ops.maximum(q * e, (q - 1) * e), axis=-1)
    return pinball


x = rng.normal(size=(30, 4)).astype("float32")
y = (x @ rng.normal(size=(4, 3)) > 0).astype("float32")
for loss in (WeightedMSE(3.0), rmsle, quantile(0.9), "log_cosh", losses.Huber(0.5), lambda a, b: ops.mean((a - b) ** 4)):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "sigmoid")])
    r = np.random.default_rng(4)
    model.set_weights([r.normal(size=v.shape) for v in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.2), loss, metrics=["mae"])
    h = model.fit(x, y, sample_weight=np.linspace(0.1, 2, 30).astype("float32"), epochs=3, batch_size=10, shuffle=False, verbose=0)
    print([f"{v:.5f}" for v in h.history["loss"] + h.history["mae"]])
    if isinstance(loss, WeightedMSE) or loss is rmsle:
        model.save(FOLDER + "/own_loss.keras")
        again = keras.models.load_model(FOLDER + "/own_loss.keras")
        print(f"{again.evaluate(x, y, verbose=0)[0]:.5f}", getattr(again.loss, "weight", again.loss.__class__.__name__ if isinstance(again.loss, losses.Loss) else again.loss.__name__))
print(losses.get("mse") is losses.mean_squared_error, losses.deserialize(losses.serialize(losses.Huber(0.2))).name, losses.get("huber").__name__)
