"""What Keras 3.15 makes of losses, metrics, optimizers, schedules and short trainings, for src/train/golden_test.cpp:

  KERAS_BACKEND=tensorflow python tests/golden/train.py tests/golden/train.npz [new]
  KERAS_BACKEND=jax python tests/golden/train.py tests/golden/train.npz schedule_free

With `new`, only what the file does not have yet is put in; the second is to be run after the first.
"""
import sys

import keras
import numpy as np
from keras import layers, losses, metrics, optimizers

RANDOM = np.random.default_rng(7)
OUT = {}
STEPS = 20


def put(name, value, dtype=np.float32):
    OUT[name] = np.ascontiguousarray(np.asarray(value, dtype))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def make_data():
    n, c = 12, 5
    logits = RANDOM.normal(size=(n, c)) * 2
    labels = RANDOM.integers(0, c, n)
    binary = RANDOM.integers(0, 2, (n, c))
    data = {
        "numbers": (RANDOM.normal(size=(n, 4)), RANDOM.normal(size=(n, 4))),
        "positive": (RANDOM.uniform(0, 3, (n, 4)), RANDOM.uniform(0.1, 3, (n, 4))),
        "logits": (np.eye(c)[labels], logits),
        "shares": (np.eye(c)[labels], softmax(logits)),
        "classes": (labels[:, None], softmax(logits)),
        "class_logits": (labels[:, None], logits),
        "bits": (binary, 1 / (1 + np.exp(-logits))),
        "bit_logits": (binary, logits),
        "class_directions": (labels, logits / np.linalg.norm(logits, axis=-1, keepdims=True)),
        "class_numbers": (labels, softmax(logits)),
        "bit": (binary[:, 0], 1 / (1 + np.exp(-logits[:, 0]))),
        "answer_classes": (labels, np.where(np.arange(n) % 3, labels, (labels + 1) % c)),
    }
    for kind, (y, p) in data.items():
        put(f"data/{kind}/y", y, np.int32 if "class" in kind else np.float32)
        put(f"data/{kind}/p", p)
    put("data/weight", RANDOM.uniform(0.2, 2, n))
    return {kind: (OUT[f"data/{kind}/y"], OUT[f"data/{kind}/p"]) for kind in data}, OUT["data/weight"]


def losses_golden(data, weight):
    rows = [
        ("mse", "numbers", losses.MeanSquaredError, {}),
        ("mae", "numbers", losses.MeanAbsoluteError, {}),
        ("mape", "numbers", losses.MeanAbsolutePercentageError, {}),
        ("msle", "positive", losses.MeanSquaredLogarithmicError, {}),
        ("log_cosh", "numbers", losses.LogCosh, {}),
        ("huber", "numbers", losses.Huber, {"delta": 0.7}),
        ("hinge", "bit_logits", losses.Hinge, {}),
        ("squared_hinge", "numbers", losses.SquaredHinge, {}),
        ("categorical_hinge", "logits", losses.CategoricalHinge, {}),
        ("kl", "shares", losses.KLDivergence, {}),
        ("poisson", "positive", losses.Poisson, {}),
        ("cosine", "numbers", losses.CosineSimilarity, {}),
        ("binary", "bits", losses.BinaryCrossentropy, {}),
        ("binary_logits", "bit_logits", losses.BinaryCrossentropy, {"from_logits": True, "label_smoothing": 0.1}),
        ("categorical", "shares", losses.CategoricalCrossentropy, {"label_smoothing": 0.1}),
        ("categorical_logits", "logits", losses.CategoricalCrossentropy, {"from_logits": True}),
        ("sparse", "classes", losses.SparseCategoricalCrossentropy, {}),
        ("sparse_logits", "class_logits", losses.SparseCategoricalCrossentropy, {"from_logits": True}),
        ("sparse_ignore", "class_logits", losses.SparseCategoricalCrossentropy, {"from_logits": True, "ignore_class": 2}),
        ("binary_focal", "bits", losses.BinaryFocalCrossentropy, {"apply_class_balancing": True}),
        ("categorical_focal", "shares", losses.CategoricalFocalCrossentropy, {}),
        ("dice", "bits", losses.Dice, {}),
        ("tversky", "bits", losses.Tversky, {"alpha": 0.3, "beta": 0.7}),
        ("circle", "class_directions", losses.Circle, {"gamma": 8.0, "margin": 0.3}),
        ("circle_diagonal", "class_directions", losses.Circle, {"gamma": 3.0, "remove_diagonal": False}),
        ("generalized", "class_numbers", losses.CategoricalGeneralizedCrossEntropy, {"q": 0.7}),
    ]
    for key, kind, make, args in rows:
        y, p = data[kind]
        values = [make(**args)(y, p)]
        if key not in ("dice", "tversky"):
            for reduction in ("sum_over_batch_size", "sum", "mean_with_sample_weight"):
                values.append(make(reduction=reduction, **args)(y, p, sample_weight=weight))
        put(f"loss/{key}", [float(v) for v in values])


