import numpy as np
import tensorflow as tf

policy = tf.keras.mixed_precision.Policy('float32')
tf.keras.mixed_precision.set_global_policy(policy)
print(tf.keras.mixed_precision.global_policy().name, policy.compute_dtype)
tf.random.set_seed(0)


class GradientAccumulationModel(tf.keras.Model):
    def __init__(self, n_gradients, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.n_gradients = tf.constant(n_gradients, dtype=tf.int32)
        self.n_acum_step = tf.Variable(0, dtype=tf.int32, trainable=False)
        self.gradient_accumulation = [tf.Variable(tf.zeros_like(v, dtype=tf.float32), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        self.n_acum_step.assign_add(1)
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        for i in range(len(self.gradient_accumulation)):
            self.gradient_accumulation[i].assign_add(gradients[i])
        tf.cond(tf.equal(self.n_acum_step, self.n_gradients), self.apply_accu_gradients, lambda: None)
        for metric in self.metrics:
            if metric.name == 'loss':
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def apply_accu_gradients(self):
        self.optimizer.apply_gradients(zip(self.gradient_accumulation, self.trainable_variables))
        self.n_acum_step.assign(0)
        for i in range(len(self.gradient_accumulation)):
            self.gradient_accumulation[i].assign(tf.zeros_like(self.trainable_variables[i], dtype=tf.float32))


rng = np.random.RandomState(0)
x = rng.normal(size=(64, 5)).astype('float32')
y = (x @ rng.normal(size=(5, 1))).astype('float32')
inp = tf.keras.layers.Input((5,))
h = tf.keras.layers.Dense(6, activation='elu')(inp)
out = tf.keras.layers.Dense(1)(h)
model = GradientAccumulationModel(n_gradients=4, inputs=inp, outputs=out)
model.set_weights([rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])
model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss='mse', metrics=['mae'])
hist = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0)
print(['%.4f' % v for v in hist.history['loss']], ['%.4f' % v for v in hist.history['mae']])
print(model.n_acum_step.numpy(), len(model.gradient_accumulation))

# the same by a loop of one's own
w = tf.Variable(tf.zeros((5, 1)), name='w')
opt = tf.keras.optimizers.SGD(0.1)
acc = tf.Variable(tf.zeros_like(w), trainable=False)


@tf.function
def micro(xb, yb):
    with tf.GradientTape() as t:
        loss = tf.reduce_mean(tf.square(tf.matmul(xb, w) - yb)) / 4.0
    acc.assign_add(t.gradient(loss, w))
    return loss


for step in range(8):
    total = 0.
    for i in range(4):
        total += micro(tf.convert_to_tensor(x[i * 16:(i + 1) * 16]), tf.convert_to_tensor(y[i * 16:(i + 1) * 16]))
    opt.apply_gradients([(acc, w)])
    acc.assign(tf.zeros_like(acc))
    if step % 4 == 0:
        print('step', step, 'loss %.4f' % total.numpy())
print(w.numpy().ravel().round(4))
print(tf.norm(w).numpy().round(4), tf.reduce_max(tf.abs(w)).numpy().round(4))
