from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api.math import in_top_k, l2_normalize, softmax, top_k, zero_fraction  # noqa: F401

_k, _tensor = _ops.k, _ops.tensor
relu, relu6, selu, silu, softplus, softsign, sigmoid, tanh = (
    _ops.unary(f) for f in (_k.relu, _k.relu6, _k.selu, _k.silu, _k.softplus, _k.softsign, _k.sigmoid, _k.tanh))
swish = silu


def elu(features, alpha=1.0, name=None):
    return _k.elu(_tensor(features), alpha)


def leaky_relu(features, alpha=0.2, name=None):
    return _k.leaky_relu(_tensor(features), alpha)


def gelu(features, approximate=False, name=None):
    return _k.gelu(_tensor(features), approximate)


def log_softmax(logits, axis=-1, name=None):
    return _k.log_softmax(_tensor(logits), axis)


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    return _k.categorical_crossentropy(_tensor(labels), _tensor(logits), from_logits=True, axis=axis)


def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    return _k.sparse_categorical_crossentropy(_tensor(labels), _tensor(logits), from_logits=True)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    return _k.binary_crossentropy(_tensor(labels), _tensor(logits), from_logits=True)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None):
    z, x = _tensor(labels), _tensor(logits)
    weight = 1 + (pos_weight - 1) * z
    return (1 - z) * x + weight * (_k.log1p(_k.exp(-_k.abs(x))) + _k.relu(-x))


def l2_loss(t, name=None):
    return _k.sum(_k.square(_tensor(t))) / 2


def bias_add(value, bias, data_format=None, name=None):
    return _tensor(value) + bias


def dropout(x, rate, noise_shape=None, seed=None, name=None):
    from plimsoll_tensorflow.api.random import generator_for

    return _ops.keras.random.dropout(_tensor(x), rate, noise_shape, seed=generator_for(seed))


def embedding_lookup(params, ids, max_norm=None, name=None):
    return _ops.gather(params, ids)


def moments(x, axes, shift=None, keepdims=False, name=None):
    return _k.moments(_tensor(x), axes, keepdims)


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    y = (_tensor(x) - mean) * _k.rsqrt(_tensor(variance) + variance_epsilon)
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


def _same(padding):
    return padding.lower()


def _inner(sizes):
    """[1, h, w, 1] or [h, w] or h."""
    return sizes[1:-1] if isinstance(sizes, (list, tuple)) and len(sizes) == 4 else sizes


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=1, name=None):
    return _k.conv(_tensor(input), _tensor(filters), _inner(strides), _same(padding), dilation_rate=_inner(dilations))


def conv1d(input, filters, stride, padding, data_format="NWC", dilations=1, name=None):
    return _k.conv(_tensor(input), _tensor(filters), stride, _same(padding), dilation_rate=dilations)


def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=1, name=None):
    return _k.depthwise_conv(_tensor(input), _tensor(filter), _inner(strides), _same(padding), dilation_rate=dilations)


def conv2d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None):
    return _k.conv_transpose(_tensor(input), _tensor(filters), _inner(strides), _same(padding))


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    return _k.max_pool(_tensor(input), _inner(ksize), _inner(strides), _same(padding))


def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    return _k.average_pool(_tensor(input), _inner(ksize), _inner(strides), _same(padding))


def depth_to_space(input, block_size, data_format="NHWC", name=None):
    return _k.depth_to_space(_tensor(input), block_size, _channels(data_format))


def space_to_depth(input, block_size, data_format="NHWC", name=None):
    return _k.space_to_depth(_tensor(input), block_size, _channels(data_format))


def _channels(data_format):
    return "channels_first" if data_format.startswith("NC") else "channels_last"


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    x = _tensor(input)
    squares = _k.pad(_k.square(x), [(0, 0)] * (x.ndim - 1) + [(depth_radius, depth_radius)])
    near = sum(squares[..., i : i + x.shape[-1]] for i in range(2 * depth_radius + 1))
    return x / (bias + alpha * near) ** beta


lrn = local_response_normalization
max_pool, avg_pool = max_pool2d, avg_pool2d
__getattr__ = _hints.getter("nn")
