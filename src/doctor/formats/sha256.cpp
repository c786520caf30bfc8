#include "doctor/formats/sha256.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace plimsoll::doctor {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const unsigned char* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

using State = std::array<uint32_t, 8>;

void compress(State& state, const unsigned char* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const uint32_t t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State add{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += add[i];
}

#if defined(__x86_64__)
#define PLIMSOLL_HAS_SHA_INSTRUCTIONS 1

bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (b >> 29 & 1) != 0;
}

// The same by the processor's own instructions, which keep the state as two rows: ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) void compress_by_instructions(State& state, const unsigned char* data,
                                                                    size_t blocks) {
  auto* const rows = reinterpret_cast<__m128i*>(state.data());
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128(rows), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(rows + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);
  for (; blocks > 0; --blocks, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int r = 0; r < 16; ++r) {
      __m128i& next = w[r % 4];
      if (r < 4) {
        next = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + r), swap);
      } else {
        const __m128i last = w[(r + 3) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(next, w[(r + 1) % 4]),
                                          _mm_alignr_epi8(last, w[(r + 2) % 4], 4));
        next = _mm_sha256msg2_epu32(sum, last);
      }
      const __m128i k = _mm_add_epi32(next, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRound) + r));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(rows, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(rows + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

void compress_all(State& state, const unsigned char* data, size_t blocks, [[maybe_unused]] bool portable) {
#ifdef PLIMSOLL_HAS_SHA_INSTRUCTIONS
  static const bool by_instructions = has_sha_instructions();
  if (by_instructions && !portable) return compress_by_instructions(state, data, blocks);
#endif
  for (size_t i = 0; i < blocks; ++i) compress(state, data + 64 * i);
}

}  // namespace

std::array<uint8_t, 32> sha256(std::string_view bytes, bool portable) {
  State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t whole = bytes.size() / 64;
  compress_all(state, data, whole, portable);
  // The rest, a one bit, zeros, and the length in bits.
  unsigned char last[128] = {};
  const size_t rest = bytes.size() % 64, padded = rest < 56 ? 64 : 128;
  if (rest > 0) std::memcpy(last, data + 64 * whole, rest);
  last[rest] = 0x80;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (size_t i = 0; i < 8; ++i) last[padded - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  compress_all(state, last, padded / 64, portable);
  std::array<uint8_t, 32> digest;
  for (size_t i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string sha256_base64(std::string_view bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const std::array<uint8_t, 32> digest = sha256(bytes);
  std::string out;
  for (size_t bit = 0; bit < 256; bit += 6) {
    const size_t at = bit / 8;
    const unsigned pair = unsigned{digest[at]} << 8 | (at + 1 < 32 ? digest[at + 1] : 0u);
    out += kDigits[(pair >> (10 - bit % 8)) & 63];
  }
  return out;
}

}  // namespace plimsoll::doctor
