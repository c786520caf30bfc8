import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
X = rng.random((12, 16, 16, 3)).astype("float32")
Y = (X.mean(-1, keepdims=True) > 0.5).astype("float32")


class Block(tf.keras.layers.Layer):
    def __init__(self, filters):
        super(Block, self).__init__()
        self.conv = tf.keras.layers.Conv2D(filters, 3, padding="same")
        self.bn = tf.keras.layers.BatchNormalization()

    def call(self, x, training=False):
        return tf.nn.relu(self.bn(self.conv(x), training=training))


class UNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.down = [Block(4), Block(8)]
        self.up = Block(4)
        self.out = tf.keras.layers.Conv2D(1, 1)

    def call(self, x, training=False):
        skips = []
        for b in self.down:
            x = b(x, training=training)
            skips.append(x)
            x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="SAME")
        x = tf.image.resize(x, tf.shape(skips[1])[1:3])
        x = tf.concat([x, skips[1]], axis=-1)
        x = tf.image.resize(self.up(x, training=training), tf.shape(skips[0])[1:3], method="nearest")
        return self.out(tf.concat([x, skips[0]], -1))


model = UNet()
model(X[:1])
for v in model.trainable_variables:
    if "kernel" in v.path:
        v.assign(rng.normal(0, 0.2, v.shape))


def dice_loss(y, p):
    p = tf.sigmoid(p)
    inter = tf.reduce_sum(y * p, axis=(1, 2, 3))
    return 1 - tf.reduce_mean((2.0 * inter + 1) / (tf.reduce_sum(y, axis=(1, 2, 3)) + tf.reduce_sum(p, axis=(1, 2, 3)) + 1))


opt = tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.9), momentum=0.9)
iou, loss_m = tf.keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.5), tf.keras.metrics.Mean()
ds = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4, drop_remainder=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = dice_loss(y, logits) + tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(loss, model.trainable_weights)
    grads = [tf.clip_by_norm(g, 1.0) for g in grads]
    opt.apply_gradients(zip(grads, model.trainable_weights))
    loss_m.update_state(loss)
    iou.update_state(y, tf.nn.sigmoid(logits))


for epoch in tf.range(3):
    for x, y in ds:
        step(x, y)
    tf.print("epoch", epoch, output_stream="file://log.txt")
    print(int(epoch), f"{loss_m.result():.3f} {iou.result():.2f}", int(opt.iterations), round(float(opt.learning_rate), 4))
    loss_m.reset_state(), iou.reset_state()
print(open("log.txt").read().split(), [w.name for w in model.trainable_weights][:3])
