# Optimising an image: Gram matrices, total variation, clipping; image ops on the way
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
content = tf.constant(rng.random((1, 16, 16, 3)), tf.float32)
style = tf.constant(rng.random((1, 16, 16, 3)) ** 3, tf.float32)
inp = tf.keras.Input((16, 16, 3))
a = tf.keras.layers.Conv2D(4, 3, activation="relu", name="c1")(inp)
b = tf.keras.layers.Conv2D(6, 3, strides=2, activation="relu", name="c2")(tf.keras.layers.AveragePooling2D((2, 2))(a))
extractor = tf.keras.Model(inp, {"c1": a, "c2": b})
extractor.set_weights([rng.normal(size=w.shape) * 0.3 for w in extractor.get_weights()])
extractor.trainable = False


def gram_matrix(t):
    result = tf.linalg.einsum("bijc,bijd->bcd", t, t)
    shape = tf.shape(t)
    return result / tf.cast(shape[1] * shape[2], tf.float32)


style_targets = {k: gram_matrix(v) for k, v in extractor(style).items()}
content_targets = extractor(content)["c2"]
image = tf.Variable(content)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


def clip_0_1(image):
    return tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0)


def high_pass_x_y(image):
    return image[:, :, 1:, :] - image[:, :, :-1, :], image[:, 1:, :, :] - image[:, :-1, :, :]


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        out = extractor(image)
        loss = tf.add_n([tf.reduce_mean((gram_matrix(out[name]) - style_targets[name]) ** 2) for name in style_targets.keys()])
        loss += 0.1 * tf.reduce_mean((out["c2"] - content_targets) ** 2)
        loss += 1e-3 * tf.image.total_variation(image)
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip_0_1(image))
    return loss


for n in range(5):
    loss = train_step(image)
    print(n, loss.shape, np.round(loss.numpy(), 4))
dx, dy = high_pass_x_y(image)
print(tf.reduce_sum(tf.abs(dx)).numpy().round(3), tf.reduce_sum(tf.abs(dy)).numpy().round(3), tf.image.total_variation(image).numpy().round(3))


def tensor_to_image(tensor):
    tensor = np.array(tensor * 255, dtype=np.uint8)
    if np.ndim(tensor) > 3:
        assert tensor.shape[0] == 1
        tensor = tensor[0]
    return tensor


pixels = tensor_to_image(image)
print(pixels.shape, pixels.dtype)
sobel = tf.image.sobel_edges(content)
print(sobel.shape, tf.reduce_mean(sobel[..., 0]).numpy().round(4), tf.image.psnr(content, style, max_val=1.0).numpy().round(3), tf.image.ssim(content, style, max_val=1.0).numpy().round(3))
img = tf.cast(pixels, tf.float32) / 255
for name, f in {
    "resize": lambda i: tf.image.resize(i, [7, 9]), "nearest": lambda i: tf.image.resize(i, [32, 32], method="nearest"), "bicubic": lambda i: tf.image.resize(i, (20, 20), method=tf.image.ResizeMethod.BICUBIC),
    "area": lambda i: tf.image.resize(i, (8, 8), method="area"), "antialias": lambda i: tf.image.resize(i, (5, 5), antialias=True), "pad": lambda i: tf.image.resize_with_pad(i, 20, 10), "crop or pad": lambda i: tf.image.resize_with_crop_or_pad(i, 10, 20),
    "box": lambda i: tf.image.crop_to_bounding_box(i, 2, 3, 5, 6), "pad box": lambda i: tf.image.pad_to_bounding_box(i, 1, 1, 20, 20), "central": lambda i: tf.image.central_crop(i, 0.5), "flip": tf.image.flip_left_right, "up": tf.image.flip_up_down,
    "rot90": lambda i: tf.image.rot90(i, k=3), "transpose": tf.image.transpose, "gray": tf.image.rgb_to_grayscale, "hue": lambda i: tf.image.adjust_hue(i, 0.2), "sat": lambda i: tf.image.adjust_saturation(i, 2.0), "gamma": lambda i: tf.image.adjust_gamma(i, 0.5),
    "contrast": lambda i: tf.image.adjust_contrast(i, 1.5), "bright": lambda i: tf.image.adjust_brightness(i, 0.1), "std": tf.image.per_image_standardization, "hsv": tf.image.rgb_to_hsv, "yuv": tf.image.rgb_to_yuv, "to rgb": lambda i: tf.image.grayscale_to_rgb(i[..., :1]),
    "u8": lambda i: tf.image.convert_image_dtype(i, tf.uint8), "patches": lambda i: tf.image.extract_patches(i[None], [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID"), "crops": lambda i: tf.image.crop_and_resize(i[None], [[0.1, 0.1, 0.6, 0.7]], [0], [6, 6])}.items():
    out = f(img)
    print(name, tuple(out.shape), out.dtype.name, np.round(tf.reduce_mean(tf.cast(out, tf.float32)).numpy(), 3))
print(tf.nn.depthwise_conv2d(content, tf.ones([3, 3, 3, 1]) / 9, [1, 1, 1, 1], "SAME").shape, tf.nn.conv2d(content, tf.ones([2, 2, 3, 1]), 2, "VALID").shape, tf.nn.max_pool2d(content, 2, 2, "SAME").shape, tf.nn.avg_pool2d(content, 3, 1, "VALID").shape, tf.nn.space_to_depth(content, 2).shape, tf.nn.depth_to_space(tf.ones([1, 2, 2, 8]), 2).shape)
boxes = tf.constant([[0, 0, 1, 1], [0, 0, 0.9, 1.0], [0.5, 0.5, 1, 1]], tf.float32)
print(tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], 3, iou_threshold=0.5).numpy(), tf.image.draw_bounding_boxes(content, boxes[None], [[1.0, 0.0, 0.0]]).shape)
jpg = tf.io.encode_jpeg(tf.cast(pixels, tf.uint8))
print(tf.io.decode_jpeg(jpg).shape, tf.io.decode_image(jpg, expand_animations=False).dtype)