class OfPredictions:
    """Keras's Mean and Sum take values; here they are given the predictions."""

    def __init__(self, kind):
        self.kind = kind

    def __call__(self):
        self.metric = self.kind()
        return self

    def update_state(self, y, p, weight):
        self.metric.update_state(p, weight)

    def result(self):
        return self.metric.result()


def metrics_golden(data, weight):
    rows = [
        ("binary_accuracy", "bits", lambda: metrics.BinaryAccuracy(threshold=0.4)),
        ("categorical_accuracy", "shares", metrics.CategoricalAccuracy),
        ("sparse_accuracy", "classes", metrics.SparseCategoricalAccuracy),
        ("top_2", "shares", lambda: metrics.TopKCategoricalAccuracy(k=2)),
        ("sparse_top_2", "classes", lambda: metrics.SparseTopKCategoricalAccuracy(k=2)),
        ("auc", "bits", metrics.AUC),
        ("auc_pr", "bits", lambda: metrics.AUC(curve="PR")),
        ("auc_labels", "bits", lambda: metrics.AUC(multi_label=True, summation_method="minoring", num_thresholds=50)),
        ("auc_thresholds", "bits", lambda: metrics.AUC(thresholds=[0.2, 0.35, 0.8])),
        ("precision", "bits", metrics.Precision),
        ("precision_top", "bits", lambda: metrics.Precision(top_k=2)),
        ("precision_class", "bits", lambda: metrics.Precision(class_id=1, thresholds=0.3)),
        ("recall", "bits", metrics.Recall),
        ("recall_at_precision", "bits", lambda: metrics.RecallAtPrecision(0.6, num_thresholds=50)),
        ("specificity_at", "bits", lambda: metrics.SpecificityAtSensitivity(0.6)),
        ("accuracy", "answer_classes", metrics.Accuracy),
        ("true_positives", "bits", metrics.TruePositives),
        ("true_negatives", "bits", metrics.TrueNegatives),
        ("false_positives", "bits", metrics.FalsePositives),
        ("false_negatives", "bits", lambda: metrics.FalseNegatives(thresholds=0.7)),
        ("sensitivity_at", "bits", lambda: metrics.SensitivityAtSpecificity(0.4)),
        ("precision_at_recall", "bits", lambda: metrics.PrecisionAtRecall(0.6)),
        ("f1_macro", "bits", lambda: metrics.F1Score(average="macro", threshold=0.5)),
        ("f1_micro", "shares", lambda: metrics.F1Score(average="micro")),
        ("fbeta_weighted", "bits", lambda: metrics.FBetaScore(average="weighted", beta=2.0, threshold=0.5)),
        ("rmse", "numbers", metrics.RootMeanSquaredError),
        ("mse", "numbers", metrics.MeanSquaredError),
        ("mae", "numbers", metrics.MeanAbsoluteError),
        ("mape", "numbers", metrics.MeanAbsolutePercentageError),
        ("msle", "positive", metrics.MeanSquaredLogarithmicError),
        ("cosine", "numbers", metrics.CosineSimilarity),
        ("log_cosh", "numbers", metrics.LogCoshError),
        ("r2", "numbers", metrics.R2Score),
        ("r2_variance", "numbers", lambda: metrics.R2Score(class_aggregation="variance_weighted_average", num_regressors=2)),
        ("kl", "shares", metrics.KLDivergence),
        ("poisson", "positive", metrics.Poisson),
        ("binary_crossentropy", "bits", metrics.BinaryCrossentropy),
        ("categorical_crossentropy", "shares", metrics.CategoricalCrossentropy),
        ("sparse_crossentropy", "classes", metrics.SparseCategoricalCrossentropy),
        ("hinge", "bit_logits", metrics.Hinge),
        ("squared_hinge", "bit_logits", metrics.SquaredHinge),
        ("categorical_hinge", "logits", metrics.CategoricalHinge),
        ("iou", "classes", lambda: metrics.IoU(5, [0, 2], sparse_y_pred=False)),
        ("mean_iou", "classes", lambda: metrics.MeanIoU(5, sparse_y_pred=False, ignore_class=1)),
        ("binary_iou", "bit", lambda: metrics.BinaryIoU(target_class_ids=[1], threshold=0.4)),
        ("one_hot_iou", "shares", lambda: metrics.OneHotIoU(5, [1, 3])),
        ("one_hot_mean_iou", "shares", lambda: metrics.OneHotMeanIoU(5)),
        ("pearson", "numbers", metrics.PearsonCorrelation),
        ("concordance", "numbers", metrics.ConcordanceCorrelation),
        ("mean", "numbers", OfPredictions(metrics.Mean)),
        ("sum", "numbers", OfPredictions(metrics.Sum)),
    ]
    half = 7
    for key, kind, make in rows:
        y, p = data[kind]
        values = []
        for w in (None, weight):
            metric = make()
            metric.update_state(y[:half], p[:half], None if w is None else w[:half])
            metric.update_state(y[half:], p[half:], None if w is None else w[half:])
            values.append(float(metric.result()))
        put(f"metric/{key}", values)


