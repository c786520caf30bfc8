import numpy as np
import tensorflow as tf


@tf.function
def add(a, b):
    return a + b


print(add(tf.ones([2, 2]), tf.ones([2, 2])))
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    result = add(v, 1.0)
print(tape.gradient(result, v))


@tf.function
def dense_layer(x, w, b):
    return add(tf.matmul(x, w), b)


print(dense_layer(tf.ones([3, 2]), tf.ones([2, 2]), tf.ones([2])))


@tf.function
def double(a):
    print("Tracing with", a.dtype)
    return a + a


print(double(tf.constant(1)))
print(double(tf.constant(1.1)))
print(double(tf.constant(2)))


class Counter(tf.Module):
    def __init__(self):
        self.counter = tf.Variable(0)

    @tf.function
    def __call__(self):
        return self.counter.assign_add(1)


c = Counter()
c()
c()
print(int(c.counter.numpy()))


@tf.function
def power(x, y):
    result = tf.eye(2, dtype=tf.float32)
    for _ in range(y):
        result = tf.matmul(x, result)
    return result


print(power(tf.constant([[2.0, 0.0], [0.0, 3.0]]), 3))


@tf.function
def f(x):
    if tf.reduce_sum(x) > 0:
        return x * 2
    else:
        return -x


print(f(tf.constant([1.0, 2.0])), f(tf.constant([-1.0, -2.0])))


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


print(int(collatz(tf.constant(6))))


@tf.function(jit_compile=True)
def norm(x):
    return tf.sqrt(tf.reduce_sum(tf.square(x)))


print(norm(tf.constant([3.0, 4.0])).numpy())


class MyModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2, kernel_initializer="ones")

    @tf.function
    def call(self, x):
        return self.dense(x)


print(MyModel()(tf.ones([1, 3])))


@tf.function(input_signature=[tf.TensorSpec(shape=(None,), dtype=tf.float32)])
def total(x):
    return {"sum": tf.reduce_sum(x), "count": tf.size(x)}


out = total(tf.constant([1.0, 2.0]))
print(sorted(out), out["sum"].numpy(), total(tf.constant([1.0, 2.0, 3.0]))["count"].numpy())

weights = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.Adam(0.1)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((weights - x) ** 2)
    grads = tape.gradient(loss, [weights])
    optimizer.apply_gradients(zip(grads, [weights]))
    return loss


for i in range(3):
    print(round(step(tf.constant([0.0, 0.0])).numpy().item(), 4), weights.numpy().round(4))


@tf.function
def multi(x, training=False, scale=2.0):
    if training:
        x = x * scale
    return x, [x + 1, {"a": x - 1}]


print(multi(np.array([1.0, 2.0], "float32"), training=True))
tf.config.run_functions_eagerly(True)
print(double(tf.constant(2)))
print(double(tf.constant(2)))
tf.config.run_functions_eagerly(False)
rng = tf.random.Generator.from_seed(1)
draw = tf.function(lambda: tf.random.uniform([]))
a, b = draw(), draw()
print("random numbers differ", bool(a != b), rng.normal([2]).shape)
