// Accuracies: the share of predictions that are right.
#include <span>

#include "plimsoll/metrics.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/metrics/mean.h"

namespace plimsoll {
namespace {

struct SparseCategoricalAccuracyMetric final : MeanOfSamples {
  std::string_view class_name() const override { return "SparseCategoricalAccuracy"; }
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    Tensor labels = y_true;
    if (labels.rank() == y_pred.rank() && labels.dim(-1) == 1) labels = squeeze(labels, -1);
    return cast(equal(cast(labels, DType::i32), argmax(y_pred, -1)), DType::f32);
  }
};

}  // namespace

std::span<const ClassDef> classes_accuracy() {
  static constexpr ClassDef rows[] = {{Family::metric, "SparseCategoricalAccuracy", "sparse_categorical_accuracy",
                                       make_default<SparseCategoricalAccuracyMetric>}};
  return rows;
}

}  // namespace plimsoll
