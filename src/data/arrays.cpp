#include <cstring>

#include "data/sources.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

class ArraySource final : public Source {
 public:
  ArraySource(RecordTypes types, std::vector<Tensor> columns, int64_t records)
      : Source(std::move(types)), columns_(std::move(columns)), records_(records) {}

  std::optional<int64_t> records() const override { return records_; }
  std::vector<Tensor> tensors() const override { return columns_; }

  void read(std::span<const int64_t> records, const Rows& to, int64_t row, Scratch&) const override {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const auto bytes = static_cast<size_t>(to.columns[c].bytes);
      const char* from = static_cast<const char*>(columns_[c].data());
      char* at = to.at(c, row);
      for (const int64_t record : records) {
        std::memcpy(at, from + static_cast<size_t>(record) * bytes, bytes);
        at += bytes;
      }
    }
  }

 private:
  std::vector<Tensor> columns_;
  int64_t records_;
};

}  // namespace

SourcePtr array_source(std::vector<Tensor> x, std::vector<Tensor> y, std::vector<Tensor> weights) {
  require(!x.empty(), "dataset.arrays", "expected at least one tensor for x, got none");
  RecordTypes types;
  std::vector<Tensor> columns;
  int64_t records = -1;
  const auto add = [&](std::vector<Tensor>& tensors, std::vector<TensorType>& list, std::string_view name) {
    for (Tensor& t : tensors) {
      require(t.defined() && !t.is_symbolic() && t.rank() >= 1, "dataset.arrays", "expected ", name,
              " to be concrete tensors with an axis of records, got ", t.defined() ? t.type().str() : "none");
      if (records < 0) records = t.dim(0);
      require(t.dim(0) == records, "dataset.arrays", "expected all arrays to have ", records,
              " records as the first, got ", t.type(), " for ", name);
      list.push_back({t.dtype(), t.shape().without(0)});
      columns.push_back(std::move(t));
    }
  };
  add(x, types.x, "x");
  add(y, types.y, "y");
  add(weights, types.weights, "weights");
  return std::make_shared<ArraySource>(std::move(types), std::move(columns), records);
}

}  // namespace plimsoll::data
