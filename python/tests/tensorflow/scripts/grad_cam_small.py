# Where does the CNN look? Grad-CAM, saliency and guided gradients for a small model
import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(3)
model = keras.models.Sequential([
    keras.layers.InputLayer(shape=(16, 16, 3)),
    keras.layers.Conv2D(8, 3, activation="relu", padding="same", name="conv1"),
    keras.layers.MaxPooling2D(),
    keras.layers.Conv2D(12, 3, activation="relu", padding="same", name="last_conv"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(5, name="logits"),
])
model.set_weights([rng.normal(size=w.shape) * 0.2 for w in model.get_weights()])
img = rng.uniform(size=(1, 16, 16, 3)).astype("float32")


def make_gradcam_heatmap(img_array, model, last_conv_layer_name, pred_index=None):
    grad_model = keras.models.Model(model.inputs, [model.get_layer(last_conv_layer_name).output, model.outputs[0]])
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


heatmap = make_gradcam_heatmap(img, model, "last_conv", 2)
print(heatmap.shape, heatmap.max(), np.round(heatmap[:2, :4], 3))

x = tf.Variable(img)
with tf.GradientTape() as tape:
    pred = tf.nn.softmax(model(x, training=False), axis=-1)
    top = tf.reduce_max(pred, axis=1)
saliency = tf.reduce_max(tf.abs(tape.gradient(top, x)), axis=-1)
print("saliency", saliency.shape, "%.5f" % tf.reduce_sum(saliency))
arr_min, arr_max = np.min(saliency), np.max(saliency)
normalized = (saliency - arr_min) / (arr_max - arr_min + keras.backend.epsilon())
print("%.4f" % tf.reduce_mean(normalized))


def gradients_for(inputs, target):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        logits = model(inputs)
        probs = tf.nn.softmax(logits, axis=-1)[:, target]
    return tape.gradient(probs, inputs)


baseline = tf.zeros(shape=(16, 16, 3))
alphas = tf.linspace(start=0.0, stop=1.0, num=11)
alphas_x = alphas[:, tf.newaxis, tf.newaxis, tf.newaxis]
path = tf.expand_dims(baseline, 0) + alphas_x * (img - tf.expand_dims(baseline, 0))
g = gradients_for(path, 2)
integral = tf.math.reduce_mean((g[:-1] + g[1:]) / tf.constant(2.0), axis=0)
attributions = (img[0] - baseline) * integral
gap = tf.reduce_sum(attributions) - (tf.nn.softmax(model(img))[0, 2] - tf.nn.softmax(model(baseline[None]))[0, 2])
print("completeness gap small:", abs(float(gap)) < 1e-3, tuple(attributions.shape))

heat = tf.image.resize(heatmap[..., None], (16, 16)).numpy()
jet = np.uint8(255 * heat)
overlay = jet * 0.4 + img[0] * 255
out = keras.utils.array_to_img(overlay)
print(out.size, out.mode)
activations = keras.Model(model.inputs, [l.output for l in model.layers]).predict(img, verbose=0)
print([a.shape for a in activations])
