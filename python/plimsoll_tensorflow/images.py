"""tf.image: resizing, cropping, colours and the small augmentations, over keras.ops; files by Pillow."""
import io

import keras
import numpy as np
from keras import ops as k

from plimsoll_tensorflow.dtypes import as_dtype
from plimsoll_tensorflow.ops import backend_cast, shape_list, tensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor

METHODS = ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5", "area")


class ResizeMethod:
    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, LANCZOS3, LANCZOS5, AREA = METHODS
    GAUSSIAN, MITCHELLCUBIC = "gaussian", "mitchellcubic"


def _pillow():
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("[tf.image] reading and writing image files needs Pillow: pip install pillow") from None
    return Image


def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True, **options):
    data = contents.numpy() if isinstance(contents, StringTensor) else contents
    image = _pillow().open(io.BytesIO(data))
    mode = {1: "L", 3: "RGB", 4: "RGBA"}.get(channels or 0) or (image.mode if image.mode in ("L", "RGB", "RGBA") else "RGB")
    pixels = np.asarray(image.convert(mode))
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    return convert_image_dtype(to_tensor(pixels), dtype)


def _encoded(image, form, **options):
    pixels = np.asarray(tensor(image)).astype("uint8")
    out = io.BytesIO()
    _pillow().fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(out, form, **options)
    return StringTensor(out.getvalue())


def encode_jpeg(image, format="", quality=95, **options):
    return _encoded(image, "JPEG", quality=quality)


def encode_png(image, compression=-1, name=None):
    return _encoded(image, "PNG")


def _batched(function, images):
    """On 4 axes, whether one image was given or several."""
    x = tensor(images)
    return function(x) if x.ndim == 4 else function(k.expand_dims(x, 0))[0]


def _shares(count, wanted):
    """What each of `wanted` equal parts of a line takes of `count` pixels."""
    ends = np.arange(wanted + 1) * (count / wanted)
    pixels = np.arange(count)
    overlap = np.minimum(ends[1:, None], pixels + 1) - np.maximum(ends[:-1, None], pixels)
    return to_tensor((np.clip(overlap, 0, None) * (wanted / count)).astype("float32"))


def resize(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None):
    x, (height, width) = tensor(images), shape_list(size)
    if method not in METHODS:
        raise NotImplementedError(f"[tf.image.resize] expected a method of {METHODS}, got {method!r}")
    if preserve_aspect_ratio:
        scale = min(height / x.shape[-3], width / x.shape[-2])
        height, width = max(1, round(x.shape[-3] * scale)), max(1, round(x.shape[-2] * scale))
    if method in ("gaussian", "mitchellcubic"):
        raise NotImplementedError(f"[tf.image.resize] expected a method of {METHODS}, got {method!r}")
    if method == "area":
        return k.einsum("...hwc,Hh,Ww->...HWc", backend_cast(x, "float32"), _shares(x.shape[-3], height), _shares(x.shape[-2], width))
    y = x if method == "nearest" else backend_cast(x, "float32")
    return k.image.resize(y, (height, width), interpolation=method, antialias=antialias, data_format="channels_last")


def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False):
    y = resize(image, (target_height, target_width), method, preserve_aspect_ratio=True, antialias=antialias)
    top, left = (target_height - y.shape[-3]) // 2, (target_width - y.shape[-2]) // 2
    return pad_to_bounding_box(y, top, left, target_height, target_width)


