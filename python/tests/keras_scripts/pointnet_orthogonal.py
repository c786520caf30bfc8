"""Point cloud classification with PointNet: T-nets with an orthogonal regularizer."""
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
NUM_POINTS, NUM_CLASSES = 32, 3


def conv_bn(x, filters):
    x = layers.Conv1D(filters, kernel_size=1, padding="valid")(x)
    x = layers.BatchNormalization(momentum=0.0)(x)
    return layers.Activation("relu")(x)


def dense_bn(x, filters):
    x = layers.Dense(filters)(x)
    x = layers.BatchNormalization(momentum=0.0)(x)
    return layers.Activation("relu")(x)


@keras.saving.register_keras_serializable("pointnet")
class OrthogonalRegularizer(keras.regularizers.Regularizer):
    def __init__(self, num_features, l2reg=0.001):
        self.num_features = num_features
        self.l2reg = l2reg
        self.eye = ops.eye(num_features)

    def __call__(self, x):
        x = ops.reshape(x, (-1, self.num_features, self.num_features))
        xxt = ops.tensordot(x, x, axes=(2, 2))
        xxt = ops.reshape(xxt, (-1, self.num_features, self.num_features))
        return ops.sum(self.l2reg * ops.square(xxt - self.eye))

    def get_config(self):
        return {"num_features": self.num_features, "l2reg": self.l2reg}


def tnet(inputs, num_features):
    bias = keras.initializers.Constant(np.eye(num_features).flatten())
    reg = OrthogonalRegularizer(num_features)
    x = conv_bn(inputs, 8)
    x = conv_bn(x, 16)
    x = layers.GlobalMaxPooling1D()(x)
    x = dense_bn(x, 8)
    x = layers.Dense(num_features * num_features, kernel_initializer="zeros", bias_initializer=bias, activity_regularizer=reg)(x)
    feat_T = layers.Reshape((num_features, num_features))(x)
    return layers.Dot(axes=(2, 1))([inputs, feat_T])


inputs = keras.Input(shape=(NUM_POINTS, 3))
x = tnet(inputs, 3)
x = conv_bn(x, 8)
x = tnet(x, 8)
x = conv_bn(x, 16)
x = layers.GlobalMaxPooling1D()(x)
x = dense_bn(x, 16)
outputs = layers.Dense(NUM_CLASSES, activation="softmax")(x)
model = keras.Model(inputs=inputs, outputs=outputs, name="pointnet")
for v in model.trainable_variables:
    if "kernel" in v.name and np.any(ops.convert_to_numpy(v)):
        v.assign(rng.normal(0, 0.3, v.shape))
points = rng.normal(size=(48, NUM_POINTS, 3)).astype("float32")
y = np.arange(48) % 3
points[y == 1] *= np.array([2.0, 0.1, 1.0], "float32")
points[y == 2] += np.array([0.0, 1.5, 0.0], "float32")
model.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.Adam(learning_rate=0.002), metrics=["sparse_categorical_accuracy"])
h = model.fit(points, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
print(np.round(h.history["loss"], 3), np.round(h.history["sparse_categorical_accuracy"], 2))
print(model.predict(points[:2], verbose=0).shape, len(model.losses))
model.save("pointnet.keras")
again = keras.models.load_model("pointnet.keras")
print(np.allclose(again.predict(points, verbose=0), model.predict(points, verbose=0), atol=1e-5))
