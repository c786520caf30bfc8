"""tf.strings, by Python's own strings."""
import builtins as _builtins
import re as _re

import numpy as _np

from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.api.errors import InvalidArgumentError as _InvalidArgumentError
from plimsoll_tensorflow.dtypes import as_dtype as _as_dtype
from plimsoll_tensorflow.fingerprint import fingerprint64 as _fingerprint64
from plimsoll_tensorflow.siphash import siphash as _siphash
from plimsoll_tensorflow.ops import tensor as _tensor
from plimsoll_tensorflow.ragged import RaggedTensor as _RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor as _StringTensor
from plimsoll_tensorflow.tensor import to_tensor as _to_tensor


def _each(function, x, kind=None):
    if isinstance(x, _RaggedTensor):
        return x.map_values(lambda v: _each(function, v, kind))
    array = _StringTensor(x).array
    made = [function(value) for value in array.reshape(-1)]
    if kind is not None:
        return _to_tensor(_np.array(made, kind).reshape(array.shape))
    out = _np.empty(array.shape, object)
    out.reshape(-1)[:] = made
    return _StringTensor(out)


def lower(input, encoding="", name=None):
    return _each(lambda s: s.decode().lower().encode() if encoding else s.lower(), input)


def upper(input, encoding="", name=None):
    return _each(lambda s: s.decode().upper().encode() if encoding else s.upper(), input)


def strip(input, name=None):
    return _each(bytes.strip, input)


def length(input, unit="BYTE", name=None):
    return _each(lambda s: len(s.decode()) if unit == "UTF8_CHAR" else len(s), input, "int32")


def substr(input, pos, len, unit="BYTE", name=None):
    array = _StringTensor(input).array if not isinstance(input, _RaggedTensor) else None
    if array is None:
        return input.map_values(lambda v: substr(v, pos, len, unit))
    texts, starts, counts = _np.broadcast_arrays(array, _np.asarray(_tensor(pos)), _np.asarray(_tensor(len)))

    def part(text, start, count):
        whole = text.decode() if unit == "UTF8_CHAR" else text
        size = _builtins.len(whole)
        if not -size <= start <= size:
            raise _InvalidArgumentError(f"pos {start} out of range for string {text!r}")
        start = start + size if start < 0 else start
        cut = whole[start : start + count] if count >= 0 else whole[start:]
        return cut.encode() if unit == "UTF8_CHAR" else cut

    out = _np.empty(texts.shape, object)
    out.reshape(-1)[:] = [part(*v) for v in zip(texts.reshape(-1), starts.reshape(-1).tolist(), counts.reshape(-1).tolist())]
    return _StringTensor(out)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    compiled, rewrite = _compiled(pattern), _re.sub(r"\\0", r"\\g<0>", _text(rewrite))
    return _each(lambda s: compiled.sub(rewrite, _text(s), count=0 if replace_global else 1).encode(errors="surrogateescape"), input)


def regex_full_match(input, pattern, name=None):
    compiled = _compiled(pattern)
    return _each(lambda s: compiled.fullmatch(_text(s)) is not None, input, "bool")


CLASSES = {"punct": _re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z",
           "lower": "a-z", "space": r" \t\n\r\f\v", "word": r"\w", "xdigit": "0-9a-fA-F", "blank": r" \t"}


def _text(value):
    """Bytes that are no UTF-8 survive as they are."""
    value = value.numpy() if isinstance(value, _StringTensor) else value
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


def _compiled(pattern):
    """RE2, which TensorFlow uses: its classes are of ASCII, characters are those of UTF-8."""
    pattern = _re.sub(r"\[:(\w+):\]", lambda m: CLASSES.get(m[1], m[0]), _text(pattern)).replace(r"\pP", CLASSES["punct"]).replace(r"\z", r"\Z")
    return _re.compile(pattern, _re.ASCII)


def join(inputs, separator="", name=None):
    if any(isinstance(x, _RaggedTensor) for x in inputs):
        rows = [[_StringTensor(r) for r in x.rows] if isinstance(x, _RaggedTensor) else [x] for x in inputs]
        count = max(map(len, rows))
        return _RaggedTensor([join([r[i if len(r) > 1 else 0] for r in rows], separator) for i in range(count)])
    arrays = _np.broadcast_arrays(*[_StringTensor(x).array for x in inputs])
    out = _np.empty(arrays[0].shape, object)
    out.reshape(-1)[:] = [separator.encode().join(parts) for parts in zip(*[a.reshape(-1) for a in arrays])]
    return _StringTensor(out)


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    if isinstance(inputs, _RaggedTensor) and axis in (-1, 1):
        return _StringTensor([separator.encode().join(row) for row in inputs.rows])
    array = _StringTensor(inputs).array
    if axis is None:
        return _StringTensor(separator.encode().join(array.reshape(-1)))
    moved = _np.moveaxis(array, axis, -1)
    out = _np.empty(moved.shape[:-1], object)
    out.reshape(-1)[:] = [separator.encode().join(row) for row in moved.reshape(-1, moved.shape[-1])]
    return _StringTensor(out)


def _parts(function, input):
    """Of one string its parts; of several a ragged tensor."""
    array = _StringTensor(input).array
    row = lambda text: _np.array([*function(text), None], object)[:-1]
    if array.ndim == 0:
        return _StringTensor(row(array[()]))
    if array.ndim > 1:
        raise NotImplementedError(f"[tf.strings] expected one string or a row of them, got shape {array.shape}")
    return _RaggedTensor([row(text) for text in array])


