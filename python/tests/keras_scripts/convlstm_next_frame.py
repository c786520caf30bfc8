"""Next-frame prediction with ConvLSTM2D on moving squares."""
import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(2)


def movies(n, frames=6, size=10):
    out = np.zeros((n, frames, size, size, 1), "float32")
    for i in range(n):
        x, y = rng.integers(0, 5, 2)
        dx, dy = rng.integers(0, 2, 2)
        for t in range(frames):
            out[i, t, (x + dx * t) % size : (x + dx * t) % size + 3, (y + dy * t) % size : (y + dy * t) % size + 3, 0] = 1
    return out


dataset = movies(16)
indexes = np.arange(dataset.shape[0])
train_dataset, val_dataset = dataset[indexes[:12]], dataset[indexes[12:]]


def create_shifted_frames(data):
    return data[:, 0 : data.shape[1] - 1, :, :], data[:, 1 : data.shape[1], :, :]


x_train, y_train = create_shifted_frames(train_dataset)
x_val, y_val = create_shifted_frames(val_dataset)
print("Training:", x_train.shape, y_train.shape, "Validation:", x_val.shape)
inp = layers.Input(shape=(None, *x_train.shape[2:]))
x = layers.ConvLSTM2D(filters=4, kernel_size=(3, 3), padding="same", return_sequences=True, activation="relu")(inp)
x = layers.BatchNormalization()(x)
x = layers.ConvLSTM2D(filters=4, kernel_size=(1, 1), padding="same", return_sequences=True, activation="relu", go_backwards=False)(x)
x = layers.Conv3D(filters=1, kernel_size=(3, 3, 3), activation="sigmoid", padding="same")(x)
model = keras.models.Model(inp, x)
for v in model.trainable_variables:
    if "kernel" in v.name:
        v.assign(rng.normal(0, 0.15, v.shape))
model.compile(loss=keras.losses.binary_crossentropy, optimizer=keras.optimizers.Adam())
early_stopping = keras.callbacks.EarlyStopping(monitor="val_loss", patience=10)
reduce_lr = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=1, min_delta=10.0, factor=0.5)
h = model.fit(x_train, y_train, batch_size=4, epochs=3, validation_data=(x_val, y_val), callbacks=[early_stopping, reduce_lr], shuffle=False, verbose=0)
for k in sorted(h.history):
    print(k, np.round(np.array(h.history[k], "float64"), 4))
frames = val_dataset[0, :3]
for _ in range(2):
    new = model.predict(np.expand_dims(frames, axis=0), verbose=0)
    frames = np.concatenate((frames, np.expand_dims(np.squeeze(new, axis=0)[-1, ...], axis=0)), axis=0)
print(frames.shape, np.round(frames[-1].mean(), 3))
