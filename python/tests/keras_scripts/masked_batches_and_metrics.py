# Padded sequences: masks through layers and losses, a last batch that is smaller, metrics of one's own
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(14)


@keras.saving.register_keras_serializable("masked")
class F1(keras.metrics.Metric):
    def __init__(self, name="f1", **kwargs):
        super().__init__(name=name, **kwargs)
        self.hits = self.add_weight(name="hits", initializer="zeros")
        self.said = self.add_weight(name="said", initializer="zeros")
        self.true = self.add_weight(name="true", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = ops.cast(y_true, "float32"), ops.cast(y_pred > 0.5, "float32")
        y_true = ops.reshape(y_true, ops.shape(y_pred))
        weight = ops.ones_like(y_true) if sample_weight is None else ops.cast(sample_weight, "float32")
        while len(weight.shape) < len(y_true.shape):
            weight = ops.expand_dims(weight, -1)
        self.hits.assign_add(ops.sum(y_true * y_pred * weight))
        self.said.assign_add(ops.sum(y_pred * weight))
        self.true.assign_add(ops.sum(y_true * weight))

    def result(self):
        return 2.0 * self.hits / ops.maximum(self.said + self.true, 1e-7)


def fixed(model):
    for v in model.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.3)
    return model


n, steps = 19, 7
tokens = rng.integers(1, 30, (n, steps))
lengths = rng.integers(1, steps + 1, n)
lengths[3] = steps
tokens[np.arange(steps)[None] >= lengths[:, None]] = 0
labels = (tokens % 3 == 0).astype("float32")[..., None]

inputs = keras.Input((steps,), dtype="int32")
x = layers.Embedding(30, 6, mask_zero=True)(inputs)
x = layers.Bidirectional(layers.LSTM(4, return_sequences=True), merge_mode="concat")(x)
x = layers.TimeDistributed(layers.Dense(5, "relu"))(x)
tagger = fixed(keras.Model(inputs, layers.Dense(1, "sigmoid")(x)))
tagger.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=[F1()], weighted_metrics=[keras.metrics.AUC(num_thresholds=20, name="auc"), keras.metrics.MeanIoU(2, name="iou")])
h = tagger.fit(tokens, labels, batch_size=8, epochs=3, shuffle=False, verbose=0, validation_split=0.2)
for name in sorted(h.history):
    print(name, [f"{v:.4f}" for v in h.history[name]])
print("evaluate", [f"{v:.4f}" for v in tagger.evaluate(tokens, labels, batch_size=6, verbose=0)])

# a mask and sample weights together, attention over masked keys, the mean of what is not masked
query = layers.Embedding(30, 8, mask_zero=True)(inputs)
attended = layers.MultiHeadAttention(2, 4)(query, query, use_causal_mask=True)
pooled = layers.GlobalAveragePooling1D()(layers.Add()([query, attended]))
scorer = fixed(keras.Model(inputs, layers.Dense(3)(pooled)))
scorer.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=[keras.metrics.SparseCategoricalAccuracy()])
kinds, weight = rng.integers(0, 3, n), rng.random(n).astype("float32")
h = scorer.fit(tokens, kinds, sample_weight=weight, batch_size=8, epochs=2, shuffle=False, verbose=0)
print([f"{v:.4f}" for v in h.history["loss"]], [f"{v:.4f}" for v in h.history["sparse_categorical_accuracy"]])

metric = F1()
metric.update_state(np.array([[1.0], [0.0], [1.0]]), np.array([[0.9], [0.8], [0.1]]))
metric.update_state(np.array([[1.0]]), np.array([[0.7]]), sample_weight=np.array([3.0]))
print("by hand", f"{float(metric.result()):.4f}")
metric.reset_state()
print("reset", f"{float(metric.result()):.4f}", F1.from_config(metric.get_config()).name)
