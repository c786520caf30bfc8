"""OCR of captchas with a CNN, a bidirectional LSTM and the CTC loss."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)
characters = list("abcde")
char_to_num = {c: i for i, c in enumerate(characters)}
max_length, steps = 3, 10
words = ["".join(rng.choice(characters, max_length)) for _ in range(24)]
images = np.zeros((24, 20, 8, 1), "float32")
labels = np.array([[char_to_num[c] for c in w] for w in words], "int32")
for i, row in enumerate(labels):
    for j, c in enumerate(row):
        images[i, 2 + 6 * j : 6 + 6 * j, c : c + 3, 0] = 1.0


class CTCLayer(layers.Layer):
    def __init__(self, name=None):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        batch_len = ops.shape(y_true)[0]
        input_length = ops.shape(y_pred)[1] * ops.ones((batch_len,), dtype="int32")
        label_length = ops.shape(y_true)[1] * ops.ones((batch_len,), dtype="int32")
        loss = ops.ctc_loss(y_true, y_pred, label_length, input_length, mask_index=0)
        self.add_loss(ops.mean(loss))
        return y_pred


image = layers.Input(shape=(20, 8, 1), name="image")
label = layers.Input(name="label", shape=(None,), dtype="int32")
x = layers.Conv2D(8, (3, 3), activation="relu", padding="same", name="Conv1")(image)
x = layers.MaxPooling2D((2, 2), name="pool1")(x)
x = layers.Reshape((steps, 4 * 8), name="reshape")(x)
x = layers.Dense(16, activation="relu", name="dense1")(x)
x = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(x)
x = layers.Dense(len(characters) + 1, name="dense2")(x)
output = CTCLayer(name="ctc_loss")(label, x)
model = keras.Model([image, label], output, name="ocr_model_v1")
w = np.random.default_rng(2)
for v in model.trainable_variables:
    v.assign(w.normal(0, 0.2, v.shape))
model.compile(optimizer=keras.optimizers.Adam(0.01))
h = model.fit({"image": images, "label": labels + 1}, epochs=4, batch_size=8, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 3))
prediction_model = keras.Model(model.get_layer("image").output, model.get_layer("dense2").output)
pred = prediction_model.predict(images[:4], verbose=0)
print(pred.shape)
lengths = np.full((4,), steps, "int32")
decoded, scores = ops.ctc_decode(pred, lengths, strategy="greedy", mask_index=0)
print(ops.shape(decoded), ops.shape(scores), np.round(ops.convert_to_numpy(scores).ravel(), 2))
loss = keras.losses.CTC()(labels[:4] + 1, pred)
print(round(float(loss), 3))