def resize_with_crop_or_pad(image, target_height, target_width):
    x = tensor(image)
    height, width = x.shape[-3], x.shape[-2]
    top, left = max(0, (height - target_height) // 2), max(0, (width - target_width) // 2)
    x = x[..., top : top + min(height, target_height), left : left + min(width, target_width), :]
    return pad_to_bounding_box(x, max(0, (target_height - height) // 2), max(0, (target_width - width) // 2), target_height, target_width)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    x = tensor(image)
    pads = [[offset_height, target_height - offset_height - x.shape[-3]], [offset_width, target_width - offset_width - x.shape[-2]], [0, 0]]
    return k.pad(x, [[0, 0]] * (x.ndim - 3) + pads)


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    return tensor(image)[..., offset_height : offset_height + target_height, offset_width : offset_width + target_width, :]


def central_crop(image, central_fraction):
    x = tensor(image)
    top, left = (int((n - n * central_fraction) / 2) for n in (x.shape[-3], x.shape[-2]))
    return x[..., top : x.shape[-3] - top, left : x.shape[-2] - left, :]


def random_crop(value, size, seed=None, name=None):
    x = tensor(value)
    limits = [n - s + 1 for n, s in zip(x.shape, shape_list(size))]
    starts = k.stack([_number([], 0, n, seed, "int32") for n in limits])
    return k.slice(x, starts, shape_list(size))


def _number(shape, low, high, seed, dtype="float32"):
    from plimsoll_tensorflow.api.random import uniform

    return uniform(shape, low, high, dtype, seed)


def flip_left_right(image):
    return k.flip(tensor(image), -2)


def flip_up_down(image):
    return k.flip(tensor(image), -3)


def transpose(image, name=None):
    x = tensor(image)
    return k.swapaxes(x, -2, -3)


def _sometimes(flip):
    def random_flip(image, seed=None):
        x = tensor(image)
        flips = _number([x.shape[0], 1, 1, 1] if x.ndim == 4 else [], 0.0, 1.0, seed) < 0.5
        return k.where(flips, flip(x), x)

    return random_flip


random_flip_left_right, random_flip_up_down = _sometimes(flip_left_right), _sometimes(flip_up_down)


def rot90(image, k=1, name=None):
    x = tensor(image)
    return keras.ops.rot90(x, k, axes=(x.ndim - 3, x.ndim - 2))


def convert_image_dtype(image, dtype, saturate=False, name=None):
    x, dtype = tensor(image), as_dtype(dtype)
    if x.dtype == dtype:
        return x
    if x.dtype.is_integer and dtype.is_floating:
        return backend_cast(x, dtype.name) * (1.0 / x.dtype.max)
    if x.dtype.is_floating and dtype.is_integer:
        scaled = x * (dtype.max + 0.5)
        return backend_cast(k.clip(scaled, dtype.min, dtype.max) if saturate else scaled, dtype.name)
    return backend_cast(x, dtype.name)


def _as_float(function):
    """Of integers the result is an integer again."""

    def call(image, *args, **kwargs):
        x = tensor(image)
        if x.dtype.is_floating:
            return function(x, *args, **kwargs)
        return convert_image_dtype(function(convert_image_dtype(x, "float32"), *args, **kwargs), x.dtype, saturate=True)

    return call


@_as_float
def adjust_brightness(image, delta):
    return image + delta


@_as_float
def adjust_contrast(images, contrast_factor):
    mean = k.mean(images, axis=(-3, -2), keepdims=True)
    return (images - mean) * contrast_factor + mean


@_as_float
def adjust_gamma(image, gamma=1, gain=1):
    return gain * k.power(image, gamma)


@_as_float
def adjust_saturation(image, saturation_factor, name=None):
    hsv = k.image.rgb_to_hsv(image)
    return k.image.hsv_to_rgb(k.stack([hsv[..., 0], k.clip(hsv[..., 1] * saturation_factor, 0.0, 1.0), hsv[..., 2]], -1))


@_as_float
def adjust_hue(image, delta, name=None):
    hsv = k.image.rgb_to_hsv(image)
    return k.image.hsv_to_rgb(k.stack([(hsv[..., 0] + delta) % 1.0, hsv[..., 1], hsv[..., 2]], -1))


def random_brightness(image, max_delta, seed=None):
    return adjust_brightness(image, _number([], -max_delta, max_delta, seed))


def random_contrast(image, lower, upper, seed=None):
    return adjust_contrast(image, _number([], lower, upper, seed))


def random_saturation(image, lower, upper, seed=None):
    return adjust_saturation(image, _number([], lower, upper, seed))


def random_hue(image, max_delta, seed=None):
    return adjust_hue(image, _number([], -max_delta, max_delta, seed))


def rgb_to_grayscale(images, name=None):
    x = tensor(images)
    y = k.sum(convert_image_dtype(x, "float32") * to_tensor([0.2989, 0.5870, 0.1140]), axis=-1, keepdims=True)
    return y if x.dtype.is_floating else convert_image_dtype(y, x.dtype)


def grayscale_to_rgb(images, name=None):
    return k.repeat(tensor(images), 3, axis=-1)


def rgb_to_hsv(images, name=None):
    return k.image.rgb_to_hsv(tensor(images))


def hsv_to_rgb(images, name=None):
    return k.image.hsv_to_rgb(tensor(images))


def per_image_standardization(image):
    x = backend_cast(tensor(image), "float32")
    axes, count = (-3, -2, -1), int(np.prod(x.shape[-3:]))
    deviation = k.maximum(k.std(x, axis=axes, keepdims=True), count**-0.5)
    return (x - k.mean(x, axis=axes, keepdims=True)) / deviation


def rgb_to_yuv(images):
    return _mixed(images, [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]])


def yuv_to_rgb(images):
    return _mixed(images, [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]])


def rgb_to_yiq(images):
    return _mixed(images, [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]])


