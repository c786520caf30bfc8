import numpy as np
from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type
from keras.src.random.seed_generator import draw_seed

from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.ops import linalg as _linalg
from keras_plimsoll.src.ops import numpy as _knp
from keras_plimsoll.src.ops.core import cast, convert_to_numpy, convert_to_tensor
from keras_plimsoll.src.tensors import is_float as _is_float

RESIZE_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic")
AFFINE_TRANSFORM_INTERPOLATIONS = {"nearest": 0, "bilinear": 1}  # orders of the splines
AFFINE_TRANSFORM_FILL_MODES = {"constant", "nearest", "wrap", "mirror", "reflect"}
MAP_COORDINATES_FILL_MODES = {"constant", "nearest", "wrap", "mirror", "reflect"}
SCALE_AND_TRANSLATE_METHODS = {"linear", "bilinear", "trilinear", "cubic", "bicubic", "tricubic", "lanczos3", "lanczos5"}


def _images(images):
    images = convert_to_tensor(images)
    if images.ndim not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
            f"Received input with shape: images.shape={images.shape}"
        )
    return images


def _channels_axis(data_format):
    return -1 if config.standardize_data_format(data_format) == "channels_last" else -3


def _require_known(name, value, known):
    if value not in known:
        raise ValueError(f"Invalid value for argument `{name}`. Expected of one {known}. Received: {name}={value}")


def _batched(images, channels_axis):
    """(batch, height, width, channels)."""
    images = _knp.expand_dims(images, 0) if images.ndim == 3 else images
    return images if channels_axis == -1 else _knp.transpose(images, (0, 2, 3, 1))


def _as_before(result, images, channels_axis):
    result = result if channels_axis == -1 else _knp.transpose(result, (0, 3, 1, 2))
    return _knp.squeeze(result, 0) if images.ndim == 3 else result


# ---- Colours


def rgb_to_grayscale(images, data_format=None):
    images, axis = _images(images), _channels_axis(data_format)
    if images.shape[axis] not in (1, 3):
        raise ValueError(
            f"Invalid channel size: expected 3 (RGB) or 1 (Grayscale). Received input with shape: images.shape={images.shape}")
    if images.shape[axis] == 1:
        return images
    wide = cast(images, result_type(images.dtype, float))
    weights = convert_to_tensor([0.2989, 0.5870, 0.1140], wide.dtype)
    return cast(_knp.expand_dims(_knp.tensordot(wide, weights, axes=((axis,), (0,))), axis), images.dtype)


def _planes(images, data_format):
    images, axis = _images(images), _channels_axis(data_format)
    if not _is_float(images.dtype):
        raise ValueError(f"Invalid images dtype: expected float dtype. Received: images.dtype={images.dtype}")
    return [_knp.squeeze(plane, axis) for plane in _knp.split(images, 3, axis=axis)], axis


def rgb_to_hsv(images, data_format=None):
    (red, green, blue), axis = _planes(images, data_format)
    tiny = float(np.finfo("float32").eps) if red.dtype == "bfloat16" else float(np.finfo(red.dtype).eps)
    red, green, blue = (_knp.where(_knp.absolute(c) < tiny, _knp.zeros_like(c), c) for c in (red, green, blue))
    value = _knp.maximum(_knp.maximum(red, green), blue)
    spread = value - _knp.minimum(_knp.minimum(red, green), blue)
    one, zero = _knp.ones_like(value), _knp.zeros_like(value)
    safe = _knp.where(spread > 0, spread, one) * 6.0
    saturation = _knp.where(value > 0, spread / _knp.where(value > 0, value, one), zero)
    hue = _knp.where(_knp.equal(value, green), (blue - red) / safe + 2.0 / 6.0, (red - green) / safe + 4.0 / 6.0)
    hue = _knp.where(_knp.equal(value, red), (green - blue) / safe, hue)
    hue = _knp.where(spread > 0, hue, zero)
    return _knp.stack([_knp.where(hue < 0, hue + 1.0, hue), saturation, value], axis=axis)


