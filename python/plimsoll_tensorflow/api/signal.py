"""tf.signal: frames, windows, Fourier transforms and what audio features are made of."""
import math as _math

import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops

_k, _tensor = _ops.k, _ops.tensor


def _complex(pair):
    return _k.view_as_complex(_k.stack(pair, axis=-1))


def _parts(x):
    x = _tensor(x)
    return (_k.real(x), _k.imag(x)) if "complex" in x.dtype.name else (x, _k.zeros_like(x))


def _window(numbers, dtype):
    return _ops.cast(_ops.to_tensor(_np.asarray(numbers, "float32")), dtype)


def _cosine_window(a, b, length, periodic, dtype):
    length = _ops.static(length)
    over = length - 1 + (periodic and length % 2 == 0)  # as TensorFlow: a periodic window of odd length is not one
    return _window([1.0] if length == 1 else a - b * _np.cos(2 * _np.pi * _np.arange(length) / over), dtype)


def hann_window(window_length, periodic=True, dtype="float32", name=None):
    return _cosine_window(0.5, 0.5, window_length, periodic, dtype)


def hamming_window(window_length, periodic=True, dtype="float32", name=None):
    return _cosine_window(0.54, 0.46, window_length, periodic, dtype)


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    x, length, step = _tensor(signal), _ops.static(frame_length), _ops.static(frame_step)
    axis = axis % x.ndim
    count = x.shape[axis]
    frames = -(-count // step) if pad_end else max(0, 1 + (count - length) // step)
    missing = (frames - 1) * step + length - count
    if pad_end and missing > 0:
        x = _k.pad(x, [(0, missing if a == axis else 0) for a in range(x.ndim)], constant_values=pad_value)
    places = _np.arange(frames)[:, None] * step + _np.arange(length)
    taken = _k.take(x, _ops.to_tensor(places.reshape(-1).astype("int32")), axis)
    return _k.reshape(taken, [*x.shape[:axis], frames, length, *x.shape[axis + 1:]])


def _fitted(x, length):
    """The last axis cut or padded with zeros, as Fourier transforms of a given length do."""
    if length is None or x.shape[-1] == length:
        return x
    if x.shape[-1] > length:
        return x[..., :length]
    return _k.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, length - x.shape[-1])])


def _size(length):
    return None if length is None else _ops.static(length if _np.ndim(length) == 0 else list(length)[0])


def rfft(input_tensor, fft_length=None, name=None):
    return _complex(_k.rfft(_fitted(_tensor(input_tensor), _size(fft_length))))


def irfft(input_tensor, fft_length=None, name=None):
    return _k.irfft(_parts(input_tensor), _size(fft_length))


def fft(input, name=None):
    return _complex(_k.fft(_parts(input)))


def ifft(input, name=None):
    real, imaginary = _parts(input)
    real, imaginary = _k.fft((real, -imaginary))
    return _complex((real / real.shape[-1], -imaginary / real.shape[-1]))


def fft2d(input, name=None):
    return _complex(_k.fft2(_parts(input)))


def ifft2d(input, name=None):
    return _complex(_k.ifft2(_parts(input)))


def _enclosing(length):
    return 1 << max(0, _math.ceil(_math.log2(length)))


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    length = _ops.static(frame_length)
    frames = frame(signals, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, [_enclosing(length) if fft_length is None else _ops.static(fft_length)])


