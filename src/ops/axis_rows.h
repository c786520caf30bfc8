// The rows of a tensor along one axis, and loops over rows that need scratch of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/row_chunks.h"
#include "plimsoll/shape.h"

namespace plimsoll {

struct AxisRows {  // (outer, size, inner) elements
  int64_t outer = 1, size = 1, inner = 1;
  AxisRows(const Shape& shape, int axis) : size(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  int64_t rows() const { return outer * inner; }
  int64_t first(int64_t row) const { return row / inner * size * inner + row % inner; }
};

// body(row, thread) for every row, 0 <= thread < threads; rows of little work share a chunk.
template <class F>
void each_row(int64_t rows, int64_t row_work, int threads, const F& body) {
  const int64_t each = std::max<int64_t>(1, kChunkElements / std::max<int64_t>(1, row_work));
  auto chunk = [&](int64_t c, int thread) noexcept {
    for (int64_t row = c * each; row < std::min(rows, (c + 1) * each); ++row) body(row, thread);
  };
  parallel_for(rows == 0 ? 0 : (rows - 1) / each + 1, threads, chunk);
}

}  // namespace plimsoll
