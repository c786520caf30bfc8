#include "device/cpu/embedding_kernels.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/index_reader.h"
#include "device/cpu/row_chunks.h"

namespace plimsoll {
namespace {

template <class T>
void add_row(const T* x, T* sum, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

// Each chunk owns a range of the table and looks through all indices for its own: no two threads write one
// row, and a row gets its terms in order.
template <class T>
void scatter_rows(const TableView& v, const void* indices, const T* dy, T* dtable, int64_t begin,
                  int64_t end) {
  std::memset(dtable + begin * v.width, 0, static_cast<size_t>((end - begin) * v.width) * sizeof(T));
  for (int64_t i = 0; i < v.count; ++i) {
    const int64_t row = wrap_index(read_index(v.index_dtype, indices, i), v.rows);
    if (row >= begin && row < end) add_row(dy + i * v.width, dtable + row * v.width, v.width);
  }
}

}  // namespace

void embedding_forward(const TableView& v, const void* table, const void* indices, void* y, int threads) {
  const size_t bytes = static_cast<size_t>(v.width) * size_of(v.dtype);
  if (bytes == 0) return;
  parallel_rows(v.count, v.width, threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto row = static_cast<size_t>(wrap_index(read_index(v.index_dtype, indices, i), v.rows));
      std::memcpy(static_cast<char*>(y) + static_cast<size_t>(i) * bytes,
                  static_cast<const char*>(table) + row * bytes, bytes);
    }
  });
}

void embedding_backward(const TableView& v, const void* indices, const void* dy, void* dtable, int threads) {
  if (v.rows == 0 || v.width == 0) return;
  const int64_t work = (v.rows + v.count) * v.width;
  const int64_t parts = work < 2 * kChunkElements ? 1 : std::min<int64_t>(threads, v.rows);
  auto part = [&](int64_t p, int) noexcept {
    const int64_t begin = v.rows * p / parts, end = v.rows * (p + 1) / parts;
    if (v.dtype == DType::f64) {
      scatter_rows(v, indices, static_cast<const double*>(dy), static_cast<double*>(dtable), begin, end);
    } else {
      scatter_rows(v, indices, static_cast<const float*>(dy), static_cast<float*>(dtable), begin, end);
    }
  };
  parallel_for(parts, threads, part);
}

}  // namespace plimsoll