def yiq_to_rgb(images):
    return _mixed(images, [[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]])


def _mixed(images, matrix):
    x = tensor(images)
    return k.matmul(x, to_tensor(np.array(matrix, "float32"), x.dtype))


def _seeded(name):
    """The random function with the numbers of a seed of its own."""

    def call(image, *args, seed, **kwargs):
        from plimsoll_tensorflow.api.random import _pair

        return globals()[name](image, *args, seed=_pair(seed), **kwargs)

    def positional(image, *args, **kwargs):
        if "seed" not in kwargs:
            args, kwargs["seed"] = args[:-1], args[-1]
        return call(image, *args, **kwargs)

    return positional


stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_brightness, stateless_random_contrast = map(_seeded, (
    "random_flip_left_right", "random_flip_up_down", "random_brightness", "random_contrast"))
stateless_random_saturation, stateless_random_hue, stateless_random_crop = map(_seeded, ("random_saturation", "random_hue", "random_crop"))


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    x = tensor(image)
    pixels = convert_image_dtype(x, "uint8", saturate=True)
    return convert_image_dtype(decode_image(encode_jpeg(pixels, quality=int(np.asarray(jpeg_quality))), channels=x.shape[-1]), x.dtype)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    return adjust_jpeg_quality(image, _number([], min_jpeg_quality, max_jpeg_quality, seed, "int32"))


def is_jpeg(contents, name=None):
    return to_tensor(bytes(contents.numpy() if isinstance(contents, StringTensor) else contents)[:3] == b"\xff\xd8\xff")


def extract_jpeg_shape(contents, output_type="int32", name=None):
    return to_tensor(np.array(decode_image(contents).shape, as_dtype(output_type).as_numpy_dtype))


def decode_and_crop_jpeg(contents, crop_window, channels=0, **options):
    top, left, height, width = shape_list(crop_window)
    return crop_to_bounding_box(decode_image(contents, channels), top, left, height, width)


def psnr(a, b, max_val, name=None):
    error = k.mean(k.square(convert_image_dtype(a, "float32") - convert_image_dtype(b, "float32")), axis=(-3, -2, -1))
    return 20.0 * float(np.log10(max_val)) - 10.0 * k.log10(error)


def total_variation(images, name=None):
    x = tensor(images)
    axes = (-3, -2, -1)
    return k.sum(k.abs(x[..., 1:, :, :] - x[..., :-1, :, :]), axis=axes) + k.sum(k.abs(x[..., :, 1:, :] - x[..., :, :-1, :]), axis=axes)


def extract_patches(images, sizes, strides, rates, padding, name=None):
    return k.image.extract_patches(tensor(images), sizes[1:3], strides=strides[1:3], dilation_rate=rates[1], padding=padding.lower(),
                                   data_format="channels_last")
