# Feature extraction from a stack of convolutions: Gram matrices, total variation, an optimised image
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(11)
base = tf.keras.Sequential([
    tf.keras.layers.Conv2D(4, 3, padding='same', activation='relu', name='block1_conv1', input_shape=(None, None, 3)),
    tf.keras.layers.MaxPool2D(name='block1_pool'),
    tf.keras.layers.Conv2D(6, 3, padding='same', activation='relu', name='block2_conv1'),
])
base.set_weights([rng.normal(size=w.shape) * 0.3 for w in base.get_weights()])
base.trainable = False
outputs = [base.get_layer(name).output for name in ('block1_conv1', 'block2_conv1')]
extractor = tf.keras.Model([base.inputs[0]], outputs)


def gram_matrix(input_tensor):
    result = tf.linalg.einsum('bijc,bijd->bcd', input_tensor, input_tensor)
    input_shape = tf.shape(input_tensor)
    num_locations = tf.cast(input_shape[1] * input_shape[2], tf.float32)
    return result / (num_locations)


def clip_0_1(image):
    return tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0)


def high_pass_x_y(image):
    x_var = image[:, :, 1:, :] - image[:, :, :-1, :]
    y_var = image[:, 1:, :, :] - image[:, :-1, :, :]
    return x_var, y_var


content = tf.constant(rng.rand(1, 12, 12, 3), dtype=tf.float32)
style = tf.constant(rng.rand(1, 12, 12, 3), dtype=tf.float32)
style_targets = [gram_matrix(o) for o in extractor(style)]
content_target = extractor(content)[1]
image = tf.Variable(content)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        outs = extractor(image)
        style_loss = tf.add_n([tf.reduce_mean((gram_matrix(o) - t) ** 2) for o, t in zip(outs, style_targets)])
        content_loss = tf.reduce_mean((outs[1] - content_target) ** 2)
        loss = 10.0 * style_loss + content_loss + 1e-3 * tf.image.total_variation(image)[0]
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip_0_1(image))
    return loss


for step in range(5):
    loss = train_step(image)
    print('step', step, 'loss %.4f' % float(loss))
x_deltas, y_deltas = high_pass_x_y(image)
print(x_deltas.shape, '%.4f' % tf.reduce_sum(tf.abs(x_deltas)).numpy(), '%.4f' % tf.image.total_variation(image).numpy()[0])
sobel = tf.image.sobel_edges(content)
print(sobel.shape, '%.4f' % tf.reduce_mean(tf.abs(sobel)))
resized = tf.image.resize(content, (6, 8))
print(resized.shape, '%.4f' % tf.reduce_mean(resized))
tensor = np.array(image * 255, dtype=np.uint8)
print(tensor.shape, tensor.dtype, np.ndim(tensor) > 3)
print(tf.image.psnr(content, image, max_val=1.0).shape, tf.image.ssim(content, content, max_val=1.0).numpy().round(3))
print(tf.image.rgb_to_grayscale(content).shape, tf.image.flip_left_right(content).shape, tf.image.adjust_brightness(content, 0.1).numpy().max() > 1)
