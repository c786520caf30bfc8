// Offsets: puts items that live for a span of steps into one range of bytes, so that no two that are alive in
// the same step overlap. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plimsoll {

// Alive from step `first` to step `last`, both included. An item of 0 bytes takes no room.
struct OffsetItem {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

struct Offsets {
  std::vector<int64_t> at;  // one per item, a multiple of kOffsetAlignment
  int64_t total = 0;        // bytes that hold them all, a multiple of it too
};

inline constexpr int64_t kOffsetAlignment = 64;

// Greedy best fit over three orders (size, size x lifetime, lifetime), the best of them; where that is above
// the largest sum alive, also over orders in which what lay highest comes first. Requires: first <=
// last. Throws Error{invalid_argument} if a size is negative or the sum of all overflows.
Offsets assign_offsets(std::span<const OffsetItem> items);

// The largest sum of (aligned) bytes alive in one step: no assignment can be smaller.
int64_t live_bytes_bound(std::span<const OffsetItem> items);

}  // namespace plimsoll
