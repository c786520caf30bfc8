import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

policy = mixed_precision.Policy('mixed_float16')
mixed_precision.set_global_policy(policy)
print('Compute dtype: %s' % policy.compute_dtype)
print('Variable dtype: %s' % policy.variable_dtype)
inputs = keras.Input(shape=(16,), name='digits')
dense1 = layers.Dense(8, activation='relu', name='dense_1')
x = dense1(inputs)
dense2 = layers.Dense(8, activation='relu', name='dense_2')
x = dense2(x)
print(dense1.dtype_policy)
print('x.dtype: %s' % x.dtype)
print('dense1.kernel.dtype: %s' % dense1.kernel.dtype)
outputs = layers.Dense(3, name='dense_logits')(x)
outputs = layers.Activation('softmax', dtype='float32', name='predictions')(outputs)
print('Outputs dtype: %s' % outputs.dtype)
model = keras.Model(inputs=inputs, outputs=outputs)
rng = np.random.RandomState(0)
model.set_weights([rng.normal(size=w.shape) * 0.4 for w in model.get_weights()])
x_train = rng.normal(size=(96, 16)).astype('float32')
y_train = np.argmax(x_train[:, :3], axis=1)
model.compile(loss='sparse_categorical_crossentropy', optimizer=keras.optimizers.RMSprop(0.01), metrics=['accuracy'])
print(type(model.optimizer).__name__)
history = model.fit(x_train, y_train, batch_size=32, epochs=5, shuffle=False, verbose=0)
print('learned:', history.history['loss'][-1] < 0.8 * history.history['loss'][0], round(history.history['loss'][0], 1))
test_scores = model.evaluate(x_train, y_train, verbose=0)
print('accuracy above chance:', test_scores[1] > 0.5)
print(model.predict(x_train[:2], verbose=0).dtype, model(x_train[:2]).dtype)

x = tf.constant(256, dtype='float16')
print((x ** 2).numpy())
x = tf.constant(1e-5, dtype='float16')
print((x ** 2).numpy())

optimizer = keras.optimizers.SGD(0.1)
optimizer = mixed_precision.LossScaleOptimizer(optimizer, initial_scale=1024.0)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(32)
print(optimizer.initial_scale, optimizer.dynamic_growth_steps, optimizer.inner_optimizer.name)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        predictions = model(x)
        loss = loss_object(y, predictions)
        scaled_loss = optimizer.scale_loss(loss)
    scaled_gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(scaled_gradients, model.trainable_variables))
    return loss


first = [float(train_step(x, y)) for x, y in train_dataset]
for epoch in range(3):
    last = [float(train_step(x, y)) for x, y in train_dataset]
print('loop learned', np.mean(last) < np.mean(first), optimizer.inner_optimizer.iterations.numpy())

custom = layers.Layer()
print(custom.compute_dtype, custom.variable_dtype, custom.dtype)


class CustomLayer(layers.Layer):
    def __init__(self):
        super().__init__(dtype='mixed_bfloat16')

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 2), initializer='ones', name='w')

    def call(self, x):
        print('in call', x.dtype, self.w.dtype)
        return tf.matmul(x, tf.cast(self.w, x.dtype))


out = CustomLayer()(tf.ones((1, 4)))
print(out)
mixed_precision.set_global_policy('float32')
print(keras.backend.floatx(), mixed_precision.global_policy().name, layers.Dense(1).compute_dtype)
a = tf.cast([1.5, 2.25, -3.0], tf.bfloat16)
print(a, tf.reduce_sum(a).numpy(), tf.float16.max, tf.bfloat16.as_numpy_dtype, tf.float16.is_floating, tf.half == tf.float16)
keras.backend.set_floatx('float64')
d = keras.Sequential([layers.Dense(2, kernel_initializer='ones')])
print(d(np.ones((1, 3))).dtype, keras.backend.epsilon())
keras.backend.set_floatx('float32')
per_layer = keras.Sequential([keras.Input((4,)), layers.Dense(4, dtype='bfloat16'), layers.Dense(1, dtype='float32')])
print([w.dtype for w in per_layer.weights], [str(l.dtype_policy.name) for l in per_layer.layers])
