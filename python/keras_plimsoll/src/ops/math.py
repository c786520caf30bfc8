import numpy as np
from keras.src.backend.common.dtypes import result_type

from keras_plimsoll.src.control import custom_gradient as _custom_gradient
from keras_plimsoll.src.engine import call as _call
from keras_plimsoll.src.engine import numpy_dtype as _numpy_dtype
from keras_plimsoll.src.ops import linalg as _linalg
from keras_plimsoll.src.ops import numpy as _knp
from keras_plimsoll.src.ops.core import cast, convert_to_numpy, convert_to_tensor
from keras_plimsoll.src.tensors import is_float as _is_float


def _to_float(x):
    x = convert_to_tensor(x)
    return cast(x, result_type(x.dtype, float))


def _lowest(dtype):
    return -np.inf if _is_float(dtype) else int(np.iinfo(_numpy_dtype(dtype)).min)


def _highest(dtype):
    return np.inf if _is_float(dtype) else int(np.iinfo(_numpy_dtype(dtype)).max)


def _segments(data, segment_ids, num_segments, mode, of_nothing):
    """Rows of data combined by the number of their segment; a number outside drops the row."""
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    if num_segments is None:
        if ids.is_symbolic:
            raise ValueError("Argument `num_segments` must be set inside of a step that is being traced, got None.")
        num_segments = int(convert_to_numpy(ids).max()) + 1 if ids.size else 0
    rest = data.shape[ids.ndim :]
    empty = _call("broadcast_to", convert_to_tensor(of_nothing, data.dtype), shape=[num_segments, *rest])
    ids = _call("reshape", ids if ids.dtype in ("int32", "int64") else cast(ids, "int32"), shape=[*ids.shape, 1])
    if mode in ("max", "min") and data.is_symbolic and _is_float(data.dtype):
        return _shared_extreme(lambda x: _call("scatter_nd", empty, ids, x, mode=mode), data, ids)
    return _call("scatter_nd", empty, ids, data, mode=mode)


def _shared_extreme(function, data, ids):
    """The largest or smallest rows, whose gradient equal ones share."""

    def with_gradient(x):
        extreme = function(x)
        count_of = lambda rows: _call("scatter_nd", _knp.zeros(extreme.shape, x.dtype), ids, rows, mode="add")
        flat = _knp.reshape(ids, ids.shape[:-1])
        of_segment = lambda rows: _knp.take(rows, _knp.clip(flat, 0, extreme.shape[0] - 1), axis=0)

        def backward(upstream):
            inside = _knp.logical_and(_knp.greater_equal(flat, 0), _knp.less(flat, extreme.shape[0]))
            inside = _knp.reshape(inside, [*flat.shape] + [1] * (x.ndim - flat.ndim))
            is_it = cast(_knp.logical_and(_knp.equal(x, of_segment(extreme)), inside), x.dtype)
            share = _knp.divide(upstream, _knp.maximum(count_of(is_it), 1))
            return _knp.multiply(is_it, of_segment(share))

        return extreme, backward

    return _custom_gradient(with_gradient)(data)


def segment_sum(data, segment_ids, num_segments=None, sorted=False):
    return _segments(data, segment_ids, num_segments, "add", 0)


def segment_prod(data, segment_ids, num_segments=None, sorted=False):
    return _segments(data, segment_ids, num_segments, "mul", 1)


def segment_max(data, segment_ids, num_segments=None, sorted=False):
    data = convert_to_tensor(data)
    return _segments(data, segment_ids, num_segments, "max", _lowest(data.dtype))


def segment_min(data, segment_ids, num_segments=None, sorted=False):
    data = convert_to_tensor(data)
    return _segments(data, segment_ids, num_segments, "min", _highest(data.dtype))


def top_k(x, k, sorted=True):
    return _call("top_k", convert_to_tensor(x), k=int(k))


