"""tf.image: gradients, edges, and how alike two images are."""
import numpy as np
from keras import ops as k

from plimsoll_tensorflow.ops import tensor


def image_gradients(image, name=None):
    x = tensor(image)
    if x.ndim != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}.")
    return (k.pad(x[:, 1:] - x[:, :-1], [(0, 0), (0, 1), (0, 0), (0, 0)]), k.pad(x[:, :, 1:] - x[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)]))


def sobel_edges(image, name=None):
    x = tensor(image)
    kernels = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], "float32")
    channels = x.shape[-1]
    taps = np.broadcast_to(np.moveaxis(kernels, 0, -1)[:, :, None], (3, 3, channels, 2)).copy()
    padded = k.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], "reflect")
    return k.reshape(k.depthwise_conv(padded, k.convert_to_tensor(taps), 1, "valid"), [*x.shape, 2])


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False, name=None):
    a, b = (k.cast(tensor(x), "float32") for x in (img1, img2))
    places = np.arange(filter_size) - (filter_size - 1) / 2
    line = np.exp(-0.5 * (places / filter_sigma) ** 2)
    window = np.outer(line, line) / line.sum() ** 2
    channels = a.shape[-1]
    taps = k.convert_to_tensor(np.broadcast_to(window[:, :, None, None], (filter_size, filter_size, channels, 1)).astype("float32").copy())
    smooth = lambda x: k.depthwise_conv(x, taps, 1, "valid")
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_a, mean_b = smooth(a), smooth(b)
    both, squares = mean_a * mean_b, k.square(mean_a) + k.square(mean_b)
    luminance = (2 * both + c1) / (squares + c1)
    structure = (2 * (smooth(a * b) - both) + c2) / (smooth(k.square(a) + k.square(b)) - squares + c2)
    alike = luminance * structure
    return alike if return_index_map else k.mean(alike, axis=(-3, -2, -1))
