// Means of loss functions, the root mean squared error and R2.
#include <cmath>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"
#include "train/metrics/mean.h"
#include "train/reduction.h"

namespace plimsoll {
namespace {

#define PLIMSOLL_METRIC(Type, function, default_name)                                 \
  struct Type##Row {                                                                  \
    static constexpr std::string_view kClass = #Type, kName = default_name;           \
    static Tensor values(const Tensor& y, const Tensor& p) { return function(y, p); } \
  };
PLIMSOLL_METRIC(MeanSquaredError, mean_squared_error, "mean_squared_error")
PLIMSOLL_METRIC(MeanAbsoluteError, mean_absolute_error, "mean_absolute_error")
PLIMSOLL_METRIC(MeanAbsolutePercentageError, mean_absolute_percentage_error, "mean_absolute_percentage_error")
PLIMSOLL_METRIC(MeanSquaredLogarithmicError, mean_squared_logarithmic_error, "mean_squared_logarithmic_error")
PLIMSOLL_METRIC(LogCoshError, log_cosh, "logcosh")
PLIMSOLL_METRIC(Hinge, hinge, "hinge")
PLIMSOLL_METRIC(SquaredHinge, squared_hinge, "squared_hinge")
PLIMSOLL_METRIC(CategoricalHinge, categorical_hinge, "categorical_hinge")
PLIMSOLL_METRIC(KLDivergence, kl_divergence, "kl_divergence")
PLIMSOLL_METRIC(Poisson, poisson, "poisson")
#undef PLIMSOLL_METRIC

struct Cosine final : MeanWith<MetricCosineOptions> {
  Cosine() : MeanWith("cosine_similarity") {}
  std::string_view class_name() const override { return "CosineSimilarity"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("axis", o.axis);
  }
  Tensor values(const Tensor& y, const Tensor& p) override { return cosine_similarity(y, p, o.axis); }
};

struct RootMeanSquared final : MeanWith<MetricOptions> {
  RootMeanSquared() : MeanWith("root_mean_squared_error") {}
  std::string_view class_name() const override { return "RootMeanSquaredError"; }
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    const auto [y, p] = to_same_rank(cast(y_true, DType::f32), cast(y_pred, DType::f32));
    return square(p - y);
  }
  // Keras's does not look at masks.
  void update(MetricScope& s, const Tensor& y, const Tensor& p, const Tensor& weight) override {
    add_to_mean(s, values(y, p), weight);
  }
  double result(std::span<const Tensor> states) override { return std::sqrt(MeanOfSamples::result(states)); }
};

template <class Options>
struct CrossentropyMetric : MeanWith<Options> {
  using MeanWith<Options>::MeanWith;
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("from_logits", this->o.from_logits);
    f("label_smoothing", this->o.label_smoothing);
  }
  CrossentropyArgs args() const { return {this->o.from_logits, this->o.label_smoothing, this->o.axis}; }
};
struct BinaryMetric final : CrossentropyMetric<MetricCrossentropyOptions> {
  BinaryMetric() : CrossentropyMetric("binary_crossentropy") {}
  std::string_view class_name() const override { return "BinaryCrossentropy"; }
  Tensor values(const Tensor& y, const Tensor& p) override { return binary_crossentropy(y, p, args()); }
};
struct CategoricalMetric final : CrossentropyMetric<MetricCrossentropyOptions> {
  CategoricalMetric() : CrossentropyMetric("categorical_crossentropy") {}
  std::string_view class_name() const override { return "CategoricalCrossentropy"; }
  void fields(Fields& f) override {
    CrossentropyMetric::fields(f);
    f("axis", o.axis);
  }
  Tensor values(const Tensor& y, const Tensor& p) override { return categorical_crossentropy(y, p, args()); }
};
struct SparseMetric final : MeanWith<MetricSparseCrossentropyOptions> {
  SparseMetric() : MeanWith("sparse_categorical_crossentropy") {}
  std::string_view class_name() const override { return "SparseCategoricalCrossentropy"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("from_logits", o.from_logits);
    f("ignore_class", o.ignore_class);
    f("axis", o.axis);
  }
  Tensor values(const Tensor& y, const Tensor& p) override {
    return sparse_categorical_crossentropy(y, p, o.from_logits, o.ignore_class, o.axis);
  }
  Tensor counted(const Tensor& y, const Tensor& p) override { return not_ignored(y, p, o.ignore_class); }
};

struct R2 final : MetricBase {
  R2() { name = "r2_score"; }
  R2ScoreOptions o;
  std::string_view class_name() const override { return "R2Score"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("class_aggregation", o.class_aggregation);
    f("num_regressors", o.num_regressors);
  }
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    const auto [y, p] = to_same_rank(cast(y_true, DType::f32), cast(y_pred, DType::f32));
    require(y.rank() == 2 && p.rank() == 2, name, "expected targets and predictions (batch, outputs), got ",
            y.shape(), " and ", p.shape());
    Tensor w = weight.defined() ? cast(weight, DType::f32) : Tensor::full(DType::f32, {}, 1);
    if (w.rank() == 1) w = expand_dims(w, 1);
    w = broadcast_to(w, y.shape());
    const auto add = [&, outputs = y.dim(1)](std::string_view state, const Tensor& x) {
      s.set(state, s.state(state, {outputs}) + sum(x, {0}));
    };
    s.set("num_samples", s.state("num_samples", {}) + static_cast<double>(y.shape().elements()));
    add("squared_sum", y * (y * w));
    add("sum", y * w);
    add("residual", square(y - p) * w);
    add("count", w);
  }
  double result(std::span<const Tensor> states) override {
    const auto n = static_cast<double>(states[1].dim(0));
    double scores = 0, weighted = 0, weights = 0;
    for (int64_t i = 0; i < states[1].dim(0); ++i) {
      const auto at = [&](size_t state) { return static_cast<double>(states[state].data<float>()[i]); };
      const double total = at(1) - at(2) * at(2) / at(4);
      double score = 1 - at(3) / total;
      if (std::isinf(score)) score = 0;
      scores += score;
      weighted += total * score;
      weights += total;
    }
    double r2 = o.class_aggregation == "variance_weighted_average" ? weighted / weights : scores / n;
    const double samples = states[0].item();
    const auto regressors = static_cast<double>(o.num_regressors);
    if (o.num_regressors != 0 && regressors < samples - 1)
      r2 = 1 - (1 - r2) * (samples - 1) / (samples - regressors - 1);
    return r2;
  }
};

}  // namespace

