#include "device/cpu/embedding_kernels.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/index_reader.h"
#include "device/cpu/row_chunks.h"
#include "device/cpu/row_lists.h"
#include "device/cpu/typed.h"
#include "device/cpu/widened.h"
#include "plimsoll/shape.h"

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

// Of halves, row by row of the table: the sum is kept in f32 until it is whole.
template <class S>
void sum_rows(const TableView& v, const RowLists& lists, const S* dy, S* dtable, float* sum, int64_t begin,
              int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    std::fill_n(sum, v.width, 0.0f);
    for (int64_t i = lists.head[row]; i >= 0; i = lists.next[i]) {
      for (int64_t k = 0; k < v.width; ++k) sum[k] += load(dy[i * v.width + k]);
    }
    for (int64_t k = 0; k < v.width; ++k) store(dtable[row * v.width + k], sum[k]);
  }
}

}  // namespace

int64_t embedding_scratch(const TableView& v, int threads) {
  if (!is_half(v.dtype)) return 0;
  return checked_mul(v.rows + v.count, int64_t{sizeof(int64_t)}, "embedding_grad") +
         checked_mul(v.width * int64_t{sizeof(float)}, threads, "embedding_grad");
}

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

void embedding_backward(const TableView& v, const void* indices, const void* dy, void* dtable, void* scratch,
                        int threads) {
  if (v.rows == 0 || v.width == 0) return;
  const int64_t work = (v.rows + v.count) * v.width;
  const int64_t parts = work < 2 * kChunkElements ? 1 : std::min<int64_t>(threads, v.rows);
  RowLists lists{};
  if (is_half(v.dtype)) {
    lists = {static_cast<int64_t*>(scratch), static_cast<int64_t*>(scratch) + v.rows};
    find_rows(v.index_dtype, indices, v.count, v.rows, lists);
  }
  auto part = [&](int64_t p, int thread) noexcept {
    const int64_t begin = v.rows * p / parts, end = v.rows * (p + 1) / parts;
    with_float(v.dtype, "embedding_grad", [&]<class S>(S) {
      const S* const from = static_cast<const S*>(dy);
      S* const to = static_cast<S*>(dtable);
      if constexpr (kIsHalf<S>) {
        float* const sum = reinterpret_cast<float*>(lists.next + v.count) + thread * v.width;
        sum_rows(v, lists, from, to, sum, begin, end);
      } else {
        scatter_rows(v, indices, from, to, begin, end);
      }
    });
  };
  parallel_for(parts, threads, part);
}

}  // namespace plimsoll