def hsv_to_rgb(images, data_format=None):
    (hue, saturation, value), axis = _planes(images, data_format)
    place = _knp.mod(hue, 1.0) * 6.0
    red = _knp.clip(_knp.absolute(place - 3.0) - 1.0, 0.0, 1.0)
    green = _knp.clip(2.0 - _knp.absolute(place - 2.0), 0.0, 1.0)
    blue = _knp.clip(2.0 - _knp.absolute(place - 4.0), 0.0, 1.0)
    return _knp.stack([value * (1.0 - saturation + saturation * part) for part in (red, green, blue)], axis=axis)


# ---- Resizing: along each axis a product with a matrix of weights


def _lanczos(radius):
    def kernel(x):
        y = _knp.where(x > 1e-3, _knp.divide(radius * _knp.sin(np.pi * x) * _knp.sin(np.pi * x / radius),
                                             _knp.where(x > 1e-3, np.pi**2 * _knp.square(x), _knp.ones_like(x))), _knp.ones_like(x))
        return _knp.where(x > radius, _knp.zeros_like(x), y)

    return kernel


def _triangle(x):
    return _knp.maximum(1.0 - x, 0.0)


def _cubic(x):
    """Keys's, with a = -1/2."""
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return _knp.where(x >= 2.0, _knp.zeros_like(x), _knp.where(x >= 1.0, far, near))


_KERNELS = {"linear": _triangle, "bilinear": _triangle, "trilinear": _triangle, "cubic": _cubic, "bicubic": _cubic,
            "tricubic": _cubic, "lanczos3": _lanczos(3.0), "lanczos5": _lanczos(5.0)}


def _weights(size, new_size, scale, translation, kernel, antialias):
    """(size, new_size): how much of each old place is in each new one."""
    inverse = 1.0 / scale
    width = _knp.maximum(inverse, 1.0) if antialias else 1.0
    places = (_knp.arange(new_size, dtype="float32") + 0.5) * inverse - translation * inverse - 0.5
    distance = _knp.absolute(_knp.expand_dims(places, 0) - _knp.expand_dims(_knp.arange(size, dtype="float32"), 1)) / width
    weights = kernel(distance)
    total = _knp.sum(weights, axis=0, keepdims=True)
    enough = _knp.absolute(total) > 1000.0 * float(np.finfo("float32").eps)
    weights = _knp.where(enough, weights / _knp.where(enough, total, _knp.ones_like(total)), _knp.zeros_like(weights))
    inside = _knp.logical_and(places >= -0.5, places <= size - 0.5)
    return _knp.where(_knp.expand_dims(inside, 0), weights, _knp.zeros_like(weights))


def _along(x, axis, weights):
    product = _knp.tensordot(x, cast(weights, x.dtype), axes=((axis,), (0,)))
    return _knp.moveaxis(product, -1, axis)


def _scaled(images, output_shape, spatial_dims, scale, translation, method, antialias):
    wide = images if _is_float(images.dtype) and images.dtype != "float16" else cast(images, "float32")
    for i, axis in enumerate(spatial_dims):
        axis = axis % images.ndim
        wide = _along(wide, axis, _weights(images.shape[axis], output_shape[axis], scale[i], translation[i], _KERNELS[method], antialias))
    return wide


def _to_dtype(x, dtype):
    """Rounded and cut off at the ends where it has no fractions."""
    if x.dtype == dtype or _is_float(dtype):
        return cast(x, dtype)
    limits = np.iinfo(dtype)
    return cast(_knp.clip(_knp.round(x), float(limits.min), float(limits.max)), dtype)


def _nearest(images, axis, new_size):
    size = images.shape[axis]
    places = np.floor((np.arange(new_size) + 0.5) * (size / new_size)).astype("int32")
    return _call("take", images, convert_to_tensor(places), axis=axis)


def _resized(images, size, axes, interpolation, antialias):
    if interpolation == "nearest":
        for axis, new_size in zip(axes, size):
            images = _nearest(images, axis, new_size)
        return images
    changed = [(axis, n) for axis, n in zip(axes, size) if images.shape[axis] != n]
    shape = list(images.shape)
    for axis, n in changed:
        shape[axis] = n
    scale = [convert_to_tensor(n / images.shape[axis], "float32") for axis, n in changed]
    shift = [convert_to_tensor(0.0, "float32")] * len(changed)
    return _to_dtype(_scaled(images, shape, [axis for axis, _ in changed], scale, shift, interpolation, antialias), images.dtype)


