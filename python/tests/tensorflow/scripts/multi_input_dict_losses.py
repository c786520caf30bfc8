"""Several inputs and outputs by name, with losses, weights and metrics per output."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

num_tags, num_words, num_departments = 6, 50, 3
title_input = keras.Input(shape=(None,), name="title")
body_input = keras.Input(shape=(None,), name="body")
tags_input = keras.Input(shape=(num_tags,), name="tags")
title_features = layers.Embedding(num_words, 8)(title_input)
body_features = layers.Embedding(num_words, 8)(body_input)
title_features = layers.LSTM(8)(title_features)
body_features = layers.LSTM(4)(body_features)
x = layers.concatenate([title_features, body_features, tags_input])
priority_pred = layers.Dense(1, name="priority")(x)
department_pred = layers.Dense(num_departments, name="department")(x)
model = keras.Model(inputs=[title_input, body_input, tags_input], outputs={"priority": priority_pred, "department": department_pred})
model.summary()
rng = np.random.RandomState(0)
model.set_weights([rng.normal(size=w.shape) * 0.2 for w in model.get_weights()])
model.compile(optimizer=keras.optimizers.RMSprop(1e-3),
              loss={"priority": keras.losses.BinaryCrossentropy(from_logits=True), "department": keras.losses.CategoricalCrossentropy(from_logits=True)},
              loss_weights={"priority": 1.0, "department": 0.2},
              metrics={"priority": ["mse", keras.metrics.BinaryAccuracy(threshold=0.0, name='acc')], "department": "accuracy"})
title_data = rng.randint(num_words, size=(64, 5)).astype("float32")
body_data = rng.randint(num_words, size=(64, 10)).astype("float32")
tags_data = rng.randint(2, size=(64, num_tags)).astype("float32")
priority_targets = (tags_data[:, :1] > 0).astype('float32')
dept_targets = keras.utils.to_categorical(tags_data[:, 1:3].sum(1), num_departments)
h = model.fit({"title": title_data, "body": body_data, "tags": tags_data}, {"priority": priority_targets, "department": dept_targets},
              epochs=2, batch_size=32, shuffle=False, verbose=0)
for k, v in sorted(h.history.items()):
    print(k, ['%.4f' % i for i in v])
result = model.predict([title_data, body_data, tags_data], verbose=0)
print(type(result).__name__, {k: v.shape for k, v in result.items()})
print({k: round(float(v), 2) for k, v in sorted(model.evaluate([title_data, body_data, tags_data], {"priority": priority_targets, "department": dept_targets}, return_dict=True, verbose=0).items())})

image_input = keras.Input(shape=(8, 8, 3), name="img_input")
timeseries_input = keras.Input(shape=(None, 4), name="ts_input")
x1 = layers.GlobalMaxPooling2D()(layers.Conv2D(3, 3, kernel_initializer=keras.initializers.Constant(0.1))(image_input))
x2 = layers.GlobalMaxPooling1D()(layers.Conv1D(3, 3, kernel_initializer=keras.initializers.Constant(0.2))(timeseries_input))
x = layers.concatenate([x1, x2])
score_output = layers.Dense(1, name="score_output", kernel_initializer='ones')(x)
class_output = layers.Dense(5, name="class_output", kernel_initializer='zeros')(x)
model2 = keras.Model(inputs=[image_input, timeseries_input], outputs=[score_output, class_output])
model2.compile(optimizer='sgd', loss=[keras.losses.MeanSquaredError(), keras.losses.CategoricalCrossentropy(from_logits=True)],
               metrics=[[keras.metrics.MeanAbsolutePercentageError(), keras.metrics.MeanAbsoluteError()], [keras.metrics.CategoricalAccuracy()]])
img_data, ts_data = rng.random_sample((20, 8, 8, 3)).astype('float32'), rng.random_sample((20, 7, 4)).astype('float32')
score_targets, class_targets = rng.random_sample((20, 1)).astype('float32'), keras.utils.to_categorical(rng.randint(0, 5, 20), 5)
train_dataset = tf.data.Dataset.from_tensor_slices(({"img_input": img_data, "ts_input": ts_data}, {"score_output": score_targets, "class_output": class_targets})).batch(10)
try:
    hh = model2.fit(train_dataset, epochs=1, verbose=0)
    print('dict targets', sorted(hh.history))
except Exception as e:
    print(type(e).__name__)
train_dataset = tf.data.Dataset.from_tensor_slices(({"img_input": img_data, "ts_input": ts_data}, (score_targets, class_targets))).batch(10)
hh = model2.fit(train_dataset, epochs=1, verbose=0)
for k, v in sorted(hh.history.items()):
    print(k, '%.3f' % v[0])

small = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation='softmax', kernel_initializer='zeros')])
small.compile('sgd', 'sparse_categorical_crossentropy', weighted_metrics=['accuracy'], metrics=['sparse_categorical_accuracy'])
xs, ys = rng.normal(size=(30, 4)).astype('float32'), rng.randint(0, 3, 30)
h = small.fit(xs, ys, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, epochs=2, batch_size=10, shuffle=False, verbose=0)
print(['%.4f' % v for v in h.history['loss']], sorted(h.history))
sample_weight = np.ones(30)
sample_weight[ys == 1] = 2.0
ds = tf.data.Dataset.from_tensor_slices((xs, ys, sample_weight)).batch(10)
print(['%.4f' % v for v in small.fit(ds, epochs=1, verbose=0).history['loss']])
print(['%.4f' % v for v in small.evaluate(xs, ys, sample_weight=sample_weight, verbose=0)])
print(round(float(small.train_on_batch(xs[:8], ys[:8], class_weight={0: 1., 1: 1., 2: 3.})[0]), 4), small.metrics_names)
print({k: round(float(v), 4) for k, v in small.test_on_batch(xs, ys, return_dict=True).items()})
seq = keras.Sequential([keras.Input((6, 2)), layers.TimeDistributed(layers.Dense(1, kernel_initializer='ones'))])
seq.compile('sgd', 'mse')
temporal = np.tile(np.linspace(0, 1, 6), (4, 1))
print('%.4f' % seq.fit(np.ones((4, 6, 2)), np.zeros((4, 6, 1)), sample_weight=temporal, epochs=1, verbose=0).history['loss'][0])


class ActivityRegularizationLayer(layers.Layer):
    def call(self, inputs):
        self.add_loss(tf.reduce_sum(inputs) * 0.1)
        return inputs


class LogisticEndpoint(keras.layers.Layer):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)

    def call(self, targets, logits, sample_weights=None):
        self.add_loss(self.loss_fn(targets, logits, sample_weights))
        return tf.nn.softmax(logits)


inputs, targets = keras.Input(shape=(3,), name="inputs"), keras.Input(shape=(10,), name="targets")
hidden = ActivityRegularizationLayer()(layers.Dense(10, kernel_initializer=keras.initializers.Constant(0.1))(inputs))
predictions = LogisticEndpoint(name="predictions")(targets, hidden)
end = keras.Model(inputs=[inputs, targets], outputs=predictions)
end.compile(optimizer="sgd")
print('%.3f' % end.fit({"inputs": np.ones((3, 3)), "targets": np.ones((3, 10))}, epochs=1, verbose=0).history['loss'][0])
print(keras.utils.plot_model is not None, [l.name for l in model.layers][-2:], model.input_names if hasattr(model, 'input_names') else '', model.output_names)
