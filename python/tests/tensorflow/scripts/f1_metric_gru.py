# Sentiment with a GRU and the F1 metric everybody copies from Stack Overflow
import numpy as np
from tensorflow.keras import backend as K
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Embedding, GRU, Dense, SpatialDropout1D
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.optimizers import SGD
from tensorflow.keras.callbacks import EarlyStopping

np.random.seed(7)


def recall_m(y_true, y_pred):
    true_positives = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    possible_positives = K.sum(K.round(K.clip(y_true, 0, 1)))
    return true_positives / (possible_positives + K.epsilon())


def precision_m(y_true, y_pred):
    true_positives = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    predicted_positives = K.sum(K.round(K.clip(y_pred, 0, 1)))
    return true_positives / (predicted_positives + K.epsilon())


def f1_m(y_true, y_pred):
    precision = precision_m(y_true, y_pred)
    recall = recall_m(y_true, y_pred)
    return 2 * ((precision * recall) / (precision + recall + K.epsilon()))


max_features, maxlen = 50, 12
X = [np.random.randint(1, max_features, size=np.random.randint(3, 15)).tolist() for _ in range(96)]
y = np.array([1.0 if (np.array(s) > 25).mean() > 0.5 else 0.0 for s in X], dtype='float32').reshape(-1, 1)
X = pad_sequences(X, maxlen=maxlen, padding='post', truncating='pre')
print('X shape:', X.shape, X.dtype, 'positives', int(y.sum()))

model = Sequential()
model.add(Embedding(max_features, 8, mask_zero=True))
model.add(SpatialDropout1D(0.0))
model.add(GRU(6, dropout=0.0, recurrent_dropout=0.0))
model.add(Dense(1, activation='sigmoid'))
model.build((None, maxlen))
model.set_weights([np.random.normal(size=w.shape) * 0.4 for w in model.get_weights()])
model.compile(loss='binary_crossentropy', optimizer=SGD(learning_rate=0.5), metrics=['acc', f1_m, precision_m, recall_m])
print(model.count_params())
hist = model.fit(X[:64], y[:64], epochs=6, batch_size=16, validation_data=(X[64:], y[64:]), shuffle=False, verbose=0,
                 callbacks=[EarlyStopping(monitor='val_loss', patience=3, restore_best_weights=True)])
for key in sorted(hist.history):
    print(key, ['%.4f' % v for v in hist.history[key]])
loss, accuracy, f1_score, precision, recall = model.evaluate(X[64:], y[64:], verbose=0)
print('loss %.4f acc %.4f f1 %.4f p %.4f r %.4f' % (loss, accuracy, f1_score, precision, recall))
preds = (model.predict(X[64:], verbose=0) > 0.5).astype(int)
print(np.bincount(preds.ravel()))