def optimizers_golden():
    shapes = [(5, 3), (3,)]
    weights = [RANDOM.normal(size=s).astype(np.float32) for s in shapes]
    grads = [RANDOM.normal(size=(STEPS, *s)).astype(np.float32) for s in shapes]
    for i in range(2):
        put(f"optimizer/weight{i}", weights[i])
        put(f"optimizer/grad{i}", grads[i])
    rows = {
        "sgd": optimizers.SGD(0.1),
        "sgd_momentum": optimizers.SGD(0.1, momentum=0.9, weight_decay=0.01),
        "sgd_nesterov": optimizers.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=1.0),
        "rmsprop": optimizers.RMSprop(0.01),
        "rmsprop_momentum": optimizers.RMSprop(0.01, momentum=0.5, clipvalue=0.4),
        "rmsprop_centered": optimizers.RMSprop(0.01, centered=True, momentum=0.3),
        "adam": optimizers.Adam(0.01),
        "adam_amsgrad": optimizers.Adam(0.01, amsgrad=True, global_clipnorm=2.0),
        "adam_accumulate": optimizers.Adam(0.01, gradient_accumulation_steps=4),
        "adam_ema": optimizers.Adam(0.01, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=5),
        "adam_schedule": optimizers.Adam(optimizers.schedules.ExponentialDecay(0.1, 5, 0.5)),
        "adam_scaled": optimizers.Adam(0.01, loss_scale_factor=8.0),
        "adamw": optimizers.AdamW(0.01, weight_decay=0.1),
        "adagrad": optimizers.Adagrad(0.1),
        "adadelta": optimizers.Adadelta(1.0),
        "adamax": optimizers.Adamax(0.01),
        "nadam": optimizers.Nadam(0.01),
        "ftrl": optimizers.Ftrl(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02, beta=0.1),
        "lion": optimizers.Lion(0.01, weight_decay=0.05),
        "lamb": optimizers.Lamb(0.01),
        "adafactor": optimizers.Adafactor(0.3, clip_threshold=0.8),
        "adafactor_decay": optimizers.Adafactor(0.01, weight_decay=0.02, relative_step=False, gradient_accumulation_steps=2),
        "muon": optimizers.Muon(0.01),
        "muon_plain": optimizers.Muon(0.01, nesterov=False, rms_rate=None, ns_steps=3, adam_lr_ratio=0.5, adam_weight_decay=None),
    }
    run_optimizers(rows, weights, grads)


def schedule_free_golden(weights, grads):
    """On TensorFlow the old value that this optimizer keeps is the new one already: the variable itself."""
    run_optimizers({
        "schedule_free": optimizers.ScheduleFreeAdamW(0.01),
        "schedule_free_warmup": optimizers.ScheduleFreeAdamW(0.01, warmup_steps=6, weight_decay=0.01),
    }, weights, grads)


def run_optimizers(rows, weights, grads):
    for key, optimizer in rows.items():
        variables = [keras.Variable(w) for w in weights]
        for step in range(STEPS):
            optimizer.apply([g[step] for g in grads], variables)
        for i, v in enumerate(variables):
            put(f"optimizer/{key}/{i}", v.numpy())


def schedules_golden():
    s = optimizers.schedules
    rows = {
        "exponential": s.ExponentialDecay(0.1, 7, 0.9),
        "exponential_stairs": s.ExponentialDecay(0.1, 7, 0.9, staircase=True),
        "inverse": s.InverseTimeDecay(0.1, 3, 0.5),
        "piecewise": s.PiecewiseConstantDecay([5, 11], [1.0, 0.5, 0.1]),
        "polynomial": s.PolynomialDecay(0.1, 13, 0.01, power=2.0),
        "polynomial_cycle": s.PolynomialDecay(0.1, 8, 0.01, cycle=True),
        "cosine": s.CosineDecay(0.1, 20, alpha=0.1),
        "cosine_warmup": s.CosineDecay(0.0, 20, warmup_target=0.1, warmup_steps=6),
        "restarts": s.CosineDecayRestarts(0.1, 6, t_mul=2.0, m_mul=0.8, alpha=0.05),
        "restarts_even": s.CosineDecayRestarts(0.1, 6, t_mul=1.0),
    }
    for key, schedule in rows.items():
        put(f"schedule/{key}", [float(schedule(step)) for step in range(30)])


