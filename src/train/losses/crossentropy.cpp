// Cross-entropies.
#include <span>

#include "plimsoll/error.h"
#include "train/loss_functions.h"
#include "train/losses/function_loss.h"

namespace plimsoll {
namespace {

template <class Options>
void crossentropy_fields(Fields& f, Options& o) {
  f("from_logits", o.from_logits);
  f("label_smoothing", o.label_smoothing);
  f("axis", o.axis);
}

template <class Options>
CrossentropyArgs args_of(const Options& o) {
  return {o.from_logits, o.label_smoothing, o.axis};
}

struct Binary final : LossWith<CrossentropyOptions> {
  Binary() : LossWith("binary_crossentropy") {}
  std::string_view class_name() const override { return "BinaryCrossentropy"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    crossentropy_fields(f, o);
  }
  Tensor call(const Tensor& y, const Tensor& p) override { return binary_crossentropy(y, p, args_of(o)); }
};

struct Categorical final : LossWith<CrossentropyOptions> {
  Categorical() : LossWith("categorical_crossentropy") {}
  std::string_view class_name() const override { return "CategoricalCrossentropy"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    crossentropy_fields(f, o);
  }
  Tensor call(const Tensor& y, const Tensor& p) override {
    return categorical_crossentropy(y, p, args_of(o));
  }
};

struct SparseCategorical final : LossWith<SparseCategoricalCrossentropyOptions> {
  SparseCategorical() : LossWith("sparse_categorical_crossentropy") {}
  std::string_view class_name() const override { return "SparseCategoricalCrossentropy"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    f("from_logits", o.from_logits);
    f("ignore_class", o.ignore_class);
  }
  Tensor call(const Tensor& y, const Tensor& p) override {
    return sparse_categorical_crossentropy(y, p, o.from_logits, o.ignore_class, o.axis);
  }
  Tensor counted(const Tensor& y, const Tensor& p) override { return not_ignored(y, p, o.ignore_class); }
};

struct BinaryFocal final : LossWith<BinaryFocalCrossentropyOptions> {
  BinaryFocal() : LossWith("binary_focal_crossentropy") {}
  std::string_view class_name() const override { return "BinaryFocalCrossentropy"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    crossentropy_fields(f, o);
    f("apply_class_balancing", o.apply_class_balancing);
    f("alpha", o.alpha);
    f("gamma", o.gamma);
  }
  Tensor call(const Tensor& y, const Tensor& p) override {
    return binary_focal_crossentropy(y, p, args_of(o), {o.alpha, o.gamma, o.apply_class_balancing});
  }
};

struct CategoricalFocal final : LossWith<CategoricalFocalCrossentropyOptions> {
  CategoricalFocal() : LossWith("categorical_focal_crossentropy") {}
  std::string_view class_name() const override { return "CategoricalFocalCrossentropy"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    crossentropy_fields(f, o);
    f("alpha", o.alpha);
    f("gamma", o.gamma);
  }
  Tensor call(const Tensor& y, const Tensor& p) override {
    return categorical_focal_crossentropy(y, p, args_of(o), {o.alpha, o.gamma});
  }
};

// What Keras means by the string "crossentropy" or "ce": the shapes decide.
struct ByShapes final : LossBase {
  ByShapes() { name = "crossentropy"; }
  std::string_view class_name() const override { return "crossentropy"; }
  Tensor call(const Tensor& y, const Tensor& p) override {
    switch (kind_of_targets(y, p)) {
      case Targets::binary: return binary_crossentropy(y, p, {});
      case Targets::sparse: return sparse_categorical_crossentropy(y, p, false, {}, -1);
      case Targets::categorical: break;
    }
    return categorical_crossentropy(y, p, {});
  }
};

}  // namespace

void LossBase::fields(Fields& f) {
  f("name", name);
  f("reduction", reduction);
}

void set_loss_options(LossBase& loss, const std::string& reduction, const std::string& name) {
  constexpr std::string_view kKnown[] = {"sum_over_batch_size", "mean", "sum", "none",
                                         "mean_with_sample_weight"};
  bool known = false;
  for (const std::string_view k : kKnown) known = known || k == reduction;
  require(known, loss.class_name(),
          "expected the reduction sum_over_batch_size, mean, sum, none or mean_with_sample_weight, got '",
          reduction, "'");
  loss.reduction = reduction;
  if (!name.empty()) loss.name = name;
}

Loss BinaryCrossentropy(const CrossentropyOptions& o) { return make_loss<Binary>(o); }
Loss CategoricalCrossentropy(const CrossentropyOptions& o) { return make_loss<Categorical>(o); }
Loss SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& o) {
  return make_loss<SparseCategorical>(o);
}
Loss BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& o) { return make_loss<BinaryFocal>(o); }
Loss CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& o) {
  return make_loss<CategoricalFocal>(o);
}

std::span<const ClassDef> classes_crossentropy() {
  static constexpr ClassDef rows[] = {
      {Family::loss, "BinaryCrossentropy", "binary_crossentropy", make_default<Binary>},
      {Family::loss, "bce", "BCE", make_default<Binary>},
      {Family::loss, "CategoricalCrossentropy", "categorical_crossentropy", make_default<Categorical>},
      {Family::loss, "SparseCategoricalCrossentropy", "sparse_categorical_crossentropy",
       make_default<SparseCategorical>},
      {Family::loss, "BinaryFocalCrossentropy", "binary_focal_crossentropy", make_default<BinaryFocal>},
      {Family::loss, "CategoricalFocalCrossentropy", "categorical_focal_crossentropy",
       make_default<CategoricalFocal>},
      {Family::loss, "crossentropy", "ce", make_default<ByShapes>},
  };
  return rows;
}

}  // namespace plimsoll
