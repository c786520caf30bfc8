import numpy as np
import tensorflow as tf

print("TensorFlow version:", tf.__version__.split("+")[0])

rng = np.random.default_rng(0)
labels = rng.integers(0, 10, 1200)
images = rng.integers(0, 60, (1200, 28, 28)).astype("uint8")
for image, label in zip(images, labels):
    image[2 * label : 2 * label + 4, 4:24] = 250
(x_train, y_train), (x_test, y_test) = (images[:1000], labels[:1000]), (images[1000:], labels[1000:])
x_train, x_test = x_train / 255.0, x_test / 255.0

model = tf.keras.models.Sequential([
    tf.keras.layers.Flatten(input_shape=(28, 28)),
    tf.keras.layers.Dense(128, activation='relu'),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(10)
])

predictions = model(x_train[:1]).numpy()
print(predictions.shape, predictions.dtype)
print("sum of probabilities", round(float(tf.nn.softmax(predictions).numpy().sum()), 4))

loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
print("initial loss near log(10):", bool(abs(loss_fn(y_train[:1], predictions).numpy() - 2.3) < 1.5))

model.compile(optimizer='adam', loss=loss_fn, metrics=['accuracy'])
history = model.fit(x_train, y_train, epochs=5, verbose=0)
print(sorted(history.history.keys()))
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("accuracy", round(accuracy, 2))

probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
answer = probability_model(x_test[:5])
print(answer.shape, tf.argmax(answer, axis=1).numpy() == y_test[:5])