def _to_aspect_ratio(images, axes, size, crop, fill_value):
    """The largest part in the middle, or the smallest frame around, with the sides of `size`."""
    height, width = (images.shape[a] for a in axes)
    wanted = [int(float(width * size[0]) / size[1]), int(float(height * size[1]) / size[0])]
    low, high = [0] * images.ndim, [0] * images.ndim
    for axis, now, then in zip(axes, (height, width), wanted):
        if crop:
            then = max(min(now, then), 1)
            start = (now - then) // 2
            low[axis], high[axis] = -start, -(now - then - start)
        else:
            low[axis] = high[axis] = (max(now, then) - now) // 2
    return _call("pad", images, low=low, high=high, value=float(fill_value))


def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
           fill_mode="constant", fill_value=0.0, data_format=None):
    _require_known("interpolation", interpolation, RESIZE_INTERPOLATIONS)
    if fill_mode != "constant":
        raise ValueError(
            f"Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: fill_mode={fill_mode}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if len(size) != 2:
        raise ValueError(f"Argument `size` must be a tuple of two elements (height, width). Received: size={size}")
    images = _images(images)
    last = _channels_axis(data_format) == -1
    axes = [images.ndim - 3, images.ndim - 2] if last else [images.ndim - 2, images.ndim - 1]
    if crop_to_aspect_ratio or pad_to_aspect_ratio:
        images = _to_aspect_ratio(images, axes, size, crop_to_aspect_ratio, fill_value)
    return _resized(images, [int(n) for n in size], axes, interpolation, antialias)


def scale_and_translate(images, output_shape, scale, translation, spatial_dims, method, antialias=True):
    _require_known("method", method, SCALE_AND_TRANSLATE_METHODS)
    images = convert_to_tensor(images)
    scale, translation = (_knp.unstack(convert_to_tensor(x, "float32")) if hasattr(_knp, "unstack") else
                          [convert_to_tensor(x, "float32")[i] for i in range(len(spatial_dims))] for x in (scale, translation))
    return _to_dtype(_scaled(images, output_shape, spatial_dims, scale, translation, method, antialias), images.dtype)


# ---- Values at places between the pixels


def _mirrored(place, size):
    """... 2 1 0 1 2 ... n-1 n-2 ..."""
    if size == 1:
        return _knp.zeros_like(place)
    period = 2 * (size - 1)
    place = _knp.mod(_knp.absolute(place), period)
    return _knp.minimum(place, period - place)


def _reflected(place, size):
    """... 1 0 0 1 ... n-1 n-1 ..."""
    return _knp.floor_divide(_mirrored(2 * place + 1, 2 * size + 1), 2)


_FOLDS = {
    "constant": lambda place, size: _knp.clip(place, 0, size - 1),
    "nearest": lambda place, size: _knp.clip(place, 0, size - 1),
    "wrap": lambda place, size: _knp.mod(place, size),
    "mirror": _mirrored,
    "reflect": _reflected,
}


def _neighbours(coordinate, size, order, mode):
    """[(place, weight)] along one axis, with places inside and, in mode "constant", no weight outside."""
    if order == 0:
        found = [(_knp.round(coordinate), _knp.ones_like(coordinate))]
    else:
        lower = _knp.floor(coordinate)
        part = coordinate - lower
        found = [(lower, 1.0 - part), (lower + 1.0, part)]
    result = []
    for place, weight in found:
        place = cast(place, "int32")
        valid = _knp.logical_and(place >= 0, place < size) if mode == "constant" else None
        result.append((_FOLDS[mode](place, size), weight, valid))
    return result


def _sampled(values, leading, coordinates, order, mode, fill_value):
    """values[leading..., coordinates...], interpolated; `leading` are whole places, all of one shape."""
    dtype = values.dtype
    wide = values if _is_float(dtype) else cast(values, "float32")
    sizes = values.shape[len(leading) : len(leading) + len(coordinates)]
    per_axis = [_neighbours(c, n, order, mode) for c, n in zip(coordinates, sizes)]
    corners, total = [((), None, None)], None
    for found in per_axis:
        corners = [((*places, place), weight if w is None else _knp.multiply(w, weight), valid if v is None else _knp.logical_and(v, valid))
                   for places, w, v in corners for place, weight, valid in found]
    for places, weight, valid in corners:
        value = _call("gather_nd", wide, _knp.stack([*leading, *places], axis=-1))
        rest = [1] * (value.ndim - weight.ndim)
        if valid is not None:
            value = _knp.where(_knp.reshape(valid, (*valid.shape, *rest)), value, convert_to_tensor(fill_value, wide.dtype))
        value = value * cast(_knp.reshape(weight, (*weight.shape, *rest)), wide.dtype)
        total = value if total is None else total + value
    return _to_dtype(total, dtype)


def map_coordinates(inputs, coordinates, order, fill_mode="constant", fill_value=0.0):
    inputs, coordinates = convert_to_tensor(inputs), convert_to_tensor(coordinates)
    if coordinates.shape[0] != inputs.ndim:
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {inputs.shape} and coordinate leading dim of {coordinates.shape[0]}"
        )
    if coordinates.ndim < 2:
        raise ValueError(
            f"Invalid coordinates rank: expected at least rank 2. Received input with shape: {coordinates.shape}")
    _require_known("fill_mode", fill_mode, MAP_COORDINATES_FILL_MODES)
    _require_known("order", order, [0, 1])
    if not _is_float(coordinates.dtype):
        coordinates = cast(coordinates, "float32")
    return _sampled(inputs, [], [coordinates[i] for i in range(inputs.ndim)], order, fill_mode, fill_value)


