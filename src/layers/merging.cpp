// Add, Subtract, Multiply, Average, Maximum, Minimum: element by element, with broadcasting.
#include "plimsoll/layers/merging.h"

#include <algorithm>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Inputs of fewer axes get more of them behind the batch.
std::vector<Tensor> same_rank(std::span<const Tensor> xs) {
  int rank = 0;
  for (const Tensor& x : xs) rank = std::max(rank, x.rank());
  std::vector<Tensor> all(xs.begin(), xs.end());
  for (Tensor& x : all) {
    while (x.rank() < rank) x = expand_dims(x, std::min(1, x.rank()));
  }
  return all;
}

struct MergeRow {
  std::string_view name;
  Tensor (*merge)(const Tensor& a, const Tensor& b);
};
constexpr MergeRow kMerges[] = {{"Add", add},     {"Subtract", subtract}, {"Multiply", multiply},
                                {"Average", add}, {"Maximum", maximum},   {"Minimum", minimum}};
enum { kAdd, kSubtract, kMultiply, kAverage, kMaximum, kMinimum };

template <int which>
struct MergeLayer final : LayerBase {
  std::string_view class_name() const override { return kMerges[which].name; }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> inputs) override {
    require(inputs.size() >= 2, name(), "expected a list of at least 2 inputs, got ", inputs.size());
    require(which != kSubtract || inputs.size() == 2, name(), "expected 2 inputs, got ", inputs.size());
    const std::vector<Tensor> xs = same_rank(inputs);
    Tensor y = xs[0];
    for (size_t i = 1; i < xs.size(); ++i) y = kMerges[which].merge(y, xs[i]);
    if (which == kAverage) y = y / static_cast<double>(xs.size());
    s.set_mask(y, merged_mask(s, inputs));
    return {y};
  }
  // Masked only where all are; not at all if one has no mask.
  static Tensor merged_mask(Scope& s, std::span<const Tensor> inputs) {
    Tensor mask = s.mask(inputs[0]);
    for (const Tensor& x : inputs.subspan(1)) {
      const Tensor other = s.mask(x);
      mask = mask.defined() && other.defined() ? bitwise_or(mask, other) : Tensor();
    }
    return mask;
  }
};

template <int which>
Layer make_merge(const NameOptions& options) {
  return own_layer(std::make_shared<MergeLayer<which>>(), options);
}

}  // namespace

Layer Add(const NameOptions& options) { return make_merge<kAdd>(options); }
Layer Subtract(const NameOptions& options) { return make_merge<kSubtract>(options); }
Layer Multiply(const NameOptions& options) { return make_merge<kMultiply>(options); }
Layer Average(const NameOptions& options) { return make_merge<kAverage>(options); }
Layer Maximum(const NameOptions& options) { return make_merge<kMaximum>(options); }
Layer Minimum(const NameOptions& options) { return make_merge<kMinimum>(options); }

std::span<const ClassDef> classes_merging() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Add", "", make_default<MergeLayer<kAdd>>},
      {Family::layer, "Subtract", "", make_default<MergeLayer<kSubtract>>},
      {Family::layer, "Multiply", "", make_default<MergeLayer<kMultiply>>},
      {Family::layer, "Average", "", make_default<MergeLayer<kAverage>>},
      {Family::layer, "Maximum", "", make_default<MergeLayer<kMaximum>>},
      {Family::layer, "Minimum", "", make_default<MergeLayer<kMinimum>>},
  };
  return rows;
}

}  // namespace plimsoll
