import keras
import numpy as np
from keras import layers, losses, metrics, ops

rng = np.random.default_rng(0)
y, p = rng.integers(0, 2, 40).astype("float32"), rng.random(40).astype("float32")
w = np.linspace(0.1, 1, 40).astype("float32")
multi = rng.integers(0, 4, 40)
prob = rng.random((40, 4)).astype("float32")
prob /= prob.sum(1, keepdims=True)
onehot = np.eye(4, dtype="float32")[multi]
real, guess = rng.normal(size=(40, 3)).astype("float32"), rng.normal(size=(40, 3)).astype("float32")


def show(m, *args, **kwargs):
    m.update_state(*args, **kwargs)
    first = np.round(np.asarray(ops.convert_to_numpy(m.result()) if not isinstance(m.result(), dict) else 0), 4).tolist()
    m.update_state(*[a[:10] for a in args])
    both = np.round(np.asarray(ops.convert_to_numpy(m.result())), 4).tolist()
    m.reset_state()
    m(*args)
    print(m.name, first, both, np.round(np.asarray(ops.convert_to_numpy(m.result())), 4).tolist(), len(m.variables))


for m in (metrics.BinaryAccuracy(threshold=0.4), metrics.BinaryCrossentropy(label_smoothing=0.1), metrics.AUC(), metrics.AUC(curve="PR", name="pr"), metrics.AUC(num_thresholds=5, summation_method="majoring", name="maj"), metrics.Precision(), metrics.Recall(thresholds=[0.3, 0.7]), metrics.TruePositives(), metrics.FalseNegatives(), metrics.PrecisionAtRecall(0.6), metrics.RecallAtPrecision(0.5), metrics.SensitivityAtSpecificity(0.5), metrics.SpecificityAtSensitivity(0.5), metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.5), metrics.Hinge(), metrics.SquaredHinge()):
    show(m, y[:, None], p[:, None], sample_weight=w)
for m in (metrics.SparseCategoricalAccuracy(), metrics.SparseTopKCategoricalAccuracy(k=2), metrics.SparseCategoricalCrossentropy()):
    show(m, multi, prob, sample_weight=w)
for m in (metrics.CategoricalAccuracy(), metrics.TopKCategoricalAccuracy(k=3), metrics.CategoricalCrossentropy(), metrics.F1Score(average="macro"), metrics.F1Score(average=None, threshold=0.3, name="f1s"), metrics.FBetaScore(beta=2.0, average="weighted"), metrics.KLDivergence(), metrics.CategoricalHinge(), metrics.OneHotMeanIoU(4), metrics.AUC(multi_label=True, num_labels=4, name="multi")):
    show(m, onehot, prob)
for m in (metrics.MeanSquaredError(), metrics.RootMeanSquaredError(), metrics.MeanAbsoluteError(), metrics.MeanAbsolutePercentageError(), metrics.MeanSquaredLogarithmicError(), metrics.CosineSimilarity(axis=-1), metrics.LogCoshError(), metrics.R2Score(), metrics.R2Score(class_aggregation="variance_weighted_average", name="r2v"), metrics.Poisson(), metrics.PearsonCorrelation(), metrics.ConcordanceCorrelation()):
    show(m, np.abs(real), np.abs(guess))
iou = metrics.MeanIoU(3)
iou.update_state([0, 1, 2, 2], [0, 2, 2, 1])
print("iou", round(float(iou.result()), 4), metrics.IoU(3, [0, 1])([0, 1, 2], [0, 1, 1]))
mean, total = metrics.Mean(), metrics.Sum()
for v, k in (([1.0, 2.0], None), ([4.0], [0.5])):
    mean.update_state(v, sample_weight=k)
    total.update_state(v)
print(float(mean.result()), float(total.result()), mean.get_config()["name"])
wrapped = metrics.MeanMetricWrapper(lambda a, b: ops.abs(a - b) ** 3, name="cubed")
show(wrapped, real, guess)


class ConfusionMatrix(metrics.Metric):
    def __init__(self, classes, **kwargs):
        super().__init__(**kwargs)
        self.classes = classes
        self.matrix = self.add_variable((classes, classes), initializer="zeros", name="matrix")

    def update_state(self, y_true, y_pred, sample_weight=None):
        t, q = ops.one_hot(ops.cast(ops.reshape(y_true, (-1,)), "int32"), self.classes), ops.one_hot(ops.argmax(y_pred, -1), self.classes)
        self.matrix.assign_add(ops.matmul(ops.transpose(t), q))

    def result(self):
        d = ops.sum(ops.diagonal(self.matrix))
        return {"balanced": ops.mean(ops.diagonal(self.matrix) / (ops.sum(self.matrix, axis=1) + 1e-7)), "overall": d / (ops.sum(self.matrix) + 1e-7)}


model = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="softmax", kernel_initializer=keras.initializers.RandomNormal(seed=0))])
model.set_weights([np.linspace(-1, 1, 12).reshape(3, 4), np.zeros(4)])
model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc", ConfusionMatrix(4, name="cm"), metrics.SparseTopKCategoricalAccuracy(2, name="top2")], weighted_metrics=[metrics.SparseCategoricalAccuracy(name="wacc")])
h = model.fit(real, multi, sample_weight=w, epochs=2, batch_size=10, validation_split=0.2, shuffle=False, verbose=0)
for k, v in sorted(h.history.items()):
    print(k, np.round(v, 4).tolist())
print(sorted(model.get_metrics_result()), [m.name for m in model.metrics])
for name in ("BinaryCrossentropy", "BinaryFocalCrossentropy", "Hinge", "SquaredHinge", "Dice", "Tversky"):
    fn = getattr(losses, name)()
    print(name, round(float(fn(y[:, None], p[:, None])), 4), np.round(ops.convert_to_numpy(getattr(losses, name)(reduction=None if name not in ("Dice",) else "sum")(y[:, None], p[:, None])), 3).ravel()[:2].tolist())
for name in ("CategoricalCrossentropy", "CategoricalFocalCrossentropy", "KLDivergence", "CategoricalHinge", "CategoricalGeneralizedCrossEntropy"):
    print(name, round(float(getattr(losses, name)()(multi if "Generalized" in name else onehot, prob, sample_weight=w)), 4))
for name in ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "CosineSimilarity", "Huber", "LogCosh", "Poisson"):
    print(name, round(float(getattr(losses, name)(reduction="sum")(np.abs(real), np.abs(guess))), 3), round(float(getattr(losses, name)(reduction="mean_with_sample_weight")(np.abs(real), np.abs(guess), sample_weight=w)), 4))
print("sparse ignore", round(float(losses.SparseCategoricalCrossentropy(ignore_class=0)(multi, prob)), 4), round(float(losses.SparseCategoricalCrossentropy(from_logits=True)(multi, prob)), 4), round(float(losses.CTC()(np.array([[1, 2]]), rng.normal(size=(1, 5, 4)).astype("float32"))), 3), round(float(losses.Circle()(np.array([0, 1, 0]), real[:3])), 3))
seen = []


class Watch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        seen.append((batch, sorted(logs)))

    def on_epoch_end(self, epoch, logs=None):
        for m in self.model.metrics:
            assert np.isfinite(float(ops.convert_to_numpy(ops.sum(m.result() if not isinstance(m.result(), dict) else list(m.result().values())[0]))))


model.fit(real, multi, batch_size=20, verbose=0, callbacks=[Watch()])
print(seen)
