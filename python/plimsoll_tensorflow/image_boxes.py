"""tf.image's functions on boxes (y1, x1, y2, x2): suppression, crops, drawing."""
import collections

import numpy as np
from keras import ops as k

from plimsoll_tensorflow.ops import shape_list, tensor
from plimsoll_tensorflow.tensor import to_tensor


def _overlap(box, others):
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    area = lambda b: np.abs((b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1]))
    return shared / np.maximum(area(box) + area(others) - shared, 1e-12)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    boxes, scores = np.asarray(tensor(boxes), "float64"), np.asarray(tensor(scores))
    boxes = np.concatenate([np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1)
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) == int(np.asarray(max_output_size)) or scores[i] <= score_threshold:
            break
        if not kept or _overlap(boxes[i], boxes[kept]).max() <= iou_threshold:
            kept.append(i)
    return to_tensor(np.asarray(kept, "int32"))


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), soft_nms_sigma=0.0, name=None):
    if soft_nms_sigma:
        raise NotImplementedError(f"[tf.image.non_max_suppression_with_scores] expected soft_nms_sigma=0, got {soft_nms_sigma}")
    kept = non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold)
    return kept, k.take(tensor(scores), kept, 0)


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), pad_to_max_output_size=False,
                               name=None, sorted_input=False, canonicalized_coordinates=False, tile_size=512):
    most = int(np.asarray(max_output_size))
    kept = np.asarray(non_max_suppression(boxes, scores, most, iou_threshold, score_threshold))
    padded = np.pad(kept, (0, most - len(kept))) if pad_to_max_output_size else kept
    return to_tensor(padded), to_tensor(np.int32(len(kept)))


CombinedNonMaxSuppression = collections.namedtuple("CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections")


def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                 pad_per_class=False, clip_boxes=True, name=None):
    """Class by class, then the best of all. boxes: (batch, count, 1 or classes, 4), scores: (batch, count, classes)."""
    boxes, scores = np.asarray(tensor(boxes)), np.asarray(tensor(scores))
    per_class, classes = int(np.asarray(max_output_size_per_class)), scores.shape[2]
    most = min(int(np.asarray(max_total_size)), per_class * classes) if pad_per_class else int(np.asarray(max_total_size))
    out = CombinedNonMaxSuppression(np.zeros((len(boxes), most, 4), "float32"), np.zeros((len(boxes), most), "float32"),
                                    np.zeros((len(boxes), most), "float32"), np.zeros(len(boxes), "int32"))
    for i in range(len(boxes)):
        found = []
        for c in range(classes):
            own = boxes[i, :, c if boxes.shape[2] > 1 else 0]
            kept = np.asarray(non_max_suppression(own, scores[i, :, c], per_class, iou_threshold, score_threshold))
            found += [(float(scores[i, j, c]), c, own[j]) for j in kept]
        found = sorted(found, key=lambda f: -f[0])[:most]
        out.valid_detections[i] = len(found)
        for place, (score, c, box) in enumerate(found):
            out.nmsed_boxes[i, place] = np.clip(box, 0, 1) if clip_boxes else box
            out.nmsed_scores[i, place], out.nmsed_classes[i, place] = score, c
    return CombinedNonMaxSuppression(*map(to_tensor, out))


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"), name=None):
    overlaps, scores, kept = np.asarray(tensor(overlaps)), np.asarray(tensor(scores)), []
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) == int(np.asarray(max_output_size)) or scores[i] <= score_threshold:
            break
        if not kept or overlaps[i, kept].max() <= overlap_threshold:
            kept.append(i)
    return to_tensor(np.asarray(kept, "int32"))


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    x, boxes, places = tensor(image), tensor(boxes), tensor(box_indices)
    (height, width), (rows, columns) = x.shape[1:3], shape_list(crop_size)

    def positions(low, high, size, count):
        low, high = k.expand_dims(low, 1), k.expand_dims(high, 1)
        if count == 1:
            return 0.5 * (low + high) * (size - 1)
        return low * (size - 1) + k.arange(count, dtype="float32") * (high - low) * (size - 1) / (count - 1)

    y, z = positions(boxes[:, 0], boxes[:, 2], height, rows), positions(boxes[:, 1], boxes[:, 3], width, columns)
    inside = lambda p, size: k.logical_and(p >= 0, p <= size - 1)
    seen = k.logical_and(k.expand_dims(inside(y, height), 2), k.expand_dims(inside(z, width), 1))
    crops = k.cast(k.take(x, places, 0), "float32")
    if method == "nearest":
        made = _gathered(crops, k.round(y), k.round(z))
    else:
        y0, z0 = k.floor(y), k.floor(z)
        fy, fz = k.expand_dims(y - y0, (2, 3)), k.expand_dims(z - z0, (1, 3))
        top = _gathered(crops, y0, z0) * (1 - fz) + _gathered(crops, y0, z0 + 1) * fz
        low = _gathered(crops, y0 + 1, z0) * (1 - fz) + _gathered(crops, y0 + 1, z0 + 1) * fz
        made = top * (1 - fy) + low * fy
    return k.where(k.expand_dims(seen, 3), made, k.full_like(made, extrapolation_value))


def _gathered(images, y, x):
    """images[i, y[i], x[i]], with positions kept inside."""
    height, width, channels = images.shape[1:]
    y = k.cast(k.clip(y, 0, height - 1), "int32")
    x = k.cast(k.clip(x, 0, width - 1), "int32")
    places = k.expand_dims(y, 2) * width + k.expand_dims(x, 1)
    flat = k.reshape(images, [images.shape[0], height * width, channels])
    found = k.take_along_axis(flat, k.reshape(places, [images.shape[0], -1, 1]), axis=1)
    return k.reshape(found, [images.shape[0], y.shape[1], x.shape[1], channels])


def draw_bounding_boxes(images, boxes, colors=None, name=None):
    out, boxes = np.array(tensor(images)), np.asarray(tensor(boxes))
    default = [[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1],
               [0, 1, 1, 1], [1, 0, 1, 1]]
    colors = np.asarray(default if colors is None else tensor(colors), out.dtype)[:, : out.shape[-1]]
    height, width = out.shape[1:3]
    for picture, row in zip(out, boxes):
        for i, (y1, x1, y2, x2) in enumerate(row):
            top, bottom, left, right = int(y1 * (height - 1)), int(y2 * (height - 1)), int(x1 * (width - 1)), int(x2 * (width - 1))
            colour, ys, xs = colors[i % len(colors)], slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
            for y in (top, bottom):
                if 0 <= y < height:
                    picture[y, xs] = colour
            for x in (left, right):
                if 0 <= x < width:
                    picture[ys, x] = colour
    return to_tensor(out)
