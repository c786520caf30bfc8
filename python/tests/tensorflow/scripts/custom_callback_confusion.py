import datetime
import os
import shutil
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

log_dir = "/tmp/_logs/fit/" + datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
rng = np.random.default_rng(5)
x = rng.normal(size=(90, 4)).astype("float32")
y = np.argmax(x[:, :3] + 0.2 * rng.normal(size=(90, 3)), axis=1)
x_val, y_val = x[60:], y[60:]


class ConfusionCallback(keras.callbacks.Callback):
    def __init__(self, validation_data):
        super().__init__()
        self.validation_data = validation_data

    def on_train_begin(self, logs=None):
        print("training for", self.params["epochs"], "epochs,", self.params["steps"], "steps")

    def on_epoch_end(self, epoch, logs={}):
        pred = tf.argmax(self.model.predict(self.validation_data[0], verbose=0), axis=1)
        matrix = tf.math.confusion_matrix(self.validation_data[1], pred, num_classes=3)
        print("epoch", epoch, matrix.numpy().tolist(), "%.4f" % logs["val_loss"])
        if logs.get("accuracy") > 0.99:
            self.model.stop_training = True


model = keras.Sequential([
    keras.Input(shape=(4,), name="digits"),
    layers.Dense(8, activation="relu", name="dense_1", kernel_constraint=keras.constraints.MaxNorm(3.0)),
    layers.Dense(3, activation="softmax", name="predictions", bias_regularizer=keras.regularizers.L1(1e-3)),
], name="three_classes")
model.set_weights([rng.normal(size=w.shape) * 0.5 for w in model.get_weights()])
model.compile(optimizer=keras.optimizers.Nadam(0.02), loss=keras.losses.SparseCategoricalCrossentropy(),
              metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(k=2, name="top2")], weighted_metrics=["accuracy"])
model.summary()
weights = {0: 1.0, 1: 2.0, 2: 0.5}
history = model.fit(x[:60], y[:60], batch_size=20, epochs=3, shuffle=False, validation_data=(x_val, y_val), class_weight=weights,
                    callbacks=[ConfusionCallback((x_val, y_val)), keras.callbacks.TerminateOnNaN(),
                               keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: print("begin", epoch)),
                               keras.callbacks.CSVLogger("/tmp/_training.log")], verbose=0)
for key in sorted(history.history):
    print(key, ["%.4f" % v for v in history.history[key]])
print(open("/tmp/_training.log").readline().strip())
os.remove("/tmp/_training.log")
results = model.evaluate(x_val, y_val, return_dict=True, verbose=0)
print({k: round(v, 4) for k, v in results.items()})
feature_extractor = keras.Model(inputs=model.inputs, outputs=model.get_layer("dense_1").output)
print(feature_extractor(x_val[:1]).shape, [layer.name for layer in model.layers])
model.save_weights("/tmp/_ckpt.weights.h5")
fresh = keras.models.clone_model(model)
fresh.load_weights("/tmp/_ckpt.weights.h5")
print(np.array_equal(fresh.predict(x_val, verbose=0), model.predict(x_val, verbose=0)))
config = model.to_json()
print(keras.models.model_from_json(config).count_params())
print(model.get_layer(index=0).get_config()["units"], model.optimizer.get_config()["name"], float(model.optimizer.learning_rate.numpy().round(4)))
print(tf.math.in_top_k(y_val[:4], model.predict(x_val[:4], verbose=0), k=2).numpy())
