// Rounding of sizes. Parts of a kernel's scratch begin at multiples of a cache line.
#pragma once

#include <cstdint>

namespace plimsoll {

inline int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }
inline int64_t round_up(int64_t n, int64_t step) { return divide_up(n, step) * step; }

inline constexpr int64_t kAlign = 64;
inline int64_t aligned(int64_t bytes) { return round_up(bytes, kAlign); }

}  // namespace plimsoll
