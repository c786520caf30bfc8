import os
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow as tf
import tensorflow.keras.backend as K
from tensorflow.keras.layers import *
from tensorflow.keras.models import Model, load_model
from tensorflow.keras.utils import plot_model, normalize

smooth = 1.


def dice_coef(y_true, y_pred):
    y_true_f = K.flatten(y_true)
    y_pred_f = K.flatten(y_pred)
    intersection = K.sum(y_true_f * y_pred_f)
    return (2. * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)


def dice_coef_loss(y_true, y_pred):
    return 1 - dice_coef(y_true, y_pred)


def iou(y_true, y_pred):
    inter = tf.reduce_sum(tf.cast(y_true, tf.float32) * y_pred, axis=[1, 2, 3])
    union = tf.reduce_sum(y_true + y_pred, axis=[1, 2, 3]) - inter
    return tf.reduce_mean((inter + 1.0) / (union + 1.0), axis=0)


def conv_block(x, filters, name):
    for i in range(2):
        x = Conv2D(filters, (3, 3), padding='same', kernel_initializer='he_normal', name=f'{name}_{i}')(x)
        x = BatchNormalization()(x)
        x = LeakyReLU()(x)
    return x


inputs = Input((16, 16, 1))
c1 = conv_block(inputs, 4, 'c1')
p1 = MaxPooling2D((2, 2))(c1)
c2 = conv_block(p1, 8, 'c2')
p2 = MaxPooling2D((2, 2))(c2)
c3 = conv_block(p2, 8, 'c3')
u4 = Conv2DTranspose(8, (2, 2), strides=(2, 2), padding='same')(c3)
u4 = concatenate([u4, c2])
c4 = conv_block(u4, 8, 'c4')
u5 = UpSampling2D((2, 2), interpolation='bilinear')(c4)
u5 = concatenate([u5, c1], axis=3)
c5 = conv_block(u5, 4, 'c5')
outputs = Conv2D(1, (1, 1), activation='sigmoid')(c5)
model = Model(inputs=[inputs], outputs=[outputs])

rng = np.random.RandomState(3)
model.set_weights([np.abs(rng.normal(size=w.shape)) * 0.3 + 0.5 if w.ndim == 1 else rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=1e-2), loss=dice_coef_loss, metrics=[dice_coef, iou, tf.keras.metrics.MeanIoU(num_classes=2)])
print('params', model.count_params())

X = np.zeros((12, 16, 16, 1), 'float32')
Y = np.zeros((12, 16, 16, 1), 'float32')
for i in range(12):
    r, c = rng.randint(1, 8, 2)
    Y[i, r:r + 6, c:c + 6] = 1.
X = Y + 0.3 * rng.normal(size=Y.shape).astype('float32')
results = model.fit(X, Y, batch_size=4, epochs=3, shuffle=False, verbose=0)
print(['%.3f' % v for v in results.history['loss']])
print(['%.3f' % v for v in results.history['dice_coef']], ['%.3f' % v for v in results.history['iou']])
model.save('/tmp/_dice_unet.h5')
try:
    load_model('/tmp/_dice_unet.h5')
except Exception as e:
    print('without custom_objects:', type(e).__name__)
again = load_model('/tmp/_dice_unet.h5', custom_objects={'dice_coef': dice_coef, 'dice_coef_loss': dice_coef_loss, 'iou': iou})
print(np.allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), atol=1e-5))
pred = (model.predict(X[:2], verbose=0) > 0.5).astype(np.uint8)
print(pred.shape, pred.dtype)
