"""Models of classes within classes: residual blocks, get_config, save_weights and load_weights, partial loading, freezing."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package='MyLayers')
class ResidualBlock(keras.layers.Layer):
    def __init__(self, channels, stride=1, **kwargs):
        super().__init__(**kwargs)
        self.channels, self.stride = channels, stride
        self.flag = stride != 1
        self.conv1 = keras.layers.Conv2D(channels, 3, stride, padding='same', use_bias=False)
        self.bn1 = keras.layers.BatchNormalization()
        self.conv2 = keras.layers.Conv2D(channels, 3, padding='same', use_bias=False)
        self.bn2 = keras.layers.BatchNormalization()
        self.relu = keras.layers.ReLU()
        if self.flag:
            self.bn3 = keras.layers.BatchNormalization()
            self.conv3 = keras.layers.Conv2D(channels, 1, stride)

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(1,), initializer='ones', trainable=True)
        super().build(input_shape)

    def call(self, x, training=None):
        x1 = self.relu(self.bn1(self.conv1(x), training=training))
        x1 = self.bn2(self.conv2(x1), training=training)
        if self.flag:
            x = self.bn3(self.conv3(x), training=training)
        return tf.nn.relu(self.scale * x1 + x)

    def get_config(self):
        config = super().get_config()
        config.update({'channels': self.channels, 'stride': self.stride})
        return config


class Stage(tf.keras.Model):
    def __init__(self, channels, blocks, stride):
        super().__init__()
        self.blocks = [ResidualBlock(channels, stride if i == 0 else 1) for i in range(blocks)]

    def call(self, inputs, training=None):
        for block in self.blocks:
            inputs = block(inputs, training=training)
        return inputs


class ResNet(tf.keras.Model):
    def __init__(self, num_classes, **kwargs):
        super().__init__(name='tiny_resnet', **kwargs)
        self.stem = keras.Sequential([keras.layers.Conv2D(4, 3, padding='same'), keras.layers.BatchNormalization(), keras.layers.Activation('relu')], name='stem')
        self.stages = {'one': Stage(4, 1, 1), 'two': Stage(8, 2, 2)}
        self.pool = keras.layers.GlobalAvgPool2D()
        self.head = keras.layers.Dense(num_classes, name='head')

    def call(self, x, training=False):
        x = self.stem(x, training=training)
        x = self.stages['one'](x, training=training)
        x = self.stages['two'](x, training=training)
        return self.head(self.pool(x))

    def model(self):
        x = keras.Input(shape=(8, 8, 3))
        return keras.Model(inputs=[x], outputs=self.call(x))


rng = np.random.RandomState(0)
labels = rng.randint(0, 3, 32)
images = (rng.rand(32, 8, 8, 3) + np.eye(3)[labels][:, None, None, :] * 0.7).astype(np.float32)
net = ResNet(3)
net.build(input_shape=(None, 8, 8, 3))
net(images[:1])
print(net.built, len(net.weights), len(net.trainable_weights), net.count_params())
w = np.random.RandomState(9)
net.set_weights([v if v.ndim == 1 else w.normal(size=v.shape) * 0.2 for v in net.get_weights()])
net.model().summary()
print(net(images[:2]))
net.compile(optimizer=keras.optimizers.SGD(0.05), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['sparse_categorical_accuracy'])
history = net.fit(images, labels, epochs=3, batch_size=16, shuffle=False, verbose=0)
print(np.round(history.history['loss'], 2))
folder = tempfile.mkdtemp()
path = os.path.join(folder, 'net.weights.h5')
net.save_weights(path)
other = ResNet(3)
other(images[:1])
other.load_weights(path)
print('same outputs:', np.allclose(net.predict(images, verbose=0), other.predict(images, verbose=0), atol=1e-5))
for name, layer in [(layer.name.rstrip('_0123456789'), layer) for layer in net.layers]:
    print(name, len(layer.weights), layer.trainable)
try:
    ResNet(3).load_weights(os.path.join(folder, 'net.h5'))
except (ValueError, FileNotFoundError, OSError) as error:
    print('refused:', type(error).__name__)
net.stages['one'].trainable = False
print(len(net.trainable_weights), len(net.non_trainable_weights))
block = ResidualBlock(4, 2)
config = block.get_config()
clone = ResidualBlock.from_config(config)
print({k: config[k] for k in ('channels', 'stride', 'trainable')}, clone.channels, keras.utils.get_registered_name(ResidualBlock))
functional = keras.Sequential([keras.Input((8, 8, 3)), ResidualBlock(3), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(2)])
functional.save(os.path.join(folder, 'functional.keras'))
loaded = keras.models.load_model(os.path.join(folder, 'functional.keras'))
print(np.allclose(loaded(images), functional(images), atol=1e-5), loaded.layers[0].channels)
functional.save_weights(os.path.join(folder, 'functional.weights.h5'))
bigger = keras.Sequential([keras.Input((8, 8, 3)), ResidualBlock(3), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(5, name='new_head')])
try:
    bigger.load_weights(os.path.join(folder, 'functional.weights.h5'))
except ValueError as error:
    print('refused:', 'shape' in str(error).lower())
bigger.load_weights(os.path.join(folder, 'functional.weights.h5'), skip_mismatch=True)
print(np.allclose(bigger.layers[0].conv1.kernel, functional.layers[0].conv1.kernel))
total = sum(tf.size(v).numpy() for v in net.trainable_variables)
print(total, sum(int(tf.reduce_prod(v.shape)) for v in net.non_trainable_variables), sum(np.prod(v.get_shape().as_list()) if hasattr(v, 'get_shape') else np.prod(v.shape) for v in net.variables))
h5 = os.path.join(folder, 'functional.h5')
functional.save(h5)
print(keras.models.load_model(h5, compile=False).output_shape, os.path.getsize(h5) > 1000, tf.io.gfile.exists(h5))
