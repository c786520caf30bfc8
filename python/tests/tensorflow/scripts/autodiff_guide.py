import numpy as np
import tensorflow as tf

x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x ** 2
dy_dx = tape.gradient(y, x)
print(dy_dx.numpy())

w = tf.Variable(tf.ones((3, 2)) * 0.5, name='w')
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name='b')
x = [[1., 2., 3.]]
with tf.GradientTape(persistent=True) as tape:
    y = x @ w + b
    loss = tf.reduce_mean(y ** 2)
[dl_dw, dl_db] = tape.gradient(loss, [w, b])
print(w.shape, dl_dw.shape, dl_dw)
grad = tape.gradient(loss, {'w': w, 'b': b})
print(grad['b'])

layer = tf.keras.layers.Dense(2, activation='relu')
x = tf.constant([[1., 2., 3.]])
with tf.GradientTape() as tape:
    y = layer(x)
    loss = tf.reduce_mean(y ** 2)
grad = tape.gradient(loss, layer.trainable_variables)
for var, g in zip(layer.trainable_variables, grad):
    print(f'{var.name}, shape: {g.shape}')

x0 = tf.Variable(3.0, name='x0')
x1 = tf.Variable(3.0, name='x1', trainable=False)
x2 = tf.Variable(2.0, name='x2') + 1.0
x3 = tf.constant(3.0, name='x3')
with tf.GradientTape() as tape:
    y = (x0 ** 2) + (x1 ** 2) + (x2 ** 2)
for g in tape.gradient(y, [x0, x1, x2, x3]):
    print(g)
print([v.name.split(":")[0] for v in tape.watched_variables()])

x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x ** 2
print(tape.gradient(y, x).numpy())
x = tf.constant([1, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, x).numpy(), tape.gradient(y, x).numpy())
del tape

x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y0 = x ** 2
    y1 = 1 / x
print(tape.gradient(y0, x).numpy(), tape.gradient(y1, x).numpy(), tape.gradient({'y0': y0, 'y1': y1}, x).numpy())
with tf.GradientTape() as tape:
    y = x * [3., 4.]
print(tape.gradient(y, x).numpy())
x = tf.linspace(-10.0, 10.0, 5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.sigmoid(x)
print(tape.gradient(y, x).numpy().round(5))

x = tf.constant(1.0)
v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    if x > 0.0:
        result = v0
    else:
        result = v1 ** 2
print(tape.gradient(result, [v0, v1]))
x, y = tf.Variable(2.), tf.Variable(3.)
with tf.GradientTape() as tape:
    z = y * y
print(tape.gradient(z, x), )
with tf.GradientTape() as tape:
    z = y * y
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))

x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print('dy_dx:', dy_dx.numpy(), 'd2y_dx2:', d2y_dx2.numpy())
x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
grad = t.gradient(z, {'x': x, 'y': y})
print('dz/dx:', grad['x'], 'dz/dy:', grad['y'])
with tf.GradientTape() as t:
    z = x ** 2 + tf.stop_gradient(y ** 2)
print(t.gradient(z, [x, y]))


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))
x = tf.linspace(-1.0, 1.0, 4)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
print(tape.jacobian(y, delta).numpy().round(4))
m = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.matmul(m, m), axis=1)
print(tape.jacobian(y, m).shape)
try:
    with tf.GradientTape() as tape:
        z = v * v
    tape.gradient(z, v)
    tape.gradient(z, v)
except RuntimeError as error:
    print("second call:", str(error)[:30])
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu", kernel_initializer="ones"), tf.keras.layers.Dense(1, kernel_initializer="ones")])
images = tf.constant(np.arange(6, dtype="float32").reshape(2, 3))
with tf.GradientTape() as tape:
    tape.watch(images)
    out = model(images)
print(tape.gradient(out, images))
