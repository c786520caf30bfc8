"""Convolutions. The engine's images are channels-last; channels_first is transposed, and passes bring the transposes together."""
from keras.src.backend.config import standardize_data_format

from keras_plimsoll.src.engine import call
from keras_plimsoll.src.ops import _formula as f
from keras_plimsoll.src.ops.core import convert_to_tensor


def each(value, rank, name="argument"):
    """One entry per spatial axis."""
    entries = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(entries) == 1:
        entries *= rank
    if len(entries) != rank:
        raise ValueError(f"`{name}` must be an integer or have {rank} entries. Received: {name}={value}")
    return entries


def is_same(padding):
    if not isinstance(padding, str) or padding.lower() not in ("same", "valid"):
        raise ValueError(f"Invalid padding '{padding}', must be 'same' or 'valid'.")
    return padding.lower() == "same"


def pads(padding, sizes, window, strides, dilation):
    """(low, high): as TensorFlow has it, what is odd goes to the end."""
    if not is_same(padding):
        return [0] * len(sizes), [0] * len(sizes)
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilation)]
    total = [max(r - (size % s or s), 0) for size, r, s in zip(sizes, reach, strides)]
    return [t // 2 for t in total], [t - t // 2 for t in total]


def channels_last(x, data_format):
    return x if data_format == "channels_last" else f.permuted(x, [0, *range(2, x.ndim), 1])


def back_from_last(x, data_format):
    return x if data_format == "channels_last" else f.permuted(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])


def _operands(inputs, kernel):
    """Both as floats of the kernel's dtype, and the dtype of the result."""
    kernel = convert_to_tensor(kernel)
    inputs = convert_to_tensor(inputs, dtype=kernel.dtype)
    return f.to_float(inputs), f.to_float(kernel), kernel.dtype


def _conv(x, kernel, strides, padding, data_format, dilation_rate, groups, dtype):
    """x in the given format, kernel (spatial, channels / groups, filters), both floats."""
    rank = x.ndim - 2
    strides, dilation = each(strides, rank, "strides"), each(dilation_rate, rank, "dilation_rate")
    x = channels_last(x, data_format)
    sizes, window = x.shape[1:-1], kernel.shape[:-2]
    low, high = pads(padding, sizes, window, strides, dilation)
    if any(size + a + b < (w - 1) * d + 1 for size, a, b, w, d in zip(sizes, low, high, window, dilation)):
        raise ValueError(
            "The convolution operation resulted in an empty output. This can happen if the input is too small for the given kernel "
            "size, strides, dilation rate, and padding mode. Please check the input shape and convolution parameters. "
            f"Received: input shape {x.shape} (channels last), kernel shape {kernel.shape}"
        )
    y = call("conv", x, kernel, strides=strides, pad_low=low, pad_high=high, lhs_dilation=[1] * rank, rhs_dilation=dilation,
             groups=groups)
    return f.cast(back_from_last(y, data_format), dtype)


def _channels(x, data_format):
    return x.shape[-1] if data_format == "channels_last" else x.shape[1]


def _check_channels(channels, expected, data_format):
    if channels != expected:
        raise ValueError(
            f"The number of input channels must match the kernel's input channels. Received: input channels={channels}, "
            f"kernel input channels={expected}, data_format='{data_format}'."
        )


def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    data_format = standardize_data_format(data_format)
    x, kernel, dtype = _operands(inputs, kernel)
    channels, of_kernel = _channels(x, data_format), kernel.shape[-2]
    if channels % of_kernel:
        raise ValueError(
            f"The number of input channels must be evenly divisible by kernel's in_channels. Received input channels {channels} and "
            f"kernel in_channels {of_kernel}. "
        )
    return _conv(x, kernel, strides, padding, data_format, dilation_rate, channels // of_kernel, dtype)


def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    data_format = standardize_data_format(data_format)
    x, kernel, dtype = _operands(inputs, kernel)
    channels, multiplier = kernel.shape[-2:]
    _check_channels(_channels(x, data_format), channels, data_format)
    kernel = f.reshaped(kernel, [*kernel.shape[:-2], 1, channels * multiplier])
    return _conv(x, kernel, strides, padding, data_format, dilation_rate, channels, dtype)


def separable_conv(inputs, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    x = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(x, pointwise_kernel, data_format=data_format, dilation_rate=dilation_rate)


def _transposed_pads(reach, stride, same, given):
    """What stands before and after an input with stride - 1 zeros between its elements. `given`: the output_padding, or None."""
    if not same:
        return reach - 1, reach - 1 + (max(reach, stride) - reach if given is None else given)
    total = reach + stride - 2 if given is None else reach + reach % 2 - 2 + given
    low = min(total // 2 + total % 2, reach - 1)
    return low, total - low


def conv_transpose(inputs, kernel, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1):
    data_format = standardize_data_format(data_format)
    x, kernel = (f.to_float(t) for t in f.meeting(convert_to_tensor(inputs), convert_to_tensor(kernel)))
    _check_channels(_channels(x, data_format), kernel.shape[-1], data_format)
    rank = x.ndim - 2
    strides, dilation = each(strides, rank, "strides"), each(dilation_rate, rank, "dilation_rate")
    given = (None,) * rank if output_padding is None else each(output_padding, rank, "output_padding")
    reach = [(w - 1) * d + 1 for w, d in zip(kernel.shape, dilation)]
    around = [_transposed_pads(r, s, is_same(padding), g) for r, s, g in zip(reach, strides, given)]
    x = channels_last(x, data_format)
    sizes = [(n - 1) * s + 1 + low + high - r + 1 for n, s, r, (low, high) in zip(x.shape[1:-1], strides, reach, around)]
    y = _as_gradient(x, kernel, strides, dilation, reach, around, sizes)
    if y is None:
        spatial = list(range(rank))
        turned = f.permuted(call("reverse", kernel, axes=spatial), [*spatial, rank + 1, rank])
        y = call("conv", x, turned, strides=[1] * rank, pad_low=[a for a, _ in around], pad_high=[b for _, b in around],
                 lhs_dilation=strides, rhs_dilation=dilation, groups=1)
    return back_from_last(y, data_format)


def _as_gradient(x, kernel, strides, dilation, reach, around, sizes):
    """A transposed convolution is the gradient of a convolution by its input, which has kernels of its own; None where the pads of that
    convolution would be negative, or it would give another size."""
    low = [r - 1 - a for r, (a, _) in zip(reach, around)]
    high = [r - 1 - b for r, (_, b) in zip(reach, around)]
    if min(low + high) < 0:
        return None
    made = [(n + a + b - r) // s + 1 for n, a, b, r, s in zip(sizes, low, high, reach, strides)]
    if made != list(x.shape[1:-1]):
        return None
    return call("conv_grad_input", x, kernel, strides=strides, pad_low=low, pad_high=high, lhs_dilation=[1] * len(sizes),
                rhs_dilation=dilation, groups=1, input_shape=[x.shape[0], *sizes, kernel.shape[-2]])
