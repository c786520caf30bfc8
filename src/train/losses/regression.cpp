// Losses of numbers, distributions and margins.
#include <span>

#include "plimsoll/losses.h"
#include "plimsoll/ops/math.h"
#include "train/loss_functions.h"
#include "train/losses/function_loss.h"

namespace plimsoll {
namespace {

#define PLIMSOLL_LOSS(Type, function, default_name)                                 \
  struct Type##Row {                                                                \
    static constexpr std::string_view kClass = #Type, kName = default_name;         \
    static Tensor call(const Tensor& y, const Tensor& p) { return function(y, p); } \
  };
PLIMSOLL_LOSS(MeanSquaredError, mean_squared_error, "mean_squared_error")
PLIMSOLL_LOSS(MeanAbsoluteError, mean_absolute_error, "mean_absolute_error")
PLIMSOLL_LOSS(MeanAbsolutePercentageError, mean_absolute_percentage_error, "mean_absolute_percentage_error")
PLIMSOLL_LOSS(MeanSquaredLogarithmicError, mean_squared_logarithmic_error, "mean_squared_logarithmic_error")
PLIMSOLL_LOSS(LogCosh, log_cosh, "log_cosh")
PLIMSOLL_LOSS(Hinge, hinge, "hinge")
PLIMSOLL_LOSS(SquaredHinge, squared_hinge, "squared_hinge")
PLIMSOLL_LOSS(CategoricalHinge, categorical_hinge, "categorical_hinge")
PLIMSOLL_LOSS(KLDivergence, kl_divergence, "kl_divergence")
PLIMSOLL_LOSS(Poisson, poisson, "poisson")
#undef PLIMSOLL_LOSS

struct HuberLoss final : LossWith<HuberOptions> {
  HuberLoss() : LossWith("huber_loss") {}
  std::string_view class_name() const override { return "Huber"; }
  // Keras's own config leaves delta out; we read and write it.
  void fields(Fields& f) override {
    LossBase::fields(f);
    f("delta", o.delta);
  }
  Tensor call(const Tensor& y, const Tensor& p) override { return huber(y, p, o.delta); }
};

struct CosineSimilarityLoss final : LossWith<CosineSimilarityOptions> {
  CosineSimilarityLoss() : LossWith("cosine_similarity") {}
  std::string_view class_name() const override { return "CosineSimilarity"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    f("axis", o.axis);
  }
  Tensor call(const Tensor& y, const Tensor& p) override { return -cosine_similarity(y, p, o.axis); }
};

void axis_field(Fields& f, std::optional<std::vector<int64_t>>& axis) {
  if (!f.reading() && !axis) return;
  Ints list = axis.value_or(Ints());
  f("axis", list);
  if (!list.empty()) axis = list;
}

struct DiceLoss final : LossWith<DiceOptions> {
  DiceLoss() : LossWith("dice") {}
  std::string_view class_name() const override { return "Dice"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    axis_field(f, o.axis);
  }
  Tensor call(const Tensor& y, const Tensor& p) override { return dice(y, p, o.axis.value_or(Ints())); }
};

struct TverskyLoss final : LossWith<TverskyOptions> {
  TverskyLoss() : LossWith("tversky") {}
  std::string_view class_name() const override { return "Tversky"; }
  void fields(Fields& f) override {
    LossBase::fields(f);
    f("alpha", o.alpha);
    f("beta", o.beta);
    axis_field(f, o.axis);
  }
  Tensor call(const Tensor& y, const Tensor& p) override {
    return tversky(y, p, o.alpha, o.beta, o.axis.value_or(Ints()));
  }
};

}  // namespace

Loss MeanSquaredError(const LossOptions& o) { return make_function_loss<MeanSquaredErrorRow>(o); }
Loss MeanAbsoluteError(const LossOptions& o) { return make_function_loss<MeanAbsoluteErrorRow>(o); }
Loss MeanAbsolutePercentageError(const LossOptions& o) {
  return make_function_loss<MeanAbsolutePercentageErrorRow>(o);
}
Loss MeanSquaredLogarithmicError(const LossOptions& o) {
  return make_function_loss<MeanSquaredLogarithmicErrorRow>(o);
}
Loss LogCosh(const LossOptions& o) { return make_function_loss<LogCoshRow>(o); }
Loss Hinge(const LossOptions& o) { return make_function_loss<HingeRow>(o); }
Loss SquaredHinge(const LossOptions& o) { return make_function_loss<SquaredHingeRow>(o); }
Loss CategoricalHinge(const LossOptions& o) { return make_function_loss<CategoricalHingeRow>(o); }
Loss KLDivergence(const LossOptions& o) { return make_function_loss<KLDivergenceRow>(o); }
Loss Poisson(const LossOptions& o) { return make_function_loss<PoissonRow>(o); }
Loss Huber(const HuberOptions& o) { return make_loss<HuberLoss>(o); }
Loss CosineSimilarity(const CosineSimilarityOptions& o) { return make_loss<CosineSimilarityLoss>(o); }
Loss Dice(const DiceOptions& o) { return make_loss<DiceLoss>(o); }
Loss Tversky(const TverskyOptions& o) { return make_loss<TverskyLoss>(o); }

std::span<const ClassDef> classes_regression() {
  constexpr Family kLoss = Family::loss;
  static constexpr ClassDef rows[] = {
      function_loss_row<MeanSquaredErrorRow>(),
      {kLoss, "mse", "MSE", make_default<FunctionLoss<MeanSquaredErrorRow>>},
      function_loss_row<MeanAbsoluteErrorRow>(),
      {kLoss, "mae", "MAE", make_default<FunctionLoss<MeanAbsoluteErrorRow>>},
      function_loss_row<MeanAbsolutePercentageErrorRow>(),
      {kLoss, "mape", "MAPE", make_default<FunctionLoss<MeanAbsolutePercentageErrorRow>>},
      function_loss_row<MeanSquaredLogarithmicErrorRow>(),
      {kLoss, "msle", "MSLE", make_default<FunctionLoss<MeanSquaredLogarithmicErrorRow>>},
      function_loss_row<LogCoshRow>(),
      {kLoss, "logcosh", "", make_default<FunctionLoss<LogCoshRow>>},
      function_loss_row<HingeRow>(),
      function_loss_row<SquaredHingeRow>(),
      function_loss_row<CategoricalHingeRow>(),
      function_loss_row<KLDivergenceRow>(),
      {kLoss, "kld", "KLD", make_default<FunctionLoss<KLDivergenceRow>>},
      {kLoss, "kullback_leibler_divergence", "", make_default<FunctionLoss<KLDivergenceRow>>},
      function_loss_row<PoissonRow>(),
      {kLoss, "Huber", "huber", make_default<HuberLoss>},
      {kLoss, "CosineSimilarity", "cosine_similarity", make_default<CosineSimilarityLoss>},
      {kLoss, "Dice", "dice", make_default<DiceLoss>},
      {kLoss, "Tversky", "tversky", make_default<TverskyLoss>},
  };
  return rows;
}

}  // namespace plimsoll
