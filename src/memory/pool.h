// pool: blocks of less than 1 MiB, kept in free lists by size class when given back, so that making and
// dropping a small Buffer takes no trip to malloc. What lies in the lists is bounded and charged to nobody:
// it is slack like that of malloc. All functions may be called from any thread.
#pragma once

#include <cstdint>

namespace plimsoll::pool {

inline constexpr int64_t kLargestBlock = int64_t{1} << 20;
inline constexpr int64_t kMostCached = int64_t{1} << 20;  // bytes in all lists together

// The size of the block that take(bytes) hands out: at most a quarter more than asked for.
// Requires: 0 <= bytes <= kLargestBlock.
int64_t block_size(int64_t bytes) noexcept;

// A 64-byte aligned block of block_size(bytes) bytes, not set; nullptr if there is no memory.
void* take(int64_t bytes) noexcept;
// Requires: `block` came from take(bytes) with the same `bytes`.
void give(void* block, int64_t bytes) noexcept;

int64_t cached() noexcept;  // bytes in the free lists
void trim() noexcept;       // empties them and lets malloc give back what it can

}  // namespace plimsoll::pool
