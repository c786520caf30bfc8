import tensorflow as tf
import numpy as np

class_names = ['T-shirt/top', 'Trouser', 'Pullover', 'Dress', 'Coat']
rng = np.random.RandomState(3)
train_labels = rng.randint(0, 5, 800).astype("uint8")
train_images = rng.randint(0, 40, (800, 20, 20)).astype("uint8")
for i, l in enumerate(train_labels):
    train_images[i, :, 4 * l : 4 * l + 4] = 220
test_images, test_labels = train_images[700:], train_labels[700:]
train_images, train_labels = train_images[:700], train_labels[:700]
print(train_images.shape, len(train_labels))

train_images = train_images / 255.0
test_images = test_images / 255.0

model = tf.keras.Sequential([
    tf.keras.layers.Flatten(input_shape=(20, 20)),
    tf.keras.layers.Dense(64, activation='relu'),
    tf.keras.layers.Dense(5)
])
model.compile(optimizer='adam',
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=['accuracy'])
model.summary()
print("parameters", model.count_params())
model.fit(train_images, train_labels, epochs=6, validation_split=0.1, verbose=0)
test_loss, test_acc = model.evaluate(test_images, test_labels, verbose=0)
print('Test accuracy:', test_acc)

probability_model = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
predictions = probability_model.predict(test_images, verbose=0)
print(predictions.shape, class_names[np.argmax(predictions[0])] == class_names[test_labels[0]])
img = (np.expand_dims(test_images[1], 0))
predictions_single = probability_model.predict(img, verbose=0)
print(img.shape, int(np.argmax(predictions_single[0])) == int(test_labels[1]))