def _warped(images, ys, xs, interpolation, fill_mode, fill_value):
    """(batch, height, width, channels) images with the values at (ys, xs) (batch, height, width)."""
    batch = _knp.broadcast_to(_knp.reshape(_knp.arange(images.shape[0], dtype="int32"), (-1, 1, 1)), ys.shape)
    return _sampled(images, [batch], [ys, xs], AFFINE_TRANSFORM_INTERPOLATIONS[interpolation], fill_mode, fill_value)


def _grid(height, width):
    ys, xs = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    return (convert_to_tensor(part[None].astype("float32")) for part in (ys, xs))


def _columns(transform):
    return [_knp.reshape(transform[:, i], (-1, 1, 1)) for i in range(transform.shape[1])]


def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0, data_format=None):
    axis = _channels_axis(data_format)
    _require_known("interpolation", interpolation, set(AFFINE_TRANSFORM_INTERPOLATIONS))
    _require_known("fill_mode", fill_mode, AFFINE_TRANSFORM_FILL_MODES)
    images, transform = _images(images), convert_to_tensor(transform, "float32")
    if transform.ndim not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). "
            f"Received input with shape: transform.shape={transform.shape}"
        )
    transform = _knp.expand_dims(transform, 0) if transform.ndim == 1 else transform
    batch = _batched(images, axis)
    ys, xs = _grid(*batch.shape[1:3])
    a0, a1, a2, b0, b1, b2 = _columns(_knp.broadcast_to(transform, (batch.shape[0], *transform.shape[1:])))[:6]
    result = _warped(batch, b0 * xs + b1 * ys + b2, a0 * xs + a1 * ys + a2, interpolation, fill_mode, fill_value)
    return _as_before(result, images, axis)


