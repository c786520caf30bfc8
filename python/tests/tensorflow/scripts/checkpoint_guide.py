import os
import tempfile

import numpy as np
import tensorflow as tf

os.chdir(tempfile.mkdtemp())


class Net(tf.keras.Model):
    """A simple linear model."""

    def __init__(self):
        super(Net, self).__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


net = Net()
net(tf.ones([1, 1]))
net.save_weights('easy_checkpoint.weights.h5')
print(os.path.exists('easy_checkpoint.weights.h5'))


def toy_dataset():
    inputs = tf.range(10.)[:, None]
    labels = inputs * 5. + tf.range(5.)[None, :]
    return tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels)).repeat().batch(2)


def train_step(net, example, optimizer):
    with tf.GradientTape() as tape:
        output = net(example['x'])
        loss = tf.reduce_mean(tf.abs(output - example['y']))
    variables = net.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


opt = tf.keras.optimizers.Adam(0.1)
dataset = toy_dataset()
iterator = iter(dataset)
ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net, iterator=iterator)
manager = tf.train.CheckpointManager(ckpt, './tf_ckpts', max_to_keep=3)
net.l1.set_weights([np.linspace(-1, 1, 5).reshape(1, 5), np.zeros(5)])


def train_and_checkpoint(net, manager):
    ckpt.restore(manager.latest_checkpoint)
    if manager.latest_checkpoint:
        print("Restored from {}".format(manager.latest_checkpoint))
    else:
        print("Initializing from scratch.")
    for _ in range(50):
        example = next(iterator)
        loss = train_step(net, example, opt)
        ckpt.step.assign_add(1)
        if int(ckpt.step) % 10 == 0:
            save_path = manager.save()
            print("Saved checkpoint for step {}: {}".format(int(ckpt.step), save_path))
            print("loss {:1.2f}".format(loss.numpy()))


train_and_checkpoint(net, manager)
opt = tf.keras.optimizers.Adam(0.1)
net = Net()
net(tf.ones([1, 1]))
opt.build(net.trainable_variables)
dataset = toy_dataset()
iterator = iter(dataset)
ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net, iterator=iterator)
manager = tf.train.CheckpointManager(ckpt, './tf_ckpts', max_to_keep=3)
train_and_checkpoint(net, manager)
print(manager.checkpoints)
print(tf.train.latest_checkpoint('./tf_ckpts/'), int(ckpt.save_counter))

to_restore = tf.Variable(tf.zeros([5]))
fake_layer = tf.train.Checkpoint(bias=to_restore)
root = tf.train.Checkpoint(a=fake_layer)
source = tf.train.Checkpoint(a=tf.train.Checkpoint(bias=tf.Variable([1., 2., 3., 4., 5.]), kernel=tf.Variable([[9.]])))
path = source.write('./nested')
status = root.read('./nested')
status.expect_partial()
print(to_restore.numpy(), path)

save = tf.train.Checkpoint()
save.listed = [tf.Variable(1.)]
save.listed.append(tf.Variable(2.))
save.mapped = {'one': save.listed[0]}
save.mapped['two'] = save.listed[1]
save_path = save.save('./tf_list_example')
restore = tf.train.Checkpoint()
v2 = tf.Variable(0.)
assert 0. == v2.numpy()
restore.mapped = {'two': v2}
restore.restore(save_path)
print(save_path, v2.numpy())


class Flexible(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones((2, 2)), name='w')
        self.b = tf.Variable(tf.zeros(2), trainable=False, name='b')
        self.children = [tf.Module(name='inner')]

    @tf.function
    def __call__(self, x):
        return x @ self.w + self.b


m = Flexible(name='flex')
print(m(tf.ones((1, 2))), [v.name for v in m.variables], [v.name for v in m.trainable_variables], len(m.submodules), m.name)
m.w.assign([[1., 2.], [3., 4.]])
checkpoint = tf.train.Checkpoint(model=m)
checkpoint.write('module_ckpt')
other = Flexible()
tf.train.Checkpoint(model=other).read('module_ckpt').assert_consumed()
print(other.w.numpy())
print([(name.split('/.')[0], shape) for name, shape in tf.train.list_variables('module_ckpt') if name.startswith('model')])

model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
model.compile('adam', 'mse')
cp_callback = tf.keras.callbacks.ModelCheckpoint(filepath='training/cp-{epoch:04d}.weights.h5', save_weights_only=True, verbose=1)
model.fit(np.ones((4, 3)), np.ones((4, 2)), epochs=2, verbose=0, callbacks=[cp_callback])
print(sorted(os.listdir('training')))
fresh = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
fresh.load_weights('training/cp-0002.weights.h5')
print(np.allclose(fresh.predict(np.ones((1, 3)), verbose=0), model.predict(np.ones((1, 3)), verbose=0)))
os.makedirs('models', exist_ok=True)
model.save('models/whole.keras')
again = tf.keras.models.load_model('models/whole.keras')
print(again.optimizer.iterations.numpy(), type(again.optimizer).__name__, again.loss)
try:
    tf.train.Checkpoint(a=tf.Variable(1.)).restore('no/such/file')
except Exception as error:
    print(type(error).__name__)
