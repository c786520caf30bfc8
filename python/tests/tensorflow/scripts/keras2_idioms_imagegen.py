"""Older Keras 2 code that still runs: input_shape, ImageDataGenerator, lr names, Sequential pop, intermediate outputs, compat switches."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import LambdaCallback, ModelCheckpoint
from tensorflow.keras.datasets import mnist  # noqa: F401
from tensorflow.keras.layers import Activation, AveragePooling2D, Conv2D, Dense, Dropout, Flatten, GlobalAveragePooling2D, Input, MaxPool2D, Reshape, SeparableConv2D, UpSampling2D, ZeroPadding2D, add, concatenate
from tensorflow.keras.models import Model, Sequential, clone_model, load_model, model_from_json
from tensorflow.keras.optimizers import SGD, Adam, RMSprop
from tensorflow.keras.preprocessing.image import ImageDataGenerator, array_to_img, img_to_array, load_img
from tensorflow.keras.regularizers import l1_l2, l2
from tensorflow.python.client import device_lib  # noqa: F401

print("Num GPUs Available: ", len(tf.config.list_physical_devices("GPU")), tf.test.is_built_with_cuda() in (True, False))
np.random.seed(0)
tf.compat.v1.set_random_seed(0)
x = np.random.rand(24, 14, 14, 1).astype("float32")
y = np.arange(24) % 3
x[np.arange(24), :4, :4, 0] += y[:, None, None]
Y = tf.keras.utils.to_categorical(y, num_classes=3)
model = Sequential()
model.add(Conv2D(4, kernel_size=(3, 3), activation="relu", input_shape=(14, 14, 1), kernel_regularizer=l2(0.01), bias_regularizer=l1_l2(1e-5, 1e-4)))
model.add(ZeroPadding2D(padding=(1, 1)))
model.add(Conv2D(4, (3, 3)))
model.add(Activation("relu"))
model.add(MaxPool2D(pool_size=(2, 2)))
model.add(Dropout(0.0))
model.add(Flatten())
model.add(Dense(8, activation=tf.nn.relu))
model.add(Dense(99))
model.pop()
model.add(Dense(3, activation=tf.nn.softmax))
rng = np.random.default_rng(0)
model.set_weights([rng.normal(0, 0.2, w.shape) for w in model.get_weights()])
model.compile(loss=tf.keras.losses.categorical_crossentropy, optimizer=SGD(learning_rate=0.05, momentum=0.9, nesterov=True), metrics=["accuracy"])
h = model.fit(x, Y, batch_size=8, epochs=2, verbose=0, validation_split=0.25, shuffle=False)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
score = model.evaluate(x, Y, verbose=0)
print("Test loss:", round(score[0], 3))
classes = np.argmax(model.predict(x, verbose=0), axis=1)
print(classes.shape)
intermediate = Model(inputs=model.inputs, outputs=model.layers[5].output)
print(intermediate.predict(x[:2], verbose=0).shape, [l.name.split("_")[0] for l in model.layers][:4], model.layers[0].get_weights()[0].shape, model.input_shape, model.layers[-1].output.shape)
datagen = ImageDataGenerator(rescale=1.0 / 255, rotation_range=20, width_shift_range=0.2, height_shift_range=0.2, shear_range=0.1, zoom_range=0.2, horizontal_flip=True, fill_mode="nearest", validation_split=0.25)
flow = datagen.flow(x * 255, Y, batch_size=8, subset="training", seed=1)
bx, by = next(flow)
print(bx.shape, by.shape, len(flow), 0 <= bx.min(), bx.max() <= 2.0)
plain = ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
plain.fit(x)
h = model.fit(plain.flow(x, Y, batch_size=8, shuffle=False), steps_per_epoch=3, epochs=1, verbose=0, validation_data=plain.flow(x, Y, batch_size=8, shuffle=False), validation_steps=2)
print({k: np.round(v, 2).tolist() for k, v in sorted(h.history.items())})
img = array_to_img(np.repeat(x[0] * 100, 3, -1), scale=False)
img.save("one.png")
arr = img_to_array(load_img("one.png", target_size=(10, 10), color_mode="grayscale"))
print(arr.shape, np.expand_dims(arr, axis=0).shape, tf.keras.utils.load_img("one.png").size)
inp = Input(shape=(14, 14, 1))
t1 = Conv2D(4, (1, 1), padding="same", activation="relu")(inp)
t2 = AveragePooling2D((3, 3), strides=(1, 1), padding="same")(inp)
o = concatenate([t1, t2], axis=3)
o = add([SeparableConv2D(5, 3, padding="same")(o), o])
o = UpSampling2D(size=(2, 2), interpolation="bilinear")(o)
o = GlobalAveragePooling2D()(o)
net = Model(inputs=inp, outputs=Dense(3, activation="softmax")(Reshape((5,))(o)))
net.set_weights([rng.normal(0, 0.3, w.shape) for w in net.get_weights()])
net.compile(optimizer=RMSprop(learning_rate=0.003, rho=0.8), loss="categorical_crossentropy", metrics=["acc", tf.keras.metrics.Precision(), tf.keras.metrics.TopKCategoricalAccuracy(k=2, name="top2")])
seen = []
h = net.fit(x, Y, epochs=2, batch_size=12, verbose=0, shuffle=False, callbacks=[LambdaCallback(on_epoch_end=lambda e, l: seen.append(sorted(l)[0])), ModelCheckpoint("best.h5" if False else "best.keras", save_best_only=True, monitor="loss")])
print(np.round(h.history["loss"], 3), seen)
net.save("net.h5")
print(np.allclose(load_model("net.h5").predict(x, verbose=0), net.predict(x, verbose=0), atol=1e-5))
json_config = net.to_json()
fresh = model_from_json(json_config)
net.save_weights("net.weights.h5")
fresh.load_weights("net.weights.h5")
print(np.allclose(fresh.predict(x, verbose=0), net.predict(x, verbose=0), atol=1e-5), clone_model(net).count_params() == net.count_params())
opt = Adam(learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07)
opt.learning_rate = 0.01
opt.learning_rate.assign(0.02)
print(round(float(opt.learning_rate), 3), opt.lr if hasattr(opt, "lr") else "no lr")
for layer in net.layers[:2]:
    layer.trainable = False
print(sum(np.prod(v.shape) for v in net.trainable_weights), sum(tf.keras.backend.count_params(w) for w in net.non_trainable_weights))
tf.get_logger().setLevel("ERROR")
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
tf.autograph.set_verbosity(0)
print(tf.keras.utils.plot_model.__name__, tf.executing_eagerly(), tf.keras.__version__.split(".")[0], tf.version.VERSION.split(".")[0], isinstance(tf.constant(1), tf.Tensor), tf.is_tensor(tf.ones(1)))
try:
    model.predict_classes(x)
except AttributeError as e:
    print("predict_classes" in str(e))
try:
    getattr(tf, "Session")()
except AttributeError as e:
    print("Session" in str(e))
model.fit(x, Y, epochs=1, verbose=2)