def split(input, sep=None, maxsplit=-1, name=None):
    sep = sep.numpy() if isinstance(sep, _StringTensor) else sep.encode() if isinstance(sep, str) else sep
    return _parts(lambda text: text.split(sep or None, maxsplit), input)


def bytes_split(input, name=None):
    return _parts(lambda text: [bytes([b]) for b in text], input)


def unicode_split(input, input_encoding, name=None, **options):
    return _parts(lambda text: [c.encode() for c in text.decode(input_encoding)], input)


def _with_offsets(parts, input, input_encoding):
    array = _StringTensor(input).array
    offsets = lambda text: _np.cumsum([0] + [len_(c.encode(input_encoding)) for c in text.decode(input_encoding)])[:-1].astype("int64")
    len_ = _builtins.len
    found = _to_tensor(offsets(array[()])) if array.ndim == 0 else _RaggedTensor([offsets(t) for t in array])
    return parts(input, input_encoding), found


def unicode_split_with_offsets(input, input_encoding, name=None, **options):
    return _with_offsets(unicode_split, input, input_encoding)


def unicode_decode_with_offsets(input, input_encoding, name=None, **options):
    return _with_offsets(unicode_decode, input, input_encoding)


def as_string(input, precision=-1, name=None, **options):
    x = _np.asarray(_tensor(input))
    form = (lambda v: str(v)) if x.dtype.kind != "f" else (lambda v: f"{v:.{precision}f}" if precision >= 0 else f"{v:.6f}")
    form = (lambda v: str(bool(v)).lower()) if x.dtype.kind == "b" else form
    return _StringTensor(_np.array([form(v) for v in x.reshape(-1)], object).reshape(x.shape))


def to_hash_bucket_fast(input, num_buckets, name=None):
    return _each(lambda s: _fingerprint64(s) % num_buckets, input, "int64")


def _hash64(text):
    """TensorFlow's Hash64: MurmurHash64A with a seed of its own."""
    mask, m = 2**64 - 1, 0xC6A4A7935BD1E995
    h = 0xDECAFCAFFE ^ (len(text) * m & mask)
    whole = len(text) // 8 * 8
    for i in range(0, whole, 8):
        k = int.from_bytes(text[i : i + 8], "little") * m & mask
        h = (h ^ (k ^ k >> 47) * m & mask) * m & mask
    if len(text) > whole:
        h = (h ^ int.from_bytes(text[whole:], "little")) * m & mask
    h = (h ^ h >> 47) * m & mask
    return h ^ h >> 47


def to_hash_bucket(input, num_buckets, name=None):
    return _each(lambda s: _hash64(s) % num_buckets, input, "int64")


def to_hash_bucket_strong(input, num_buckets, key, name=None):
    return _each(lambda s: _siphash(key, s) % num_buckets, input, "int64")


def to_number(input, out_type="float32", name=None):
    kind = _as_dtype(out_type)
    return _each(float if kind.is_floating else int, input, kind.as_numpy_dtype)


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    from plimsoll_tensorflow.ops.printing import _summary

    text = template
    for x in inputs if isinstance(inputs, (list, tuple)) else [inputs]:
        text = text.replace(placeholder, _summary(_np.asarray(_tensor(x)), summarize), 1)
    return _StringTensor(text)


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    sep = separator.encode() if isinstance(separator, str) else separator
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    ends = () if pad_values is None else (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    ends = [v.encode() if isinstance(v, str) else v for v in ends]

    def row(words):
        found = []
        for n in widths:
            around = (n - 1 if padding_width is None else min(padding_width, n - 1)) if ends else 0
            padded = [ends[0]] * around + list(words) + [ends[1]] * around if around else list(words)
            made = [sep.join(padded[i : i + n]) for i in range(len(padded) - n + 1)]
            found += made or ([sep.join(padded)] if preserve_short_sequences and len(padded) else [])
        return _np.array([*found, None], object)[:-1]

    if isinstance(data, _RaggedTensor):
        return _RaggedTensor([row(r) for r in data.rows])
    array = _StringTensor(data).array
    return _StringTensor(row(array)) if array.ndim == 1 else _StringTensor(_np.stack([row(r) for r in array]))


def unicode_decode(input, input_encoding, errors="replace", replacement_char=65533, name=None, **options):
    points = lambda text: _np.array([ord(c) for c in text.decode(input_encoding, errors)], "int32")
    array = _StringTensor(input).array
    return _to_tensor(points(array[()])) if array.ndim == 0 else _RaggedTensor([points(t) for t in array])


def unicode_encode(input, output_encoding, errors="replace", name=None, **options):
    text = lambda row: "".join(map(chr, _np.asarray(row).tolist())).encode(output_encoding)
    if isinstance(input, _RaggedTensor):
        return _StringTensor(_np.array([text(r) for r in input.rows] + [None], object)[:-1])
    codes = _np.asarray(_tensor(input))
    return _StringTensor(text(codes)) if codes.ndim == 1 else _StringTensor(_np.array([text(r) for r in codes] + [None], object)[:-1])


def unicode_transcode(input, input_encoding, output_encoding, errors="replace", name=None, **options):
    return _each(lambda s: s.decode(input_encoding, errors).encode(output_encoding, errors), input)


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    words, ids = _StringTensor(inputs).array, _np.asarray(_tensor(segment_ids))
    return _StringTensor([separator.encode().join(words[ids == i]) for i in range(int(num_segments))])


__getattr__ = _hints.getter("strings")