def overlap_and_add(signal, frame_step, name=None):
    x, step = _tensor(signal), _ops.static(frame_step)
    frames, length = x.shape[-2:]
    places = (_np.arange(frames)[:, None] * step + _np.arange(length)).reshape(-1).astype("int32")
    flat = _k.transpose(_k.reshape(x, [-1, frames * length]))
    summed = _k.segment_sum(flat, _ops.to_tensor(places), (frames - 1) * step + length)
    return _k.reshape(_k.transpose(summed), [*x.shape[:-2], (frames - 1) * step + length])


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    step = _ops.static(frame_step)

    def window(frame_length, dtype="float32"):
        length = _ops.static(frame_length)
        forward = _np.asarray(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // step)
        squares = _np.pad(forward**2, (0, overlaps * step - length)).reshape(overlaps, step).sum(axis=0)
        return _window(forward / _np.tile(squares, overlaps)[:length], dtype)

    return window


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    length = _ops.static(frame_length)
    size = _enclosing(length) if fft_length is None else _ops.static(fft_length)
    frames = _fitted(irfft(stfts, [size]), length)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0, upper_edge_hertz=3800.0,
                                dtype="float32", name=None):
    mel = lambda hertz: 1127.0 * _np.log1p(_np.asarray(hertz, float) / 700.0)
    bins = mel(_np.linspace(0.0, _ops.static(sample_rate) / 2.0, num_spectrogram_bins)[1:])[:, None]
    edges = _np.linspace(mel(lower_edge_hertz), mel(upper_edge_hertz), num_mel_bins + 2)
    low, centre, high = edges[:-2], edges[1:-1], edges[2:]
    weights = _np.maximum(0.0, _np.minimum((bins - low) / (centre - low), (high - bins) / (high - centre)))
    return _window(_np.pad(weights, ((1, 0), (0, 0))), dtype)


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    if type != 2 or axis != -1:
        raise NotImplementedError(f"[tf.signal.dct] expected type=2 over the last axis, got type={type}, axis={axis}")
    x = _fitted(_tensor(input), n)
    count = x.shape[-1]
    basis = 2 * _np.cos(_np.pi * _np.arange(count) * (2 * _np.arange(count)[:, None] + 1) / (2 * count))
    if norm == "ortho":
        basis = basis * _np.where(_np.arange(count) == 0, _math.sqrt(1 / (4 * count)), _math.sqrt(1 / (2 * count)))
    return _k.matmul(x, _window(basis, x.dtype))


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    if type != 2 or axis != -1:
        raise NotImplementedError(f"[tf.signal.idct] expected type=2 over the last axis, got type={type}, axis={axis}")
    x = _fitted(_tensor(input), n)
    count = x.shape[-1]
    basis = _np.cos(_np.pi * _np.arange(count)[:, None] * (2 * _np.arange(count) + 1) / (2 * count))
    scale = _np.where(_np.arange(count) == 0, _math.sqrt(1 / count), _math.sqrt(2 / count)) if norm == "ortho" else _np.where(_np.arange(count) == 0, 1.0, 2.0)
    return _k.matmul(x, _window(basis * scale[:, None], x.dtype))


def _shift(sign):
    def shift(x, axes=None, name=None):
        x = _tensor(x)
        axes = range(x.ndim) if axes is None else [_ops.static(axes)] if not isinstance(axes, (list, tuple)) else axes
        for axis in axes:
            x = _k.roll(x, sign * (x.shape[axis] // 2) if sign > 0 else -(x.shape[axis] // 2), axis)
        return x

    return shift


fftshift, ifftshift = _shift(1), _shift(-1)


def rfft2d(input, fft_length=None, name=None):
    x = _tensor(input)
    if fft_length is not None:
        raise NotImplementedError("[tf.signal.rfft2d] expected no fft_length: pad or cut the input")
    real, imaginary = _k.fft2((x, _k.zeros_like(x)))
    count = x.shape[-1] // 2 + 1
    return _complex((real[..., :count], imaginary[..., :count]))


def kaiser_window(window_length, beta=12.0, dtype="float32", name=None):
    return _window(_np.kaiser(_ops.static(window_length), float(beta)), dtype)


def vorbis_window(window_length, dtype="float32", name=None):
    count = _ops.static(window_length)
    return _window(_np.sin(_np.pi / 2 * _np.sin(_np.pi * (_np.arange(count) + 0.5) / count) ** 2), dtype)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    x = _tensor(log_mel_spectrograms)
    return dct(x) * (1.0 / _math.sqrt(2.0 * x.shape[-1]))


__getattr__ = _hints.getter("signal")
