"""Pooling, and what rearranges the elements of images."""
import math

import numpy as np
from keras.src.backend.config import standardize_data_format

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops._convolution import back_from_last, channels_last, each, pads
from keras_plimsoll.src.ops.core import convert_to_tensor

MOST_POINTS = 256  # of a window, for the engine's max_pool: its gradient keeps places in bytes


def _pool(x, pool_size, strides, padding, data_format, run):
    data_format = standardize_data_format(data_format)
    rank = x.ndim - 2
    window = each(pool_size, rank, "pool_size")
    strides = window if strides is None else each(strides, rank, "strides")
    x = channels_last(x, data_format)
    low, high = pads(padding, x.shape[1:-1], window, strides, [1] * rank)
    fits = rank <= 3 and all(size + a + b >= w for size, a, b, w in zip(x.shape[1:-1], low, high, window))
    return back_from_last(run(x, window, strides, low, high, fits), data_format)


def _window_op(name, x, window, strides, low, high):
    """Over any axes and of any numbers, more slowly than the pools."""
    return call(name, x, window=[1, *window, 1], strides=[1, *strides, 1], low=[0, *low, 0], high=[0, *high, 0])


def _max(x, window, strides, low, high, fits):
    if fits and x.dtype in f.FLOATS and math.prod(window) <= MOST_POINTS:
        return call("max_pool", x, window=window, strides=strides, pad_low=low, pad_high=high)[0]
    return _window_op("reduce_window_max", x, window, strides, low, high)


def _average(x, window, strides, low, high, fits):
    if fits:
        return call("average_pool", x, window=window, strides=strides, pad_low=low, pad_high=high)
    ones = f.filled([1, *x.shape[1:-1], 1], x.dtype, 1.0)
    count = _window_op("reduce_window_sum", ones, window, strides, low, high)
    return f.divide(_window_op("reduce_window_sum", x, window, strides, low, high), count)


def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return _pool(convert_to_tensor(inputs), pool_size, strides, padding, data_format, _max)


def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return _pool(f.to_float(convert_to_tensor(inputs)), pool_size, strides, padding, data_format, _average)


