"""Titanic the Kaggle way: pandas, feature engineering, Keras preprocessing layers per column, a functional model."""
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.RandomState(42)
n = 160
df = pd.DataFrame({
    'PassengerId': np.arange(1, n + 1),
    'Pclass': rng.choice([1, 2, 3], n, p=[0.25, 0.2, 0.55]),
    'Name': ['Doe, %s. John' % t for t in rng.choice(['Mr', 'Mrs', 'Miss', 'Dr'], n)],
    'Sex': rng.choice(['male', 'female'], n),
    'Age': np.where(rng.rand(n) < 0.2, np.nan, rng.randint(1, 70, n)),
    'SibSp': rng.randint(0, 4, n),
    'Fare': np.round(rng.gamma(2.0, 15.0, n), 2),
    'Embarked': rng.choice(['S', 'C', 'Q', None], n, p=[0.6, 0.2, 0.15, 0.05]),
})
df['Survived'] = ((df['Sex'] == 'female') & (df['Pclass'] < 3) | (df['Age'] < 12)).astype(int)
df['Title'] = df['Name'].str.extract(r' ([A-Za-z]+)\.', expand=False)
df['Age'] = df['Age'].fillna(df['Age'].median())
df['Embarked'] = df['Embarked'].fillna('S')
df['FamilySize'] = df['SibSp'] + 1
df = df.drop(columns=['PassengerId', 'Name', 'SibSp'])
print(df.isnull().sum().sum(), df.shape)

train = df.sample(frac=0.8, random_state=1)
test = df.drop(train.index)
print(len(train), 'train examples', len(test), 'test examples')


def df_to_dataset(dataframe, shuffle=True, batch_size=32):
    df = dataframe.copy()
    labels = df.pop('Survived')
    df = {key: np.array(value)[:, tf.newaxis] for key, value in df.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(df), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(dataframe))
    return ds.batch(batch_size).prefetch(batch_size)


train_ds = df_to_dataset(train, shuffle=False)
test_ds = df_to_dataset(test, shuffle=False)
[(train_features, label_batch)] = train_ds.take(1)
print('Every feature:', sorted(train_features.keys()))
print('A batch of ages:', train_features['Age'][:3])
print('A batch of targets:', label_batch[:8])
print(train_ds.element_spec[0]['Sex'])


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    normalizer.adapt(dataset.map(lambda x, y: x[name]))
    return normalizer


def get_category_encoding_layer(name, dataset, dtype, max_tokens=None):
    if dtype == 'string':
        index = layers.StringLookup(max_tokens=max_tokens)
    else:
        index = layers.IntegerLookup(max_tokens=max_tokens)
    index.adapt(dataset.map(lambda x, y: x[name]))
    encoder = layers.CategoryEncoding(num_tokens=index.vocabulary_size())
    return lambda feature: encoder(index(feature))


print(get_normalization_layer('Fare', train_ds)(train_features['Fare'])[:3])
sex_layer = get_category_encoding_layer('Sex', train_ds, 'string')
print(sex_layer(tf.constant([['male'], ['female'], ['other']])))

all_inputs, encoded = {}, []
for header in ['Age', 'Fare', 'FamilySize']:
    col = keras.Input(shape=(1,), name=header)
    encoded.append(get_normalization_layer(header, train_ds)(col))
    all_inputs[header] = col
pclass = keras.Input(shape=(1,), name='Pclass', dtype='int64')
encoded.append(get_category_encoding_layer('Pclass', train_ds, 'int64', max_tokens=5)(pclass))
all_inputs['Pclass'] = pclass
for header in ['Sex', 'Embarked', 'Title']:
    col = keras.Input(shape=(1,), name=header, dtype='string')
    encoded.append(get_category_encoding_layer(header, train_ds, 'string', max_tokens=6)(col))
    all_inputs[header] = col
features = layers.concatenate(encoded)
print(features.shape)
x = layers.Dense(32, activation='relu')(features)
output = layers.Dense(1)(x)
model = keras.Model(all_inputs, output)
w = np.random.RandomState(0)
model.layers[-2].set_weights([w.normal(size=v.shape) * 0.2 for v in model.layers[-2].get_weights()])
model.layers[-1].set_weights([w.normal(size=v.shape) * 0.2 for v in model.layers[-1].get_weights()])
model.compile(optimizer='adam', loss=keras.losses.BinaryCrossentropy(from_logits=True), metrics=['accuracy'])
history = model.fit(train_ds, epochs=5, validation_data=test_ds, verbose=2)
loss, accuracy = model.evaluate(test_ds, verbose=0)
print('Accuracy %.2f' % accuracy)

sample = {'Age': 29.0, 'Fare': 80.0, 'FamilySize': 1, 'Pclass': 1, 'Sex': 'female', 'Embarked': 'C', 'Title': 'Miss'}
input_dict = {name: tf.convert_to_tensor([[value]]) for name, value in sample.items()}
predictions = model.predict(input_dict, verbose=0)
prob = tf.nn.sigmoid(predictions[0])
print('This passenger had a %.1f percent probability of surviving.' % (100 * prob[0]))
submission = pd.DataFrame({'row': test.index, 'Survived': (tf.sigmoid(model.predict(test_ds, verbose=0)).numpy().ravel() > 0.5).astype(int)})
print(submission.head(3))
