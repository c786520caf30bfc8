# Higher order: Hessian, Jacobian, Hessian-vector products, MAML's inner loop, gradient penalty, Newton's method
import numpy as np
import tensorflow as tf

x = tf.Variable([[1.0, 2.0], [0.5, -1.0]])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = tf.reduce_sum(x ** 3 + tf.sin(x) * x)
    g = t1.gradient(y, x)
h = t2.jacobian(g, x)
print(g.numpy().round(4), h.shape, tf.reshape(h, [4, 4]).numpy().round(4))

layer1, layer2 = tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dense(2)
rng = np.random.default_rng(1)
inp = tf.constant(rng.normal(size=(6, 3)), tf.float32)
layer2(layer1(inp))
for l in (layer1, layer2):
    l.set_weights([rng.normal(size=w.shape) * 0.5 for w in l.get_weights()])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        loss = tf.reduce_mean(layer2(layer1(inp)) ** 2)
    g = t1.gradient(loss, layer1.kernel)
hess = t2.jacobian(g, layer1.kernel)
n = tf.reduce_prod(layer1.kernel.shape)
flat = tf.reshape(hess, [n, n])
print(flat.shape, np.allclose(flat, tf.transpose(flat), atol=1e-5), tf.linalg.trace(flat).numpy().round(4))
update = tf.linalg.solve(flat + 0.5 * tf.eye(n), tf.reshape(g, [n, 1]))
layer1.kernel.assign_sub(tf.reshape(update, layer1.kernel.shape))
print(tf.reduce_mean(layer2(layer1(inp)) ** 2).numpy().round(5), loss.numpy().round(5))


def hvp(f, v, direction):
    with tf.GradientTape() as outer:
        outer.watch(v)
        with tf.GradientTape() as inner:
            inner.watch(v)
            value = f(v)
        grad = inner.gradient(value, v)
        dot = tf.reduce_sum(grad * direction)
    return outer.gradient(dot, v)


print(hvp(lambda z: tf.reduce_sum(tf.exp(z) * z), tf.constant([0.1, 0.2, 0.3]), tf.constant([1.0, 0.0, -1.0])).numpy().round(4))
with tf.GradientTape() as tape:
    z = tf.constant([1.0, 2.0, 3.0])
    tape.watch(z)
    out = tf.stack([tf.reduce_sum(z ** 2), tf.reduce_prod(z)])
print(tape.jacobian(out, z).numpy())
b = tf.constant(rng.normal(size=(5, 3)), tf.float32)
with tf.GradientTape() as tape:
    tape.watch(b)
    o = layer2(layer1(b))
print(tape.batch_jacobian(o, b).shape)

# MAML for sine regression, weights passed by hand
shapes = [(1, 8), (8,), (8, 1), (1,)]
weights = [tf.Variable(rng.normal(size=s) * 0.5, dtype=tf.float32) for s in shapes]


def forward(x, w):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w[0]) + w[1]), w[2]) + w[3]


optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def meta_step(xs, ys, xq, yq):
    with tf.GradientTape() as outer:
        total = 0.0
        for i in range(3):
            fast = list(weights)
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner.watch(fast)
                    support = tf.reduce_mean(tf.square(forward(xs[i], fast) - ys[i]))
                grads = inner.gradient(support, fast)
                fast = [w - 0.05 * g for w, g in zip(fast, grads)]
            total += tf.reduce_mean(tf.square(forward(xq[i], fast) - yq[i]))
        total /= 3.0
    grads = outer.gradient(total, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return total


for step in range(4):
    amp, phase = rng.uniform(0.5, 2, (3, 1, 1)), rng.uniform(0, 3, (3, 1, 1))
    xs, xq = rng.uniform(-3, 3, (3, 5, 1)), rng.uniform(-3, 3, (3, 5, 1))
    loss = meta_step(*[tf.constant(a, tf.float32) for a in (xs, amp * np.sin(xs + phase), xq, amp * np.sin(xq + phase))])
    tf.print("meta loss", loss)
    print(f"{float(loss):.5f}")

with tf.GradientTape(persistent=True) as tape:
    tape.watch(z)
    y1, y2 = z * z, tf.exp(z)
print(tape.gradient(y1, z).numpy(), tape.gradient(y2, z).numpy().round(4), tape.gradient({"a": y1, "b": y2}, z).numpy().round(4))
print(tape.gradient(y1, z, output_gradients=tf.constant([1.0, 0.0, 2.0])).numpy(), tape.gradient(y1, [tf.constant(1.0)], unconnected_gradients=tf.UnconnectedGradients.ZERO)[0].numpy())
del tape
v = tf.Variable(2.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    y = v * v
print(tape.gradient(y, v))
with tf.GradientTape() as tape:
    y = tf.cast(tf.constant(3), tf.float32) * v
    v.assign_add(1.0)
    y += v
print(tape.gradient(y, v).numpy(), [w.name for w in tape.watched_variables()] == [v.name])
try:
    tape.gradient(y, v)
except RuntimeError as e:
    print(type(e).__name__, str(e)[:40])
