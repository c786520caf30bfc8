"""Better performance with tf.function: the guide's examples of tracing, control flow and state."""
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
def double(a):
    if a.dtype != tf.string:
        print("Tracing with", a.dtype, a.shape)
    return a + a


print(double(tf.constant(1)))
print(double(tf.constant(1.1)))
print(double(tf.constant("a")))
print(double(tf.constant(2)))
double_strings = double.get_concrete_function(tf.constant("a"))
print(double_strings(tf.constant("b")))


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
print(next_collatz(tf.constant([1, 2, 5])).numpy())
for bad in (tf.constant([[1, 2], [3, 4]]), tf.constant([1.0, 2.0])):
    try:
        next_collatz(bad)
    except (TypeError, ValueError) as error:
        print('refused', type(error).__name__)


@tf.function
def f(x):
    while tf.reduce_sum(x) > 1:
        x = tf.tanh(x)
    return x


print(f(tf.constant([0.9, 0.8, 0.7])))


@tf.function
def fizzbuzz(n):
    out = tf.TensorArray(tf.string, size=0, dynamic_size=True)
    for i in tf.range(1, n + 1):
        if i % 15 == 0:
            out = out.write(i - 1, 'FizzBuzz')
        elif i % 5 == 0:
            out = out.write(i - 1, 'Buzz')
        elif i % 3 == 0:
            out = out.write(i - 1, 'Fizz')
        else:
            out = out.write(i - 1, tf.strings.as_string(i))
    return out.stack()


print(fizzbuzz(tf.constant(15)).numpy())


@tf.function
def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        if c > 100:
            break
        s += c
    return s


print(sum_even(tf.constant([10, 12, 15, 20, 102, 4])))


@tf.function
def first_above(x, limit):
    found = tf.constant(-1.0)
    for i in tf.range(tf.shape(x)[0]):
        if x[i] > limit:
            found = x[i]
            break
    return found


print(first_above(tf.constant([1., 5., 9.]), 4.).numpy(), first_above(tf.constant([1.]), 4.).numpy())


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


print(dynamic_rnn(lambda inp, state: inp + state, tf.ones([2, 3, 2]), tf.zeros([2, 2])).numpy()[0])


class Counter(tf.Module):
    def __init__(self):
        self.count = None

    @tf.function
    def __call__(self):
        if self.count is None:
            self.count = tf.Variable(0)
        return self.count.assign_add(1)


c = Counter()
print(c().numpy(), c().numpy(), c.count)

external_list = []


@tf.function
def side_effect(x):
    print('Python side effect')
    external_list.append(x)
    tf.print('executed with', x)
    return x


side_effect(1)
side_effect(1)
side_effect(2)
print(len(external_list))


@tf.function
def buggy_py_range(n):
    total = tf.constant(0)
    for i in tf.data.Dataset.range(n):
        total += tf.cast(i, tf.int32)
    return total


print(buggy_py_range(5).numpy())


@tf.function
def branches(x, training=False, scale: float = 2.0):
    if training:
        x = x * scale
    if tf.reduce_mean(x) > 1.0 and tf.rank(x) == 1:
        y = x - 1.0
    else:
        y = x + 1.0
    tf.debugging.assert_all_finite(y, 'finite')
    return {'y': y, 'n': tf.size(y)}


print(branches(tf.constant([1.0, 2.0]))['y'].numpy(), branches(tf.constant([0.1, 0.2]), training=True, scale=3.0))
print(branches.python_function.__name__, callable(branches.get_concrete_function))


@tf.function(reduce_retracing=True)
def g(x):
    return tf.reduce_sum(tf.square(x))


print([float(g(tf.ones([n]))) for n in (1, 2, 3)])
tf.config.run_functions_eagerly(True)
print(tf.config.functions_run_eagerly(), g(tf.constant([3.0])).numpy())
tf.config.run_functions_eagerly(False)


@tf.function
def newton(x):
    steps = 0
    while tf.abs(x * x - 2.0) > 1e-4 and steps < 20:
        x = x - (x * x - 2.0) / (2.0 * x)
        steps += 1
    return x, steps


root, n = newton(tf.constant(1.0))
print(round(float(root), 4), int(n))
i, total = tf.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t + i), [tf.constant(0), tf.constant(0)])
print(i, total)
print(tf.case([(tf.constant(False), lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))], default=lambda: tf.constant(3)))
print(tf.switch_case(tf.constant(1), {0: lambda: tf.constant(10), 1: lambda: tf.constant(20)}).numpy())
print(tf.executing_eagerly(), tf.inside_function())


@tf.function
def inside():
    print('eagerly inside:', tf.executing_eagerly())
    return tf.constant(0)


inside()
map_fn = tf.function(lambda t: tf.map_fn(lambda x: x * x, t))
print(map_fn(tf.constant([1, 2, 3])).numpy(), tf.vectorized_map(lambda x: tf.reduce_sum(x), tf.ones((3, 2))).numpy())
print(tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3, 4])).numpy(), tf.foldl(lambda a, x: a * x, tf.constant([1, 2, 3, 4])).numpy(), np.asarray(tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3]))))
