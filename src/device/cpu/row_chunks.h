// Work that falls into independent rows, cut into chunks for the pool. Which rows share a chunk depends on
// the sizes alone; rows are independent, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/thread_pool.h"

namespace plimsoll {

// Elements one chunk should hold: some tens of microseconds at memory speed, so that waking a worker pays.
inline constexpr int64_t kChunkElements = 16384;

// Calls body(begin, end) for disjoint ranges that cover [0, rows). `row_elements`: the work in one row.
template <class F>
void parallel_rows(int64_t rows, int64_t row_elements, int threads, const F& body) {
  const int64_t each = std::max<int64_t>(1, kChunkElements / std::max<int64_t>(1, row_elements));
  if (rows <= each) {
    if (rows > 0) body(int64_t{0}, rows);
    return;
  }
  const int64_t chunks = (rows - 1) / each + 1;
  auto one = [&](int64_t chunk, int) noexcept { body(chunk * each, std::min(rows, (chunk + 1) * each)); };
  parallel_for(chunks, threads, one);
}

}  // namespace plimsoll
