"""The advanced automatic differentiation guide, shortened."""
import numpy as np
import tensorflow as tf

x = tf.Variable(2.0)
y = tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
grad = t.gradient(z, {'x': x, 'y': y})
print('dz/dx:', grad['x'], 'dz/dy:', grad['y'])
with tf.GradientTape() as t:
    y_sq = y ** 2
    z = x ** 2 + tf.stop_gradient(y_sq)
print(t.gradient(z, [x, y]))
with tf.GradientTape() as t:
    t.watch(x)
    z = x * 3
print(t.gradient(z, y, unconnected_gradients=tf.UnconnectedGradients.ZERO))


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))

x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print('dy_dx:', dy_dx.numpy(), 'd2y_dx2:', d2y_dx2.numpy())

rng = np.random.RandomState(0)
layer = tf.keras.layers.Dense(4, activation=tf.nn.relu)
inp = tf.constant(rng.normal(size=(5, 3)).astype('float32'))
layer.build(inp.shape)
layer.set_weights([rng.normal(size=(3, 4)), rng.normal(size=4)])
with tf.GradientTape() as t2:
    with tf.GradientTape(watch_accessed_variables=False) as t1:
        t1.watch(inp)
        out = layer(inp)
    g1 = t1.gradient(out, inp)
    g1_mag = tf.norm(g1)
dg1_mag = t2.gradient(g1_mag, layer.trainable_variables)
print([var.shape for var in dg1_mag if var is not None], float(g1_mag))

delta = tf.Variable(0.0)
x = tf.linspace(-2.0, 2.0, 5)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
dy_dx = tape.jacobian(y, delta)
print(y.shape, dy_dx.shape, dy_dx.numpy())
with tf.GradientTape(persistent=True) as tape:
    y = layer(inp)
j = tape.jacobian(y, layer.kernel)
print(j.shape, np.allclose(tf.reduce_sum(j, axis=[0, 1]), tape.gradient(y, layer.kernel)))
print(tape.jacobian(y, layer.trainable_variables)[1].shape)
del tape

layer1 = tf.keras.layers.Dense(3, activation='tanh', kernel_initializer=tf.keras.initializers.Constant(0.3))
layer2 = tf.keras.layers.Dense(2, activation='tanh', kernel_initializer=tf.keras.initializers.Constant(-0.2))
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        loss = tf.reduce_mean(layer2(layer1(inp)) ** 2)
    g = t1.gradient(loss, layer1.kernel)
h = t2.jacobian(g, layer1.kernel)
print(f'layer.kernel.shape: {layer1.kernel.shape}', f'h.shape: {h.shape}')
n_params = tf.reduce_prod(layer1.kernel.shape)
g_vec = tf.reshape(g, [n_params, 1])
h_mat = tf.reshape(h, [n_params, n_params])
eps = 1e-3
update = tf.linalg.solve(h_mat + tf.eye(h_mat.shape[0]) * eps, g_vec)
before = float(loss)
_ = layer1.kernel.assign_sub(tf.reshape(update, layer1.kernel.shape) * 0.01)
print(before, np.allclose(h_mat, tf.transpose(h_mat), atol=1e-5))

with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(inp)
    y = layer2(layer1(inp))
jb = tape.batch_jacobian(y, inp)
print(jb.shape, np.allclose(tf.reduce_sum(jb, 1), tape.gradient(y, inp), atol=1e-6))

v = tf.constant([1.0, -1.0, 0.5])
w = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = tf.reduce_sum(w ** 3) + w[0] * w[1]
    g = inner.gradient(loss, w)
    gv = tf.reduce_sum(g * v)
print('Hv', outer.gradient(gv, w).numpy())
with tf.autodiff.ForwardAccumulator(primals=w, tangents=v) as acc:
    loss = tf.reduce_sum(w ** 3)
print('jvp', acc.jvp(loss).numpy())


def loop(x):
    total = tf.constant(0.0)
    for i in tf.range(4):
        if i % 2 == 0:
            total += x ** tf.cast(i, tf.float32)
    return total


x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = loop(x)
print(y.numpy(), tape.gradient(y, x).numpy())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.convert_to_tensor([x * 2, x ** 2])
print(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0])).numpy())
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    a = tf.sin(x)
    b = tf.exp(a)
print([round(float(tape.gradient(t, s)), 4) for t, s in ((a, x), (b, x), (b, a))])
print([g.numpy() for g in tape.gradient([a, b], [x])], [v.name for v in tape.watched_variables()])
x = tf.Variable([2, 3])
with tf.GradientTape() as tape:
    y = tf.cast(x, tf.float32) * 2
print(tape.gradient(y, x))
params = tf.Variable(tf.ones([4, 2]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.gather(params, [0, 2, 2]) * 3.0)
g = tape.gradient(loss, params)
print(tf.convert_to_tensor(g).numpy().tolist())
grads, norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0]), None, tf.constant([12.0])], 1.0)
print(grads[1], norm.numpy(), grads[0].numpy())