def in_top_k(targets, predictions, k):
    """Whether fewer than k predictions are larger than that of the target; what is not a number, or not there, is not large."""
    targets, predictions = _knp.expand_dims(targets, -1), _to_float(predictions)
    size = predictions.shape[-1]
    inside = _knp.clip(targets, -size, size - 1)
    chosen = _knp.take_along_axis(predictions, inside, axis=-1)
    is_number = _knp.logical_and(_knp.equal(inside, targets), _knp.logical_not(_knp.isnan(chosen)))
    chosen = _knp.where(is_number, chosen, convert_to_tensor(-np.inf, chosen.dtype))
    larger = _knp.sum(cast(_knp.greater(predictions, chosen), "int32"), axis=-1)
    return _knp.less(larger, k)


def logsumexp(x, axis=None, keepdims=False):
    x = _to_float(x)
    largest = _knp.max(x, axis=axis, keepdims=True)
    shift = _call("stop_gradient", _knp.where(_knp.isfinite(largest), largest, _knp.zeros_like(largest)))
    total = _knp.log(_knp.sum(_knp.exp(_knp.subtract(x, shift)), axis=axis, keepdims=True))
    result = _knp.add(total, shift)
    if keepdims:
        return result
    return _knp.reshape(result, _knp.max(x, axis=axis).shape) if axis is None else _knp.squeeze(result, axis=axis)


def cdist(x, y):
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if x.shape[-1] != y.shape[-1]:
        raise ValueError("Last dimension of inputs to `cdist` must match")
    difference = _knp.subtract(_knp.expand_dims(x, -2), _knp.expand_dims(y, -3))
    return _knp.sqrt(_knp.sum(_knp.square(difference), axis=-1))


def _frame_places(count, length, stride):
    return (np.arange(count)[:, None] * stride + np.arange(length)[None, :]).astype("int32")