namespace metrics {
Metric MeanSquaredError(const MetricOptions& o) {
  return make_metric<FunctionMetric<MeanSquaredErrorRow>>(o);
}
Metric MeanAbsoluteError(const MetricOptions& o) {
  return make_metric<FunctionMetric<MeanAbsoluteErrorRow>>(o);
}
Metric MeanAbsolutePercentageError(const MetricOptions& o) {
  return make_metric<FunctionMetric<MeanAbsolutePercentageErrorRow>>(o);
}
Metric MeanSquaredLogarithmicError(const MetricOptions& o) {
  return make_metric<FunctionMetric<MeanSquaredLogarithmicErrorRow>>(o);
}
Metric RootMeanSquaredError(const MetricOptions& o) { return make_metric<RootMeanSquared>(o); }
Metric LogCoshError(const MetricOptions& o) { return make_metric<FunctionMetric<LogCoshErrorRow>>(o); }
Metric Hinge(const MetricOptions& o) { return make_metric<FunctionMetric<HingeRow>>(o); }
Metric SquaredHinge(const MetricOptions& o) { return make_metric<FunctionMetric<SquaredHingeRow>>(o); }
Metric CategoricalHinge(const MetricOptions& o) {
  return make_metric<FunctionMetric<CategoricalHingeRow>>(o);
}
Metric KLDivergence(const MetricOptions& o) { return make_metric<FunctionMetric<KLDivergenceRow>>(o); }
Metric Poisson(const MetricOptions& o) { return make_metric<FunctionMetric<PoissonRow>>(o); }
Metric CosineSimilarity(const MetricCosineOptions& o) { return make_metric<Cosine>(o); }
Metric BinaryCrossentropy(const MetricCrossentropyOptions& o) { return make_metric<BinaryMetric>(o); }
Metric CategoricalCrossentropy(const MetricCrossentropyOptions& o) {
  return make_metric<CategoricalMetric>(o);
}
Metric SparseCategoricalCrossentropy(const MetricSparseCrossentropyOptions& o) {
  return make_metric<SparseMetric>(o);
}
Metric R2Score(const R2ScoreOptions& o) {
  require(o.class_aggregation == "uniform_average" || o.class_aggregation == "variance_weighted_average",
          "R2Score", "expected class_aggregation uniform_average or variance_weighted_average, got '",
          o.class_aggregation, "'");
  require(o.num_regressors >= 0, "R2Score", "expected num_regressors >= 0, got ", o.num_regressors);
  return make_metric<R2>(o);
}
}  // namespace metrics

std::span<const ClassDef> classes_mean_errors() {
  constexpr Family kMetric = Family::metric;
  static constexpr ClassDef rows[] = {
      function_metric_row<MeanSquaredErrorRow>(),
      {kMetric, "mse", "MSE", make_default<FunctionMetric<MeanSquaredErrorRow>>},
      function_metric_row<MeanAbsoluteErrorRow>(),
      {kMetric, "mae", "MAE", make_default<FunctionMetric<MeanAbsoluteErrorRow>>},
      function_metric_row<MeanAbsolutePercentageErrorRow>(),
      {kMetric, "mape", "MAPE", make_default<FunctionMetric<MeanAbsolutePercentageErrorRow>>},
      function_metric_row<MeanSquaredLogarithmicErrorRow>(),
      {kMetric, "msle", "MSLE", make_default<FunctionMetric<MeanSquaredLogarithmicErrorRow>>},
      {kMetric, "RootMeanSquaredError", "root_mean_squared_error", make_default<RootMeanSquared>},
      function_metric_row<LogCoshErrorRow>(),
      {kMetric, "log_cosh_error", "", make_default<FunctionMetric<LogCoshErrorRow>>},
      function_metric_row<HingeRow>(),
      function_metric_row<SquaredHingeRow>(),
      function_metric_row<CategoricalHingeRow>(),
      function_metric_row<KLDivergenceRow>(),
      function_metric_row<PoissonRow>(),
      {kMetric, "CosineSimilarity", "cosine_similarity", make_default<Cosine>},
      {kMetric, "BinaryCrossentropy", "binary_crossentropy", make_default<BinaryMetric>},
      {kMetric, "bce", "BCE", make_default<BinaryMetric>},
      {kMetric, "CategoricalCrossentropy", "categorical_crossentropy", make_default<CategoricalMetric>},
      {kMetric, "SparseCategoricalCrossentropy", "sparse_categorical_crossentropy",
       make_default<SparseMetric>},
      {kMetric, "R2Score", "r2_score", make_default<R2>},
  };
  return rows;
}

}  // namespace plimsoll
