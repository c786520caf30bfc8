// Concatenate, Dot.
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/merging.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct ConcatenateLayer final : LayerBase {
  explicit ConcatenateLayer(int64_t axis = -1) : axis(axis) {}
  int64_t axis;
  std::string_view class_name() const override { return "Concatenate"; }
  void fields(Fields& f) override { f("axis", axis); }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(!xs.empty(), name(), "expected a list of inputs, got none");
    const int along = normalize_axis(axis, xs[0].rank(), name());
    for (const Tensor& x : xs) {
      require(x.rank() == xs[0].rank(), name(), "expected inputs of as many axes each, got shapes ",
              xs[0].shape(), " and ", x.shape());
      for (int i = 0; i < x.rank(); ++i) {
        require(i == along || x.dim(i) == xs[0].dim(i), name(), "expected inputs equal but for axis ", along,
                ", got shapes ", xs[0].shape(), " and ", x.shape());
      }
    }
    const Tensor y = concatenate(xs, along);
    s.set_mask(y, joined_mask(s, xs, along));
    return {y};
  }
  // Each mask as large as its input, joined as the inputs are; a step counts if one of its features does.
  static Tensor joined_mask(Scope& s, std::span<const Tensor> xs, int along) {
    bool one_has = false;
    std::vector<Tensor> masks;
    for (const Tensor& x : xs) {
      const Tensor mask = s.mask(x);
      one_has = one_has || mask.defined();
      if (!mask.defined()) {
        masks.push_back(Tensor::full(DType::boolean, x.shape(), 1));
      } else {
        masks.push_back(mask.rank() < x.rank() ? broadcast_to(expand_dims(mask, -1), x.shape()) : mask);
      }
    }
    return one_has ? any(concatenate(masks, along), {-1}) : Tensor();
  }
};

struct DotLayer final : LayerBase {
  explicit DotLayer(Dims axes = -1, bool normalize = false) : axes(std::move(axes)), normalize(normalize) {}
  Dims axes;
  bool normalize;
  std::string_view class_name() const override { return "Dot"; }
  void fields(Fields& f) override {
    if (f.reading() || axes.size() != 1)
      f("axes", axes);
    else
      f("axes", axes[0]);
    f("normalize", normalize);
  }
  std::vector<Tensor> call_many(Scope&, std::span<const Tensor> xs) override {
    require(xs.size() == 2, name(), "expected 2 inputs, got ", xs.size());
    const Ints both = axes.of_rank(2, name());
    Tensor a = xs[0];
    Tensor b = xs[1];
    require(a.rank() >= 2 && b.rank() >= 2 && a.dim(0) == b.dim(0), name(),
            "expected two batches of equal size, got ", a.shape(), " and ", b.shape());
    const int in_a = normalize_axis(both[0], a.rank(), name());
    const int in_b = normalize_axis(both[1], b.rank(), name());
    require(in_a > 0 && in_b > 0 && a.dim(in_a) == b.dim(in_b), name(), "cannot contract axis ", in_a, " of ",
            a.shape(), " with axis ", in_b, " of ", b.shape());
    if (normalize) {
      a = unit_length(a, {in_a});
      b = unit_length(b, {in_b});
    }
    const Tensor y = dot_general(a, b, {in_a}, {in_b}, {0}, {0});
    return {y.rank() == 1 ? expand_dims(y, 1) : y};
  }
};

}  // namespace

Layer Concatenate(int64_t axis, const NameOptions& options) {
  return own_layer(std::make_shared<ConcatenateLayer>(axis), options);
}
Layer Dot(Dims axes, const DotOptions& options) {
  return own_layer(std::make_shared<DotLayer>(std::move(axes), options.normalize), options);
}

std::span<const ClassDef> classes_concatenate() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Concatenate", "", make_default<ConcatenateLayer>},
      {Family::layer, "Dot", "", make_default<DotLayer>, {"axes"}},
  };
  return rows;
}

}  // namespace plimsoll
