"""tf.function guide: polymorphism, retracing, loops over datasets, while/break/continue, TensorArray, variables, concrete functions."""
import numpy as np
import tensorflow as tf


@tf.function
def collatz(x):
    n = tf.constant(0)
    while x != 1:
        if x % 2 == 0:
            x //= 2
        else:
            x = x * 3 + 1
        n += 1
    return n


print(collatz(tf.constant(27)).numpy())


@tf.function
def first_negative(v):
    found = tf.constant(-1)
    for i in tf.range(tf.shape(v)[0]):
        if v[i] >= 0:
            continue
        found = i
        break
    return found


print(first_negative(tf.constant([1.0, 2.0, -3.0, -1.0])).numpy())


@tf.function(input_signature=[tf.TensorSpec(shape=[None], dtype=tf.int32)])
def g(x):
    print("Tracing with", x.dtype)
    return x


print(g(tf.constant([1, 2])).numpy(), g(tf.constant([1, 2, 3])).numpy())
try:
    g(tf.constant([[1, 2], [3, 4]]))
except (TypeError, ValueError) as e:
    print("refused")


@tf.function
def f(x):
    tf.print("Executing")
    return x * x + 1


print(f(2).numpy(), f(tf.constant(3.0)).numpy())
c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
print(c(tf.constant(4.0)).numpy())


@tf.function
def dynamic_rnn(rnn_step, input_data, initial_state):
    input_data = tf.transpose(input_data, [1, 0, 2])
    max_seq_len = tf.shape(input_data)[0]
    states = tf.TensorArray(tf.float32, size=max_seq_len)
    state = initial_state
    for i in tf.range(max_seq_len):
        state = rnn_step(input_data[i], state)
        states = states.write(i, state)
    return tf.transpose(states.stack(), [1, 0, 2])


print(dynamic_rnn(lambda i, s: i + s, tf.ones([2, 4, 3]), tf.zeros([2, 3]))[0, :, 0].numpy())


class Model(tf.Module):
    def __init__(self):
        self.v = tf.Variable(0)
        self.counter = 0
        self.w = None

    @tf.function
    def __call__(self, x=1):
        if self.w is None:
            self.w = tf.Variable(tf.random.normal([2]) * 0)
        self.v.assign_add(x)
        return self.v + tf.cast(tf.reduce_sum(self.w), tf.int32)


m = Model()
print(m(2).numpy(), m(tf.constant(3)).numpy(), len(m.variables))


def train_loop(ds):
    total = tf.constant(0.0)
    count = 0
    for x, y in ds:
        total += tf.reduce_sum(x) * y
        count += 1
    return total, count


ds = tf.data.Dataset.from_tensor_slices((np.ones((4, 2), "float32"), np.arange(4, dtype="float32")))
t, n = tf.function(train_loop)(ds)
print(float(t), int(n))


@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        if i % 15 == 0:
            tf.print("FizzBuzz")
        elif i % 3 == 0:
            tf.print("Fizz")
        elif i % 5 == 0:
            tf.print("Buzz")
        else:
            tf.print(i)


fizzbuzz(tf.constant(5))


@tf.function
def power(x, n):
    def cond(i, acc):
        return tf.less(i, n)

    def body(i, acc):
        return [i + 1, acc * x]

    return tf.while_loop(cond, body, [tf.constant(0), tf.constant(1.0)])[1]


x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = power(x, 3)
print(y.numpy(), tape.gradient(y, x).numpy())


@tf.function
def grow(n):
    out = tf.zeros([0], tf.int32)
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(out, tf.TensorShape([None]))])
        out = tf.concat([out, [i * i]], axis=0)
    return out


print(grow(4).numpy())


@tf.function
def nested(x):
    s = 0.0
    for row in x:
        for v in row:
            if v > 2.0 and v < 5.0 or v == 1.0:
                s += v
    return s


print(nested(tf.constant([[1.0, 2.0], [3.0, 6.0]])).numpy())


@tf.function
def assertion(x):
    tf.debugging.Assert(tf.reduce_all(x > 0), [x])
    tf.debugging.assert_positive(x)
    return tf.reduce_sum(x)


print(assertion(tf.constant([1.0])).numpy())
try:
    assertion(tf.constant([-1.0]))
except tf.errors.InvalidArgumentError:
    print("InvalidArgumentError")
pf = tf.py_function(lambda a: a.numpy() ** 2, [tf.constant(3.0)], tf.float32)
print(pf.numpy(), tf.numpy_function(lambda a: np.flip(a), [np.arange(3)], tf.int64).numpy())
print(int(tf.cond(tf.constant(True), lambda: 1, lambda: 2)), int(tf.case([(tf.constant(False), lambda: 1)], default=lambda: 7)))
ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
for i in range(3):
    ta = ta.write(i, i * 10)
print(ta.read(1).numpy(), ta.size().numpy(), ta.stack().numpy(), ta.gather([0, 2]).numpy(), ta.unstack(tf.constant([5, 6])).concat if False else "")
print(tf.autograph.to_code is not None, f.experimental_get_tracing_count() >= 1, f.python_function.__name__)
with tf.init_scope():
    print(tf.executing_eagerly(), tf.inside_function())
tf.config.run_functions_eagerly(True)
print(first_negative(tf.constant([1.0])).numpy(), tf.config.functions_run_eagerly())
tf.config.run_functions_eagerly(False)


@tf.function(reduce_retracing=True, autograph=False)
def h(a, flag=True, *, scale=2.0):
    return a * scale if flag else a


print(h(tf.ones(2)).numpy(), h(tf.ones(3), flag=False).numpy(), h(tf.ones(1), scale=3.0).numpy())
e = tf.map_fn(lambda t: (t[0] + t[1], t[0] * t[1]), (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])), fn_output_signature=(tf.float32, tf.float32))
print(e[0].numpy(), e[1].numpy(), tf.scan(lambda a, b: a + b, tf.constant([1, 2, 3])).numpy(), tf.foldr(lambda a, b: a - b, tf.constant([1, 2, 3])).numpy())
