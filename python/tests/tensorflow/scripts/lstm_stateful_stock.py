import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras.layers import GRU, LSTM, Bidirectional, Conv1D, Dense, Dropout, RepeatVector, TimeDistributed
from tensorflow.keras.models import Sequential

np.random.seed(7)
df = pd.DataFrame({"Close": 100 + np.cumsum(np.random.randn(160))}, index=pd.date_range("2020-01-01", periods=160))
values = df["Close"].values.reshape(-1, 1).astype("float32")
lo, hi = values.min(), values.max()
scaled = (values - lo) / (hi - lo)


def create_dataset(d, look_back=1):
    X, Y = [], []
    for i in range(len(d) - look_back - 1):
        X.append(d[i : (i + look_back), 0])
        Y.append(d[i + look_back, 0])
    return np.array(X), np.array(Y)


X, y = create_dataset(scaled, 10)
X = np.reshape(X, (X.shape[0], X.shape[1], 1))
rng = np.random.default_rng(0)


def fix(m):
    m.set_weights([rng.normal(0, 0.2, w.shape) for w in m.get_weights()])
    return m


model = fix(Sequential([tf.keras.Input((10, 1)), LSTM(8, return_sequences=True), Dropout(0.0), LSTM(8, activation="tanh", recurrent_activation="hard_sigmoid"), Dense(4), Dense(1)]))
model.compile(optimizer="adam", loss="mean_squared_error", metrics=[tf.keras.metrics.RootMeanSquaredError()])
h = model.fit(X[:100], y[:100], batch_size=20, epochs=2, shuffle=False, verbose=0, validation_data=(X[100:], y[100:]))
print({k: np.round(v, 4).tolist() for k, v in sorted(h.history.items())})
pred = model.predict(X[100:], verbose=0) * (hi - lo) + lo
print(pred.shape, np.sqrt(np.mean((pred[:, 0] - (y[100:] * (hi - lo) + lo)) ** 2)).round(0) > 0)
st = fix(Sequential([tf.keras.Input(batch_shape=(4, 5, 1)), GRU(6, stateful=True, return_sequences=False), Dense(1)]))
st.compile("sgd", "mse")
for epoch in range(2):
    hist = st.fit(X[:16, :5], y[:16], batch_size=4, epochs=1, shuffle=False, verbose=0)
    print(round(hist.history["loss"][0], 4))
    st.layers[0].reset_states() if hasattr(st.layers[0], "reset_states") else st.layers[0].reset_state()
ae = fix(Sequential([tf.keras.Input((10, 1)), Conv1D(4, 3, padding="same", activation="relu"), Bidirectional(LSTM(5, return_sequences=False), merge_mode="ave"), RepeatVector(10), GRU(6, return_sequences=True, go_backwards=True), TimeDistributed(Dense(1))]))
ae.compile(loss="mae", optimizer=tf.keras.optimizers.Adamax(0.01))
h = ae.fit(X[:40], X[:40], epochs=2, batch_size=10, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 4))
err = np.mean(np.abs(ae.predict(X[:40], verbose=0) - X[:40]), axis=(1, 2))
print(err.shape, int((err > np.quantile(err, 0.9)).sum()))
lstm = LSTM(3, return_state=True, return_sequences=True)
o, s1, s2 = lstm(tf.ones((2, 4, 5)))
print(o.shape, s1.shape, np.allclose(o[:, -1], s1), lstm.cell.units)
cell = tf.keras.layers.StackedRNNCells([tf.keras.layers.GRUCell(3), tf.keras.layers.LSTMCell(2)])
print([t.shape for t in tf.nest.flatten(tf.keras.layers.RNN(cell, return_state=True)(tf.ones((2, 4, 5))))], [p.shape for p in tf.keras.layers.Masking(0.0)(tf.zeros((1, 2, 3)))])
