"""FarmHash's Fingerprint64, by which TensorFlow puts strings into buckets."""

K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
MASK = (1 << 64) - 1


def _rotate(x, by):
    x &= MASK
    return x >> by | x << (64 - by) & MASK


def _shift_mix(x):
    x &= MASK
    return x ^ x >> 47


def _of_16(u, v, mul):
    a = _shift_mix(((u ^ v) & MASK) * mul)
    return _shift_mix(((v ^ a) & MASK) * mul) * mul & MASK


def _weak_of_32(word, at, a, b):
    w, x, y, z = (word(at + 8 * i) for i in range(4))
    a += w
    b = _rotate(b + a + z, 21)
    c, a = a, a + x + y
    return (a + z) & MASK, (b + _rotate(a, 44) + c) & MASK


def fingerprint64(s):
    n = len(s)
    word = lambda at: int.from_bytes(s[at : at + 8], "little")
    if n > 64:
        return _of_long(word, n)
    if n > 16:
        return _of_17_to_64(word, n)
    mul = K2 + 2 * n
    if n >= 8:
        a, b = word(0) + K2, word(n - 8)
        return _of_16(_rotate(b, 37) * mul + a, (_rotate(a, 25) + b) * mul, mul & MASK)
    if n >= 4:
        return _of_16(n + (int.from_bytes(s[:4], "little") << 3), int.from_bytes(s[-4:], "little"), mul & MASK)
    if n == 0:
        return K2
    y, z = s[0] + (s[n >> 1] << 8), n + (s[-1] << 2)
    return _shift_mix(y * K2 ^ z * K0) * K2 & MASK


def _of_17_to_64(word, n):
    mul = (K2 + 2 * n) & MASK
    a, b, c, d = word(0) * (K1 if n <= 32 else K2), word(8), word(n - 8) * mul, word(n - 16) * K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _of_16(y, a + _rotate(b + K2, 18) + c, mul)
    if n <= 32:
        return z
    e, f, g, h = word(16) * mul, word(24), (y + word(n - 32)) * mul, (z + word(n - 24)) * mul
    return _of_16(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _of_long(word, n):
    seed = 81
    x, y = seed * K2 + word(0), seed * K1 + 113
    z = _shift_mix(y * K2 + 113) * K2
    v = w = (0, 0)

    def turn(at, mul, x, y, z, v, w, most=1):
        x = _rotate(x + y + v[0] + word(at + 8), 37) * mul
        y = _rotate(y + v[1] + word(at + 48), 42) * mul
        x ^= w[1] * most
        y += v[0] * most + word(at + 40)
        z = _rotate(z + w[0], 33) * mul
        v = _weak_of_32(word, at, v[1] * mul, x + w[0])
        w = _weak_of_32(word, at + 32, z + w[1], y + word(at + 16))
        return z & MASK, y & MASK, x & MASK, v, w

    end = (n - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = turn(at, K1, x, y, z, v, w)
    mul, rest = K1 + ((z & 0xFF) << 1) & MASK, (n - 1) & 63
    first = w[0] + rest
    v = (v[0] + first, v[1])
    w = (first + v[0], w[1])
    x, y, z, v, w = turn(end + rest - 63, mul, x, y, z, v, w, most=9)
    return _of_16(_of_16(v[0], w[0], mul) + _shift_mix(y) * K0 + z, _of_16(v[1], w[1], mul) + x, mul)
