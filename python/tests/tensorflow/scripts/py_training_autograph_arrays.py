# Control flow in tf.function: loops with TensorArray, tf.while_loop with gradients, break, map_fn, scan, cond, switch_case, beam search
import numpy as np
import tensorflow as tf


@tf.function
def rnn_by_hand(xs, w, u):
    h = tf.zeros([tf.shape(xs)[0], 3])
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for t in tf.range(tf.shape(xs)[1]):
        h = tf.tanh(tf.matmul(xs[:, t], w) + tf.matmul(h, u))
        ta = ta.write(t, h)
    return tf.transpose(ta.stack(), [1, 0, 2]), h


rng = np.random.default_rng(0)
xs = tf.constant(rng.normal(size=(2, 5, 4)), tf.float32)
w, u = tf.Variable(rng.normal(size=(4, 3)) * 0.5, dtype=tf.float32), tf.Variable(rng.normal(size=(3, 3)) * 0.5, dtype=tf.float32)
with tf.GradientTape() as tape:
    seq, last = rnn_by_hand(xs, w, u)
    loss = tf.reduce_mean(seq ** 2) + tf.reduce_sum(last)
gw, gu = tape.gradient(loss, [w, u])
print(seq.shape, np.round(loss.numpy(), 5), np.round(tf.norm(gw).numpy(), 5), np.round(tf.norm(gu).numpy(), 5))


@tf.function
def collatz(n):
    steps = tf.constant(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


print(collatz(tf.constant(27)).numpy(), [collatz(tf.constant(i)).numpy() for i in (1, 2, 3, 7)])
x = tf.Variable(1.5)
with tf.GradientTape() as tape:
    i, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x + 1.0), [tf.constant(0), tf.constant(1.0)])
print(i.numpy(), y.numpy(), tape.gradient(y, x).numpy())


@tf.function
def power_sum(x, n):
    total = tf.constant(0.0)
    i = tf.constant(0)
    while i < n:
        total += x ** tf.cast(i, tf.float32)
        i += 1
    return total


with tf.GradientTape() as tape:
    value = power_sum(x, tf.constant(5))
print(np.round(value.numpy(), 4), np.round(tape.gradient(value, x).numpy(), 4))


@tf.function
def loop_gradient(x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, y = tf.while_loop(lambda i, y: tf.less(i, n), lambda i, y: (i + 1, tf.sin(y) * x), (0, x))
    return y, tape.gradient(y, x)


print([np.round(v.numpy(), 5) for v in loop_gradient(tf.constant(1.2), tf.constant(3))])


@tf.function
def dynamic(x):
    out = []
    for i in range(3):
        out.append(x * i)
    for v in tf.range(3):
        if v == 1:
            continue
        if v > 5:
            break
        tf.print("v", v)
    return tf.stack(out)


print(dynamic(tf.constant([1.0, 2.0])).numpy())
print(tf.map_fn(lambda r: tf.reduce_sum(r) + 1, xs[0]).numpy().round(4), tf.map_fn(lambda t: (t[0] + t[1], t[0] * t[1]), (tf.range(3), tf.range(3, 6)), fn_output_signature=(tf.int32, tf.int32))[1].numpy())
print(tf.scan(lambda a, b: a + b, tf.range(1, 6)).numpy(), tf.foldl(lambda a, b: a * b, tf.constant([1.0, 2.0, 3.0])).numpy(), tf.vectorized_map(lambda a: tf.reduce_max(a), xs).numpy().round(4), tf.foldr(lambda a, b: a - b, tf.constant([1.0, 2.0, 3.0])).numpy())
print(tf.cond(tf.reduce_sum(xs) > 100, lambda: tf.constant("big"), lambda: tf.constant("small")).numpy(), tf.case([(tf.constant(False), lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))], default=lambda: tf.constant(3)).numpy(), tf.switch_case(tf.constant(1), {0: lambda: tf.constant(10), 1: lambda: tf.constant(20)}).numpy())


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
def beam(logits):
    batch = tf.shape(logits)[0]
    values, ids = tf.math.top_k(logits, k=2)
    ta = tf.TensorArray(tf.int32, size=batch)
    for b in tf.range(batch):
        ta = ta.write(b, ids[b, 0] if values[b, 0] > 0.5 else -1)
    return ta.stack()


print(beam(tf.constant([[0.1, 0.9, 0.3], [0.2, 0.1, 0.0]])).numpy())


class Counter(tf.Module):
    def __init__(self):
        super().__init__(name="counter")
        self.n = tf.Variable(0, trainable=False)
        self.scale = tf.Variable(2.0)

    @tf.function
    def __call__(self, x):
        self.n.assign_add(1)
        if tf.reduce_sum(x) > 0:
            return x * self.scale
        return -x


c = Counter()
print(c(tf.constant([1.0, 2.0])).numpy(), c(tf.constant([-1.0])).numpy(), c.n.numpy(), len(c.trainable_variables), len(c.variables))


@tf.function
def newton(x):
    for _ in tf.range(10):
        nx = x - (x * x - 2.0) / (2.0 * x)
        if tf.abs(nx - x) < 1e-6:
            break
        x = nx
    return x


print(newton(tf.constant(1.0)).numpy().round(5))


def py(a):
    return a.numpy() * 2


print(tf.py_function(py, [tf.constant(4.0)], tf.float32).numpy(), tf.numpy_function(lambda a: a + 1, [tf.constant([1, 2])], tf.int64 if np.int_ == np.int32 else tf.int32).numpy())
a = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(tf.constant([1.0, 2.0, 3.0]))
print(a.read(1).numpy(), a.size().numpy(), a.gather([0, 2]).numpy())


@tf.function
def layer_loop(x, depth):
    layer_sum = tf.zeros_like(x)
    for i in tf.range(depth):
        layer_sum += tf.cast(i, tf.float32) * x
        tf.debugging.assert_less(i, 10)
    return layer_sum


print(layer_loop(tf.ones([2]), tf.constant(4)).numpy())
