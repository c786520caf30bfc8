# Age and gender from a face: two outputs, dict labels, loss weights, sample weights
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import BatchNormalization, Concatenate, Conv2D, Dense, Dropout, Flatten, Input, MaxPool2D
from tensorflow.keras.models import Model
from tensorflow.keras.utils import to_categorical

rng = np.random.default_rng(2)
n = 48
images = rng.uniform(size=(n, 12, 12, 1)).astype("float32")
meta = rng.normal(size=(n, 3)).astype("float32")
age = (images.mean(axis=(1, 2, 3)) * 50).astype("float32")
gender = rng.integers(0, 2, n)
race = to_categorical(rng.integers(0, 3, n), 3)

img_in = Input(shape=(12, 12, 1), name="image")
meta_in = Input(shape=(3,), name="meta")
x = Conv2D(6, 3, activation='relu')(img_in)
x = BatchNormalization()(x)
x = MaxPool2D(2)(x)
x = Flatten()(x)
x = Concatenate()([x, meta_in])
x = Dense(16, activation='relu', kernel_regularizer=tf.keras.regularizers.l2(1e-3))(x)
x = Dropout(0.0)(x)
age_out = Dense(1, name='age')(x)
gender_out = Dense(1, activation='sigmoid', name='gender')(x)
race_out = Dense(3, activation='softmax', name='race')(x)
model = Model(inputs=[img_in, meta_in], outputs=[age_out, gender_out, race_out])
model.set_weights([np.abs(rng.normal(size=w.shape)) * 0.1 for w in model.get_weights()])
model.compile(optimizer=tf.keras.optimizers.RMSprop(1e-3),
              loss={'age': 'mse', 'gender': 'binary_crossentropy', 'race': tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.1)},
              loss_weights={'age': 0.01, 'gender': 1.0, 'race': 2.0},
              metrics={'age': ['mae', tf.keras.metrics.RootMeanSquaredError()], 'gender': 'accuracy', 'race': tf.keras.metrics.TopKCategoricalAccuracy(k=2)})
print(model.output_names, [tuple(o.shape) for o in model.outputs], model.count_params())
y = {'age': age, 'gender': gender, 'race': race}
h = model.fit({'image': images, 'meta': meta}, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
for key in sorted(h.history):
    print(key, [round(float(v), 4) for v in h.history[key]])
result = model.evaluate([images, meta], [age, gender, race], verbose=0, return_dict=True)
print(sorted(result), round(result['loss'], 4))
a, g, r = model.predict([images[:4], meta[:4]], verbose=0)
print(a.shape, g.shape, r.shape, np.round(r.sum(axis=1), 4))


def gen():
    for i in range(0, n, 16):
        s = slice(i, i + 16)
        yield {'image': images[s], 'meta': meta[s]}, {'age': age[s], 'gender': gender[s].astype("float32"), 'race': race[s].astype("float32")}


spec = ({'image': tf.TensorSpec((None, 12, 12, 1), tf.float32), 'meta': tf.TensorSpec((None, 3), tf.float32)},
        {'age': tf.TensorSpec((None,), tf.float32), 'gender': tf.TensorSpec((None,), tf.float32), 'race': tf.TensorSpec((None, 3), tf.float32)})
ds = tf.data.Dataset.from_generator(gen, output_signature=spec).repeat()
h = model.fit(ds, steps_per_epoch=3, epochs=2, verbose=0, validation_data=([images, meta], [age, gender, race]))
print(len(h.history['val_loss']), [round(float(v), 3) for v in h.history['loss']])

single = tf.keras.Sequential([Input((3,)), Dense(2, activation="softmax")])
single.set_weights([np.ones((3, 2)) * [[0.1, -0.1]] * 3, np.zeros(2)])
single.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
h = single.fit(meta, gender, class_weight={0: 1.0, 1: 5.0}, epochs=1, verbose=0, shuffle=False)
print("class weights", round(h.history['loss'][0], 4))
h = single.fit(meta, gender, sample_weight=np.linspace(0, 1, n), epochs=1, verbose=0, shuffle=False)
print("sample weights", round(h.history['loss'][0], 4), round(h.history['accuracy'][0], 4))
ds = tf.data.Dataset.from_tensor_slices((meta, gender, tf.ones(n) * 0.5)).batch(7)
print("from a dataset", [round(float(v), 4) for v in single.evaluate(ds, verbose=0)])
