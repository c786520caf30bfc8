// Parts of a kernel's scratch begin at multiples of a cache line.
#pragma once

#include <cstdint>

namespace plimsoll {

inline constexpr int64_t kAlign = 64;
inline int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace plimsoll
