"""RetinaNet-like detection: anchors, IoU, label encoding, focal and smooth-L1 losses, decoding with NMS, feature pyramid."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(5)


def swap_xy(boxes):
    return tf.stack([boxes[:, 1], boxes[:, 0], boxes[:, 3], boxes[:, 2]], axis=-1)


def convert_to_xywh(boxes):
    return tf.concat([(boxes[..., :2] + boxes[..., 2:]) / 2.0, boxes[..., 2:] - boxes[..., :2]], axis=-1)


def convert_to_corners(boxes):
    return tf.concat([boxes[..., :2] - boxes[..., 2:] / 2.0, boxes[..., :2] + boxes[..., 2:] / 2.0], axis=-1)


def compute_iou(boxes1, boxes2):
    c1, c2 = convert_to_corners(boxes1), convert_to_corners(boxes2)
    lu = tf.maximum(c1[:, None, :2], c2[:, :2])
    rd = tf.minimum(c1[:, None, 2:], c2[:, 2:])
    intersection = tf.maximum(0.0, rd - lu)
    area = intersection[:, :, 0] * intersection[:, :, 1]
    union = tf.maximum((boxes1[:, 2] * boxes1[:, 3])[:, None] + boxes2[:, 2] * boxes2[:, 3] - area, 1e-8)
    return tf.clip_by_value(area / union, 0.0, 1.0)


class AnchorBox:
    def __init__(self):
        self.aspect_ratios, self.scales, self._strides, self._areas = [0.5, 1.0, 2.0], [2**x for x in [0, 1 / 2]], [8, 16], [x**2 for x in [12.0, 24.0]]
        self._num_anchors = 6
        self._anchor_dims = self._compute_dims()

    def _compute_dims(self):
        all_dims = []
        for area in self._areas:
            dims = []
            for ratio in self.aspect_ratios:
                h = tf.math.sqrt(area / ratio)
                w = area / h
                d = tf.reshape(tf.stack([w, h], axis=-1), [1, 1, 2])
                for scale in self.scales:
                    dims.append(scale * d)
            all_dims.append(tf.stack(dims, axis=-2))
        return all_dims

    def _get_anchors(self, fh, fw, level):
        rx, ry = tf.range(fw, dtype=tf.float32) + 0.5, tf.range(fh, dtype=tf.float32) + 0.5
        centers = tf.stack(tf.meshgrid(rx, ry), axis=-1) * self._strides[level]
        centers = tf.expand_dims(centers, axis=-2)
        centers = tf.tile(centers, [1, 1, self._num_anchors, 1])
        dims = tf.tile(self._anchor_dims[level], [fh, fw, 1, 1])
        return tf.reshape(tf.concat([centers, dims], axis=-1), [fh * fw * self._num_anchors, 4])

    def get_anchors(self, h, w):
        return tf.concat([self._get_anchors(tf.math.ceil(h / s), tf.math.ceil(w / s), i) if False else self._get_anchors(-(-h // s), -(-w // s), i) for i, s in enumerate(self._strides)], axis=0)


anchors = AnchorBox().get_anchors(32, 32)
print(anchors.shape, anchors[0].numpy().round(2), tf.reduce_sum(anchors).numpy().round(0))


class LabelEncoder:
    def __init__(self):
        self.var = tf.convert_to_tensor([0.1, 0.1, 0.2, 0.2], dtype=tf.float32)

    def match(self, anchor_boxes, gt_boxes, match_iou=0.5, ignore_iou=0.4):
        iou = compute_iou(anchor_boxes, gt_boxes)
        max_iou = tf.reduce_max(iou, axis=1)
        idx = tf.argmax(iou, axis=1)
        positive = tf.greater_equal(max_iou, match_iou)
        negative = tf.less(max_iou, ignore_iou)
        ignore = tf.logical_not(tf.logical_or(positive, negative))
        return idx, tf.cast(positive, dtype=tf.float32), tf.cast(ignore, dtype=tf.float32)

    def encode(self, gt_boxes, cls_ids):
        idx, positive, ignore = self.match(anchors, gt_boxes)
        matched = tf.gather(gt_boxes, idx)
        box = tf.concat([(matched[:, :2] - anchors[:, :2]) / anchors[:, 2:], tf.math.log(matched[:, 2:] / anchors[:, 2:])], axis=-1) / self.var
        cls = tf.gather(tf.cast(cls_ids, tf.float32), idx)
        cls = tf.where(tf.not_equal(positive, 1.0), -1.0, cls)
        cls = tf.where(tf.equal(ignore, 1.0), -2.0, cls)
        return tf.concat([box, tf.expand_dims(cls, axis=-1)], axis=-1)

    def encode_batch(self, batch_images, gt_boxes, cls_ids):
        n = tf.shape(batch_images)[0]
        labels = tf.TensorArray(dtype=tf.float32, size=n, dynamic_size=True)
        for i in range(n):
            labels = labels.write(i, self.encode(gt_boxes[i], cls_ids[i]))
        return batch_images, labels.stack()


class RetinaNetBoxLoss(tf.losses.Loss):
    def __init__(self, delta):
        super().__init__(reduction="none", name="RetinaNetBoxLoss")
        self._delta = delta

    def call(self, y_true, y_pred):
        diff = y_true - y_pred
        a = tf.abs(diff)
        return tf.reduce_sum(tf.where(tf.less(a, self._delta), 0.5 * diff**2, a - 0.5), axis=-1)


class RetinaNetClassificationLoss(tf.losses.Loss):
    def __init__(self, alpha, gamma):
        super().__init__(reduction="none", name="cls")
        self._alpha, self._gamma = alpha, gamma

    def call(self, y_true, y_pred):
        ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
        probs = tf.nn.sigmoid(y_pred)
        alpha = tf.where(tf.equal(y_true, 1.0), self._alpha, (1.0 - self._alpha))
        pt = tf.where(tf.equal(y_true, 1.0), probs, 1 - probs)
        return tf.reduce_sum(alpha * tf.pow(1.0 - pt, self._gamma) * ce, axis=-1)


class RetinaNetLoss(tf.losses.Loss):
    def __init__(self, num_classes=2, alpha=0.25, gamma=2.0, delta=1.0):
        super().__init__(reduction="sum_over_batch_size", name="RetinaNetLoss")
        self._clf, self._box, self._n = RetinaNetClassificationLoss(alpha, gamma), RetinaNetBoxLoss(delta), num_classes

    def call(self, y_true, y_pred):
        y_pred = tf.cast(y_pred, dtype=tf.float32)
        box_labels, box_predictions = y_true[:, :, :4], y_pred[:, :, :4]
        cls_labels = tf.one_hot(tf.cast(y_true[:, :, 4], dtype=tf.int32), depth=self._n, dtype=tf.float32)
        positive = tf.cast(tf.greater(y_true[:, :, 4], -1.0), dtype=tf.float32)
        ignore = tf.cast(tf.equal(y_true[:, :, 4], -2.0), dtype=tf.float32)
        clf = self._clf(cls_labels, y_pred[:, :, 4:])
        box = self._box(box_labels, box_predictions)
        clf = tf.where(tf.equal(ignore, 1.0), 0.0, clf)
        box = tf.where(tf.equal(positive, 1.0), box, 0.0)
        norm = tf.reduce_sum(positive, axis=-1)
        clf = tf.math.divide_no_nan(tf.reduce_sum(clf, axis=-1), norm)
        return clf + tf.math.divide_no_nan(tf.reduce_sum(box, axis=-1), norm)


images = rng.random((6, 32, 32, 3)).astype("float32")
boxes = tf.constant(np.stack([np.array([[10.0 + i, 12, 14, 14], [20, 20, 20, 20 + i]]) for i in range(6)]), tf.float32)
classes = tf.constant([[0, 1]] * 6)
ds = tf.data.Dataset.from_tensor_slices((images, boxes, classes)).batch(2).map(LabelEncoder().encode_batch)
for im, lab in ds.take(1):
    print(lab.shape, tf.reduce_sum(tf.cast(lab[..., 4] >= 0, tf.int32)).numpy(), lab[0, :, 4].numpy().min())


class FeaturePyramid(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(name="FeaturePyramid", **kwargs)
        self.c3, self.c4 = keras.layers.Conv2D(8, 1, 1, "same"), keras.layers.Conv2D(8, 1, 1, "same")
        self.up = keras.layers.UpSampling2D(2)

    def call(self, inputs, training=False):
        a, b = inputs
        b = self.c4(b)
        return self.c3(a) + self.up(b), b


class RetinaNet(keras.Model):
    def __init__(self):
        super().__init__(name="RetinaNet")
        self.stem = [keras.layers.Conv2D(8, 3, 2, "same", activation="relu") for _ in range(4)]
        self.fpn = FeaturePyramid()
        prior = tf.constant_initializer(-np.log((1 - 0.01) / 0.01))
        self.cls_head = keras.Sequential([keras.layers.Conv2D(6 * 2, 3, padding="same", bias_initializer=prior)])
        self.box_head = keras.Sequential([keras.layers.Conv2D(6 * 4, 3, padding="same")])

    def call(self, image, training=False):
        feats = []
        for s in self.stem:
            image = s(image)
            feats.append(image)
        n = tf.shape(image)[0]
        cls, box = [], []
        for f in self.fpn(feats[2:], training=training):
            box.append(tf.reshape(self.box_head(f), [n, -1, 4]))
            cls.append(tf.reshape(self.cls_head(f), [n, -1, 2]))
        return tf.concat([tf.concat(box, axis=1), tf.concat(cls, axis=1)], axis=-1)


model = RetinaNet()
print(model(images[:1]).shape)
for v in model.trainable_variables:
    if "kernel" in v.path:
        v.assign(rng.normal(0, 0.1, v.shape))
lr = tf.optimizers.schedules.PiecewiseConstantDecay(boundaries=[2, 4], values=[0.001, 0.002, 0.003])
model.compile(loss=RetinaNetLoss(), optimizer=tf.keras.optimizers.SGD(learning_rate=lr, momentum=0.9))
print(np.round(model.fit(ds, epochs=2, verbose=0).history["loss"], 2))
out = model.predict(images[:1], verbose=0)
xywh = tf.concat([out[..., :2] * 0.1 * anchors[None, :, 2:] + anchors[None, :, :2], tf.exp(out[..., 2:4] * 0.2) * anchors[None, :, 2:]], -1)
corners = convert_to_corners(xywh)
r = tf.image.combined_non_max_suppression(tf.expand_dims(corners, axis=2), tf.nn.sigmoid(out[..., 4:]), 5, 5, 0.5, 0.0, clip_boxes=False)
print(r.nmsed_boxes.shape, r.valid_detections.numpy(), r.nmsed_classes.shape)
keep = tf.image.non_max_suppression(tf.constant([[0, 0, 1, 1.0], [0, 0, 1, 0.9], [2, 2, 3, 3]]), tf.constant([0.9, 0.8, 0.7]), 5, 0.5)
print(keep.numpy(), swap_xy(tf.constant([[1.0, 2, 3, 4]])).numpy(), convert_to_xywh(tf.constant([[0.0, 0, 4, 2]])).numpy())
