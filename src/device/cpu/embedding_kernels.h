// Rows of a table by index, and the sum of rows back into it. Indices are read as take() does: negative ones
// count from the end, others outside are clamped.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

struct TableView {
  DType dtype;
  int64_t rows;
  int64_t width;
  DType index_dtype;
  int64_t count;  // of indices
};

// y[i] = table[indices[i]]. Any dtype.
void embedding_forward(const TableView& v, const void* table, const void* indices, void* y, int threads);
// dtable = 0; dtable[indices[i]] += dy[i] in order of i, halves in f32. `scratch` holds embedding_scratch()
// bytes.
int64_t embedding_scratch(const TableView& v, int threads);
void embedding_backward(const TableView& v, const void* indices, const void* dy, void* dtable, void* scratch,
                        int threads);

}  // namespace plimsoll