def fit_golden():
    keras.utils.set_random_seed(3)
    x = RANDOM.normal(size=(90, 6)).astype(np.float32)
    images = RANDOM.normal(size=(60, 8, 8, 2)).astype(np.float32)
    number = (x @ RANDOM.normal(size=(6, 2)) + 0.1 * RANDOM.normal(size=(90, 2))).astype(np.float32)
    label = x[:, :3].argmax(-1).astype(np.int32)
    bit = (x[:, :1] > x[:, 1:2]).astype(np.float32)
    picture = images.mean((1, 2)).argmax(-1).astype(np.int32)
    weight = RANDOM.uniform(0.2, 2, 90).astype(np.float32)
    for name, value in (("x", x), ("images", images), ("number", number), ("bit", bit), ("weight", weight)):
        put(f"fit/{name}", value)
    put("fit/label", label, np.int32)
    put("fit/picture", picture, np.int32)

    def run(key, model, args, *data, **fit_args):
        for i, w in enumerate(model.get_weights()):
            put(f"fit/{key}/weight{i}", w)
        model.compile(**args)
        history = model.fit(*data, epochs=3, shuffle=False, verbose=0, **fit_args).history
        for name, values in history.items():
            put(f"fit/{key}/{name}", values, np.float64)
        for i, w in enumerate(model.get_weights()):
            put(f"fit/{key}/final{i}", w)

    dense = layers.Dense
    run("numbers", keras.Sequential([keras.Input((6,)), dense(8, "tanh"), dense(2)]),
        {"optimizer": optimizers.SGD(0.05, momentum=0.9), "loss": "mse", "metrics": ["mae"]},
        x, number, batch_size=16, validation_split=0.2)
    run("labels", keras.Sequential([keras.Input((6,)), dense(12, "relu"), dense(3, "softmax")]),
        {"optimizer": optimizers.Adam(0.01), "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]},
        x, label, batch_size=20, class_weight={0: 2.0, 2: 0.5})
    run("pictures", keras.Sequential([keras.Input((8, 8, 2)), layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(2),
                                      layers.Flatten(), dense(2, "softmax")]),
        {"optimizer": optimizers.RMSprop(0.005), "loss": losses.CategoricalCrossentropy(label_smoothing=0.1), "metrics": ["accuracy"]},
        images, np.eye(2, dtype=np.float32)[picture], batch_size=25)
    run("bits", keras.Sequential([keras.Input((6,)), dense(8, "relu"), dense(1, "sigmoid")]),
        {"optimizer": optimizers.AdamW(0.01), "loss": "binary_crossentropy", "metrics": [metrics.AUC(name="auc"), "accuracy"],
         "weighted_metrics": ["accuracy"]},
        x, bit, batch_size=32, sample_weight=weight)
    entry = keras.Input((6,))
    hidden = dense(8, "relu", kernel_regularizer="l2")(entry)
    model = keras.Model(entry, [dense(2, name="first")(hidden), dense(3, activation="softmax", name="second")(hidden)])
    run("outputs", model,
        {"optimizer": optimizers.Nadam(0.01), "loss": ["mae", "sparse_categorical_crossentropy"], "loss_weights": [0.5, 2.0],
         "metrics": [["mse"], ["accuracy"]]},
        x, [number, label], batch_size=30)
    tokens = RANDOM.integers(0, 10, (48, 7)).astype(np.int32)
    tokens[np.arange(7)[None] >= RANDOM.integers(1, 8, (48, 1))] = 0
    put("fit/tokens", tokens, np.int32)
    # SGD: on TensorFlow, Keras's other optimizers square the gradients of an embedding before they are summed.
    put("fit/next", np.roll(tokens, -1, 1) % 4, np.int32)
    run("masked", keras.Sequential([keras.Input((7,), dtype="int32"), layers.Embedding(10, 5, mask_zero=True), dense(4, "softmax")]),
        {"optimizer": optimizers.SGD(0.5), "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]},
        tokens, np.roll(tokens, -1, 1) % 4, batch_size=20)


def main():
    if sys.argv[2:] == ["schedule_free"]:
        with np.load(sys.argv[1]) as file:
            held = dict(file)
        schedule_free_golden(*([held[f"optimizer.{part}{i}"] for i in range(2)] for part in ("weight", "grad")))
        np.savez_compressed(sys.argv[1], **held | {name.replace("/", "."): value for name, value in OUT.items()})
        return
    data, weight = make_data()
    losses_golden(data, weight)
    metrics_golden(data, weight)
    optimizers_golden()
    schedules_golden()
    held = {}
    if sys.argv[2:] == ["new"]:
        with np.load(sys.argv[1]) as file:
            held = dict(file)
    else:
        fit_golden()
    np.savez_compressed(sys.argv[1], **{name.replace("/", "."): value for name, value in OUT.items()} | held)


main()
