import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

os.chdir(tempfile.mkdtemp())
rng = np.random.default_rng(0)
train_images = rng.normal(size=(200, 16)).astype("float32")
train_labels = (train_images[:, 0] > 0).astype("int32")
test_images, test_labels = train_images[:50], train_labels[:50]


def create_model():
    model = tf.keras.Sequential([
        keras.layers.Dense(32, activation='relu', input_shape=(16,)),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(2)
    ])
    model.compile(optimizer='adam', loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.SparseCategoricalAccuracy()])
    return model


model = create_model()
checkpoint_path = "training_1/cp.weights.h5"
os.makedirs("training_1")
cp_callback = tf.keras.callbacks.ModelCheckpoint(filepath=checkpoint_path, save_weights_only=True, verbose=1)
model.fit(train_images, train_labels, epochs=2, validation_data=(test_images, test_labels), callbacks=[cp_callback], verbose=0)
print(os.listdir("training_1"))

loss, acc = model.evaluate(test_images, test_labels, verbose=0)
fresh = create_model()
fresh.load_weights(checkpoint_path)
loss2, acc2 = fresh.evaluate(test_images, test_labels, verbose=0)
print("weights restored", np.isclose(loss, loss2), np.isclose(acc, acc2))

model.save('my_model.keras')
new_model = tf.keras.models.load_model('my_model.keras')
print([layer.name.split("_")[0] for layer in new_model.layers], new_model.optimizer.__class__.__name__)
print("keras", np.allclose(model.predict(test_images, verbose=0), new_model.predict(test_images, verbose=0)))
model.save('my_model.h5')
h5_model = tf.keras.models.load_model('my_model.h5')
print("h5", np.allclose(model.predict(test_images, verbose=0), h5_model.predict(test_images, verbose=0)))

config = model.to_json()
rebuilt = tf.keras.models.model_from_json(config)
rebuilt.set_weights(model.get_weights())
print("json", np.allclose(model.predict(test_images, verbose=0), rebuilt.predict(test_images, verbose=0)))
print([w.shape for w in model.get_weights()])
clone = keras.models.clone_model(model)
print("clone has its own weights", not np.allclose(clone.get_weights()[0], model.get_weights()[0]))
new_model.fit(train_images, train_labels, epochs=1, verbose=0)
print(int(new_model.optimizer.iterations.numpy()))
print(sorted(os.listdir(".")))
