// F scores, and the mean of intersections over unions.
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

struct MeanIntersection final : MetricBase {
  MeanIntersection() { name = unique_layer_name("MeanIoU"); }
  int64_t classes = 2;
  IoUOptions o;
  std::string_view class_name() const override { return "MeanIoU"; }
  void fields(Fields& f) override {
    f("num_classes", classes);
    MetricBase::fields(f);
    f("ignore_class", o.ignore_class);
    f("sparse_y_true", o.sparse_y_true);
    f("sparse_y_pred", o.sparse_y_pred);
    f("axis", o.axis);
  }
  Tensor labels(const Tensor& x, bool sparse) const {
    const Tensor chosen = sparse ? x : argmax(x, static_cast<int>(o.axis));
    return reshape(cast(chosen, DType::i32), Shape{chosen.shape().elements()});
  }
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    const Tensor y = labels(y_true, o.sparse_y_true);
    const Tensor p = labels(y_pred, o.sparse_y_pred);
    require(y.shape() == p.shape(), name, "expected as many labels as predictions, got ", y.shape(), " and ",
            p.shape());
    const auto inside = [&](const Tensor& x) {
      return bitwise_and(greater_equal(x, scalar_like(x, 0)),
                         less(x, scalar_like(x, static_cast<double>(classes))));
    };
    Tensor counts = bitwise_and(inside(y), inside(p));
    if (o.ignore_class)
      counts = bitwise_and(counts, not_equal(y, scalar_like(y, static_cast<double>(*o.ignore_class))));
    // Keras keeps whole numbers: weights lose their fractions.
    Tensor w = cast(counts, DType::f32);
    if (weight.defined()) {
      const Tensor whole = cast(cast(weight, DType::i32), DType::f32);
      w = w *
          broadcast_to(whole.rank() > 1 ? reshape(whole, Shape{whole.shape().elements()}) : whole, w.shape());
    }
    const Tensor zero = scalar_like(y, 0);
    const Tensor at[] = {expand_dims(where(counts, y, zero), -1), expand_dims(where(counts, p, zero), -1)};
    const Tensor matrix = s.state("total_confusion_matrix", {classes, classes});
    s.set("total_confusion_matrix", scatter_nd(matrix, concatenate(at, -1), w, "add"));
  }
  double result(std::span<const Tensor> states) override {
    const float* matrix = states[0].data<float>();
    double sum = 0, valid = 0;
    for (int64_t c = 0; c < classes; ++c) {
      double unions = -static_cast<double>(matrix[c * classes + c]);
      for (int64_t k = 0; k < classes; ++k)
        unions += static_cast<double>(matrix[c * classes + k]) + static_cast<double>(matrix[k * classes + c]);
      if (unions <= 1e-9) continue;
      sum += static_cast<double>(matrix[c * classes + c]) / (unions + kEpsilon);
      valid += 1;
    }
    return sum / (valid + kEpsilon);
  }
};

}  // namespace

namespace metrics {
Metric FBetaScore(const FBetaScoreOptions& o) { return make_metric<FBeta>(o); }
Metric F1Score(const F1ScoreOptions& o) {
  return make_metric<F1>(FBetaScoreOptions{o.average, 1.0, o.threshold, o.name});
}
Metric MeanIoU(int64_t num_classes, const IoUOptions& o) {
  require(num_classes > 0, "MeanIoU", "expected num_classes > 0, got ", num_classes);
  const Metric made = make_metric<MeanIntersection>(o);
  static_cast<MeanIntersection&>(*made).classes = num_classes;
  return made;
}
}  // namespace metrics

std::span<const ClassDef> classes_f_score() {
  static constexpr ClassDef rows[] = {
      {Family::metric, "FBetaScore", "fbeta_score", make_default<FBeta>},
      {Family::metric, "F1Score", "f1_score", make_default<F1>},
      {Family::metric, "MeanIoU", "mean_io_u", make_default<MeanIntersection>, {"num_classes"}},
  };
  return rows;
}

}  // namespace plimsoll
