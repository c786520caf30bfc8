# MNIST with nothing but tf.nn and variables
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
x_train = rng.uniform(size=(64, 28, 28)).astype(np.float32)
y_train = rng.integers(0, 10, 64)
for i, label in enumerate(y_train):
    x_train[i, label * 2 : label * 2 + 3] += 1.0


def weight(shape):
    return tf.Variable(rng.normal(size=shape).astype(np.float32) * 0.1)


weights = {'wc1': weight([5, 5, 1, 6]), 'wc2': weight([3, 3, 6, 8]), 'wd1': weight([7 * 7 * 8, 20]), 'out': weight([20, 10])}
biases = {'bc1': tf.Variable(tf.zeros([6])), 'bc2': tf.Variable(tf.zeros([8])), 'bd1': tf.Variable(tf.zeros([20])), 'out': tf.Variable(tf.zeros([10]))}


def conv2d(x, W, b, strides=1):
    x = tf.nn.conv2d(x, W, strides=[1, strides, strides, 1], padding='SAME')
    x = tf.nn.bias_add(x, b)
    return tf.nn.relu(x)


def maxpool2d(x, k=2):
    return tf.nn.max_pool(x, ksize=[1, k, k, 1], strides=[1, k, k, 1], padding='SAME')


def conv_net(x):
    x = tf.reshape(x, [-1, 28, 28, 1])
    conv1 = maxpool2d(conv2d(x, weights['wc1'], biases['bc1']))
    conv2 = tf.nn.max_pool2d(conv2d(conv1, weights['wc2'], biases['bc2']), 2, 2, 'VALID')
    fc1 = tf.reshape(conv2, [-1, weights['wd1'].get_shape().as_list()[0]])
    fc1 = tf.nn.relu(tf.add(tf.matmul(fc1, weights['wd1']), biases['bd1']))
    fc1 = tf.nn.dropout(fc1, rate=0.0)
    return fc1 @ weights['out'] + biases['out']


def cross_entropy(logits, labels):
    labels = tf.cast(labels, tf.int64)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def accuracy(y_pred, y_true):
    correct = tf.equal(tf.argmax(y_pred, 1), tf.cast(y_true, tf.int64))
    return tf.reduce_mean(tf.cast(correct, tf.float32), axis=-1)


optimizer = tf.optimizers.Adam(0.005)
train_data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).repeat().batch(32).prefetch(1)
for step, (bx, by) in enumerate(train_data.take(8), 1):
    with tf.GradientTape() as g:
        pred = conv_net(bx)
        loss = cross_entropy(pred, by)
    trainable = list(weights.values()) + list(biases.values())
    gradients = g.gradient(loss, trainable)
    optimizer.apply_gradients(zip(gradients, trainable))
    if step % 4 == 0 or step == 1:
        print("step: %i, loss: %.3f, accuracy: %.2f" % (step, loss, accuracy(conv_net(bx), by)))

logits = tf.constant([[2.0, -1.0, 0.5], [0.0, 1.0, 3.0]])
onehot = tf.one_hot([0, 2], 3, on_value=1.0, off_value=0.0)
print(tf.nn.softmax_cross_entropy_with_logits(onehot, logits).numpy().round(4))
print(tf.nn.sigmoid_cross_entropy_with_logits(labels=onehot, logits=logits).numpy().round(4))
print(tf.nn.weighted_cross_entropy_with_logits(labels=onehot, logits=logits, pos_weight=2.0).numpy().round(4))
mean, var = tf.nn.moments(logits, axes=[0])
print(mean.numpy(), var.numpy(), tf.nn.batch_normalization(logits, mean, var, None, None, 1e-3).numpy().round(3))
print(tf.nn.l2_loss(logits).numpy(), tf.nn.in_top_k([0, 1], logits, 1).numpy(), tf.nn.log_softmax(logits).numpy().round(3)[0])
img = tf.reshape(tf.range(16.0), (1, 4, 4, 1))
print(tf.nn.avg_pool2d(img, 2, 2, "VALID").numpy().ravel(), tf.nn.depth_to_space(tf.reshape(tf.range(4.0), (1, 1, 1, 4)), 2).numpy().ravel())
print(tf.nn.conv2d_transpose(img, tf.ones((2, 2, 1, 1)), [1, 8, 8, 1], 2).numpy()[0, :3, :3, 0])
print(tf.nn.depthwise_conv2d(img, tf.ones((2, 2, 1, 2)), [1, 1, 1, 1], "VALID").shape, tf.nn.embedding_lookup(weights['out'], [1, 3]).shape)
print(tf.nn.selu(logits).numpy().round(3)[0], tf.nn.swish(logits).numpy().round(3)[0], tf.nn.gelu(logits).numpy().round(3)[0], tf.nn.softplus(logits).numpy().round(3)[1])
print(tf.nn.conv1d(tf.reshape(tf.range(6.0), (1, 6, 1)), tf.ones((3, 1, 1)), stride=1, padding="SAME").numpy().ravel())
print(tf.nn.local_response_normalization(img, depth_radius=1).shape, tf.nn.zero_fraction(tf.constant([0.0, 1.0, 0.0])).numpy())
