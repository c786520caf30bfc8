// Adafactor: of the squared gradients of a matrix, rows and columns alone are kept (Shazeer and Stern 2018).
#include <span>

#include "plimsoll/layer.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

Tensor rms(const Tensor& x) { return sqrt(mean(square(x))); }

struct AdafactorOptimizer final : OptimizerWith<AdafactorOptimizerOptions> {
  AdafactorOptimizer() : OptimizerWith("adafactor") {}
  std::string_view class_name() const override { return "Adafactor"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("beta_2_decay", o.beta_2_decay);
    f("epsilon_1", o.epsilon_1);
    f("epsilon_2", o.epsilon_2);
    f("clip_threshold", o.clip_threshold);
    f("relative_step", o.relative_step);
  }
  std::vector<std::vector<SlotDef>> slots() const override { return {{{"r"}, {"c"}, {"velocity"}}}; }
  std::optional<Shape> slot_shape(const SlotDef& def, const Variable& weight) const override {
    const Shape& shape = weight.value.shape();
    if (def.name != "r" && def.name != "c") return shape;
    if (shape.rank() < 2) return {};
    return shape.without(def.name == "r" ? -1 : -2);
  }

  // The mean of the squared gradients, kept as Keras does: the product of rows and columns too.
  Tensor velocity(UpdateScope& s, const Tensor& squares, const Tensor& keep) const {
    const auto moved = [&](std::string_view slot, const Tensor& now) {
      const Tensor next = keep * s.slot(slot) + (1.0 - keep) * now;
      s.set_slot(slot, next);
      return next;
    };
    if (s.weight.rank() < 2) return moved("velocity", squares);
    const Tensor r = moved("r", mean(squares, {-1}));
    const Tensor c = moved("c", mean(squares, {-2}));
    const Tensor v = expand_dims(r / mean(r, {-1}, true), -1) * expand_dims(c, -2);
    s.set_slot("velocity", v);
    return v;
  }

  Tensor update(UpdateScope& s) override {
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    const Tensor slowest = 1.0 / sqrt(t);
    const Tensor rate = minimum(s.learning_rate, slowest);  // relative_step or not: Keras takes it here too
    const Tensor size = rms(s.weight);
    const Tensor alpha = maximum(scalar_like(size, o.epsilon_2), size) * rate;
    const Tensor keep = 1.0 - power(t, scalar_like(t, o.beta_2_decay));
    const Tensor v = velocity(s, square(s.gradient) + o.epsilon_1, keep);
    const Tensor u = s.gradient / sqrt(v);
    const Tensor length = rms(u) / o.clip_threshold;
    return s.weight - alpha * u / maximum(scalar_like(length, 1), length);
  }
};

}  // namespace

Optimizer Adafactor(LearningRate rate, const AdafactorOptimizerOptions& o) {
  return make_optimizer<AdafactorOptimizer>(std::move(rate), o);
}

std::span<const ClassDef> classes_adafactor() {
  static constexpr ClassDef rows[] = {
      {Family::optimizer, "Adafactor", "adafactor", make_default<AdafactorOptimizer>}};
  return rows;
}

}  // namespace plimsoll
