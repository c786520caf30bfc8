"""Image segmentation with a U-Net-like network, as on keras.io, over made-up pets."""
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)
img_size, num_classes, batch_size = (32, 32), 3, 8


def blob(n):
    yy, xx = np.mgrid[0:32, 0:32]
    images, masks = np.zeros((n, 32, 32, 3), "float32"), np.zeros((n, 32, 32, 1), "uint8")
    for i in range(n):
        cy, cx, r = rng.integers(10, 22), rng.integers(10, 22), rng.integers(5, 9)
        d = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
        masks[i, ..., 0] = np.where(d < r - 1, 0, np.where(d < r + 1, 2, 1))
        images[i] = np.stack([d < r, d < r + 1, yy / 32.0], -1) + rng.normal(0, 0.1, (32, 32, 3))
    return images, masks


class OxfordPets(keras.utils.PyDataset):
    def __init__(self, images, masks, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.images, self.masks, self.batch_size = images, masks, batch_size

    def __len__(self):
        return len(self.images) // self.batch_size

    def __getitem__(self, idx):
        i = idx * self.batch_size
        return self.images[i : i + self.batch_size], self.masks[i : i + self.batch_size]


def get_model(img_size, num_classes):
    inputs = keras.Input(shape=img_size + (3,))
    x = layers.Conv2D(8, 3, strides=2, padding="same")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    previous_block_activation = x
    for filters in [16, 24]:
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.SeparableConv2D(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
        residual = layers.Conv2D(filters, 1, strides=2, padding="same")(previous_block_activation)
        x = layers.add([x, residual])
        previous_block_activation = x
    for filters in [24, 16, 8]:
        x = layers.Activation("relu")(x)
        x = layers.Conv2DTranspose(filters, 3, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.UpSampling2D(2)(x)
        residual = layers.UpSampling2D(2)(previous_block_activation)
        residual = layers.Conv2D(filters, 1, padding="same")(residual)
        x = layers.add([x, residual])
        previous_block_activation = x
    outputs = layers.Conv2D(num_classes, 3, activation="softmax", padding="same")(x)
    return keras.Model(inputs, outputs)


model = get_model(img_size, num_classes)
wrng = np.random.default_rng(3)
for v in model.trainable_variables:
    if v.path.endswith("kernel"):
        v.assign(wrng.normal(0, 1 / np.sqrt(np.prod(v.shape[:-1])), v.shape))
train = OxfordPets(*blob(32), batch_size)
val = OxfordPets(*blob(8), batch_size)
model.compile(
    optimizer=keras.optimizers.SGD(0.02),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy", keras.metrics.MeanIoU(num_classes=3, sparse_y_true=True, sparse_y_pred=False, name="iou")],
)
history = model.fit(train, validation_data=val, epochs=2, shuffle=False, verbose=0)
for key in sorted(history.history):
    print(key, np.round(history.history[key], 2))
preds = model.predict(val, verbose=0)
mask = np.expand_dims(np.argmax(preds[0], axis=-1), axis=-1)
print(preds.shape, mask.shape, model.count_params())
print(model.layers[-1].name.startswith("conv2d"), len(model.layers))
