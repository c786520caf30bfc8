"""The Core guides: layers, a model, an optimizer and a loop of one's own from tf.Module, and export at the end."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf.random.set_seed(22)
print("devices", len(tf.config.list_physical_devices('CPU')), tf.config.list_physical_devices('GPU'))
gpus = tf.config.list_physical_devices('GPU')
if gpus:
    try:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
    except RuntimeError as e:
        print(e)
tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.threading.set_inter_op_parallelism_threads(2)
tf.config.set_soft_device_placement(True)
tf.get_logger().setLevel('ERROR')


def xavier_init(shape):
    in_dim, out_dim = shape
    xavier_lim = tf.sqrt(6.) / tf.sqrt(tf.cast(in_dim + out_dim, tf.float32))
    weight_vals = tf.random.uniform(shape=(in_dim, out_dim), minval=-xavier_lim, maxval=xavier_lim, seed=22)
    return weight_vals


class DenseLayer(tf.Module):
    def __init__(self, out_dim, weight_init=xavier_init, activation=tf.identity):
        self.out_dim = out_dim
        self.weight_init = weight_init
        self.activation = activation
        self.built = False

    def __call__(self, x):
        if not self.built:
            self.in_dim = x.shape[1]
            self.w = tf.Variable(self.weight_init(shape=(self.in_dim, self.out_dim)))
            self.b = tf.Variable(tf.zeros(shape=(self.out_dim,)))
            self.built = True
        z = tf.add(tf.matmul(x, self.w), self.b)
        return self.activation(z)


class MLP(tf.Module):
    def __init__(self, layers):
        self.layers = layers

    @tf.function
    def __call__(self, x, preds=False):
        for layer in self.layers:
            x = layer(x)
        return x


def cross_entropy_loss(y_pred, y):
    sparse_ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=y_pred)
    return tf.reduce_mean(sparse_ce)


def accuracy(y_pred, y):
    class_preds = tf.argmax(tf.nn.softmax(y_pred), axis=1)
    is_equal = tf.equal(y, class_preds)
    return tf.reduce_mean(tf.cast(is_equal, tf.float32))


class Adam:
    def __init__(self, learning_rate=1e-3, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.beta_1, self.beta_2, self.learning_rate, self.ep = beta_1, beta_2, learning_rate, ep
        self.t = 1.
        self.v_dvar, self.s_dvar = [], []
        self.built = False

    def apply_gradients(self, grads, vars):
        if not self.built:
            for var in vars:
                v = tf.Variable(tf.zeros(shape=var.shape))
                s = tf.Variable(tf.zeros(shape=var.shape))
                self.v_dvar.append(v)
                self.s_dvar.append(s)
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, vars)):
            self.v_dvar[i].assign(self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var)
            self.s_dvar[i].assign(self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var))
            v_dvar_bc = self.v_dvar[i] / (1 - (self.beta_1 ** self.t))
            s_dvar_bc = self.s_dvar[i] / (1 - (self.beta_2 ** self.t))
            var.assign_sub(self.learning_rate * (v_dvar_bc / (tf.sqrt(s_dvar_bc) + self.ep)))
        self.t += 1.


rng = np.random.RandomState(0)
x_train = rng.normal(size=(120, 6)).astype('float32')
y_train = np.argmax(x_train[:, :3], 1)
train_data = tf.data.Dataset.from_tensor_slices((tf.constant(x_train), tf.constant(y_train))).shuffle(120).batch(24)
mlp_model = MLP([DenseLayer(out_dim=16, activation=tf.nn.relu), DenseLayer(out_dim=16, activation=tf.nn.gelu), DenseLayer(out_dim=3)])
mlp_model(tf.constant(x_train[:2]))
print(len(mlp_model.trainable_variables), [v.shape for v in mlp_model.trainable_variables], len(mlp_model.submodules))
for v in mlp_model.trainable_variables:
    v.assign(rng.normal(size=v.shape) * 0.4)


def train_step(x_batch, y_batch, loss, acc, model, optimizer):
    with tf.GradientTape() as tape:
        y_pred = model(x_batch)
        batch_loss = loss(y_pred, y_batch)
    batch_acc = acc(y_pred, y_batch)
    grads = tape.gradient(batch_loss, model.variables)
    optimizer.apply_gradients(grads, model.variables)
    return batch_loss, batch_acc


optimizer = Adam(learning_rate=0.02)
for epoch in range(6):
    batch_losses_train = []
    for x_batch, y_batch in train_data:
        batch_loss, batch_acc = train_step(x_batch, y_batch, cross_entropy_loss, accuracy, mlp_model, optimizer)
        batch_losses_train.append(batch_loss)
    train_loss = tf.reduce_mean(batch_losses_train)
    if epoch == 0:
        first = train_loss
print('learned', bool(train_loss < 0.6 * first), f"{accuracy(mlp_model(x_train), y_train):.0f}"[:1])


class Dense2(tf.Module):
    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(tf.ones([in_features, out_features]), name='w')
            self.b = tf.Variable(tf.zeros([out_features]), name='b')
            self.non_trainable = tf.Variable(5.0, trainable=False, name='do_not_train_me')

    def __call__(self, x):
        y = tf.matmul(x, self.w) + self.b
        return tf.nn.relu(y)


d = Dense2(3, 2, name='the_dense')
print(d.name, [v.name for v in d.variables], d(tf.constant([[2.0, 2.0, 2.0]])), d.w)
print("trainable variables:", [v.name for v in d.trainable_variables], tf.Module.with_name_scope is not None)

for check, *args in ((tf.debugging.assert_equal, tf.constant([1, 2]), tf.constant([1, 3])), (tf.debugging.assert_shapes, [(tf.ones((2, 3)), ('N', 4))]), (tf.debugging.assert_positive, tf.constant([1, -1])),
                     (tf.debugging.assert_rank, tf.ones((2, 2)), 3), (tf.debugging.assert_less, tf.constant(3), tf.constant(2)), (tf.debugging.assert_type, tf.constant(1), tf.float32), (tf.ensure_shape, tf.ones((2, 2)), (3, None)),
                     (tf.debugging.check_numerics, tf.constant([1.0, np.inf]), 'bad numbers'), (tf.debugging.Assert, tf.constant(False), [tf.constant(1)])):
    try:
        check(*args)
        print('passed')
    except (tf.errors.InvalidArgumentError, ValueError, TypeError) as error:
        print(type(error).__name__)
tf.debugging.assert_near(tf.constant(1.0), tf.constant(1.0 + 1e-7))
tf.debugging.assert_non_negative(tf.constant([0, 1]))
tf.debugging.assert_greater_equal(3, 3)
for bad in (lambda: tf.matmul(tf.ones((2, 3)), tf.ones((2, 3))), lambda: tf.reshape(tf.range(5), (2, 2)), lambda: tf.constant([1, [2]]), lambda: tf.ones((2, 3)) + tf.ones((3, 2)), lambda: tf.concat([tf.ones((1, 2)), tf.ones((1, 3))], 0), lambda: tf.gather([1, 2], [5]),
            lambda: tf.constant([1, 2])[3], lambda: tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0]), lambda: tf.constant(1)[0], lambda: tf.convert_to_tensor(None), lambda: bool(tf.constant([1, 2]))):
    try:
        bad()
        print('no error')
    except Exception as error:
        print(type(error).__name__, isinstance(error, tf.errors.OpError))
t = tf.constant([1.0, 2.0])
try:
    t[0] = 5.0
except TypeError as error:
    print('does not support item assignment' in str(error))
with tf.device('/CPU:0'):
    on_cpu = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(on_cpu.device.endswith('CPU:0'), tf.test.is_built_with_cuda(), tf.test.gpu_device_name() == '', tf.sysconfig.get_build_info()['is_cuda_build'])


class ExportModule(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(input_signature=[tf.TensorSpec(shape=[None, 6], dtype=tf.float32)])
    def __call__(self, x):
        y = self.model(x)
        return tf.nn.softmax(y)


mlp_export = ExportModule(model=mlp_model)
print(mlp_export(tf.constant(x_train[:3])).shape)
v = tf.Variable(np.arange(4.0).reshape(2, 2), dtype=tf.float32, name='matrix')
v[0, 1].assign(9.0)
v.scatter_nd_update([[1, 0]], [7.0])
print(v, v.numpy().tolist(), v.read_value().shape, v.trainable, v.device != '', v.shape.as_list(), v.name)
print(tf.Variable(3) + 2, tf.Variable([1, 2]) @ tf.constant([[1], [2]]) if False else tf.Variable(1.5).assign_add(1.0).numpy())
