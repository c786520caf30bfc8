from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api.math import in_top_k, l2_normalize, softmax, top_k, zero_fraction  # noqa: F401

from plimsoll_tensorflow.sampling import nce_loss, sampled_softmax_loss  # noqa: E402,F401

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


def _pool(function, dims):
    def pool(input, ksize, strides, padding, data_format=None, name=None):
        size = lambda s: s if isinstance(s, int) else tuple(s)[1:-1] if len(s) == dims + 2 else tuple(s) if len(s) == dims else s[0]
        return function(_tensor(input), size(ksize), size(strides), _same(padding))

    return pool


max_pool1d, max_pool3d, avg_pool1d, avg_pool3d = _pool(_k.max_pool, 1), _pool(_k.max_pool, 3), _pool(_k.average_pool, 1), _pool(_k.average_pool, 3)


def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=1, name=None):
    inner = lambda s: tuple(s)[1:-1] if isinstance(s, (list, tuple)) and len(s) == 5 else s
    return _k.conv(_tensor(input), _tensor(filters), inner(strides), _same(padding), dilation_rate=inner(dilations))


def convolution(input, filters, strides=1, padding="VALID", data_format=None, dilations=1, name=None):
    return _k.conv(_tensor(input), _tensor(filters), 1 if strides is None else strides, _same(padding), dilation_rate=1 if dilations is None else dilations)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=1, name=None):
    return _k.separable_conv(_tensor(input), _tensor(depthwise_filter), _tensor(pointwise_filter), _inner(strides), _same(padding), dilation_rate=1 if dilations is None else dilations)


def atrous_conv2d(value, filters, rate, padding, name=None):
    return _k.conv(_tensor(value), _tensor(filters), 1, _same(padding), dilation_rate=rate)


def crelu(features, axis=-1, name=None):
    x = _tensor(features)
    return _k.concatenate([_k.relu(x), _k.relu(-x)], axis)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    z, c = _tensor(targets), _tensor(log_input)
    if compute_full_loss:
        raise NotImplementedError("[tf.nn.log_poisson_loss] expected compute_full_loss=False")
    return _k.exp(c) - c * z


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """One replica here, so that its batch is the whole batch."""
    losses = _tensor(per_example_loss)
    losses = losses if sample_weight is None else losses * sample_weight
    return _k.sum(losses) / float(losses.shape[0] if global_batch_size is None else _ops.static(global_batch_size))


def scale_regularization_loss(regularization_loss):
    return _k.sum(_tensor(regularization_loss))


def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    x, weights = _ops.pair(x, frequency_weights)
    weights = _k.broadcast_to(weights, x.shape)
    total = _k.sum(weights, axes, keepdims=True)
    mean = _k.sum(x * weights, axes, keepdims=True) / total
    variance = _k.sum(weights * _k.square(x - mean), axes, keepdims=True) / total
    return (mean, variance) if keepdims else (_k.squeeze(mean, tuple(_ops.np.atleast_1d(axes).tolist())), _k.squeeze(variance, tuple(_ops.np.atleast_1d(axes).tolist())))


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


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None):
    return _k.conv_transpose(_tensor(input), _tensor(filters), strides if isinstance(strides, int) else tuple(strides)[-1 if len(strides) == 1 else 1], _same(padding))


def conv3d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None):
    return _k.conv_transpose(_tensor(input), _tensor(filters), tuple(strides)[1:-1] if isinstance(strides, (list, tuple)) and len(strides) == 5 else strides, _same(padding))


def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    function = _k.max_pool if pooling_type.upper() == "MAX" else _k.average_pool
    return function(_tensor(input), tuple(window_shape), 1 if strides is None else tuple(strides), _same(padding))


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    counts, mean, square = _tensor(counts), _tensor(mean_ss), _tensor(variance_ss)
    shifted = mean / counts
    return (shifted if shift is None else shifted + shift), square / counts - _k.square(shifted)


def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    x = _tensor(x)
    moved = x if shift is None else x - shift
    count = float(_ops.np.prod([x.shape[a] for a in axes]))
    return _ops.to_tensor(count, x.dtype), _k.sum(moved, tuple(axes), keepdims=keepdims), _k.sum(_k.square(moved), tuple(axes), keepdims=keepdims), shift


def ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None):
    """Of dense labels."""
    x = _tensor(logits)
    x = _k.transpose(x, (1, 0, 2)) if logits_time_major else x
    blank = 0 if blank_index is None else blank_index % x.shape[-1]
    labels = labels if not hasattr(labels, "dense_shape") else _to_dense(labels)
    return _k.ctc_loss(_tensor(labels), x, _tensor(label_length), _tensor(logit_length), mask_index=blank)


def _to_dense(labels):
    from plimsoll_tensorflow.sparse_tensor import to_dense

    return to_dense(labels)


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    from plimsoll_tensorflow.sparse_tensor import SparseTensor

    x = _ops.np.asarray(_tensor(inputs)).transpose(1, 0, 2)
    blank = x.shape[-1] - 1 if blank_index is None else blank_index % x.shape[-1]
    best, places, values = x.argmax(-1), [], []
    lengths = _ops.np.asarray(_tensor(sequence_length)).tolist()
    for i, (row, count) in enumerate(zip(best, lengths)):
        kept = [c for t, c in enumerate(row[:count]) if c != blank and not (merge_repeated and t and row[t - 1] == c)]
        places += [[i, j] for j in range(len(kept))]
        values += kept
    scores = [[-float(x[i, :count].max(-1).sum())] for i, count in enumerate(lengths)]
    width = max([p[1] + 1 for p in places], default=0)
    decoded = SparseTensor(_ops.np.asarray(places, "int64").reshape(-1, 2), _ops.np.asarray(values, "int64"), [len(x), width])
    return [decoded], _ops.to_tensor(_ops.np.asarray(scores, "float32"))


def embedding_lookup_sparse(params, sp_ids, sp_weights=None, combiner="mean", max_norm=None, name=None):
    rows = _ops.gather(params, sp_ids.values)
    places = _ops.cast(sp_ids.indices[:, 0], "int32")
    weights = _k.ones((rows.shape[0], 1), rows.dtype.name) if sp_weights is None else _k.expand_dims(_tensor(sp_weights.values), 1)
    total = lambda x: _k.segment_sum(x, places, sp_ids.shape[0])
    over = {"sum": None, "mean": weights, "sqrtn": _k.square(weights)}[combiner]
    summed = total(rows * weights)
    return summed if over is None else _k.divide_no_nan(summed, total(over) if combiner == "mean" else _k.sqrt(total(over)))


def collapse_repeated(labels, seq_length, name=None):
    rows = [[v for j, v in enumerate(row) if j == 0 or row[j - 1] != v]
            for row in (r[:n] for r, n in zip(_ops.np.asarray(_tensor(labels)).tolist(), _ops.np.asarray(_tensor(seq_length)).tolist()))]
    out = _ops.np.zeros((len(rows), max(map(len, rows), default=0)), _ops.np.asarray(_tensor(labels)).dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return _ops.to_tensor(out), _ops.to_tensor(_ops.np.asarray([len(r) for r in rows], "int32"))


lrn = local_response_normalization
max_pool, avg_pool = max_pool2d, avg_pool2d
__getattr__ = _hints.getter("nn")
