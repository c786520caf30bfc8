import tensorflow as tf

my_tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
my_variable = tf.Variable(my_tensor)
bool_variable = tf.Variable([False, False, False, True])
print("Shape: ", my_variable.shape)
print("DType: ", my_variable.dtype)
print("As NumPy: ", my_variable.numpy())
print("A variable:", my_variable)
print("\nViewed as a tensor:", tf.convert_to_tensor(my_variable))
print("\nIndex of highest value:", tf.math.argmax(my_variable))
print("\nCopying and reshaping: ", tf.reshape(my_variable, [1, 4]))

a = tf.Variable([2.0, 3.0])
a.assign([1, 2])
try:
    a.assign([1.0, 2.0, 3.0])
except Exception as e:
    print("cannot change its shape:", isinstance(e, ValueError))
a = tf.Variable([2.0, 3.0])
b = tf.Variable(a)
a.assign([5, 6])
print(a.numpy(), b.numpy())
print(a.assign_add([2, 3]).numpy(), a.assign_sub([7, 9]).numpy())
named = tf.Variable(my_tensor, name="Mark")
print(named.name.split(":")[0], (named == my_variable).numpy())
step_counter = tf.Variable(1, trainable=False)
print(step_counter.trainable, step_counter, bool_variable.dtype)
c = a + 1.0
d = a * b
print(c, d, a[0], -a, a @ tf.constant([[1.0], [2.0]]) if a.shape.rank == 2 else tf.tensordot(a, b, 1))
print(tf.reduce_sum(my_variable), tf.matmul(my_variable, my_variable), my_variable + my_variable)
v = tf.Variable(tf.random.uniform([3, 2]), dtype=tf.float32)
print(v.shape, v.dtype, v.numpy().min() >= 0)
counter = tf.Variable(0)
for _ in range(3):
    counter.assign_add(1)
print(counter.numpy(), int(counter))
with tf.device('CPU:0'):
    w = tf.Variable(initial_value=tf.zeros([2]), trainable=True)
print(w.trainable, w.device[-5:] if hasattr(w, "device") and w.device else "CPU:0")
opt = tf.keras.optimizers.SGD(0.1)
w = tf.Variable(5.0)
for i in range(3):
    with tf.GradientTape() as tape:
        loss = w ** 2
    opt.apply_gradients([(tape.gradient(loss, w), w)])
    print(round(float(w), 4), round(loss.numpy(), 4))
