// Rows: where the bytes of records go, one column per tensor of a record (x, then y, then weights), row after
// row. A view of a batch's tensors; owns nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plimsoll/data.h"

namespace plimsoll::data {

struct Rows {
  struct Column {
    char* data;
    int64_t bytes;  // of one record
  };
  std::vector<Column> columns;

  char* at(size_t column, int64_t row) const { return columns[column].data + row * columns[column].bytes; }
};

// The tensors of x, y and weights, one after the other.
template <class Part>  // Batch or Record, const or not
auto flat(Part& part) {
  std::vector<decltype(part.x.data())> all;
  for (auto* list : {&part.x, &part.y, &part.weights}) {
    for (auto& item : *list) all.push_back(&item);
  }
  return all;
}
std::vector<TensorType> flat_types(const RecordTypes& types);

// Makes `batch` hold `n` records of these types, not set. Buffers that nobody else holds and that have room
// for `capacity` records are used again; new ones have it. Throws Error{out_of_memory}.
void shape_batch(Batch& batch, const RecordTypes& types, int64_t n, int64_t capacity);
Rows rows_of(const Batch& batch);
// The same into a list there is: after the first time it allocates nothing.
void point_to(Rows& rows, const Batch& batch);
// Copies records between rows of the same types.
void copy_rows(const Rows& to, int64_t to_row, const Rows& from, int64_t from_row, int64_t count);

// Copies one record whose columns lie one after the other.
void copy_packed(const char* from, const Rows& to, int64_t row);

}  // namespace plimsoll::data
