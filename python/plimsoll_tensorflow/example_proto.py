"""tf.train.Example and what it is made of, in the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/):
Example{1: Features{1: map<string, Feature>}}, Feature{1: BytesList | 2: FloatList | 3: Int64List}, each list {1: values}."""
import struct

import numpy as np

from plimsoll_tensorflow.tensor import StringTensor

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


def _varint(n):
    out, n = bytearray(), n & (2**64 - 1)
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*out, n])


def _field(number, payload):
    return _varint(number << 3 | LENGTH) + _varint(len(payload)) + payload


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("Error parsing message: a number is cut off")
        value |= (data[at] & 0x7F) << shift
        at += 1
        if not data[at - 1] & 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, wire type, value) of a message: bytes for what has a length, ints for the rest."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = _read_varint(data, at)
        else:
            size, at = _read_varint(data, at) if wire == LENGTH else ({FIXED64: 8, FIXED32: 4}.get(wire), at)
            if size is None or at + size > len(data):
                raise ValueError("Error parsing message: expected a tf.train.Example")
            value, at = bytes(data[at : at + size]), at + size
        yield number, wire, value


class _List:
    def __init__(self, value=()):
        self.value = [self.checked(v) for v in np.asarray(value, self.kind).reshape(-1).tolist()]

    def __repr__(self):
        return "".join(f"value: {v!r}\n" for v in self.value)

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    __hash__ = None


class BytesList(_List):
    kind = object

    @staticmethod
    def checked(v):
        v = v.numpy() if isinstance(v, StringTensor) else v  # `isinstance(v, type(tf.constant(0)))` of the tutorial does not see strings here
        if not isinstance(v, bytes):
            raise TypeError(f"{v!r} has type {type(v).__name__}, but expected one of: bytes")
        return v

    def encoded(self):
        return b"".join(_field(1, v) for v in self.value)

    def add(self, wire, value):
        self.value.append(value)


class FloatList(_List):
    kind, checked = np.float32, float

    def encoded(self):
        return _field(1, struct.pack(f"<{len(self.value)}f", *self.value)) if self.value else b""

    def add(self, wire, value):
        self.value.extend(struct.unpack(f"<{len(value) // 4}f", value))


class Int64List(_List):
    kind, checked = np.int64, int

    def encoded(self):
        return _field(1, b"".join(_varint(v) for v in self.value)) if self.value else b""

    def add(self, wire, value):
        if wire == VARINT:
            found = [value]
        else:
            found, at = [], 0
            while at < len(value):
                number, at = _read_varint(value, at)
                found.append(number)
        self.value.extend(n - 2**64 if n >= 2**63 else n for n in found)


KINDS = {"bytes_list": (1, BytesList), "float_list": (2, FloatList), "int64_list": (3, Int64List)}


class Feature:
    """One of three lists; those that it has not are empty."""

    def __init__(self, **lists):
        self._kind = next((name for name in KINDS if lists.get(name) is not None), None)
        self._list = lists[self._kind] if self._kind else None

    def __getattr__(self, name):
        if name not in KINDS:
            raise AttributeError(name)
        return self._list if self._kind == name else KINDS[name][1]()

    def WhichOneof(self, name):
        return self._kind

    def encoded(self):
        return _field(KINDS[self._kind][0], self._list.encoded()) if self._kind else b""

    @classmethod
    def decoded(cls, data):
        made = cls()
        for number, _, payload in fields(data):
            kind = next((name for name, (n, _) in KINDS.items() if n == number), None)
            if kind:
                made._kind, made._list = kind, KINDS[kind][1]()
                for _, wire, value in fields(payload):
                    made._list.add(wire, value)
        return made

    def __repr__(self):
        inner = "".join(f"  {line}\n" for line in repr(self._list).splitlines())
        return f"{self._kind} {{\n{inner}}}\n" if self._kind else ""


class Features:
    def __init__(self, feature=None):
        self.feature = dict(feature or {})


class Example:
    def __init__(self, features=None):
        self.features = features or Features()

    def SerializeToString(self, deterministic=None):
        entries = (_field(1, _field(1, key.encode()) + _field(2, feature.encoded())) for key, feature in sorted(self.features.feature.items()))
        return _field(1, b"".join(entries))

    def ParseFromString(self, data):
        self.features = Features()
        for number, _, payload in fields(data):
            for _, _, entry in fields(payload) if number == 1 else ():
                parts = {n: value for n, _, value in fields(entry)}
                self.features.feature[parts.get(1, b"").decode()] = Feature.decoded(parts.get(2, b""))
        return len(data)

    @classmethod
    def FromString(cls, data):
        made = cls()
        made.ParseFromString(data)
        return made


class FeatureList:
    def __init__(self, feature=()):
        self.feature = list(feature)

    def encoded(self):
        return b"".join(_field(1, f.encoded()) for f in self.feature)

    @classmethod
    def decoded(cls, data):
        return cls(Feature.decoded(payload) for number, _, payload in fields(data) if number == 1)


class FeatureLists:
    def __init__(self, feature_list=None):
        self.feature_list = dict(feature_list or {})


class SequenceExample:
    """SequenceExample{1: Features context, 2: FeatureLists{1: map<string, FeatureList>}}."""

    def __init__(self, context=None, feature_lists=None):
        self.context, self.feature_lists = context or Features(), feature_lists or FeatureLists()

    def SerializeToString(self, deterministic=None):
        lists = (_field(1, _field(1, key.encode()) + _field(2, found.encoded())) for key, found in sorted(self.feature_lists.feature_list.items()))
        return Example(self.context).SerializeToString() + _field(2, b"".join(lists))

    def ParseFromString(self, data):
        self.context, self.feature_lists = Features(), FeatureLists()
        for number, _, payload in fields(data):
            for _, _, entry in fields(payload) if number in (1, 2) else ():
                parts = {n: value for n, _, value in fields(entry)}
                into, kind = (self.context.feature, Feature) if number == 1 else (self.feature_lists.feature_list, FeatureList)
                into[parts.get(1, b"").decode()] = kind.decoded(parts.get(2, b""))
        return len(data)

    @classmethod
    def FromString(cls, data):
        made = cls()
        made.ParseFromString(data)
        return made
