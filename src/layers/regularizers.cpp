// Regularizers: what a weight or an output adds to the loss.
#include <cmath>
#include <span>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/initializers.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

void check_factor(std::string_view place, double factor) {
  require(std::isfinite(factor) && factor >= 0, place, "expected a finite factor >= 0, got ", factor);
}

struct L1L2Regularizer : RegularizerBase {
  explicit L1L2Regularizer(double l1 = 0, double l2 = 0) : l1(l1), l2(l2) {}
  std::string_view class_name() const override { return "L1L2"; }
  void fields(Fields& f) override {
    f("l1", l1);
    f("l2", l2);
  }
  Tensor loss(const Tensor& weight) override {
    check_factor(class_name(), l1);
    check_factor(class_name(), l2);
    if (l1 == 0 && l2 == 0) return sum(weight * 0.0);
    if (l2 == 0) return sum(absolute(weight)) * l1;
    if (l1 == 0) return sum(square(weight)) * l2;
    return sum(absolute(weight)) * l1 + sum(square(weight)) * l2;
  }
  double l1, l2;
};
struct L1Regularizer final : L1L2Regularizer {
  explicit L1Regularizer(double l1 = 0.01) : L1L2Regularizer(l1, 0) {}
  std::string_view class_name() const override { return "L1"; }
  void fields(Fields& f) override { f("l1", l1); }
};
struct L2Regularizer final : L1L2Regularizer {
  explicit L2Regularizer(double l2 = 0.01) : L1L2Regularizer(0, l2) {}
  std::string_view class_name() const override { return "L2"; }
  void fields(Fields& f) override { f("l2", l2); }
};

// The mean absolute cosine between two rows (or columns) of a matrix.
struct OrthogonalPenalty final : RegularizerBase {
  explicit OrthogonalPenalty(double factor = 0.01, std::string mode = "rows")
      : factor(factor), mode(std::move(mode)) {}
  std::string_view class_name() const override { return "OrthogonalRegularizer"; }
  void fields(Fields& f) override {
    f("factor", factor);
    f("mode", mode);
  }
  Tensor loss(const Tensor& weight) override {
    check_factor(class_name(), factor);
    require(mode == "rows" || mode == "columns", class_name(), "expected mode rows or columns, got '", mode,
            "'");
    require(weight.rank() == 2, class_name(), "expected a matrix, got shape ", weight.shape());
    const Tensor w = mode == "rows" ? weight : transpose(weight, {1, 0});
    const Tensor unit = unit_length(w, {1});
    const int64_t size = unit.dim(0);
    const Tensor product = matmul(unit, transpose(unit, {1, 0}));
    const Tensor eye =
        cast(equal(iota(DType::i32, {size, size}, 0), iota(DType::i32, {size, size}, 1)), w.dtype());
    const double pairs = static_cast<double>(size) * (static_cast<double>(size) - 1) / 2;
    return sum(absolute(product * (1.0 - eye))) * (factor * 0.5) / pairs;
  }
  double factor;
  std::string mode;
};

}  // namespace

Regularizer L1(double l1) { return std::make_shared<L1Regularizer>(l1); }
Regularizer L2(double l2) { return std::make_shared<L2Regularizer>(l2); }
Regularizer L1L2(double l1, double l2) { return std::make_shared<L1L2Regularizer>(l1, l2); }
Regularizer OrthogonalRegularizer(double factor, std::string mode) {
  return std::make_shared<OrthogonalPenalty>(factor, std::move(mode));
}

std::span<const ClassDef> classes_regularizers() {
  static constexpr ClassDef rows[] = {
      {Family::regularizer, "L1", "l1", make_default<L1Regularizer>},
      {Family::regularizer, "L2", "l2", make_default<L2Regularizer>},
      {Family::regularizer, "L1L2", "l1_l2", make_default<L1L2Regularizer>},
      {Family::regularizer, "l1l2", "", make_default<L1L2Regularizer>},  // Keras's word
      {Family::regularizer, "OrthogonalRegularizer", "orthogonal_regularizer",
       make_default<OrthogonalPenalty>},
  };
  return rows;
}

}  // namespace plimsoll
