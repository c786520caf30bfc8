"""tf.audio: WAV files of 16 bits, as TensorFlow reads and writes."""
import io as _io
import wave as _wave
from collections import namedtuple as _namedtuple

import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import ops as _ops
from plimsoll_tensorflow.api.errors import InvalidArgumentError as _InvalidArgumentError

_Decoded = _namedtuple("DecodeWav", "audio sample_rate")


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    data = contents if isinstance(contents, bytes) else _ops.StringTensor(contents).array[()]
    try:
        with _wave.open(_io.BytesIO(data)) as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            frames = file.readframes(file.getnframes())
    except (_wave.Error, EOFError) as error:
        raise _InvalidArgumentError(f"[tf.audio.decode_wav] expected a WAV file of 16-bit numbers: {error}") from None
    if width != 2:
        raise _InvalidArgumentError(f"[tf.audio.decode_wav] expected numbers of 16 bits, got {8 * width}")
    audio = _np.frombuffer(frames, "<i2").reshape(-1, channels).astype("float32") / 32768.0
    wanted, samples = int(desired_channels), int(desired_samples)
    if wanted > 0:
        audio = audio[:, [min(i, channels - 1) for i in range(wanted)]]
    if samples >= 0:
        audio = _np.concatenate([audio[:samples], _np.zeros((max(samples - len(audio), 0), audio.shape[1]), "float32")])
    return _Decoded(_ops.to_tensor(_np.ascontiguousarray(audio)), _ops.to_tensor(_np.int32(rate)))


def encode_wav(audio, sample_rate, name=None):
    numbers = _np.asarray(_ops.tensor(audio))
    if numbers.ndim != 2:
        raise _InvalidArgumentError(f"[tf.audio.encode_wav] expected an array of (samples, channels), got shape {numbers.shape}")
    out = _io.BytesIO()
    with _wave.open(out, "wb") as file:
        file.setnchannels(numbers.shape[1])
        file.setsampwidth(2)
        file.setframerate(int(sample_rate))
        file.writeframes(_np.clip(_np.trunc(numbers * 32767.0), -32768, 32767).astype("<i2").tobytes())
    return _ops.StringTensor(out.getvalue())


__getattr__ = _hints.getter("audio")
