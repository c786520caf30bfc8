import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

num_tags, num_words, num_departments = 4, 50, 3
title_input = keras.Input(shape=(None,), name="title")
body_input = keras.Input(shape=(None,), name="body")
tags_input = keras.Input(shape=(num_tags,), name="tags")
embedding = layers.Embedding(num_words, 16)
title_features = layers.LSTM(8)(embedding(title_input))
body_features = layers.LSTM(8)(embedding(body_input))
x = layers.concatenate([title_features, body_features, tags_input])
priority_pred = layers.Dense(1, name="priority")(x)
department_pred = layers.Dense(num_departments, name="department")(x)
model = keras.Model(inputs=[title_input, body_input, tags_input], outputs={"priority": priority_pred, "department": department_pred})
model.compile(optimizer=keras.optimizers.RMSprop(1e-3),
              loss={"priority": keras.losses.BinaryCrossentropy(from_logits=True), "department": keras.losses.CategoricalCrossentropy(from_logits=True)},
              loss_weights={"priority": 1.0, "department": 0.2})
rng = np.random.default_rng(0)
title, body = rng.integers(num_words, size=(64, 5)), rng.integers(num_words, size=(64, 9))
tags = rng.integers(2, size=(64, num_tags)).astype("float32")
targets = {"priority": rng.random((64, 1)), "department": np.eye(3)[rng.integers(3, size=64)]}
history = model.fit({"title": title, "body": body, "tags": tags}, targets, epochs=2, batch_size=32, verbose=0)
print(sorted(history.history), model.count_params(), len(model.layers))
out = model.predict({"title": title[:3], "body": body[:3], "tags": tags[:3]}, verbose=0)
print({k: v.shape for k, v in sorted(out.items())})

inputs = keras.Input(shape=(16, 16, 3), name="img")
x = layers.Conv2D(8, 3, activation="relu")(inputs)
block_1_output = layers.MaxPooling2D(2)(x)
x = layers.Conv2D(8, 3, activation="relu", padding="same")(block_1_output)
x = layers.Conv2D(8, 3, activation="relu", padding="same")(x)
block_2_output = layers.add([x, block_1_output])
x = layers.BatchNormalization()(block_2_output)
x = layers.GlobalAveragePooling2D()(x)
x = layers.Dense(16, activation="relu")(x)
x = layers.Dropout(0.5)(x)
outputs = layers.Dense(2)(x)
resnet = keras.Model(inputs, outputs, name="toy_resnet")
resnet.summary()
resnet.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["acc"])
images = rng.random((32, 16, 16, 3)).astype("float32")
print(sorted(resnet.fit(images, np.arange(32) % 2, epochs=1, verbose=0).history))
features = keras.Model(resnet.inputs, [layer.output for layer in resnet.layers[:3]])
print([f.shape for f in features(images[:2])])
ensemble_in = keras.Input(shape=(16, 16, 3))
twin = keras.Sequential([keras.models.clone_model(resnet)])
a, b = resnet(ensemble_in), twin(ensemble_in)
ensemble = keras.Model(ensemble_in, layers.average([a, b]))
print(ensemble(images[:4]).shape, resnet.get_layer(index=1).name[:6], resnet.input_shape, resnet.output_shape)
frozen = keras.models.Sequential([keras.Input((4,)), layers.Dense(3, trainable=False), layers.Dense(1)])
print(len(frozen.trainable_weights), len(frozen.non_trainable_weights))
