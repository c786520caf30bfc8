"""Hyper-parameters by hand: a loop over settings with clear_session, k folds, class weights and a table of results."""
import gc
import itertools
import os
import random

import numpy as np
import pandas as pd

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import tensorflow as tf
from tensorflow.keras import Sequential, backend as K
from tensorflow.keras.layers import Activation, BatchNormalization, Dense, Dropout, LeakyReLU, PReLU
from tensorflow.keras.utils import to_categorical, set_random_seed


def seed_everything(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    os.environ['PYTHONHASHSEED'] = str(seed)
    tf.random.set_seed(seed)
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()


seed_everything()
iris = pd.DataFrame(np.random.rand(90, 4), columns=['sl', 'sw', 'pl', 'pw'])
iris['species'] = pd.cut(iris.sl + iris.pl, 3, labels=['setosa', 'versicolor', 'virginica'])
X = iris.drop('species', axis=1)
codes = iris['species'].cat.codes
y = to_categorical(codes)
print(X.shape, y.shape, y.sum(axis=0))
X = (X - X.mean()) / X.std()
counts = np.bincount(codes)
class_weight = {i: len(codes) / (len(counts) * c) for i, c in enumerate(counts)}
print({k: round(v, 2) for k, v in class_weight.items()})


def create_model(units=8, activation='relu', optimizer='adam', lr=0.01):
    model = Sequential()
    model.add(Dense(units, input_dim=4))
    model.add(BatchNormalization())
    if activation == 'leaky':
        model.add(LeakyReLU(negative_slope=0.1))
    elif activation == 'prelu':
        model.add(PReLU())
    else:
        model.add(Activation(activation))
    model.add(Dropout(0.0))
    model.add(Dense(3, activation='softmax'))
    opt = tf.keras.optimizers.get({'class_name': optimizer, 'config': {'learning_rate': lr}})
    model.compile(loss='categorical_crossentropy', optimizer=opt, metrics=['accuracy', tf.keras.metrics.Precision(), tf.keras.metrics.F1Score(average='macro')])
    rng = np.random.RandomState(0)
    model.set_weights([v if v.ndim == 1 else rng.normal(size=v.shape) * 0.4 for v in model.get_weights()])
    return model


rows = []
for units, activation, optimizer in itertools.product([8], ['relu', 'leaky', 'prelu', tf.nn.tanh], ['adam', 'RMSprop']):
    tf.keras.backend.clear_session()
    model = create_model(units, activation, optimizer)
    hist = model.fit(X[:60], y[:60], validation_data=(X[60:], y[60:]), epochs=3, batch_size=20, shuffle=False, verbose=0, class_weight=class_weight)
    name = activation if isinstance(activation, str) else activation.__name__
    rows.append({'units': units, 'activation': name, 'optimizer': optimizer, 'layer': model.layers[0].name, 'loss': round(hist.history['loss'][-1], 2), 'val_loss': round(hist.history['val_loss'][-1], 2)})
    del model
    gc.collect()
results = pd.DataFrame(rows)
print(results.to_string())
print(sorted(hist.history))
best = results.sort_values('val_loss').iloc[0]
folds = np.array_split(np.arange(90), 3)
scores = []
for fold, valid in enumerate(folds):
    train = np.setdiff1d(np.arange(90), valid)
    K.clear_session()
    model = create_model(8, 'relu', 'adam', 0.02)
    model.fit(X.iloc[train], y[train], epochs=2, batch_size=30, verbose=0, shuffle=False, sample_weight=np.linspace(0.5, 1.5, len(train)))
    score = model.evaluate(X.iloc[valid], y[valid], verbose=0)
    scores.append(score[0])
    print('fold', fold, 'loss %.2f' % score[0], model.metrics_names)
print('%.2f (+/- %.2f)' % (np.mean(scores), np.std(scores)))
print(tf.keras.optimizers.serialize(model.optimizer)['class_name'], tf.keras.activations.serialize(tf.keras.activations.relu), K.image_data_format(), K.floatx(), K.epsilon())
print(model.predict(X[:3], verbose=0).argmax(axis=-1), np.unique(np.argmax(model.predict(X, batch_size=16, verbose=0), axis=1)) <= 2)
print(model.to_json()[:60], type(tf.keras.models.model_from_json(model.to_json())).__name__, len(model.get_config()['layers']))
opts = [tf.keras.optimizers.Adagrad(), tf.keras.optimizers.Adadelta(), tf.keras.optimizers.Adamax(), tf.keras.optimizers.Nadam(), tf.keras.optimizers.Ftrl(), tf.keras.optimizers.AdamW(weight_decay=0.01)]
for opt in opts:
    v = tf.Variable([1.0, 2.0])
    opt.minimize(lambda: tf.reduce_sum(v ** 2), [v]) if hasattr(opt, 'minimize') else opt.apply_gradients([(2 * v, v)])
    print(opt.name, v.numpy())
