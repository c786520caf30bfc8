// Muon: the momentum of a matrix, made orthogonal by a Newton-Schulz iteration; AdamW for everything else.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

struct MuonOptimizer final : OptimizerWith<MuonOptimizerOptions> {
  MuonOptimizer() : OptimizerWith("muon") { weight_decay = o.weight_decay; }
  std::string_view class_name() const override { return "Muon"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("adam_beta_1", o.adam_beta_1);
    f("adam_beta_2", o.adam_beta_2);
    f("epsilon", o.epsilon);
    f("exclude_layers", o.exclude_layers);
    f("muon_a", o.muon_a);
    f("muon_b", o.muon_b);
    f("muon_c", o.muon_c);
    f("adam_lr_ratio", o.adam_lr_ratio);
    f("momentum", o.momentum);
    f("ns_steps", o.ns_steps);
    f("nesterov", o.nesterov);
    f("exclude_embeddings", o.exclude_embeddings);
    f("adam_weight_decay", o.adam_weight_decay);
    f("rms_rate", o.rms_rate);
    if (f.reading()) check();
  }
  void check() const {
    constexpr int64_t kMost = 1000;
    require(o.ns_steps >= 0 && o.ns_steps <= kMost, class_name(), "expected ns_steps from 0 to ", kMost,
            ", got ", o.ns_steps);
    for (const std::string& pattern : o.exclude_layers) found(pattern, "");
  }
  static bool found(const std::string& pattern, const std::string& path) try {
    return std::regex_search(path, std::regex(pattern));
  } catch (const std::regex_error& e) {
    fail(ErrorKind::invalid_argument, "Muon", "expected regular expressions in exclude_layers, got '",
         pattern, "': ", e.what());
  }

  bool by_adam(const Variable& weight) const {
    if (weight.value.rank() != 2) return true;
    const std::string path = weight.layer.empty() ? weight.name : concat(weight.layer, "/", weight.name);
    std::string lower = path;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (o.exclude_embeddings && lower.find("embedding") != std::string::npos) return true;
    return std::any_of(o.exclude_layers.begin(), o.exclude_layers.end(),
                       [&](const std::string& pattern) { return found(pattern, path); });
  }
  std::vector<std::vector<SlotDef>> slots() const override { return {{{"momentum"}, {"velocity"}}}; }
  std::optional<Shape> slot_shape(const SlotDef& def, const Variable& weight) const override {
    if (def.name == "velocity" && !by_adam(weight)) return {};
    return weight.value.shape();
  }
  std::optional<double> decay_of(const Variable& weight) const override {
    return by_adam(weight) ? o.adam_weight_decay : weight_decay;
  }

  Tensor update(UpdateScope& s) override { return s.has_slot("velocity") ? adam(s) : muon(s); }

 private:
  Tensor adam(UpdateScope& s) const {
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    const Tensor left_1 = 1.0 - power(scalar_like(t, o.adam_beta_1), t);
    const Tensor left_2 = 1.0 - power(scalar_like(t, o.adam_beta_2), t);
    const Tensor m = s.slot("momentum") + (s.gradient - s.slot("momentum")) * (1 - o.adam_beta_1);
    const Tensor v = s.slot("velocity") + (square(s.gradient) - s.slot("velocity")) * (1 - o.adam_beta_2);
    s.set_slot("momentum", m);
    s.set_slot("velocity", v);
    const Tensor alpha = s.learning_rate * o.adam_lr_ratio * sqrt(left_2) / left_1;
    return s.weight - m * alpha / (sqrt(v) + o.epsilon);
  }

  Tensor muon(UpdateScope& s) const {
    const Tensor m = s.gradient + s.slot("momentum") * o.momentum;
    s.set_slot("momentum", m);
    Tensor update = s.learning_rate * orthogonal(o.nesterov ? s.gradient + o.momentum * m : m);
    if (o.rms_rate) {
      const auto longest = static_cast<double>(std::max(update.dim(0), update.dim(1)));
      update = update * (std::sqrt(longest) * *o.rms_rate);
    }
    return s.weight - update;
  }
  Tensor orthogonal(Tensor x) const {
    const bool tall = x.dim(0) > x.dim(1);
    if (tall) x = transpose(x, {1, 0});
    x = x / (sqrt(sum(square(x))) + 1e-7);
    for (int64_t i = 0; i < o.ns_steps; ++i) {
      const Tensor a = matmul(x, transpose(x, {1, 0}));
      const Tensor b = o.muon_b * a + matmul(o.muon_c * a, a);
      x = o.muon_a * x + matmul(b, x);
    }
    return tall ? transpose(x, {1, 0}) : x;
  }
};

}  // namespace

Optimizer Muon(LearningRate rate, const MuonOptimizerOptions& o) {
  const Optimizer made = make_optimizer<MuonOptimizer>(std::move(rate), o);
  static_cast<MuonOptimizer&>(*made).check();
  return made;
}

std::span<const ClassDef> classes_muon() {
  static constexpr ClassDef rows[] = {{Family::optimizer, "Muon", "muon", make_default<MuonOptimizer>}};
  return rows;
}

}  // namespace plimsoll
