"""tf.image's functions on boxes (y1, x1, y2, x2): suppression, crops, drawing."""
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
