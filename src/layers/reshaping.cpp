// Flatten, Reshape, Permute, RepeatVector.
#include "plimsoll/layers/reshaping.h"

#include <algorithm>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct FlattenLayer final : LayerBase {
  explicit FlattenLayer(FormatOptions options = {}) : o(std::move(options)) {}
  FormatOptions o;
  std::string_view class_name() const override { return "Flatten"; }
  void fields(Fields& f) override { f("data_format", o.data_format); }
  Tensor call(Scope&, const Tensor& input) override {
    require(input.rank() >= 1, name(), "expected a batch, got shape ", input.shape());
    const bool turn = is_channels_first(name(), o.data_format) && input.rank() > 2;
    const Tensor x = turn ? channels_to_last(input) : input;
    int64_t rest = 1;
    for (int i = 1; i < x.rank(); ++i) rest *= x.dim(i);
    return reshape(x, Shape{x.dim(0), rest});
  }
};

struct ReshapeLayer final : LayerBase {
  explicit ReshapeLayer(Ints target = {}) : target_shape(std::move(target)) {}
  Ints target_shape;
  std::string_view class_name() const override { return "Reshape"; }
  void fields(Fields& f) override { f("target_shape", target_shape); }
  Tensor call(Scope&, const Tensor& x) override {
    require(x.rank() >= 1, name(), "expected a batch, got shape ", x.shape());
    Ints sizes = {x.dim(0)};
    int64_t known = 1;
    int64_t open = -1;
    for (const int64_t size : target_shape) {
      if (size < 0) {
        require(open < 0, name(), "expected at most one -1 in target_shape");
        open = std::ssize(sizes);
      } else {
        known = checked_mul(known, size, name());
      }
      sizes.push_back(size);
    }
    int64_t held = 1;
    for (int i = 1; i < x.rank(); ++i) held *= x.dim(i);
    const bool fits = open < 0 ? held == known : known > 0 && held % known == 0;
    require(fits, name(), "cannot give an input of shape ", x.shape(), " the target_shape asked for: it has ",
            held, " elements per sample, the target ", known, open < 0 ? "" : " or a multiple");
    if (open >= 0) sizes[static_cast<size_t>(open)] = held / known;
    return reshape(x, Shape(sizes));
  }
};

struct PermuteLayer final : LayerBase {
  explicit PermuteLayer(Ints dims = {}) : dims(std::move(dims)) {}
  Ints dims;
  std::string_view class_name() const override { return "Permute"; }
  void fields(Fields& f) override { f("dims", dims); }
  Tensor call(Scope&, const Tensor& x) override {
    Ints sorted = dims;
    std::sort(sorted.begin(), sorted.end());
    bool is_permutation = std::ssize(dims) == x.rank() - 1;
    for (size_t i = 0; i < sorted.size(); ++i) is_permutation = is_permutation && sorted[i] == int64_t(i) + 1;
    require(is_permutation, name(), "expected dims to name the axes 1 to ", x.rank() - 1, " once each");
    Ints order = {0};
    order.insert(order.end(), dims.begin(), dims.end());
    return transpose(x, order);
  }
};

struct RepeatVectorLayer final : LayerBase {
  explicit RepeatVectorLayer(int64_t n = 1) : n(n) {}
  int64_t n;
  std::string_view class_name() const override { return "RepeatVector"; }
  void fields(Fields& f) override { f("n", n); }
  Tensor call(Scope&, const Tensor& x) override {
    require(x.rank() == 2, name(), "expected an input (batch, features), got shape ", x.shape());
    require(n > 0, name(), "expected n > 0, got ", n);
    return broadcast_to(expand_dims(x, 1), {x.dim(0), n, x.dim(1)});
  }
};

}  // namespace

Layer Flatten(const FormatOptions& options) {
  return own_layer(std::make_shared<FlattenLayer>(options), options);
}
Layer Reshape(Ints target_shape, const NameOptions& options) {
  return own_layer(std::make_shared<ReshapeLayer>(std::move(target_shape)), options);
}
Layer Permute(Ints dims, const NameOptions& options) {
  return own_layer(std::make_shared<PermuteLayer>(std::move(dims)), options);
}
Layer RepeatVector(int64_t n, const NameOptions& options) {
  return own_layer(std::make_shared<RepeatVectorLayer>(n), options);
}

std::span<const ClassDef> classes_reshaping() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Flatten", "", make_default<FlattenLayer>},
      {Family::layer, "Reshape", "", make_default<ReshapeLayer>, {"target_shape"}},
      {Family::layer, "Permute", "", make_default<PermuteLayer>, {"dims"}},
      {Family::layer, "RepeatVector", "", make_default<RepeatVectorLayer>, {"n"}},
  };
  return rows;
}

}  // namespace plimsoll
