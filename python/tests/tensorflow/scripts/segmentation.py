import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import (Conv2D, MaxPooling2D, UpSampling2D, concatenate, Conv2DTranspose, BatchNormalization, Activation, Input,
                                     Dropout, SeparableConv2D, ZeroPadding2D, Cropping2D)
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import Adam


def conv_block(inputs, filters):
    x = Conv2D(filters, 3, padding='same')(inputs)
    x = BatchNormalization()(x)
    x = Activation('relu')(x)
    return x


def unet(input_size=(16, 16, 1)):
    inputs = Input(input_size)
    c1 = conv_block(inputs, 8)
    p1 = MaxPooling2D((2, 2))(c1)
    c2 = conv_block(p1, 16)
    p2 = MaxPooling2D((2, 2))(c2)
    c3 = Dropout(0.1)(conv_block(p2, 16))
    u4 = Conv2DTranspose(16, (2, 2), strides=(2, 2), padding='same')(c3)
    c4 = conv_block(concatenate([u4, c2]), 16)
    u5 = UpSampling2D((2, 2))(c4)
    c5 = conv_block(concatenate([u5, c1], axis=3), 8)
    outputs = Conv2D(1, (1, 1), activation='sigmoid')(c5)
    return Model(inputs=[inputs], outputs=[outputs])


def dice_coef(y_true, y_pred, smooth=1.0):
    y_true_f = tf.reshape(tf.cast(y_true, tf.float32), [-1])
    y_pred_f = tf.reshape(y_pred, [-1])
    intersection = tf.reduce_sum(y_true_f * y_pred_f)
    return (2. * intersection + smooth) / (tf.reduce_sum(y_true_f) + tf.reduce_sum(y_pred_f) + smooth)


def dice_loss(y_true, y_pred):
    return 1.0 - dice_coef(y_true, y_pred)


def bce_dice(y_true, y_pred):
    bce = tf.reduce_mean(tf.keras.losses.binary_crossentropy(y_true, y_pred))
    return bce + dice_loss(y_true, y_pred)


rng = np.random.default_rng(0)
masks = np.zeros((48, 16, 16, 1), "float32")
for i, m in enumerate(masks):
    r, c = rng.integers(0, 10, 2)
    m[r : r + 6, c : c + 6] = 1.0
images = masks + rng.normal(0, 0.2, masks.shape).astype("float32")
model = unet()
model.compile(optimizer=Adam(learning_rate=0.01), loss=bce_dice, metrics=[dice_coef, tf.keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")])
print(model.count_params(), len(model.layers))
history = model.fit(images, masks, batch_size=12, epochs=12, verbose=0)
print(sorted(history.history), "dice", history.history["dice_coef"][-1] > 0.8)
predicted = model.predict(images[:2], verbose=0)
print(predicted.shape, predicted.dtype, bool(((model(images, training=True).numpy() > 0.5) == masks).mean() > 0.9))
print(dice_coef(masks[:1], masks[:1]).numpy(), round(float(dice_loss(masks[:1], 1 - masks[:1])), 2))
print(SeparableConv2D(4, 3)(images[:1]).shape, ZeroPadding2D(1)(images[:1]).shape, Cropping2D(2)(images[:1]).shape)
miou = tf.keras.metrics.MeanIoU(num_classes=2)
miou.update_state([0, 0, 1, 1], [0, 1, 0, 1])
print(round(float(miou.result()), 4), tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]))
