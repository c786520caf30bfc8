// Philox 4x32-10 (Salmon et al., SC 2011) and normal numbers made from it, for the CPU it runs on. Only exact
// operations and plain sums and products in one order are used: the bits are the same on every target.
#pragma once

#include <cstdint>

namespace plimsoll {

inline constexpr int64_t kPhiloxBlocks = 16;                // made side by side by one call
inline constexpr int64_t kPhiloxWords = 4 * kPhiloxBlocks;  // words of one call

struct PhiloxFns {
  // The words of blocks [block, block + kPhiloxBlocks); a block's number is the low half of its counter.
  // `out` is aligned to 64.
  void (*words)(const uint32_t* key, uint64_t block, uint32_t* out);
  // kPhiloxWords normal numbers (mean 0, deviation 1) from as many words, two from two by Box and Muller.
  void (*floats)(const uint32_t* words, float* out);
  // Half as many in f64.
  void (*doubles)(const uint32_t* words, double* out);
};
PhiloxFns philox_functions();

}  // namespace plimsoll
