// Which places of a list of indices name each row of a table, in order.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/cpu/index_reader.h"

namespace plimsoll {

// head[row] is the first place, next[i] the one after i; -1 ends. `rows` and `count` of them.
struct RowLists {
  int64_t* head;
  int64_t* next;
};

// Indices are read as take() reads them.
inline void find_rows(DType dtype, const void* indices, int64_t count, int64_t rows, const RowLists& lists) {
  std::memset(lists.head, 0xFF, static_cast<size_t>(rows) * sizeof(int64_t));
  for (int64_t i = count - 1; i >= 0; --i) {
    int64_t& head = lists.head[wrap_index(read_index(dtype, indices, i), rows)];
    lists.next[i] = head;
    head = i;
  }
}

}  // namespace plimsoll
