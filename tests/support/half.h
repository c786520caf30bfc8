// float16 and bfloat16 as bits, rounded to nearest even. The tests' own, so that they do not judge the
// engine's conversions by themselves.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace plimsoll::testing {

inline uint16_t bf16_bits(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return static_cast<uint16_t>((u >> 16) | 0x40u);
  return static_cast<uint16_t>((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16);
}
inline float from_bf16(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

inline uint16_t f16_bits(float x) {
  const auto sign = static_cast<uint16_t>(std::signbit(x) ? 0x8000u : 0u);
  const float a = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7E00u;
  if (a >= 65520.0f) return sign | 0x7C00u;
  if (a < 0x1p-14f) {  // subnormal: multiples of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(a * 0x1p24f)));
  }
  const uint32_t u = std::bit_cast<uint32_t>(a) - (112u << 23);
  return static_cast<uint16_t>(sign | ((u + 0xFFFu + ((u >> 13) & 1u)) >> 13));
}
inline float from_f16(uint16_t h) {
  const uint32_t exponent = (h >> 10) & 31u;
  const uint32_t fraction = h & 1023u;
  float a = 0;
  if (exponent == 0) {
    a = static_cast<float>(fraction) * 0x1p-24f;
  } else if (exponent == 31) {
    a = std::bit_cast<float>(0x7F800000u | (fraction << 13));
  } else {
    a = std::bit_cast<float>(((exponent + 112u) << 23) | (fraction << 13));
  }
  return (h & 0x8000u) != 0 ? -a : a;
}

}  // namespace plimsoll::testing
