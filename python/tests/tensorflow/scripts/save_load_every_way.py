# Saving and loading in every way that answers on forums name
import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras.models import load_model, model_from_json, save_model

folder = tempfile.mkdtemp()
os.chdir(folder)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(40, 4)).astype("float32"), rng.normal(size=(40, 1)).astype("float32")


def create_model():
    model = tf.keras.models.Sequential([tf.keras.layers.Dense(5, activation="relu", input_shape=(4,)), tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(1)])
    r = np.random.default_rng(1)
    model.set_weights([r.normal(size=w.shape) * 0.4 for w in model.get_weights()])
    model.compile(optimizer="adam", loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.MeanAbsoluteError()])
    return model


model = create_model()
print([round(v, 4) for v in model.evaluate(x, y, verbose=0)])
checkpoint_path = "training_1/cp-{epoch:04d}.weights.h5"
cp = tf.keras.callbacks.ModelCheckpoint(filepath=checkpoint_path, verbose=1, save_weights_only=True, save_freq=2 * 4)
model.fit(x, y, epochs=4, batch_size=10, callbacks=[cp], validation_data=(x, y), verbose=0)
print(sorted(os.listdir("training_1")))
fresh = create_model()
fresh.load_weights("training_1/cp-0004.weights.h5")
print(np.allclose(fresh.predict(x, verbose=0), model.predict(x, verbose=0)))
for name in ("m.keras", "m.h5", "m.hdf5"):
    try:
        model.save(name)
        print(name, np.allclose(load_model(name).predict(x, verbose=0), model.predict(x, verbose=0)))
    except Exception as e:
        print(name, type(e).__name__)
try:
    model.save("saved_model_dir")
except ValueError as e:
    print("ValueError", "extension" in str(e))
save_model(model, "n.keras", overwrite=True)
restored = load_model("n.keras")
print([round(v, 4) for v in restored.evaluate(x, y, verbose=0)] == [round(v, 4) for v in model.evaluate(x, y, verbose=0)], int(restored.optimizer.iterations), type(restored.optimizer).__name__)
a = restored.fit(x, y, epochs=1, batch_size=40, shuffle=False, verbose=0).history["loss"]
print(np.isfinite(a).all())
text = model.to_json()
with open("model.json", "w") as f:
    f.write(text)
loaded = model_from_json(open("model.json").read())
model.save_weights("model.weights.h5")
loaded.load_weights("model.weights.h5")
loaded.compile(loss="mse", optimizer="adam")
print(np.allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0)), json.loads(text)["class_name"], len(json.loads(text)["config"]["layers"]))
clone = tf.keras.models.clone_model(model)
clone.set_weights(model.get_weights())
print(np.allclose(clone.predict(x, verbose=0), model.predict(x, verbose=0)), tf.keras.Sequential.from_config(model.get_config()).count_params())


class Scale(tf.keras.layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1],), initializer="ones", trainable=True, name="w")

    def call(self, inputs):
        return inputs * self.w * self.factor

    def get_config(self):
        config = super().get_config()
        config.update({"factor": self.factor})
        return config


def my_act(x):
    return tf.nn.relu(x) * 0.5


def my_loss(y_true, y_pred):
    return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)


custom = tf.keras.Sequential([tf.keras.Input((4,)), Scale(3.0), tf.keras.layers.Dense(2, activation=my_act), tf.keras.layers.Dense(1)])
custom.compile("sgd", my_loss)
custom.fit(x, y, verbose=0)
custom.save("custom.keras")
custom.save("custom.h5")
for name in ("custom.keras", "custom.h5"):
    try:
        load_model(name)
        print("loaded without names")
    except (ValueError, TypeError) as e:
        print(name, type(e).__name__)
    got = load_model(name, custom_objects={"Scale": Scale, "my_act": my_act, "my_loss": my_loss})
    print(np.allclose(got.predict(x, verbose=0), custom.predict(x, verbose=0)), got.layers[0].factor)
with tf.keras.utils.custom_object_scope({"Scale": Scale, "my_act": my_act, "my_loss": my_loss}):
    print(load_model("custom.keras").layers[0].factor)
root = tf.train.Checkpoint(model=model, optimizer=model.optimizer, epoch=tf.Variable(3))
path = root.save("ck/ckpt")
print(os.path.basename(path), os.path.basename(tf.train.latest_checkpoint("ck")), len(tf.train.list_variables(path)) > 3)
other = create_model()
root2 = tf.train.Checkpoint(model=other, epoch=tf.Variable(0))
root2.restore(tf.train.latest_checkpoint("ck")).expect_partial()
print(np.allclose(other.predict(x, verbose=0), model.predict(x, verbose=0)), int(root2.epoch))
np.save("w.npy", np.array(model.get_weights(), dtype=object), allow_pickle=True)
w = np.load("w.npy", allow_pickle=True)
other.set_weights(list(w))
sub = tf.keras.Model(inputs=model.inputs, outputs=model.layers[0].output)
print(sub.predict(x[:2], verbose=0).shape, model.layers[0].get_config()["units"], model.get_layer(index=2).name != "")
best = tf.keras.callbacks.ModelCheckpoint("best.keras", monitor="val_mean_absolute_error", mode="min", save_best_only=True, verbose=0)
h = create_model().fit(x, y, epochs=3, batch_size=10, validation_data=(x, y), callbacks=[best], verbose=0)
print(round(load_model("best.keras").evaluate(x, y, verbose=0)[1], 4) == round(min(h.history["val_mean_absolute_error"]), 4))
