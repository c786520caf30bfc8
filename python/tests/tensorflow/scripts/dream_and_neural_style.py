"""DeepDream and style transfer: gradients for images, tiles with tf.roll, octaves, total variation, Gram matrices."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
base = tf.keras.Sequential([tf.keras.layers.Input((None, None, 3)), tf.keras.layers.Conv2D(6, 3, activation="relu", padding="same", name="mixed3"), tf.keras.layers.MaxPool2D(),
                            tf.keras.layers.Conv2D(8, 3, activation="relu", padding="same", name="mixed5")])
base.set_weights([rng.normal(0, 0.2, w.shape) for w in base.get_weights()])
layers = [base.get_layer(name).output for name in ["mixed3", "mixed5"]]
dream_model = tf.keras.Model(inputs=base.inputs, outputs=layers)


def calc_loss(img, model):
    img_batch = tf.expand_dims(img, axis=0)
    layer_activations = model(img_batch)
    if len(layer_activations) == 1:
        layer_activations = [layer_activations]
    losses = []
    for act in layer_activations:
        losses.append(tf.math.reduce_mean(act))
    return tf.reduce_sum(losses)


class DeepDream(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(input_signature=(tf.TensorSpec(shape=[None, None, 3], dtype=tf.float32), tf.TensorSpec(shape=[], dtype=tf.int32), tf.TensorSpec(shape=[], dtype=tf.float32)))
    def __call__(self, img, steps, step_size):
        print("Tracing")
        loss = tf.constant(0.0)
        for n in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(img)
                loss = calc_loss(img, self.model)
            gradients = tape.gradient(loss, img)
            gradients /= tf.math.reduce_std(gradients) + 1e-8
            img = img + gradients * step_size
            img = tf.clip_by_value(img, -1, 1)
        return loss, img


original = tf.constant(rng.uniform(-1, 1, (20, 24, 3)), tf.float32)
loss, img = DeepDream(dream_model)(original, tf.constant(4), tf.constant(0.01))
print(f"{loss:.4f}", img.shape, round(float(tf.reduce_mean(tf.abs(img - original))), 3))


def random_roll(img, maxroll):
    shift = tf.random.uniform(shape=[2], minval=-maxroll, maxval=maxroll, dtype=tf.int32)
    return shift, tf.roll(img, shift=shift, axis=[0, 1])


shift, rolled = random_roll(original, 8)
print(shift.shape, np.allclose(tf.roll(rolled, -shift, [0, 1]), original), tf.reduce_all(tf.abs(shift) <= 8).numpy())
base_shape = tf.shape(img)[:-1]
float_base_shape = tf.cast(base_shape, tf.float32)
for n in range(-1, 2):
    new_shape = tf.cast(float_base_shape * (1.3**n), tf.int32)
    print(tf.image.resize(img, new_shape).shape, end=" ")
print()
image = tf.image.convert_image_dtype(img / 2 + 0.5, dtype=tf.uint8)
print(image.dtype, tf.cast(255 * (img + 1.0) / 2.0, tf.uint8).shape, np.asarray(image).dtype)


def gram_matrix(input_tensor):
    result = tf.linalg.einsum("bijc,bijd->bcd", input_tensor, input_tensor)
    input_shape = tf.shape(input_tensor)
    return result / tf.cast(input_shape[1] * input_shape[2], tf.float32)


class StyleContentModel(tf.keras.models.Model):
    def __init__(self, style_layers, content_layers):
        super().__init__()
        self.vgg = tf.keras.Model([base.inputs[0]], [base.get_layer(n).output for n in style_layers + content_layers])
        self.style_layers, self.content_layers, self.num_style_layers = style_layers, content_layers, len(style_layers)
        self.vgg.trainable = False

    def call(self, inputs):
        outputs = self.vgg(inputs * 2.0 - 1.0)
        style_outputs, content_outputs = outputs[: self.num_style_layers], outputs[self.num_style_layers :]
        style_outputs = [gram_matrix(s) for s in style_outputs]
        return {"content": {n: v for n, v in zip(self.content_layers, content_outputs)}, "style": {n: v for n, v in zip(self.style_layers, style_outputs)}}


extractor = StyleContentModel(["mixed3"], ["mixed5"])
content_image = tf.constant(rng.random((1, 20, 24, 3)), tf.float32)
style_image = tf.constant(rng.random((1, 16, 16, 3)), tf.float32)
style_targets, content_targets = extractor(style_image)["style"], extractor(content_image)["content"]
image = tf.Variable(content_image)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        outputs = extractor(image)
        style_loss = tf.add_n([tf.reduce_mean((outputs["style"][n] - style_targets[n]) ** 2) for n in outputs["style"].keys()])
        content_loss = tf.add_n([tf.reduce_mean((outputs["content"][n] - content_targets[n]) ** 2) for n in outputs["content"].keys()])
        loss = 1e2 * style_loss + 10 * content_loss + 1e-3 * tf.reduce_sum(tf.image.total_variation(image))
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0))
    return loss


print([round(float(train_step(image)), 2) for _ in range(4)])
x_deltas = image[:, :, 1:, :] - image[:, :, :-1, :]
print(x_deltas.shape, tf.image.sobel_edges(content_image).shape, round(float(tf.image.total_variation(image)[0]), 0) > 0)
print(tf.keras.utils.array_to_img(image[0]).size, tf.keras.preprocessing.image.img_to_array(tf.keras.utils.array_to_img(image[0])).shape)
grey = tf.image.rgb_to_grayscale(image)
hsv = tf.image.rgb_to_hsv(image)
print(grey.shape, np.allclose(tf.image.hsv_to_rgb(hsv), image, atol=1e-4), tf.image.rgb_to_yuv(image).shape, tf.image.rot90(image).shape, tf.image.transpose(image).shape, tf.image.flip_up_down(image).shape)
print(tf.image.adjust_gamma(image, 2.0).numpy().mean().round(3), tf.image.adjust_hue(image, 0.1).numpy().mean().round(2), tf.image.pad_to_bounding_box(image, 2, 2, 30, 30).shape, tf.image.crop_to_bounding_box(image, 1, 1, 5, 5).shape,
      tf.image.resize_with_crop_or_pad(image, 10, 40).shape, tf.image.grayscale_to_rgb(grey).shape, tf.image.stateless_random_flip_left_right(image, seed=(1, 2)).shape, tf.image.random_hue(image, 0.1).shape,
      tf.image.stateless_random_crop(image, (1, 8, 8, 3), seed=(1, 2)).shape, tf.image.random_jpeg_quality(image[0], 70, 90).shape, tf.image.random_saturation(image, 0.5, 1.5).shape)
