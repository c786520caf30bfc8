# Boxes, IoU, non-maximum suppression, patches: what detection posts ask about
import numpy as np
import tensorflow as tf


def iou(boxes1, boxes2):
    b1, b2 = tf.expand_dims(boxes1, 1), tf.expand_dims(boxes2, 0)
    upper_left = tf.maximum(b1[..., :2], b2[..., :2])
    lower_right = tf.minimum(b1[..., 2:], b2[..., 2:])
    inter = tf.reduce_prod(tf.maximum(0.0, lower_right - upper_left), axis=-1)
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    return inter / tf.clip_by_value(area(b1) + area(b2) - inter, 1e-8, 1e9)


boxes = tf.constant([[0.0, 0.0, 0.5, 0.5], [0.05, 0.0, 0.5, 0.55], [0.5, 0.5, 1.0, 1.0], [0.45, 0.5, 0.9, 1.0], [0.0, 0.6, 0.2, 0.9]])
scores = tf.constant([0.9, 0.8, 0.7, 0.95, 0.3])
print(np.round(iou(boxes, boxes).numpy()[0], 4))
keep = tf.image.non_max_suppression(boxes, scores, max_output_size=4, iou_threshold=0.5)
print(keep.numpy(), tf.gather(scores, keep).numpy())
keep = tf.image.non_max_suppression(boxes, scores, 4, 0.5, score_threshold=0.5).numpy()
print(keep)
centers = tf.concat([(boxes[..., :2] + boxes[..., 2:]) / 2.0, boxes[..., 2:] - boxes[..., :2]], axis=-1)
print(centers.numpy()[0])

image = tf.reshape(tf.range(64, dtype=tf.float32), (1, 8, 8, 1))
crops = tf.image.crop_and_resize(image, boxes[:2], box_indices=[0, 0], crop_size=(2, 2))
print(np.round(crops.numpy()[..., 0], 3).tolist())
patches = tf.image.extract_patches(images=image, sizes=[1, 4, 4, 1], strides=[1, 4, 4, 1], rates=[1, 1, 1, 1], padding='VALID')
print(patches.shape, patches[0, 0, 1, :4].numpy())
dy, dx = tf.image.image_gradients(image)
print(dy[0, 0, 0, 0].numpy(), dx[0, 0, 0, 0].numpy(), tf.image.sobel_edges(image).shape)
a, b = tf.ones((1, 16, 16, 3)) * 0.5, tf.ones((1, 16, 16, 3)) * 0.6
print("ssim %.4f psnr %.3f" % (tf.image.ssim(a, b, max_val=1.0)[0], tf.image.psnr(a, b, max_val=1.0)[0]))
drawn = tf.image.draw_bounding_boxes(tf.zeros((1, 8, 8, 3)), boxes[None, 2:3], [[1.0, 0.0, 0.0]])
print(drawn.shape, int(tf.math.count_nonzero(drawn)))
print(tf.image.pad_to_bounding_box(image, 1, 1, 10, 10).shape, tf.image.total_variation(image).numpy(), tf.image.transpose(image)[0, 0, :3, 0].numpy())
hsv = tf.image.rgb_to_hsv(tf.constant([[[0.2, 0.4, 0.6]]]))
print(np.round(hsv.numpy().ravel(), 4), np.round(tf.image.hsv_to_rgb(hsv).numpy().ravel(), 4), np.round(tf.image.adjust_hue(tf.constant([[[0.2, 0.4, 0.6]]]), 0.1).numpy().ravel(), 3))
print(tf.image.adjust_gamma(tf.constant([[[0.25, 0.5, 1.0]]]), 2.0).numpy().ravel())

target = tf.tensor_scatter_nd_update(tf.zeros((2, 4)), [[0, 1], [1, 3]], [5.0, 7.0])
target = tf.tensor_scatter_nd_add(target, [[0, 1]], [1.0])
print(target.numpy().tolist())
mask = tf.sequence_mask([1, 3, 2], maxlen=4)
print(mask.numpy().astype(int).tolist(), tf.reverse_sequence(tf.constant([[1, 2, 3, 0]]), [3], seq_axis=1).numpy())
anchors = tf.stack(tf.meshgrid(tf.range(2.0), tf.range(3.0), indexing="ij"), -1)
print(tf.reshape(anchors, (-1, 2)).numpy().tolist())
best = tf.math.top_k(scores, k=2)
print(best.values.numpy(), best.indices.numpy(), tf.where(scores > 0.75)[:, 0].numpy())


@tf.function
def focal(y_true, logits, alpha=0.25, gamma=2.0):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=logits)
    p = tf.nn.sigmoid(logits)
    a = tf.where(tf.equal(y_true, 1.0), alpha, 1.0 - alpha)
    pt = tf.where(tf.equal(y_true, 1.0), p, 1 - p)
    return tf.reduce_sum(a * tf.pow(1.0 - pt, gamma) * ce, axis=-1)


print(np.round(focal(tf.constant([[1.0, 0.0]]), tf.constant([[0.3, -2.0]])).numpy(), 5))
ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
for i in tf.range(3):
    ta = ta.write(i, tf.cast(i, tf.float32) * boxes[i])
print(ta.stack().shape, ta.size().numpy())


@tf.function
def smooth(x):
    outs = tf.TensorArray(tf.float32, size=4)
    s = tf.constant(0.0)
    for i in tf.range(4):
        if x[i] > 2.0:
            s = s * 0.5 + x[i]
        else:
            s = s * 0.5
        outs = outs.write(i, s)
    return outs.stack()


print(smooth(tf.constant([1.0, 3.0, 5.0, 0.0])).numpy())
