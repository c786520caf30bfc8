// Circle (Sun et al. 2020) and the generalized cross-entropy (Zhang and Sabuncu 2018). And LambdaLoss.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/losses/function_loss.h"

namespace plimsoll {
namespace {

// log(sum(exp(x))) over the elements of each row that count; far below zero where there are none.
Tensor log_sum_of(const Tensor& x, const Tensor& counts) {
  constexpr double kNone = -1e30;
  const Tensor chosen = where(counts, x, scalar_like(x, kNone));
  const Tensor most = max(chosen, {1}, true);
  return squeeze(most + log(sum(exp(chosen - most), {1}, true)), 1);
}

struct CircleLoss final : LossWith<CircleOptions> {
  CircleLoss() : LossWith("circle") {}
  std::string_view class_name() const override { return "Circle"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    f("gamma", o.gamma);
    f("margin", o.margin);
    f("remove_diagonal", o.remove_diagonal);
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    const int64_t n = y_pred.rank() == 2 ? y_pred.dim(0) : -1;
    require(n >= 0 && y_true.shape().elements() == n, name,
            "expected labels (batch,) and embeddings (batch, width), got ", y_true.shape(), " and ",
            y_pred.shape());
    const Tensor labels = cast(y_true, DType::i32);
    Tensor same = equal(reshape(labels, Shape{n, 1}), reshape(labels, Shape{1, n}));
    const Tensor different = logical_not(same);
    if (o.remove_diagonal) {
      const Shape square_shape{n, n};
      same =
          bitwise_and(same, not_equal(iota(DType::i32, square_shape, 0), iota(DType::i32, square_shape, 1)));
    }
    const Tensor distance = relu(1.0 - matmul(y_pred, transpose(y_pred, {1, 0})));
    const auto weight = [](const Tensor& x, const Tensor& mask) { return relu(x * cast(mask, x.dtype())); };
    const Tensor near = weight(o.margin + distance, same) * (o.margin - distance) * -o.gamma;
    const Tensor far = weight(1 + o.margin - distance, different) * (1 - o.margin - distance) * o.gamma;
    return softplus(log_sum_of(near, same) + log_sum_of(far, different));
  }
  // A sample with none of its class, or none of another, beside it says nothing.
  Tensor counted(const Tensor& y_true, const Tensor& y_pred) override {
    const Tensor loss = call(y_true, y_pred);
    return greater(loss, scalar_like(loss, 0));
  }
};

struct GeneralizedCrossEntropy final : LossWith<GeneralizedCrossEntropyOptions> {
  GeneralizedCrossEntropy() : LossWith("categorical_generalized_cross_entropy") {}
  std::string_view class_name() const override { return "CategoricalGeneralizedCrossEntropy"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    f("q", o.q);
    check();
  }
  void check() const { require(o.q > 0 && o.q < 1, class_name(), "expected 0 < q < 1, got ", o.q); }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    Tensor labels = cast(y_true, DType::i32);
    if (labels.rank() == y_pred.rank() && labels.dim(-1) == 1) labels = squeeze(labels, -1);
    require(labels.rank() + 1 == y_pred.rank(), name,
            "expected labels (batch,) and shares (batch, classes), got ", y_true.shape(), " and ",
            y_pred.shape());
    const Tensor p = sum(y_pred * one_hot(labels, y_pred.dim(-1), y_pred.dtype()), {-1});
    return (1.0 - power(p, scalar_like(p, o.q))) / o.q;
  }
};

struct OwnLoss final : LossBase {
  explicit OwnLoss(LossFunction function) : function(std::move(function)) { name = "lambda_loss"; }
  LossFunction function;
  std::string_view class_name() const override { return "LambdaLoss"; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override { return function(y_true, y_pred); }
};

}  // namespace

Loss Circle(const CircleOptions& o) { return make_loss<CircleLoss>(o); }
Loss CategoricalGeneralizedCrossEntropy(const GeneralizedCrossEntropyOptions& o) {
  const Loss made = make_loss<GeneralizedCrossEntropy>(o);
  static_cast<GeneralizedCrossEntropy&>(*made).check();
  return made;
}
Loss LambdaLoss(LossFunction function, const LossOptions& o) {
  require(bool(function), "LambdaLoss", "expected a function, got none");
  auto made = std::make_shared<OwnLoss>(std::move(function));
  set_loss_options(*made, o.reduction, o.name);
  return made;
}

std::span<const ClassDef> classes_similarity() {
  static constexpr ClassDef rows[] = {
      {Family::loss, "Circle", "circle", make_default<CircleLoss>},
      {Family::loss, "CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy",
       make_default<GeneralizedCrossEntropy>},
  };
  return rows;
}

}  // namespace plimsoll
