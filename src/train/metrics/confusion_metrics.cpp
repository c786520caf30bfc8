// Precision, recall and counts.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "train/confusion.h"
#include "train/metrics/mean.h"

namespace plimsoll {
namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }
double first(const Tensor& t) { return static_cast<double>(t.data<float>()[0]); }

// Row: kClass, kState.
template <class Row>
struct Count final : MetricBase {
  Count() { name = unique_layer_name(Row::kClass); }
  ConfusionOptions o;
  std::string_view class_name() const override { return Row::kClass; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("thresholds", o.thresholds);
  }
  void update(MetricScope& s, const Tensor& y, const Tensor& p, const Tensor& weight) override {
    ConfusionArgs args;
    args.thresholds = {o.thresholds.value_or(0.5)};
    add_to_confusion(s, {Row::kState}, y, p, weight, args);
  }
  double result(std::span<const Tensor> states) override { return first(states[0]); }
};
struct TruePositivesRow {
  static constexpr std::string_view kClass = "TruePositives", kState = "true_positives";
};
struct TrueNegativesRow {
  static constexpr std::string_view kClass = "TrueNegatives", kState = "true_negatives";
};
struct FalsePositivesRow {
  static constexpr std::string_view kClass = "FalsePositives", kState = "false_positives";
};
struct FalseNegativesRow {
  static constexpr std::string_view kClass = "FalseNegatives", kState = "false_negatives";
};
struct PrecisionRow {
  static constexpr std::string_view kClass = "Precision", kState = "false_positives";
};
struct RecallRow {
  static constexpr std::string_view kClass = "Recall", kState = "false_negatives";
};

// true positives / (true positives + kState)
template <class Row>
struct Share final : MetricBase {
  Share() { name = unique_layer_name(Row::kClass); }
  PrecisionOptions o;
  std::string_view class_name() const override { return Row::kClass; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("thresholds", o.thresholds);
    f("top_k", o.top_k);
    f("class_id", o.class_id);
  }
  void update(MetricScope& s, const Tensor& y, const Tensor& p, const Tensor& weight) override {
    ConfusionArgs args;
    args.thresholds = {o.thresholds.value_or(o.top_k ? -1e10 : 0.5)};
    args.top_k = o.top_k;
    args.class_id = o.class_id;
    add_to_confusion(s, {"true_positives", Row::kState}, y, p, weight, args);
  }
  double result(std::span<const Tensor> states) override {
    return ratio(first(states[0]), first(states[0]) + first(states[1]));
  }
};

template <class Row>
constexpr ClassDef count_row(std::string_view alias) {
  return {Family::metric, Row::kClass, alias, make_default<Count<Row>>};
}

}  // namespace

namespace metrics {
Metric TruePositives(const ConfusionOptions& o) { return make_metric<Count<TruePositivesRow>>(o); }
Metric TrueNegatives(const ConfusionOptions& o) { return make_metric<Count<TrueNegativesRow>>(o); }
Metric FalsePositives(const ConfusionOptions& o) { return make_metric<Count<FalsePositivesRow>>(o); }
Metric FalseNegatives(const ConfusionOptions& o) { return make_metric<Count<FalseNegativesRow>>(o); }
Metric Precision(const PrecisionOptions& o) { return make_metric<Share<PrecisionRow>>(o); }
Metric Recall(const PrecisionOptions& o) { return make_metric<Share<RecallRow>>(o); }
}  // namespace metrics

std::span<const ClassDef> classes_confusion_metrics() {
  static constexpr ClassDef rows[] = {
      count_row<TruePositivesRow>("true_positives"),
      count_row<TrueNegativesRow>("true_negatives"),
      count_row<FalsePositivesRow>("false_positives"),
      count_row<FalseNegativesRow>("false_negatives"),
      {Family::metric, "Precision", "precision", make_default<Share<PrecisionRow>>},
      {Family::metric, "Recall", "recall", make_default<Share<RecallRow>>},
  };
  return rows;
}

}  // namespace plimsoll
