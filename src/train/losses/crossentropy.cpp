// Cross-entropies.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/losses.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

struct SparseCategorical final : LossBase {
  bool from_logits = false;
  std::optional<int64_t> ignore_class;

  std::string_view class_name() const override { return "SparseCategoricalCrossentropy"; }
  void fields(Fields& f) override {
    f("from_logits", from_logits);
    f("ignore_class", ignore_class);
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    Tensor labels = cast(y_true, DType::i64);
    if (labels.rank() == y_pred.rank() && labels.dim(-1) == 1) labels = squeeze(labels, -1);
    if (from_logits) return sparse_softmax_cross_entropy(y_pred, labels);
    const Tensor chosen = take_along_axis(y_pred / sum(y_pred, {-1}, true), expand_dims(labels, -1), -1);
    return -log(clip(squeeze(chosen, -1), kEpsilon, 1 - kEpsilon));
  }
};

}  // namespace

Loss SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options) {
  auto loss = std::make_shared<SparseCategorical>();
  loss->from_logits = options.from_logits;
  loss->ignore_class = options.ignore_class;
  loss->reduction = options.reduction;
  return loss;
}

std::span<const ClassDef> classes_crossentropy() {
  static constexpr ClassDef rows[] = {{Family::loss, "SparseCategoricalCrossentropy", "sparse_categorical_crossentropy",
                                       make_default<SparseCategorical>}};
  return rows;
}

}  // namespace plimsoll