def extract_sequences(x, sequence_length, sequence_stride):
    x = convert_to_tensor(x)
    count = max((x.shape[-1] - sequence_length) // sequence_stride + 1, 0)
    places = convert_to_tensor(_frame_places(count, sequence_length, sequence_stride))
    return _call("take", x, places, axis=x.ndim - 1)


def _parts(x):
    """Both parts of a complex tensor given as a pair."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(f"Input `x` should be a tuple of two tensors - real and imaginary. Received: x={x}")
    real, imag = (convert_to_tensor(part) for part in x)
    if real.shape != imag.shape:
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary. Both the real and imaginary parts should have the "
            f"same shape. Received: x[0].shape = {real.shape}, x[1].shape = {imag.shape}"
        )
    if not (_is_float(real.dtype) and _is_float(imag.dtype)):
        raise ValueError(f"At least one tensor in input `x` is not of type float. Received: x={x}.")
    wide = "float64" if "float64" in (real.dtype, imag.dtype) else "float32"
    return cast(real, wide), cast(imag, wide)


def _get_complex_tensor_from_tuple(x):
    real, imag = _parts(x)
    pairs = _knp.stack([real, imag], axis=-1)
    return _call("bitcast", pairs, dtype="complex128" if pairs.dtype == "float64" else "complex64")


def fft(x):
    return _call("fft", *_parts(x))


def _along_two(x, inverse):
    real, imag = _call("fft", *_parts(x), inverse=inverse)
    turned = (_knp.swapaxes(part, -1, -2) for part in (real, imag))
    return tuple(_knp.swapaxes(part, -1, -2) for part in _call("fft", *turned, inverse=inverse))


def fft2(x):
    return _along_two(x, False)


def ifft2(x):
    return _along_two(x, True)


def _last_axis_of(x, size):
    """x with its last axis cut, or filled with zeros."""
    return _call("pad", x, low=[0] * x.ndim, high=[0] * (x.ndim - 1) + [size - x.shape[-1]], value=0.0)


def rfft(x, fft_length=None):
    x = _to_float(x)
    x = x if x.dtype == "float64" else cast(x, "float32")
    return _call("rfft", x if fft_length is None else _last_axis_of(x, fft_length))


def irfft(x, fft_length=None):
    real, imag = _parts(x)
    length = 2 * (real.shape[-1] - 1) if fft_length is None else fft_length
    return _call("irfft", *(_last_axis_of(part, length // 2 + 1) for part in (real, imag)), length=length)


_WINDOWS = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46)}


def _window(window, length, fft_length, dtype):
    """The window in the middle of fft_length places; periodic, as SciPy has it."""
    if isinstance(window, str):
        if window not in _WINDOWS:
            raise ValueError(f'If a string is passed to `window`, it must be one of `"hann"`, `"hamming"`. Received: window={window}')
        a, b = _WINDOWS[window]
        window = a - b * np.cos(2 * np.pi * np.arange(length) / length)
    if window is None:
        return convert_to_tensor(np.ones(fft_length), dtype)
    window = convert_to_tensor(window, dtype)
    if window.shape != (length,):
        raise ValueError(f"The shape of `window` must be equal to [sequence_length]. Received: window shape={window.shape}")
    before = (fft_length - length) // 2
    return _call("pad", window, low=[before], high=[fft_length - length - before], value=0.0)


def stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    x = convert_to_tensor(x)
    if x.dtype not in ("float32", "float64"):
        raise TypeError(f"Invalid input type. Expected `float32` or `float64`. Received: input type={x.dtype}")
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. "
            f"Received: sequence_length={sequence_length}, fft_length={fft_length}"
        )
    window = _window(window, sequence_length, fft_length, x.dtype)
    if center:
        half = fft_length // 2
        x = _knp.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], mode="reflect")
    return _call("rfft", _knp.multiply(extract_sequences(x, fft_length, sequence_stride), window))


def _overlap_add(frames, stride):
    """The sum of frames, each `stride` behind the one before."""
    *batch, count, length = frames.shape
    places = convert_to_tensor(_frame_places(count, length, stride).reshape(-1, 1))
    rows = _knp.transpose(_knp.reshape(frames, (-1, count * length)))
    empty = _call("broadcast_to", convert_to_tensor(0, frames.dtype), shape=[(count - 1) * stride + length, rows.shape[-1]])
    return _knp.reshape(_knp.transpose(_call("scatter_nd", empty, places, rows, mode="add")), (*batch, empty.shape[0]))


def _inverse_window(window, stride):
    """What makes the squares of overlapping windows sum up to one, away from the ends."""
    length = window.shape[0]
    overlaps = -(-length // stride)
    squares = _last_axis_of(_knp.square(window), overlaps * stride)
    total = _knp.tile(_knp.sum(_knp.reshape(squares, (overlaps, stride)), axis=0), overlaps)[:length]
    return _knp.divide(window, _knp.where(_knp.equal(total, 0), _knp.ones_like(total), total))


def istft(x, sequence_length, sequence_stride, fft_length, length=None, window="hann", center=True):
    real, imag = _parts(x)
    if real.ndim < 2:
        raise ValueError(f"Input `x` must have at least 2 dimensions. Received shape: {real.shape}")
    frames = irfft((real, imag), fft_length)
    if window is not None:
        frames = _knp.multiply(frames, _inverse_window(_window(window, sequence_length, fft_length, real.dtype), sequence_stride))
    signal = _overlap_add(frames, sequence_stride)
    start = fft_length // 2 if center else 0
    if length is not None:
        stop = min(start + length, signal.shape[-1])
    else:
        stop = signal.shape[-1] - (fft_length // 2 if center else 0)
    return signal[..., start:stop]


def rsqrt(x):
    return _call("rsqrt", _to_float(x))


def erf(x):
    return _call("erf", _to_float(x))


def erfc(x):
    return _call("erfc", _to_float(x))


def erfinv(x):
    return _call("erfinv", _to_float(x))


def logdet(x):
    return _linalg._slogdet(x)[1]


def gammainc(a, x):
    dtype = result_type(convert_to_tensor(a).dtype, convert_to_tensor(x).dtype, float)
    return _call("igamma", convert_to_tensor(a, dtype), convert_to_tensor(x, dtype))
