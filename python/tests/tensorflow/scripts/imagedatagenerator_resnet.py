import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras.layers import Dense, Conv2D, BatchNormalization, Activation, AveragePooling2D, Input, Flatten, add
from tensorflow.keras.optimizers import SGD
from tensorflow.keras.callbacks import ModelCheckpoint, LearningRateScheduler, ReduceLROnPlateau
from tensorflow.keras.regularizers import l2
from tensorflow.keras.models import Model

rng = np.random.RandomState(0)
num_classes = 3
x_train = rng.randint(0, 255, (36, 16, 16, 3)).astype('uint8')
y_train = rng.randint(0, num_classes, (36, 1))
for i, c in enumerate(y_train[:, 0]):
    x_train[i, :, :, c] = 255
x_train = x_train.astype('float32') / 255
x_train_mean = np.mean(x_train, axis=0)
x_train -= x_train_mean
y_train = tf.keras.utils.to_categorical(y_train, num_classes)
print('y_train shape:', y_train.shape)


def resnet_layer(inputs, num_filters=8, kernel_size=3, strides=1, activation='relu', batch_normalization=True):
    x = Conv2D(num_filters, kernel_size=kernel_size, strides=strides, padding='same', kernel_initializer='he_normal',
               kernel_regularizer=l2(1e-4))(inputs)
    if batch_normalization:
        x = BatchNormalization()(x)
    if activation is not None:
        x = Activation(activation)(x)
    return x


inputs = Input(shape=(16, 16, 3))
x = resnet_layer(inputs)
for stack in range(2):
    strides = 2 if stack > 0 else 1
    y = resnet_layer(x, 8 * (stack + 1), strides=strides)
    y = resnet_layer(y, 8 * (stack + 1), activation=None)
    if stack > 0:
        x = resnet_layer(x, 8 * (stack + 1), kernel_size=1, strides=strides, activation=None, batch_normalization=False)
    x = add([x, y])
    x = Activation('relu')(x)
x = AveragePooling2D(pool_size=8)(x)
outputs = Dense(num_classes, activation='softmax', kernel_initializer='he_normal')(Flatten()(x))
model = Model(inputs=inputs, outputs=outputs)
model.set_weights([np.ones(w.shape) if w.ndim == 1 else rng.normal(size=w.shape) * 0.15 for w in model.get_weights()])


def lr_schedule(epoch):
    lr = 1e-2
    if epoch > 2:
        lr *= 1e-1
    return lr


model.compile(loss='categorical_crossentropy', optimizer=SGD(learning_rate=lr_schedule(0), momentum=0.9, nesterov=True), metrics=['accuracy'])
datagen = ImageDataGenerator(featurewise_center=False, horizontal_flip=False, rescale=None)
datagen.fit(x_train)
checkpoint = ModelCheckpoint(filepath='/tmp/_resnet.keras', monitor='accuracy', verbose=0, save_best_only=True)
lr_reducer = ReduceLROnPlateau(monitor='loss', factor=np.sqrt(0.1), cooldown=0, patience=5, min_lr=0.5e-6)
h = model.fit(datagen.flow(x_train, y_train, batch_size=12, shuffle=False), epochs=4, shuffle=False, verbose=0,
              callbacks=[checkpoint, lr_reducer, LearningRateScheduler(lr_schedule)])
print(sorted(h.history))
print(['%.3f' % v for v in h.history['loss']])
scores = model.evaluate(x_train, y_train, verbose=0)
print('Test loss: %.3f' % scores[0], 'Test accuracy: %.3f' % scores[1])
aug = ImageDataGenerator(rotation_range=20, width_shift_range=0.1, height_shift_range=0.1, shear_range=0.1, zoom_range=0.1,
                         horizontal_flip=True, fill_mode='nearest', validation_split=0.25)
batch, labels = next(aug.flow(x_train, y_train, batch_size=8, subset='training', seed=1))
print(batch.shape, labels.shape, batch.dtype)
