"""Unbalanced classes, confusion matrices, focal loss, mixed precision, and the small tools of tf.keras.utils."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import mixed_precision
from tensorflow.keras.utils import normalize, pad_sequences, to_categorical

rng = np.random.RandomState(0)
x = rng.randn(200, 6).astype('float32')
y = (x[:, 0] + x[:, 1] > 1.6).astype('int32')[:, None]
neg, pos = np.bincount(y[:, 0])
total = neg + pos
print('Examples:\n    Total: {}\n    Positive: {} ({:.2f}% of total)\n'.format(total, pos, 100 * pos / total))
initial_bias = np.log([pos / neg])
METRICS = [
    keras.metrics.BinaryCrossentropy(name='cross entropy'),
    keras.metrics.MeanSquaredError(name='Brier score'),
    keras.metrics.TruePositives(name='tp'),
    keras.metrics.FalsePositives(name='fp'),
    keras.metrics.TrueNegatives(name='tn'),
    keras.metrics.FalseNegatives(name='fn'),
    keras.metrics.BinaryAccuracy(name='accuracy'),
    keras.metrics.Precision(name='precision'),
    keras.metrics.Recall(name='recall'),
    keras.metrics.AUC(name='auc'),
    keras.metrics.AUC(name='prc', curve='PR'),
    keras.metrics.SensitivityAtSpecificity(0.5, name='sens')]


def make_model(metrics=METRICS, output_bias=0.0, loss=None):
    output_bias = tf.keras.initializers.Constant(output_bias)
    model = keras.Sequential([
        keras.layers.Dense(8, activation='relu', input_shape=(x.shape[-1],)),
        keras.layers.Dropout(0.0),
        keras.layers.Dense(1, activation='sigmoid', bias_initializer=output_bias)])
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-2), loss=loss or keras.losses.BinaryCrossentropy(), metrics=metrics)
    w = np.random.RandomState(4)
    model.layers[0].set_weights([w.normal(size=v.shape) * 0.3 for v in model.layers[0].get_weights()])
    model.layers[2].kernel.assign(w.normal(size=(8, 1)) * 0.3)
    return model


model = make_model(output_bias=initial_bias)
results = model.evaluate(x, y, batch_size=50, verbose=0)
print("Loss: {:0.4f}".format(results[0]))
weight_for_0, weight_for_1 = (1 / neg) * (total / 2.0), (1 / pos) * (total / 2.0)
class_weight = {0: weight_for_0, 1: weight_for_1}
history = model.fit(x[:150], y[:150], batch_size=30, epochs=4, validation_data=(x[150:], y[150:]), class_weight=class_weight, shuffle=False, verbose=0)
print({k: round(float(v[-1]), 2) for k, v in sorted(history.history.items()) if k in ('loss', 'tp', 'fp', 'tn', 'fn', 'val_recall', 'val_auc', 'prc', 'val_sens')})
predictions = model.predict(x, batch_size=50, verbose=0)
cm = tf.math.confusion_matrix(y[:, 0], predictions[:, 0] > 0.5)
print(cm)
print(tf.math.confusion_matrix([0, 1, 2, 2], [0, 2, 2, 1], num_classes=3, weights=[1, 2, 3, 4], dtype=tf.float32))
tn, fp, fn, tp = cm.numpy().ravel()
print('precision %.2f recall %.2f' % (tp / (tp + fp), tp / (tp + fn)), (cm / tf.reduce_sum(cm, axis=1, keepdims=True)).numpy().round(2))


class F1(keras.metrics.Metric):
    def __init__(self, name='f1', **kwargs):
        super().__init__(name=name, **kwargs)
        self.tp = self.add_weight(name='tp', initializer='zeros')
        self.fp = self.add_weight(name='fp', initializer='zeros')
        self.fn = self.add_weight(name='fn', initializer='zeros')

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = tf.cast(tf.reshape(y_true, [-1]), tf.bool)
        y_pred = tf.reshape(y_pred, [-1]) > 0.5
        self.tp.assign_add(tf.reduce_sum(tf.cast(y_true & y_pred, self.dtype)))
        self.fp.assign_add(tf.reduce_sum(tf.cast(~y_true & y_pred, self.dtype)))
        self.fn.assign_add(tf.reduce_sum(tf.cast(tf.logical_and(y_true, tf.logical_not(y_pred)), self.dtype)))

    def result(self):
        return tf.math.divide_no_nan(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def reset_state(self):
        for v in self.variables:
            v.assign(0)


def focal_loss(gamma=2., alpha=.25):
    def focal_loss_fixed(y_true, y_pred):
        y_true = tf.cast(y_true, tf.float32)
        pt_1 = tf.where(tf.equal(y_true, 1), y_pred, tf.ones_like(y_pred))
        pt_0 = tf.where(tf.equal(y_true, 0), y_pred, tf.zeros_like(y_pred))
        return -tf.reduce_mean(alpha * tf.pow(1. - pt_1, gamma) * tf.math.log(pt_1 + keras.backend.epsilon())) - tf.reduce_mean((1 - alpha) * tf.pow(pt_0, gamma) * tf.math.log(1. - pt_0 + keras.backend.epsilon()))
    return focal_loss_fixed


model = make_model(metrics=[F1(), 'AUC'], loss=focal_loss(2.0, 0.5))
history = model.fit(x, y, batch_size=50, epochs=3, shuffle=False, verbose=0, validation_split=0.25)
print(np.round(history.history['loss'], 3), round(history.history['f1'][-1], 2), sorted(history.history))
pos_ds = tf.data.Dataset.from_tensor_slices((x[y[:, 0] == 1], y[y[:, 0] == 1])).repeat()
neg_ds = tf.data.Dataset.from_tensor_slices((x[y[:, 0] == 0], y[y[:, 0] == 0])).repeat()
resampled_ds = tf.data.Dataset.sample_from_datasets([pos_ds, neg_ds], weights=[0.5, 0.5]).batch(400)
for features, label in resampled_ds.take(1):
    print(0.35 < label.numpy().mean() < 0.65)

policy = mixed_precision.Policy('mixed_bfloat16')
mixed_precision.set_global_policy(policy)
print('Compute dtype: %s' % policy.compute_dtype, 'Variable dtype: %s' % policy.variable_dtype, mixed_precision.global_policy().name)
inputs = keras.Input(shape=(6,), name='digits')
dense1 = keras.layers.Dense(8, activation='relu', name='dense_1')
h = dense1(inputs)
print(dense1.dtype_policy.name, 'x.dtype: %s' % h.dtype, 'kernel.dtype: %s' % dense1.kernel.dtype)
outputs = keras.layers.Activation('softmax', dtype='float32', name='predictions')(keras.layers.Dense(2)(h))
print('Outputs dtype: %s' % outputs.dtype)
mixed = keras.Model(inputs, outputs)
mixed.compile(loss='sparse_categorical_crossentropy', optimizer=keras.optimizers.RMSprop(), metrics=['accuracy'])
print(len(mixed.fit(x, y, batch_size=50, epochs=2, verbose=0).history['loss']), mixed.predict(x[:2], verbose=0).dtype)
mixed_precision.set_global_policy('float32')
optimizer = mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = v ** 2
    scaled_loss = optimizer.scale_loss(loss)
print(type(optimizer).__name__, float(scaled_loss / loss))

print(to_categorical([0, 2, 1], num_classes=4), to_categorical(np.array([[1], [0]])).shape)
print(pad_sequences([[1, 2, 3], [4, 5], [6]], maxlen=2, truncating='post', value=-1), pad_sequences([[0.5], [1.5, 2.5]], dtype='float32'))
print(normalize(np.array([[3.0, 4.0]])), normalize([[1.0, 1.0]], order=1))
print(keras.utils.get_file is not None, keras.utils.split_dataset(np.arange(10), left_size=0.8)[0].cardinality().numpy())
sequence = keras.preprocessing.sequence.TimeseriesGenerator(np.arange(10), np.arange(10), length=3, batch_size=4) if hasattr(keras.preprocessing.sequence, 'TimeseriesGenerator') else None
print(sequence[0][0].tolist() if sequence else None)
print(keras.losses.get('mse').__name__, type(keras.metrics.get('mae')).__name__, keras.activations.get('gelu').__name__, type(keras.initializers.get('he_normal')).__name__, type(keras.regularizers.get('l2')).__name__)
print(keras.metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.2, 0.8], [0.4, 0.6]]), keras.metrics.sparse_top_k_categorical_accuracy([2, 1], [[0.1, 0.9, 0.8], [0.05, 0.95, 0]], k=2))
matthews = keras.metrics.MeanIoU(num_classes=2)
matthews.update_state([0, 0, 1, 1], [0, 1, 0, 1])
print(matthews.result().numpy(), keras.losses.BinaryFocalCrossentropy(gamma=2)([0., 1.], [0.2, 0.7]).numpy(), keras.losses.categorical_hinge([[0., 1.]], [[0.3, 0.6]]).numpy())
