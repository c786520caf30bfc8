#include "data/rows.h"

#include <cstring>

#include "memory/buffer.h"
#include "plimsoll/error.h"

namespace plimsoll {

int64_t Batch::size() const {
  for (const auto* list : {&x, &y, &weights}) {
    if (!list->empty()) return list->front().dim(0);
  }
  return 0;
}

namespace data {
namespace {

void shape_tensors(std::vector<Tensor>& tensors, const std::vector<TensorType>& types, int64_t n,
                   int64_t capacity) {
  tensors.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const auto& [dtype, shape] = types[i];
    const int64_t wanted = byte_size(dtype, shape.inserted(0, capacity));
    std::shared_ptr<Buffer> buffer = tensors[i].buffer();
    tensors[i] = Tensor();
    if (buffer == nullptr || buffer.use_count() > 1 || buffer->bytes() < wanted ||
        buffer->owner() != Owner::data) {
      buffer.reset();  // before the new one is charged
      buffer = Buffer::make(wanted, Owner::data);
    }
    tensors[i] = Tensor(dtype, shape.inserted(0, n), std::move(buffer));
  }
}

}  // namespace

std::vector<TensorType> flat_types(const RecordTypes& types) {
  std::vector<TensorType> all = types.x;
  all.insert(all.end(), types.y.begin(), types.y.end());
  all.insert(all.end(), types.weights.begin(), types.weights.end());
  return all;
}

void shape_batch(Batch& batch, const RecordTypes& types, int64_t n, int64_t capacity) {
  shape_tensors(batch.x, types.x, n, capacity);
  shape_tensors(batch.y, types.y, n, capacity);
  shape_tensors(batch.weights, types.weights, n, capacity);
}

Rows rows_of(const Batch& batch) {
  Rows rows;
  point_to(rows, batch);
  return rows;
}

void point_to(Rows& rows, const Batch& batch) {
  rows.columns.clear();
  for (const auto* list : {&batch.x, &batch.y, &batch.weights}) {
    for (const Tensor& t : *list)
      rows.columns.push_back({static_cast<char*>(t.data()), byte_size(t.dtype(), t.shape().without(0))});
  }
}

void copy_rows(const Rows& to, int64_t to_row, const Rows& from, int64_t from_row, int64_t count) {
  for (size_t c = 0; c < to.columns.size(); ++c) {
    std::memmove(to.at(c, to_row), from.at(c, from_row), static_cast<size_t>(count * to.columns[c].bytes));
  }
}

void copy_packed(const char* from, const Rows& to, int64_t row) {
  for (size_t c = 0; c < to.columns.size(); ++c) {
    std::memcpy(to.at(c, row), from, static_cast<size_t>(to.columns[c].bytes));
    from += to.columns[c].bytes;
  }
}

}  // namespace data
}  // namespace plimsoll
