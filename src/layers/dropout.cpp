// Dropout: in training, zeroes elements with probability `rate` and scales the rest up.
#include "plimsoll/error.h"
#include "plimsoll/layers/regularization.h"
#include "plimsoll/ops/random.h"

namespace plimsoll {
namespace {

struct DropoutLayer final : LayerBase {
  explicit DropoutLayer(double rate = 0, DropoutOptions options = {}) : rate(rate), o(std::move(options)) {}
  double rate;
  DropoutOptions o;

  std::string_view class_name() const override { return "Dropout"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    f("rate", rate);
    f("seed", o.seed);
    f("noise_shape", o.noise_shape);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    if (!s.training() || rate == 0) return x;
    return dropout(x, s.random_key(o.seed), rate);
  }
};

}  // namespace

Layer Dropout(double rate, const DropoutOptions& options) {
  require(rate >= 0 && rate <= 1, "Dropout", "expected a rate between 0 and 1, got ", rate);
  return own_layer(std::make_shared<DropoutLayer>(rate, options), options.name);
}

std::span<const ClassDef> classes_dropout() {
  static constexpr ClassDef rows[] = {{Family::layer, "Dropout", "", make_default<DropoutLayer>}};
  return rows;
}

}  // namespace plimsoll
