"""Feature columns' successors: preprocessing layers for a table, inside of the model and in the pipeline."""
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers

n = 160
rng = np.random.RandomState(0)
titanic = pd.DataFrame({'sex': rng.choice(['male', 'female'], n), 'age': rng.uniform(1, 80, n).round(0), 'n_siblings_spouses': rng.randint(0, 4, n), 'fare': rng.gamma(2, 15, n).round(2),
                        'class': rng.choice(['First', 'Second', 'Third'], n), 'deck': rng.choice(list('ABC') + ['unknown'], n), 'alone': rng.choice(['y', 'n'], n)})
titanic['survived'] = ((titanic['sex'] == 'female') | (titanic['age'] < 12)).astype(int)
titanic_features = titanic.copy()
titanic_labels = titanic_features.pop('survived')
print(titanic_features.shape, int(titanic_labels.sum()))

inputs = {}
for name, column in titanic_features.items():
    dtype = column.dtype
    if dtype == object or str(dtype).startswith('str'):
        dtype = tf.string
    else:
        dtype = tf.float32
    inputs[name] = tf.keras.Input(shape=(1,), name=name, dtype=dtype)
print({k: v.dtype for k, v in inputs.items()})

numeric_inputs = {name: input for name, input in inputs.items() if input.dtype == tf.float32}
x = layers.Concatenate()(list(numeric_inputs.values()))
norm = layers.Normalization()
norm.adapt(np.array(titanic[list(numeric_inputs.keys())]))
preprocessed_inputs = [norm(x)]
for name, input in inputs.items():
    if input.dtype == tf.float32:
        continue
    lookup = layers.StringLookup(vocabulary=np.unique(titanic_features[name].astype(str)))
    one_hot = layers.CategoryEncoding(num_tokens=lookup.vocabulary_size())
    preprocessed_inputs.append(one_hot(lookup(input)))
preprocessed_inputs_cat = layers.Concatenate()(preprocessed_inputs)
titanic_preprocessing = tf.keras.Model(inputs, preprocessed_inputs_cat)
titanic_features_dict = {name: np.array(value) for name, value in titanic_features.items()}
features_dict = {name: tf.convert_to_tensor(values[:1].astype(str) if values.dtype == object or values.dtype.kind == 'U' else values[:1].astype('float32')) for name, values in titanic_features_dict.items()}
features_dict = {name: v[:, tf.newaxis] for name, v in features_dict.items()}
print(titanic_preprocessing(features_dict).shape, titanic_preprocessing(features_dict).numpy().round(3))


def titanic_model(preprocessing_head, inputs):
    body = tf.keras.Sequential([layers.Dense(16, activation='relu'), layers.Dense(1)])
    preprocessed_inputs = preprocessing_head(inputs)
    result = body(preprocessed_inputs)
    model = tf.keras.Model(inputs, result)
    model.compile(loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.Adam(0.05), metrics=['accuracy'])
    return model


model = titanic_model(titanic_preprocessing, inputs)
tensors = {name: tf.constant(v.astype(str) if v.dtype == object or v.dtype.kind == 'U' else v.astype('float32'))[:, None] for name, v in titanic_features_dict.items()}
titanic_ds = tf.data.Dataset.from_tensor_slices((tensors, titanic_labels.to_numpy()))
titanic_batches = titanic_ds.shuffle(len(titanic_labels)).batch(32)
h = model.fit(titanic_batches, epochs=10, verbose=0)
print('learned', h.history['loss'][-1] < 0.4, model.output_shape)
model.save('/tmp/_titanic.keras')
reloaded = tf.keras.models.load_model('/tmp/_titanic.keras')
before, after = model(features_dict), reloaded(features_dict)
print(abs(float(before[0, 0] - after[0, 0])) < 1e-3)


def df_to_dataset(dataframe, shuffle=True, batch_size=32):
    df = dataframe.copy()
    labels = df.pop('target')
    df = {key: np.array(value)[:, tf.newaxis] for key, value in dataframe.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(df), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(dataframe))
    return ds.batch(batch_size).prefetch(batch_size)


pets = pd.DataFrame({'Type': np.array(['Cat', 'Dog', 'Dog', 'Cat', 'Bird'] * 8, dtype=object), 'Age': np.arange(40) % 5, 'Fee': np.linspace(0, 100, 40), 'target': [0, 1, 1, 0, 0] * 8})
train_ds = df_to_dataset(pets, shuffle=False, batch_size=5)
[(train_features, label_batch)] = train_ds.take(1)
print('Every feature:', list(train_features.keys()))
print('A batch of ages:', train_features['Age'].numpy().ravel(), train_features['Type'][0])
print('A batch of targets:', label_batch)


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    normalizer.adapt(dataset.map(lambda x, y: x[name]))
    return normalizer


def get_category_encoding_layer(name, dataset, dtype, max_tokens=None):
    index = layers.StringLookup(max_tokens=max_tokens) if dtype == 'string' else layers.IntegerLookup(max_tokens=max_tokens)
    index.adapt(dataset.map(lambda x, y: x[name]))
    encoder = layers.CategoryEncoding(num_tokens=index.vocabulary_size())
    return lambda feature: encoder(index(feature))


print(get_normalization_layer('Fee', train_ds)(train_features['Fee']).numpy().ravel().round(3))
test_type_layer = get_category_encoding_layer(name='Type', dataset=train_ds, dtype='string')
print(test_type_layer(train_features['Type']).numpy())
print(get_category_encoding_layer('Age', train_ds, 'int64', 4)(train_features['Age']).numpy())
print(layers.Discretization(bin_boundaries=[1.5, 3.5])(train_features['Age']).numpy().ravel())
disc = layers.Discretization(num_bins=4, output_mode='one_hot')
disc.adapt(np.linspace(0, 1, 101))
print(disc(np.array([[0.1], [0.9]])).numpy(), np.round(disc.bin_boundaries, 2))
print(layers.StringLookup(vocabulary=['a', 'b'], output_mode='count')([['a', 'a', 'c']]).numpy(), layers.IntegerLookup(vocabulary=[10, 20], num_oov_indices=1)([[10, 99]]).numpy())
print(layers.StringLookup(vocabulary=['a', 'b'], output_mode='tf_idf', idf_weights=[1.0, 2.0])([['a', 'b', 'b']]).numpy(), layers.CategoryEncoding(4, output_mode='multi_hot')([[0, 2]]).numpy())
print(layers.Hashing(num_bins=3)([['A'], ['B']]).shape, layers.HashedCrossing(num_bins=50)((tf.constant(['A', 'B', 'A']), tf.constant([101, 101, 102]))).numpy())
inv = layers.Normalization(mean=3., variance=2., invert=True)
print(inv(np.array([[0.0], [1.0]])).numpy().ravel().round(3))
space = tf.keras.utils.FeatureSpace(features={'Age': tf.keras.utils.FeatureSpace.float_normalized(), 'Type': tf.keras.utils.FeatureSpace.string_categorical(num_oov_indices=0)}, output_mode='concat')
space.adapt(tf.data.Dataset.from_tensor_slices({'Age': pets['Age'].to_numpy().astype('float32'), 'Type': pets['Type'].to_numpy().astype(str)}))
print(space({'Age': [2.0], 'Type': ['Dog']}).shape)
