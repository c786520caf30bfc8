"""Explaining and attacking a classifier: Grad-CAM, saliency, integrated gradients, FGSM, guided gradients, activation maximisation."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.RandomState(0)
inputs = keras.Input((16, 16, 3))
x = keras.layers.Conv2D(6, 3, activation='relu', padding='same', name='conv_a')(inputs)
x = keras.layers.MaxPooling2D()(x)
x = keras.layers.Conv2D(8, 3, activation='relu', padding='same', name='last_conv')(x)
x = keras.layers.GlobalAveragePooling2D()(x)
outputs = keras.layers.Dense(4, activation='softmax', name='predictions')(x)
model = keras.Model(inputs, outputs)
model.set_weights([rng.normal(size=v.shape) * 0.4 for v in model.get_weights()])
image = rng.rand(1, 16, 16, 3).astype('float32')


def make_gradcam_heatmap(img_array, model, last_conv_layer_name, pred_index=None):
    grad_model = tf.keras.models.Model([model.inputs], [model.get_layer(last_conv_layer_name).output, model.output])
    with tf.GradientTape() as tape:
        last_conv_layer_output, preds = grad_model(img_array)
        if pred_index is None:
            pred_index = tf.argmax(preds[0])
        class_channel = preds[:, pred_index]
    grads = tape.gradient(class_channel, last_conv_layer_output)
    pooled_grads = tf.reduce_mean(grads, axis=(0, 1, 2))
    last_conv_layer_output = last_conv_layer_output[0]
    heatmap = last_conv_layer_output @ pooled_grads[..., tf.newaxis]
    heatmap = tf.squeeze(heatmap)
    heatmap = tf.maximum(heatmap, 0) / tf.math.reduce_max(heatmap)
    return heatmap.numpy()


model.layers[-1].activation = None
heatmap = make_gradcam_heatmap(image, model, 'last_conv')
print(heatmap.shape, heatmap.max(), heatmap[3, :4])
heat = np.uint8(255 * heatmap)
big = tf.image.resize(heat[..., np.newaxis], (16, 16), method='nearest')
print(big.shape, big.dtype, int(tf.reduce_sum(tf.cast(big, tf.int32))) > 0)
superimposed = keras.utils.array_to_img(np.tile(big.numpy(), (1, 1, 3)) * 0.4 + image[0])
print(superimposed.size)
model.layers[-1].activation = keras.activations.softmax

img = tf.Variable(image, dtype=float)
with tf.GradientTape() as tape:
    pred = model(img, training=False)
    class_idxs_sorted = np.argsort(pred.numpy().flatten())[::-1]
    loss = pred[0][class_idxs_sorted[0]]
grads = tape.gradient(loss, img)
dgrad_abs = tf.math.abs(grads)
saliency = np.max(dgrad_abs, axis=3)[0]
arr_min, arr_max = np.min(saliency), np.max(saliency)
saliency = (saliency - arr_min) / (arr_max - arr_min + 1e-18)
print(class_idxs_sorted, saliency.shape, saliency[0, :3])


def interpolate_images(baseline, image, alphas):
    alphas_x = alphas[:, tf.newaxis, tf.newaxis, tf.newaxis]
    baseline_x = tf.expand_dims(baseline, axis=0)
    input_x = tf.expand_dims(image, axis=0)
    delta = input_x - baseline_x
    return baseline_x + alphas_x * delta


def compute_gradients(images, target_class_idx):
    with tf.GradientTape() as tape:
        tape.watch(images)
        logits = model(images)
        probs = tf.nn.softmax(logits, axis=-1)[:, target_class_idx]
    return tape.gradient(probs, images)


def integral_approximation(gradients):
    grads = (gradients[:-1] + gradients[1:]) / tf.constant(2.0)
    return tf.math.reduce_mean(grads, axis=0)


@tf.function
def one_batch(baseline, image, alpha_batch, target_class_idx):
    interpolated = interpolate_images(baseline, image, alpha_batch)
    return compute_gradients(interpolated, target_class_idx)


def integrated_gradients(baseline, image, target_class_idx, m_steps=20, batch_size=8):
    alphas = tf.linspace(start=0.0, stop=1.0, num=m_steps + 1)
    gradient_batches = []
    for alpha in tf.range(0, len(alphas), batch_size):
        from_ = alpha
        to = tf.minimum(from_ + batch_size, len(alphas))
        alpha_batch = alphas[from_:to]
        gradient_batches.append(one_batch(baseline, image, alpha_batch, target_class_idx))
    total_gradients = tf.concat(gradient_batches, axis=0)
    avg_gradients = integral_approximation(gradients=total_gradients)
    return (image - baseline) * avg_gradients


baseline = tf.zeros(shape=(16, 16, 3))
attributions = integrated_gradients(baseline, tf.constant(image[0]), int(class_idxs_sorted[0]))
mask = tf.reduce_sum(tf.math.abs(attributions), axis=-1)
gap = tf.reduce_sum(attributions) - (tf.nn.softmax(model(image))[0] - tf.nn.softmax(model(baseline[None]))[0])[class_idxs_sorted[0]]
print(mask.shape, mask.numpy()[0, :2] * 100, abs(float(gap)) < 1e-2)

loss_object = tf.keras.losses.CategoricalCrossentropy()


def create_adversarial_pattern(input_image, input_label):
    with tf.GradientTape() as tape:
        tape.watch(input_image)
        prediction = model(input_image)
        loss = loss_object(input_label, prediction)
    gradient = tape.gradient(loss, input_image)
    return tf.sign(gradient)


label = tf.one_hot(int(class_idxs_sorted[0]), 4)
label = tf.reshape(label, (1, 4))
perturbations = create_adversarial_pattern(tf.convert_to_tensor(image), label)
print(tf.unique(tf.reshape(perturbations, [-1])).y.shape[0] <= 3)
for i, eps in enumerate([0, 0.01, 0.1]):
    adv_x = tf.clip_by_value(image + eps * perturbations, 0, 1)
    print('eps', eps, 'loss %.3f' % loss_object(label, model.predict(adv_x, verbose=0)), 'class', int(tf.argmax(model(adv_x), axis=1)[0]))


@tf.custom_gradient
def guided_relu(x):
    def grad(dy):
        return tf.cast(dy > 0, tf.float32) * tf.cast(x > 0, tf.float32) * dy
    return tf.nn.relu(x), grad


z = tf.constant([-1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    tape.watch(z)
    value = tf.reduce_sum(guided_relu(z) * tf.constant([1.0, -1.0, 2.0]))
print(tape.gradient(value, z))
extractor = keras.Model(model.inputs, model.get_layer('conv_a').output)
canvas = tf.Variable(tf.ones((1, 16, 16, 3)) * 0.5 + rng.rand(1, 16, 16, 3).astype('float32') * 0.1)


@tf.function
def gradient_ascent_step(img, filter_index, learning_rate):
    with tf.GradientTape() as tape:
        tape.watch(img)
        activation = extractor(img)
        loss = tf.reduce_mean(activation[:, 2:-2, 2:-2, filter_index])
    grads = tape.gradient(loss, img)
    grads = tf.math.l2_normalize(grads)
    img += learning_rate * grads
    return loss, img


img = tf.identity(canvas)
for iteration in range(5):
    loss, img = gradient_ascent_step(img, 2, 2.0)
print('loss', loss.numpy(), img.shape)
deprocessed = tf.cast(tf.clip_by_value((img - tf.reduce_mean(img)) / tf.math.reduce_std(img) * 0.15 + 0.5, 0, 1) * 255, tf.uint8)
print(deprocessed.dtype, tf.image.convert_image_dtype(deprocessed, tf.float32).numpy().max() <= 1, tf.image.total_variation(img).numpy())
