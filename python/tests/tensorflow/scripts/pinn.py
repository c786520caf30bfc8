# A physics-informed network: u'' = -u, u(0)=0, u'(0)=1
import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx('float32')
rng = np.random.default_rng(0)
model = tf.keras.Sequential()
model.add(tf.keras.layers.InputLayer((1,)))
for _ in range(2):
    model.add(tf.keras.layers.Dense(16, activation=tf.math.tanh))
model.add(tf.keras.layers.Dense(1, activation=None))
model.build()
model.set_weights([rng.normal(size=w.shape) * 0.5 for w in model.get_weights()])
t_r = tf.reshape(tf.linspace(0.0, 2.0, 24), (-1, 1))
t_0 = tf.zeros((1, 1), dtype=tf.float32)


@tf.function
def residual(t):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(t)
        u = model(t)
        u_t = tape.gradient(u, t)
    u_tt = tape.gradient(u_t, t)
    del tape
    return u_tt + u


def compute_loss():
    r = residual(t_r)
    phi_r = tf.reduce_mean(tf.square(r))
    with tf.GradientTape() as tape:
        tape.watch(t_0)
        u0 = model(t_0)
    du0 = tape.gradient(u0, t_0)
    return phi_r + tf.reduce_mean(tf.square(u0)) + tf.reduce_mean(tf.square(du0 - 1.0))


def get_grad():
    with tf.GradientTape(persistent=True) as tape:
        loss = compute_loss()
    g = tape.gradient(loss, model.trainable_variables)
    del tape
    return loss, g


lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([20, 40], [1e-2, 5e-3, 1e-3])
optim = tf.keras.optimizers.Adam(learning_rate=lr)


@tf.function
def train_step():
    loss, grad_theta = get_grad()
    optim.apply_gradients(zip(grad_theta, model.trainable_variables))
    return loss


hist = []
for i in range(30):
    loss = train_step()
    hist.append(loss.numpy())
    if i % 10 == 0:
        print('It {:05d}: loss = {:10.6e}'.format(i, loss))
print("falls", hist[-1] < hist[0], "%.4f" % hist[-1])
print("lr", float(lr(tf.constant(25))), round(float(optim.learning_rate), 6))

x = tf.Variable(1.5)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = tf.sin(x) * tf.exp(x)
    dy = t1.gradient(y, x)
d2y = t2.gradient(dy, x)
print("%.4f %.4f" % (dy.numpy(), d2y.numpy()), np.isclose(d2y, 2 * np.cos(1.5) * np.exp(1.5)))

W = tf.Variable(tf.reshape(tf.range(6, dtype=tf.float32), (2, 3)))
with tf.GradientTape() as tape:
    out = tf.tanh(tf.matmul(tf.constant([[0.1, 0.2]]), W))
print(tape.jacobian(out, W).shape)
u = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    v = tf.stack([u[0] ** 2 + u[1], u[0] * u[1]])
print(tape.jacobian(v, u).numpy())
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        f = u[0] ** 3 + u[0] * u[1] ** 2
    g = t1.gradient(f, u)
print(t2.jacobian(g, u).numpy())
a = tf.constant([[3.0, 1.0], [1.0, 2.0]])
print(tf.linalg.solve(a, tf.constant([[9.0], [8.0]])).numpy().ravel(), tf.linalg.cholesky(a).numpy().round(4), tf.linalg.trace(a).numpy())