def _require_points(name, points):
    if points.shape[-2:] != (4, 2) or points.ndim not in (2, 3):
        raise ValueError(
            f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a batch. Received shape: {points.shape}")


def perspective_transform(images, start_points, end_points, interpolation="bilinear", fill_value=0, data_format=None):
    axis = _channels_axis(data_format)
    _require_known("interpolation", interpolation, set(AFFINE_TRANSFORM_INTERPOLATIONS))
    images = _images(images)
    start, end = convert_to_tensor(start_points, "float32"), convert_to_tensor(end_points, "float32")
    _require_points("start_points", start)
    _require_points("end_points", end)
    if start.shape != end.shape:
        raise ValueError(
            "start_points and end_points must have the same shape. "
            f"Received start_points.shape={start.shape}, end_points.shape={end.shape}"
        )
    if start.ndim == 2:
        start, end = _knp.expand_dims(start, 0), _knp.expand_dims(end, 0)
    batch = _batched(images, axis)
    matrix = compute_homography_matrix(start, end)
    a, b, c, d, e, f, g, h = _columns(_knp.broadcast_to(matrix, (batch.shape[0], 8)))
    ys, xs = _grid(*batch.shape[1:3])
    scale = g * xs + h * ys + 1.0
    result = _warped(batch, (d * xs + e * ys + f) / scale, (a * xs + b * ys + c) / scale, interpolation, "constant", fill_value)
    return _as_before(result, images, axis)


def compute_homography_matrix(start_points, end_points):
    """The eight numbers of the projection that takes the ends to the starts: two equations for each of four points."""
    start, end = convert_to_tensor(start_points), convert_to_tensor(end_points)
    (sx, sy), (ex, ey) = ((points[..., 0], points[..., 1]) for points in (start, end))
    none, one = _knp.zeros_like(ex), _knp.ones_like(ex)
    for_x = _knp.stack([ex, ey, one, none, none, none, -sx * ex, -sx * ey], axis=-1)
    for_y = _knp.stack([none, none, none, ex, ey, one, -sy * ex, -sy * ey], axis=-1)
    return _linalg.solve(_knp.concatenate([for_x, for_y], axis=-2), _knp.concatenate([sx, sy], axis=-1))


# ---- Filters


def _filtered(images, kernel):
    """Each channel of (batch, height, width, channels) by the same kernel, "same" padding."""
    channels = images.shape[-1]
    height, width = kernel.shape
    kernel = _knp.broadcast_to(_knp.reshape(kernel, (height, width, 1, 1)), (height, width, 1, channels))
    low = [(height - 1) // 2, (width - 1) // 2]
    return _call("conv", images, cast(kernel, images.dtype), pad_low=low, pad_high=[height - 1 - low[0], width - 1 - low[1]],
                 groups=channels)


def _gaussian(size, sigma):
    x = convert_to_tensor(np.arange(size) - (size - 1) / 2, sigma.dtype)
    weights = _knp.exp(-0.5 * _knp.square(x / sigma))
    return weights / _knp.sum(weights)


def gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None):
    images, axis = _images(images), _channels_axis(data_format)
    sigma = convert_to_tensor(sigma, images.dtype)
    kernel = _knp.outer(_gaussian(kernel_size[1], sigma[1]), _gaussian(kernel_size[0], sigma[0]))
    return _as_before(_filtered(_batched(images, axis), kernel), images, axis)


def elastic_transform(images, alpha=20.0, sigma=5.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0, seed=None,
                      data_format=None):
    from keras_plimsoll.src.random import normal

    axis = _channels_axis(data_format)
    _require_known("interpolation", interpolation, set(AFFINE_TRANSFORM_INTERPOLATIONS))
    _require_known("fill_mode", fill_mode, AFFINE_TRANSFORM_FILL_MODES)
    images = _images(images)
    batch = _batched(images, axis)
    places = batch.shape[:3]
    dtype = batch.dtype if _is_float(batch.dtype) else "float32"
    size = int(6 * float(convert_to_numpy(convert_to_tensor(sigma)))) | 1
    seed = draw_seed(seed)

    def shift():
        noise = _knp.expand_dims(normal(places, stddev=1.0, dtype=dtype, seed=seed), -1) * convert_to_tensor(sigma, dtype)
        blurred = gaussian_blur(noise, (size, size), (sigma, sigma), "channels_last")
        return _knp.squeeze(blurred, -1) * convert_to_tensor(alpha, dtype)

    ys, xs = _grid(*places[1:])
    moved = shift()
    result = _warped(batch, cast(ys, dtype) + moved, cast(xs, dtype) + moved, interpolation, fill_mode, fill_value)
    return _as_before(result, images, axis)


def sobel_edges(images, data_format=None):
    images, axis = convert_to_tensor(images), -3 if data_format == "channels_first" else -1
    batch = _batched(images, axis)
    across = convert_to_tensor([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], images.dtype)
    edges = (_as_before(_filtered(batch, kernel), images, axis) for kernel in (_knp.transpose(across), across))
    return _knp.stack(list(edges), axis=-1)
