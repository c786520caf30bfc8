// Losses of numbers.
#include <span>

#include "plimsoll/losses.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {
namespace {

struct MeanSquared final : LossBase {
  std::string_view class_name() const override { return "MeanSquaredError"; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override { return mean(square(y_true - y_pred), {-1}); }
};

}  // namespace

Loss MeanSquaredError(const std::string& reduction) {
  auto loss = std::make_shared<MeanSquared>();
  loss->reduction = reduction;
  return loss;
}

std::span<const ClassDef> classes_regression() {
  static constexpr ClassDef rows[] = {{Family::loss, "MeanSquaredError", "mse", make_default<MeanSquared>},
                                      {Family::loss, "mean_squared_error", "", make_default<MeanSquared>}};
  return rows;
}

}  // namespace plimsoll
