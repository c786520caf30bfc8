"""SipHash-2-4, a hash with a key: what tf.strings.to_hash_bucket_strong and Hashing with a salt take."""
M = 2**64 - 1


def _turned(x, bits):
    return (x << bits | x >> 64 - bits) & M


def _rounds(v, count):
    a, b, c, d = v
    for _ in range(count):
        a = a + b & M
        c = c + d & M
        b = _turned(b, 13) ^ a
        d = _turned(d, 16) ^ c
        a = _turned(a, 32)
        c = c + b & M
        a = a + d & M
        b = _turned(b, 17) ^ c
        d = _turned(d, 21) ^ a
        c = _turned(c, 32)
    return a, b, c, d


def siphash(key, text):
    """Of bytes, with a key of two words of 64 bits."""
    low, high = (word & M for word in key)
    v = (low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573)
    whole = len(text) // 8 * 8
    last = text[whole:].ljust(7, b"\0") + bytes([len(text) & 255])
    for word in (int.from_bytes(w, "little") for w in [*(text[i:i + 8] for i in range(0, whole, 8)), last]):
        v = _rounds((v[0], v[1], v[2], v[3] ^ word), 2)
        v = (v[0] ^ word, *v[1:])
    a, b, c, d = _rounds((v[0], v[1], v[2] ^ 255, v[3]), 4)
    return a ^ b ^ c ^ d
