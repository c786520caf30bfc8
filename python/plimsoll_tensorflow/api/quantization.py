from keras import quantizers as _quantizers

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.ops import k as _k
from plimsoll_tensorflow.ops import tensor as _tensor


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    return _quantizers.fake_quant_with_min_max_vars(_tensor(inputs), min, max, num_bits=num_bits, narrow_range=narrow_range)


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    return fake_quant_with_min_max_vars(inputs, float(min), float(max), num_bits, narrow_range)


def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    return _quantizers.fake_quant_with_min_max_vars(_tensor(inputs), min, max, num_bits=num_bits, narrow_range=narrow_range, axis=-1)


def quantize_and_dequantize_v2(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False, round_mode="HALF_TO_EVEN", name=None,
                               narrow_range=False, axis=-1):
    """Of one range for all, the greater of both sides if signed."""
    x = _tensor(input)
    low, high = (_tensor(input_min), _tensor(input_max)) if range_given else (_k.min(x), _k.max(x))
    levels = 2.0 ** (num_bits - 1) - 1 if signed_input else 2.0**num_bits - 1
    scale = levels / (_k.maximum(_k.abs(low), _k.abs(high)) if signed_input else high)
    return _k.round(_k.clip(x, low, high) * scale) / scale


quantize_and_dequantize = quantize_and_dequantize_v2
__getattr__ = _hints.getter("quantization")
