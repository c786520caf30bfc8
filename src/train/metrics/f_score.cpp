// F scores.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"
#include "train/metrics/mean.h"

namespace plimsoll {
namespace {

struct FBeta : MetricBase {
  explicit FBeta(std::string_view default_name = "fbeta_score") { name = default_name; }
  FBetaScoreOptions o;
  std::string_view class_name() const override { return "FBetaScore"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("average", o.average);
    f("beta", o.beta);
    f("threshold", o.threshold);
  }
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    check(y_true, y_pred);
    const Tensor y = cast(y_true, DType::f32);
    const Tensor score = cast(y_pred, DType::f32);
    Tensor chosen = greater(score, scalar_like(score, o.threshold.value_or(0)));
    if (!o.threshold) {
      chosen = bitwise_and(greater_equal(score, max(score, {-1}, true)),
                           greater(absolute(score), scalar_like(score, 1e-9)));
    }
    const Tensor p = cast(chosen, DType::f32);
    const bool micro = o.average == "micro";
    const auto add = [&](std::string_view state, const Tensor& x) {
      const Tensor weighted = weight.defined() ? x * expand_dims(cast(weight, DType::f32), 1) : x;
      s.set(state,
            s.state(state, micro ? Shape{} : Shape{y.dim(1)}) + (micro ? sum(weighted) : sum(weighted, {0})));
    };
    add("true_positives", p * y);
    add("false_positives", p * (1.0 - y));
    add("false_negatives", (1.0 - p) * y);
    add("intermediate_weights", y);
  }
  double result(std::span<const Tensor> states) override {
    const int64_t n = states[0].shape().elements();
    double sum = 0, weighted = 0, weights = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto at = [&](size_t k) { return static_cast<double>(states[k].data<float>()[i]); };
      const double precision = at(0) / (at(0) + at(1) + kEpsilon);
      const double recall = at(0) / (at(0) + at(2) + kEpsilon);
      const double square = o.beta * o.beta;
      const double score = precision * recall / (square * precision + recall + kEpsilon) * (1 + square);
      sum += score;
      weighted += score * at(3);
      weights += at(3);
    }
    return o.average == "weighted" ? weighted / (weights + kEpsilon) : sum / static_cast<double>(n);
  }

 private:
  void check(const Tensor& y_true, const Tensor& y_pred) const {
    require(y_true.rank() == 2 && y_pred.rank() == 2, name,
            "expected targets and predictions (batch, classes), got ", y_true.shape(), " and ",
            y_pred.shape());
    require(!o.average || o.average == "micro" || o.average == "macro" || o.average == "weighted", name,
            "expected the average micro, macro or weighted, got '", o.average.value_or(""), "'");
    require(o.average || y_pred.dim(1) == 1, name, "has one score for each of ", y_pred.dim(1),
            " classes: set average to micro, macro or weighted");
    require(o.beta > 0, name, "expected beta > 0, got ", o.beta);
  }
};

struct F1 final : FBeta {
  F1() : FBeta("f1_score") {}
  std::string_view class_name() const override { return "F1Score"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("average", o.average);
    f("threshold", o.threshold);
  }
};

}  // namespace

namespace metrics {
Metric FBetaScore(const FBetaScoreOptions& o) { return make_metric<FBeta>(o); }
Metric F1Score(const F1ScoreOptions& o) {
  return make_metric<F1>(FBetaScoreOptions{o.average, 1.0, o.threshold, o.name});
}
}  // namespace metrics

std::span<const ClassDef> classes_f_score() {
  static constexpr ClassDef rows[] = {
      {Family::metric, "FBetaScore", "fbeta_score", make_default<FBeta>},
      {Family::metric, "f_beta_score", "", make_default<FBeta>},  // what Keras calls it as a string
      {Family::metric, "F1Score", "f1_score", make_default<F1>},
  };
  return rows;
}

}  // namespace plimsoll
