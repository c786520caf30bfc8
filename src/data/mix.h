// Hashes that turn seeds, epochs and positions into numbers that look random.
#pragma once

#include <cstdint>

namespace plimsoll::data {

// SplitMix64's finalizer: a bijection of 64-bit numbers.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
constexpr uint64_t mix(uint64_t a, uint64_t b) { return mix(mix(a) ^ (b * 0xD6E8FEB86659FD93u)); }

// A number in [0, n) from 64 random bits; the bias is below n / 2^64. Requires: n > 0.
inline uint64_t below(uint64_t random, uint64_t n) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(random) * n) >> 64);
}

}  // namespace plimsoll::data
