import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(0)
count = 400
raw = pd.DataFrame({
    'Cylinders': rng.choice([4, 6, 8], count), 'Horsepower': rng.uniform(50, 220, count), 'Weight': rng.uniform(1600, 5000, count),
    'Origin': rng.choice([1, 2, 3], count)})
raw['MPG'] = 50 - 0.05 * raw['Horsepower'] - 0.006 * raw['Weight'] + rng.normal(0, 0.3, count)
dataset = raw.copy()
dataset['Origin'] = dataset['Origin'].map({1: 'USA', 2: 'Europe', 3: 'Japan'})
dataset = pd.get_dummies(dataset, columns=['Origin'], prefix='', prefix_sep='', dtype="float32")
train_dataset = dataset.sample(frac=0.8, random_state=0)
test_dataset = dataset.drop(train_dataset.index)
train_features, test_features = train_dataset.copy(), test_dataset.copy()
train_labels, test_labels = train_features.pop('MPG'), test_features.pop('MPG')

normalizer = tf.keras.layers.Normalization(axis=-1)
normalizer.adapt(np.array(train_features).astype("float32"))
print(normalizer.mean.numpy().shape, np.round(normalizer.mean.numpy()[0, 0], 2))
first = np.array(train_features[:1]).astype("float32")
with np.printoptions(precision=2, suppress=True):
    print('Normalized:', normalizer(first).numpy())

horsepower_normalizer = layers.Normalization(input_shape=[1,], axis=None)
horsepower_normalizer.adapt(np.array(train_features['Horsepower']))
linear = tf.keras.Sequential([horsepower_normalizer, layers.Dense(units=1)])
linear.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.1), loss='mean_absolute_error')
print(linear.predict(np.array(train_features['Horsepower'][:10]), verbose=0).shape)


def build_and_compile_model(norm):
    model = keras.Sequential([norm, layers.Dense(32, activation='relu'), layers.Dense(32, activation='relu'), layers.Dense(1)])
    model.compile(loss='mean_absolute_error', optimizer=tf.keras.optimizers.Adam(0.01))
    return model


dnn_model = build_and_compile_model(normalizer)
history = dnn_model.fit(np.array(train_features).astype("float32"), np.array(train_labels), validation_split=0.2, verbose=0, epochs=50)
hist = pd.DataFrame(history.history)
hist['epoch'] = history.epoch
print(list(hist.columns), len(hist))
mae = dnn_model.evaluate(np.array(test_features).astype("float32"), np.array(test_labels), verbose=0)
print("good fit", mae < 2.0)
predictions = dnn_model.predict(np.array(test_features).astype("float32"), verbose=0).flatten()
print(predictions.shape, bool(np.corrcoef(predictions, test_labels)[0, 1] > 0.95))
