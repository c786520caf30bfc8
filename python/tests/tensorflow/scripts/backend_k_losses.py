# Losses and metrics written with tensorflow.keras.backend, as in a thousand kernels: dice, f1, rmse, focal, tversky
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Conv2D, Dense, Input, MaxPooling2D, UpSampling2D, concatenate
from tensorflow.keras.models import Model, Sequential
from tensorflow.keras.optimizers import Adam

FOLDER = tempfile.mkdtemp()

rng = np.random.default_rng(0)


def dice_coef(y_true, y_pred, smooth=1):
    y_true_f = K.flatten(y_true)
    y_pred_f = K.flatten(y_pred)
    intersection = K.sum(y_true_f * y_pred_f)
    return (2. * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)


def dice_coef_loss(y_true, y_pred):
    return 1 - dice_coef(y_true, y_pred)


def jaccard(y_true, y_pred, smooth=100):
    intersection = K.sum(K.abs(y_true * y_pred), axis=-1)
    sum_ = K.sum(K.abs(y_true) + K.abs(y_pred), axis=-1)
    jac = (intersection + smooth) / (sum_ - intersection + smooth)
    return (1 - jac) * smooth


def recall_m(y_true, y_pred):
    tp = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    possible = K.sum(K.round(K.clip(y_true, 0, 1)))
    return tp / (possible + K.epsilon())


def precision_m(y_true, y_pred):
    tp = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    predicted = K.sum(K.round(K.clip(y_pred, 0, 1)))
    return tp / (predicted + K.epsilon())


def f1_m(y_true, y_pred):
    p, r = precision_m(y_true, y_pred), recall_m(y_true, y_pred)
    return 2 * ((p * r) / (p + r + K.epsilon()))


def root_mean_squared_error(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_pred - y_true)))


def focal_loss(gamma=2., alpha=.25):
    def focal_loss_fixed(y_true, y_pred):
        pt_1 = tf.where(tf.equal(y_true, 1), y_pred, tf.ones_like(y_pred))
        pt_0 = tf.where(tf.equal(y_true, 0), y_pred, tf.zeros_like(y_pred))
        return -K.mean(alpha * K.pow(1. - pt_1, gamma) * K.log(K.epsilon() + pt_1)) - K.mean((1 - alpha) * K.pow(pt_0, gamma) * K.log(1. - pt_0 + K.epsilon()))
    return focal_loss_fixed


def r2(y_true, y_pred):
    ss_res = K.sum(K.square(y_true - y_pred))
    ss_tot = K.sum(K.square(y_true - K.mean(y_true)))
    return 1 - ss_res / (ss_tot + K.epsilon())


inputs = Input((16, 16, 1))
c1 = Conv2D(4, (3, 3), activation='relu', padding='same')(inputs)
p1 = MaxPooling2D(pool_size=(2, 2))(c1)
c2 = Conv2D(8, (3, 3), activation='relu', padding='same')(p1)
u1 = concatenate([UpSampling2D(size=(2, 2))(c2), c1], axis=3)
out = Conv2D(1, (1, 1), activation='sigmoid')(u1)
model = Model(inputs=[inputs], outputs=[out])
model.set_weights([rng.normal(size=w.shape) * 0.2 for w in model.get_weights()])
x = rng.random((12, 16, 16, 1)).astype('float32')
mask = (x > 0.6).astype('float32')
model.compile(optimizer=Adam(learning_rate=1e-2), loss=dice_coef_loss, metrics=[dice_coef, 'accuracy', f1_m, jaccard])
h = model.fit(x, mask, batch_size=4, epochs=3, shuffle=False, verbose=0)
for k, v in h.history.items():
    print(k, np.round(v, 4))
model.save(FOLDER + '/backend_unet.h5')
again = tf.keras.models.load_model(FOLDER + '/backend_unet.h5', custom_objects={'dice_coef_loss': dice_coef_loss, 'dice_coef': dice_coef, 'f1_m': f1_m, 'jaccard': jaccard})
print(np.round(again.evaluate(x, mask, verbose=0)[0], 4))
again = tf.keras.models.load_model(FOLDER + '/backend_unet.h5', compile=False)
print(np.allclose(again.predict(x, verbose=0), model.predict(x, verbose=0)))

X = rng.normal(size=(60, 5)).astype('float32')
y = (X.sum(axis=1) > 0).astype('float32')
clf = Sequential([Input((5,)), Dense(6, activation='relu'), Dense(1, activation='sigmoid')])
clf.set_weights([rng.normal(size=w.shape) * 0.4 for w in clf.get_weights()])
clf.compile(optimizer='adam', loss=[focal_loss(alpha=.25, gamma=2)], metrics=['accuracy', precision_m, recall_m])
h = clf.fit(X, y.reshape(-1, 1), epochs=3, batch_size=20, shuffle=False, verbose=0)
for k, v in h.history.items():
    print(k, np.round(v, 4))
reg = Sequential([Input((5,)), Dense(1)])
reg.set_weights([rng.normal(size=w.shape) for w in reg.get_weights()])
reg.compile(optimizer='sgd', loss=root_mean_squared_error, metrics=[r2, root_mean_squared_error])
h = reg.fit(X, X[:, :1] * 2, epochs=3, batch_size=20, shuffle=False, verbose=0)
for k, v in h.history.items():
    print(k, np.round(v, 4))
print(K.floatx(), K.image_data_format(), K.epsilon(), K.backend())
K.set_floatx('float32')
a = K.constant([[1., 2.], [3., 4.]])
print(K.int_shape(a), K.ndim(a), K.eval(K.mean(a, axis=0)), K.eval(K.dot(a, a)), K.eval(K.max(a)), K.eval(K.cast(a, 'int32')))
v = K.variable(np.ones((2, 2)), name='v')
K.set_value(v, np.full((2, 2), 3.0))
print(K.get_value(v), K.eval(K.concatenate([a, a], axis=0)).shape, K.eval(K.l2_normalize(a, axis=1)).round(4), K.eval(K.expand_dims(a, 0)).shape, K.eval(K.batch_dot(K.ones((2, 1, 3)), K.ones((2, 3, 4)))).shape)
print(K.eval(K.switch(K.greater(a, 2.0), a, K.zeros_like(a))), K.eval(K.binary_crossentropy(K.constant([0., 1.]), K.constant([0.2, 0.7]))).round(4), K.eval(K.softmax(a)).round(4), K.eval(K.gather(a, [1, 0])))
K.clear_session()