def _adaptive_windows(size, count):
    """(begin, end) of each of `count` windows that cover `size` elements as evenly as they can."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _adaptive_max(x, axis, count):
    windows = _adaptive_windows(x.shape[axis], count)
    most = max(end - begin for begin, end in windows)
    # Windows of one length: the shorter ones name their last element again.
    places = np.array([[min(begin + i, end - 1) for i in range(most)] for begin, end in windows], "int32")
    return f.reduce("max", call("take", x, convert_to_tensor(places), axis=axis), axis + 1)


def _adaptive_average(x, axis, count):
    size = x.shape[axis]
    weights = np.zeros((size, count))
    for i, (begin, end) in enumerate(_adaptive_windows(size, count)):
        weights[begin:end, i] = 1.0 / (end - begin)
    y = call("dot_general", x, convert_to_tensor(weights, x.dtype), a_contract=[axis], b_contract=[0])
    return f.permuted(y, [*range(axis), y.ndim - 1, *range(axis, y.ndim - 1)])


def _adaptive_pool(x, output_size, data_format, pool, along_axis, name):
    data_format = standardize_data_format(data_format)
    rank = x.ndim - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"{name} supports only 1D/2D/3D inputs")
    counts = each(output_size, rank, "output_size")
    x = channels_last(x, data_format)
    if all(size % count == 0 for size, count in zip(x.shape[1:-1], counts)):
        window = [size // count for size, count in zip(x.shape[1:-1], counts)]
        y = pool(x, window, window, [0] * rank, [0] * rank, True)
    else:
        y = x
        for axis, count in enumerate(counts, start=1):
            y = along_axis(y, axis, count)
    return back_from_last(y, data_format)


def adaptive_average_pool(inputs, output_size, data_format=None):
    x = f.to_float(convert_to_tensor(inputs))
    return _adaptive_pool(x, output_size, data_format, _average, _adaptive_average, "adaptive_average_pool")


def adaptive_max_pool(inputs, output_size, data_format=None):
    x = convert_to_tensor(inputs)
    return _adaptive_pool(x, output_size, data_format, _max, _adaptive_max, "adaptive_max_pool")


class _Patches:
    """Where the windows of unfold and fold lie in an image (N, C, H, W) with its padding."""

    def __init__(self, size, kernel_size, dilation, padding, stride):
        self.kernel, self.dilation = each(kernel_size, 2, "kernel_size"), each(dilation, 2, "dilation")
        self.padding, self.stride = each(padding, 2, "padding"), each(stride, 2, "stride")
        self.padded = [n + 2 * p for n, p in zip(size, self.padding)]
        self.count = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(self.padded, self.dilation, self.kernel, self.stride)]

    def offsets(self):
        """Where the first window has each of its points."""
        return [(i * self.dilation[0], j * self.dilation[1]) for i in range(self.kernel[0]) for j in range(self.kernel[1])]

    def reach(self):
        return [(n - 1) * s + 1 for n, s in zip(self.count, self.stride)]


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    x = convert_to_tensor(input)
    n, channels = x.shape[:2]
    at = _Patches(x.shape[2:], kernel_size, dilation, padding, stride)
    if any(at.padding):
        around = [0, 0, *at.padding]
        x = f.padded(x, around, around)
    points = []
    for i, j in at.offsets():
        part = f.cut(f.cut(x, 2, i, i + at.reach()[0], at.stride[0]), 3, j, j + at.reach()[1], at.stride[1])
        points.append(f.reshaped(part, [n, channels, 1, math.prod(at.count)]))
    return f.reshaped(f.joined(points, 2), [n, channels * len(points), math.prod(at.count)])


def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    x = convert_to_tensor(x)
    at = _Patches(each(output_size, 2, "output_size"), kernel_size, dilation, padding, stride)
    offsets, reach = at.offsets(), at.reach()
    n, channels = x.shape[0], x.shape[1] // len(offsets)
    x = f.reshaped(x, [n, channels, len(offsets), *at.count])
    between, total = [0, 0, *(s - 1 for s in at.stride)], None
    for k, (i, j) in enumerate(offsets):
        low = [i - at.padding[0], j - at.padding[1]]
        high = [size - r - start for size, r, start in zip(at.padded, reach, (i, j))]
        high = [h - p for h, p in zip(high, at.padding)]
        part = f.padded(f.at(x, 2, k), [0, 0, *low], [0, 0, *high], interior=between)
        total = part if total is None else f.add(total, part)
    return total


def depth_to_space(x, block_size, data_format="channels_last"):
    x, b = convert_to_tensor(x), block_size
    if data_format == "channels_last":
        n, h, w, c = x.shape
        blocks = f.reshaped(x, [n, h, w, b, b, c // b**2])
        return f.reshaped(f.permuted(blocks, [0, 1, 3, 2, 4, 5]), [n, h * b, w * b, c // b**2])
    n, c, h, w = x.shape
    blocks = f.reshaped(x, [n, c // b**2, b, b, h, w])
    return f.reshaped(f.permuted(blocks, [0, 1, 4, 2, 5, 3]), [n, c // b**2, h * b, w * b])


def space_to_depth(x, block_size, data_format="channels_last"):
    x, b = convert_to_tensor(x), block_size
    if data_format == "channels_last":
        n, h, w, c = x.shape
        blocks = f.reshaped(x, [n, h // b, b, w // b, b, c])
        return f.reshaped(f.permuted(blocks, [0, 1, 3, 2, 4, 5]), [n, h // b, w // b, c * b**2])
    n, c, h, w = x.shape
    blocks = f.reshaped(x, [n, c, h // b, b, w // b, b])
    return f.reshaped(f.permuted(blocks, [0, 1, 3, 5, 2, 4]), [n, c * b**2, h // b, w // b])
